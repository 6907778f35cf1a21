"""Factors that have settled: what their labels can spare, lent to links in need, and visits that they can do without.

A link whose weights favour another pair than its sites do would move mass there until multipliers have grown to what
these differ by, over tens of passes, and leave all labels that it tried listed. But a site whose labels with mass are
better than all others by some margin can do with less: multipliers that move a part of the margin to the link keep both
as they are. Any multipliers are as good to start a pass from, so that nothing else changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper

# Visits left out in a row, at most: more saves little, and finds changes late.
LONGEST_REST = 3


class Ease(NamedTuple):
    """Of N sites, and of E links behind them."""

    lent: float  # the share of margins that is lent, 0 without multipliers
    spare: np.ndarray  # (N,) by how much labels with mass are better than all others
    calm: np.ndarray  # (N + E,) visits in a row that changed nothing
    rest: np.ndarray  # (N + E,) visits to leave out


def new_ease(n_sites: int, n_links: int) -> Ease:
    return Ease(0.0, np.zeros(n_sites), *np.zeros((2, n_sites + n_links), np.int64))


@helper
def is_resting(ease, factor):
    if ease.rest[factor] == 0:
        return False
    ease.rest[factor] -= 1
    return True


@helper
def note_visit(ease, factor, outputs, count, parts):
    """Rest after visits that change nothing, the longer the more they were; each looked at one of so many parts."""
    for p in range(count):
        if outputs.wanted[p] != outputs.mass[p]:
            ease.calm[factor] = 0
            return
    ease.calm[factor] += 1
    ease.rest[factor] = min(ease.calm[factor] // parts, LONGEST_REST)


@helper
def margin(outputs, count, stiff, others):
    """By how much outputs with mass, once they have what is wanted, are better than others; 0 if there are none.

    No output that is not listed is better than `others`.
    """
    least, most = np.inf, others
    for p in range(count):
        score = outputs.score[p] - stiff * (outputs.wanted[p] - outputs.mass[p])
        if outputs.wanted[p] > 0.0:
            least = min(least, score)
        else:
            most = max(most, score)
    return max(least - most, 0.0) if most > -np.inf else 0.0


@helper
def lend(factors, ease, outputs, count, slot, places, place, need, rho):
    """Give of a site's margin to the outputs of a link that have its labels with mass; returns how much.

    In need is the link that would take a pair whose label, at a place of the site's list, has none.
    """
    j = factors.ends[slot]
    begin = factors.first[j]
    part = min(need, ease.lent * ease.spare[j])
    if part <= 0.0 or (place < factors.size[j] and factors.mass[begin + place] > 0.0):
        return 0.0
    ease.spare[j] -= part
    for p in range(factors.size[j]):
        if factors.mass[begin + p] > 0.0:
            factors.multiplier[factors.slot_first[slot] + p] -= part / rho
    for p in range(count):
        if factors.mass[begin + places[p]] > 0.0:
            outputs.score[p] += part
    return part
