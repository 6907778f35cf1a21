"""The dual state by factors: distributions over labels of sites and over pairs of links, which need not agree.

A site's distribution q_j is a list of labels with their masses, a link's q_f a list of pairs of places in the lists of
its two ends. Where a link meets a site is a *slot*, ``2 e`` at the tail of link e and ``2 e + 1`` at its head; it has a
list beside that of its site: what q_f gives to each label, ``M_jf q_f``, and the multiplier of its being what q_j says.
Labels in no list of a site have no mass there, and no message. The truth is the first entry of every list.

Kernels cannot make lists longer than there is room for, and a pass adds at most a label for the site itself and one for
each of its slots: what a pass may need is made sure of before, see :func:`make_room`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import implements, verb
from ..pairwise.layout import PairwiseProblem
from ..pairwise.links import ends_of
from ..pools import moved_lists, starts_of
from ..rows import squared_norms


class Factors(NamedTuple):
    """Lists of labels of N sites and of pairs of E links; P, Q and R count all entries there is room for."""

    sample_of_site: np.ndarray  # (N,)
    sample_of_link: np.ndarray  # (E,)
    link_offsets: np.ndarray  # (n + 1,) links of the samples
    ends: np.ndarray  # (2 E,) sites of the slots
    slot_offsets: np.ndarray  # (N + 1,)
    slots: np.ndarray  # (2 E,) slots of site j: slot_offsets[j]:slot_offsets[j + 1]
    first: np.ndarray  # (N + 1,) where lists of sites begin
    size: np.ndarray  # (N,)
    label: np.ndarray  # (P,) int32
    mass: np.ndarray  # (P,) q_j
    slot_first: np.ndarray  # (2 E + 1,) where lists of slots begin, which are as long as those of their sites
    given: np.ndarray  # (Q,) M_jf q_f
    multiplier: np.ndarray  # (Q,) scaled
    pair_first: np.ndarray  # (E + 1,)
    pair_size: np.ndarray  # (E,)
    tail_place: np.ndarray  # (R,) int32, place in the list of the tail
    head_place: np.ndarray  # (R,) int32
    pair_mass: np.ndarray  # (R,) q_f


# A list that is full gets room for so many entries beyond twice its length: with fewer, lists move every second pass.
SPARE = 6


@verb
def factored(problem):
    """The problem whose sites and links are the factors; that of a relaxation is not the one that is solved."""


@implements(factored, PairwiseProblem)
def _(problem):
    return problem


def new_factors(problem: Any) -> Factors:
    """All mass on the true labels, without room for others."""
    samples, tails, heads = ends_of(problem.links, problem.sites)
    n, n_sites, n_links = len(problem.weight), len(problem.labels), len(tails)
    ends = np.stack([tails, heads], axis=1).reshape(-1).astype(np.int64)
    return Factors(
        sample_of_site=np.repeat(np.arange(n), np.diff(problem.sites.offsets)),
        sample_of_link=np.asarray(samples, np.int64),
        link_offsets=starts_of(np.bincount(samples, minlength=n)),
        ends=ends,
        slot_offsets=starts_of(np.bincount(ends, minlength=n_sites)),
        slots=np.argsort(ends, kind="stable"),
        first=np.arange(n_sites + 1),
        size=np.ones(n_sites, np.int64),
        label=problem.labels.astype(np.int32),
        mass=np.ones(n_sites),
        slot_first=np.arange(2 * n_links + 1),
        given=np.ones(2 * n_links),
        multiplier=np.zeros(2 * n_links),
        pair_first=np.arange(n_links + 1),
        pair_size=np.ones(n_links, np.int64),
        tail_place=np.zeros(n_links, np.int32),
        head_place=np.zeros(n_links, np.int32),
        pair_mass=np.ones(n_links),
    )


def site_norms(problem: Any) -> np.ndarray:
    """(N,) ``|phi|^2`` of sites, with the features that need no storing."""
    sites = problem.sites
    norms = squared_norms(sites.rows) + (sites.intercept_row >= 0)
    if sites.first_row >= 0:
        np.add.at(norms, sites.offsets[:-1], 1.0)
        np.add.at(norms, sites.offsets[1:] - 1, 1.0)
    return norms


def lacks_room(factors: Factors) -> bool:
    """Whether a pass could fill a list."""
    sites = np.diff(factors.first) < factors.size + 1 + np.diff(factors.slot_offsets)
    return bool(np.any(sites) or np.any(np.diff(factors.pair_first) < factors.pair_size + 1))


def make_room(factors: Factors) -> Factors:
    """The same lists, with room for a pass and some more."""
    per_site = np.where(np.diff(factors.slot_offsets) > 0, 2, 1) * factors.size
    first = starts_of(per_site + np.diff(factors.slot_offsets) + SPARE)
    slot_first = starts_of(np.diff(first)[factors.ends])
    pair_first = starts_of(2 * factors.pair_size + SPARE)
    moved = {
        ("label", "mass"): (factors.first, first, factors.size),
        ("given", "multiplier"): (factors.slot_first, slot_first, factors.size[factors.ends]),
        ("tail_place", "head_place", "pair_mass"): (factors.pair_first, pair_first, factors.pair_size),
    }
    arrays = dict[str, np.ndarray]()
    for names, given in moved.items():
        arrays |= moved_lists({name: getattr(factors, name) for name in names}, *given)
    return factors._replace(first=first, slot_first=slot_first, pair_first=pair_first, **arrays)
