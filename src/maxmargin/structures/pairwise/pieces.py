"""Long chains cut into pieces, each a block of its own.

The dual variables of a chain are any marginals of sites and links that agree with each other. So marginals of pieces,
with those of the links between two pieces the product of their ends' (which agree with both), are dual variables of the
whole, and their value is a bound on its optimum. What is lost is what the ends of pieces have to do with each other
beyond that: little, where pieces are long. A piece knows its neighbours by what is expected of them there.
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from ..._compile import implements, kernel
from ...inference import ChainPlan, SparseChainPlan
from ...inference.verbs import find_max_marginals
from ..rows import Rows, as_sparse, has_features, sparse_rows, values_of
from ..verbs import dimension, find_potentials, new_labelings, new_totals
from .alike import table
from .labelings import Labelings
from .layout import PairwiseBlocks, PairwiseProblem, link_weights, make_pairwise_problem
from .links import Joined, Successive, link_scores, prepare_links
from .room import list_kept, put_listed
from .sites import Sites

Listed = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # marginals of links, as `list_kept` lists them

WINDOW = 0.45  # of the way to the next cut, at most, is how far one may be moved


def can_be_cut(problem: Any) -> bool:
    """Whether a problem is one of chains with features, and weights of transitions that may all occur."""
    if not (isinstance(problem, PairwiseProblem) and isinstance(problem.links, Successive)):
        return False
    plan = problem.plan
    free = isinstance(plan, (ChainPlan, SparseChainPlan)) and not (np.any(plan.start) or np.any(plan.end))
    return free and problem.links.mask.size == 0 and has_features(problem.sites.rows)


def even_cuts(problem: PairwiseProblem, longest: int) -> np.ndarray:
    """Where pieces of at most `longest` sites begin, and the last one ends.

    A chain has one piece, or two, four, eight, …: pieces of twice the length are pairs of these.
    """
    lengths = np.diff(problem.sites.offsets)
    counts = 2 ** np.ceil(np.log2(np.maximum(lengths / longest, 1.0))).astype(np.int64)
    samples = np.repeat(np.arange(len(lengths)), counts)
    inside = np.arange(len(samples)) - np.repeat(np.cumsum(counts) - counts, counts)
    begins = problem.sites.offsets[samples] + inside * lengths[samples] // counts[samples]
    return np.append(begins, problem.sites.offsets[-1]).astype(np.int64)


def sure_cuts(problem: PairwiseProblem, even: np.ndarray, sureness: np.ndarray) -> np.ndarray:
    """Even cuts, moved by less than half a piece to where both sites of a link are surest of their labels."""
    cuts, of_links = even.copy(), np.minimum(sureness[1:], sureness[:-1])  # of a site and the next one
    for c in np.flatnonzero(~np.isin(even, problem.sites.offsets)):
        first = even[c] - int(WINDOW * (even[c] - even[c - 1]))
        last = even[c] + int(WINDOW * (even[c + 1] - even[c]))
        cuts[c] = first + np.argmax(of_links[first - 1 : last])
    return cuts


def every_other(problem: PairwiseProblem, cuts: np.ndarray) -> np.ndarray:
    """The cuts of pieces that are pairs of those there are, chain by chain."""
    firsts = np.searchsorted(cuts, problem.sites.offsets)  # numbers of the chains' first pieces
    numbers = np.arange(len(cuts))
    return cuts[(numbers - firsts[np.searchsorted(firsts, numbers, "right") - 1]) % 2 == 0]


def in_pieces(problem: PairwiseProblem, cuts: np.ndarray) -> PairwiseProblem:
    """The chains in pieces that begin at the cuts; flat weights stay what they are.

    First and last sites of chains have their biases as features, since ends of pieces must not.
    """
    samples = np.searchsorted(problem.sites.offsets, cuts[:-1], "right") - 1
    node = np.zeros((len(problem.labels), problem.cost.shape[0]))
    node[np.arange(len(problem.labels)), problem.labels] = 1.0
    sites = problem.sites._replace(rows=rows_with_ends(problem.sites), offsets=cuts, first_row=-1, last_row=-1)
    plan = problem.plan._replace(offsets=cuts, longest=int(np.diff(cuts).max()))
    links = Joined(problem.links.mask, cuts, ~np.isin(cuts, problem.sites.offsets), node)
    pieces = make_pairwise_problem(sites, links, plan, problem.labels, len(problem.cost), cost=problem.cost)
    return pieces._replace(weight=problem.weight[samples], loss_scale=problem.loss_scale[samples])


def rows_with_ends(sites: Sites) -> Rows:
    """Feature rows in which the weight rows of first and last sites are features of these, of value 1."""
    if sites.first_row < 0:
        return sites.rows
    rows = as_sparse(sites.rows)
    ends = np.concatenate([sites.offsets[:-1], sites.offsets[1:] - 1])
    numbers = np.repeat([sites.first_row, sites.last_row], len(sites.offsets) - 1)
    behind = rows.indptr[ends + 1]  # their numbers are the largest, so that indices stay sorted
    more = np.bincount(ends + 1, minlength=len(rows.indptr))
    return sparse_rows(
        rows.indptr + np.cumsum(more),
        np.insert(rows.indices, behind, numbers.astype(rows.indices.dtype)),
        np.insert(values_of(rows), behind, 1.0),
    )


def joint_vector(problem: PairwiseProblem, pieces: PairwiseProblem) -> np.ndarray:
    """What links between pieces add to ``lam A alpha`` of the whole."""
    vector, node, labels, n_labels = np.zeros(dimension(problem)), pieces.links.node, problem.labels, len(problem.cost)
    heads, weight = pieces.links.offsets[:-1][pieces.links.follows[:-1]], pieces.weight[pieces.links.follows[:-1]]
    tables = vector[problem.sites.n_rows * n_labels :].reshape(n_labels, n_labels)
    np.add.at(tables, (labels[heads - 1], labels[heads]), weight)
    tables -= node[heads - 1].T @ (weight[:, None] * node[heads])
    return vector


def merged(pieces: PairwiseProblem, blocks: PairwiseBlocks, longer: PairwiseProblem) -> PairwiseBlocks:
    """The marginals of pieces as those of longer ones, which are made of them."""
    owner = np.searchsorted(longer.links.offsets, pieces.links.offsets[:-1], "right") - 1
    joined = new_totals(longer)
    joined.node[:] = blocks.node
    np.add.at(joined.loss, owner, blocks.loss)
    inner = np.flatnonzero(pieces.links.follows[:-1] & ~np.isin(pieces.links.offsets[:-1], longer.links.offsets))
    samples, tails, heads, masses = list_kept(blocks.links)
    listed = [
        (owner[samples], tails, heads, masses),
        *(_between(blocks.node, owner[j], pieces.links.offsets[j]) for j in inner),
    ]
    return _with_links(joined, listed)


def _between(node: np.ndarray, owner: int, head: int) -> Listed:
    """The marginals of the link between the site at `head` and the one before, as if these were independent."""
    tails, heads = np.flatnonzero(node[head - 1]), np.flatnonzero(node[head])
    masses = np.outer(node[head - 1, tails], node[head, heads]).ravel()
    return np.full(len(masses), owner), np.repeat(tails, len(heads)), np.tile(heads, len(tails)), masses


Outputs = list[tuple[np.ndarray, float]]  # labelings of a piece, and their masses


def outputs_of(pieces: PairwiseProblem, labelings: Labelings, filled: np.ndarray, mass: np.ndarray) -> list[Outputs]:
    """The outputs with mass of each piece."""
    found = []
    for i, begin in enumerate(pieces.sites.offsets[:-1]):
        length, first = pieces.sites.offsets[i + 1] - begin, begin * labelings.capacity
        codes = labelings.codes[first : first + filled[i] * length].reshape(filled[i], length)
        share = mass[i, : filled[i]] / mass[i, : filled[i]].sum()  # 1 in all, whatever rounding left
        found.append([(codes[j], float(share[j])) for j in np.flatnonzero(share)])
    return found


def cut_anew(outputs: list[Outputs], old: np.ndarray, new: np.ndarray) -> list[Outputs]:
    """The outputs of pieces with other cuts: no site has other marginals, only links at old and new cuts have.

    Outputs of neighbours go together by their masses, the largest with the largest, and so on.
    """
    found = []
    for begin, end in pairwise(new):
        first, last = np.searchsorted(old, begin, "right") - 1, np.searchsorted(old, end, "left")
        parts = []
        for i in range(first, last):
            inside = slice(max(begin - old[i], 0), end - old[i])
            masses: dict[bytes, float] = {}
            for labels, mass in outputs[i]:
                name = labels[inside].tobytes()
                masses[name] = masses.get(name, 0.0) + mass
            parts.append(sorted(masses.items(), key=lambda item: -item[1]))
        joined = reduce(_coupled, parts)
        found.append([(np.frombuffer(name, np.int32), mass) for name, mass in joined])
    return found


def _coupled(left: list[tuple[bytes, float]], right: list[tuple[bytes, float]]) -> list[tuple[bytes, float]]:
    """Outputs of two neighbours as outputs of both, in the order of the masses."""
    found, i, j = [], 0, 0
    of_left, of_right = left[0][1], right[0][1]
    while True:
        mass = min(of_left, of_right)
        found.append((left[i][0] + right[j][0], mass))
        of_left, of_right = of_left - mass, of_right - mass
        if of_left <= 0.0:
            i += 1
        if of_right <= 0.0:
            j += 1
        if i == len(left) or j == len(right):  # sums of masses agree up to rounding
            break
        of_left, of_right = of_left or left[i][1], of_right or right[j][1]
    return sorted(found, key=lambda item: -item[1])


def blocks_of(pieces: PairwiseProblem, outputs: list[Outputs]) -> PairwiseBlocks:
    """The marginals that outputs with masses have."""
    blocks, listed = new_totals(pieces), list[Listed]()
    for i, (begin, end) in enumerate(pairwise(pieces.sites.offsets)):
        sites = np.arange(begin, end)
        for labels, mass in outputs[i]:
            blocks.node[sites, labels] += mass
            link = np.ones(len(labels) - 1)
            listed.append(((i * link).astype(np.int64), labels[:-1], labels[1:], mass * link))
        costs = pieces.cost[pieces.labels[begin:end]]
        blocks.loss[i] = pieces.loss_scale[i] * np.sum(costs * blocks.node[begin:end])
    return _with_links(blocks, listed)


def _with_links(blocks: PairwiseBlocks, listed: list[Listed]) -> PairwiseBlocks:
    samples, tails, heads, masses = (np.concatenate(column) for column in zip(*listed, strict=True))
    return blocks._replace(links=put_listed(blocks.links, samples, tails, heads, masses))


def labelings_of(pieces: PairwiseProblem, outputs: list[Outputs], capacity: int) -> Labelings:
    """Outputs in slots, `capacity` at most of each piece."""
    labelings = new_labelings(pieces, capacity)
    for i, begin in enumerate(pieces.sites.offsets[:-1]):
        first = begin * capacity
        for labels, _ in outputs[i][:capacity]:
            labelings.codes[first : first + len(labels)] = labels
            first += len(labels)
    return labelings


@kernel
def sureness_pass(problem, work, w, node, found, first, last):
    """How sure sites of samples `first` to `last` are of their best labels under w.

    That is by how much labelings with others are worse there, times the mass that it has in `node`.
    """
    n_labels = problem.cost.shape[0]
    values = np.empty(problem.longest * n_labels)
    for i in range(first, last):
        begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
        find_potentials(problem, work, w, i)
        edge = link_scores(problem.links, work, link_weights(problem.links, problem.sites, n_labels, w), i)
        scores = work.node.reshape(work.node.size)[: (end - begin) * n_labels]
        mine = values[: (end - begin) * n_labels]
        find_max_marginals(problem.plan, i, scores, edge, work.scratch, mine)
        for t in range(begin, end):
            best, value, second = -1, -np.inf, -np.inf
            for k in range(n_labels):
                other = mine[(t - begin) * n_labels + k]
                if other > value:
                    best, value, second = k, other, value
                elif other > second:
                    second = other
            found[t] = (value - second) * node[t, best]


@implements(prepare_links, Joined)
def _(links, work, weights, i):
    """Add what is expected of the neighbours to the scores of a piece's ends."""
    n_labels = work.node.shape[1]
    transitions, begin, end = table(weights, n_labels), links.offsets[i], links.offsets[i + 1]
    if links.follows[i]:
        for a in range(n_labels):
            mass = links.node[begin - 1, a]
            if mass > 0.0:
                for b in range(n_labels):
                    work.node[0, b] += mass * transitions[a, b]
    if links.follows[i + 1]:
        for a in range(n_labels):
            total = 0.0
            for b in range(n_labels):
                total += transitions[a, b] * links.node[end, b]
            work.node[end - begin - 1, a] += total
