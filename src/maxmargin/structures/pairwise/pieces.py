"""Long chains cut into pieces, each a block of its own.

The dual variables of a chain are any marginals of sites and links that agree with each other. So marginals of pieces,
with those of the links between two pieces the product of their ends' (which agree with both), are dual variables of the
whole, and their value is a bound on its optimum. What is lost is what the ends of pieces have to do with each other
beyond that: little, where pieces are long. A piece knows its neighbours by what is expected of them there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compile import implements
from ...inference import ChainPlan
from ..rows import Rows, SparseRows, as_sparse, has_features
from ..verbs import dimension, new_totals
from .alike import table
from .layout import PairwiseBlocks, PairwiseProblem, make_pairwise_problem
from .links import Joined, Successive, prepare_links
from .sites import Sites


def can_be_cut(problem: Any) -> bool:
    """Whether a problem is one of chains with features, and weights of transitions that may all occur."""
    if not (isinstance(problem, PairwiseProblem) and isinstance(problem.links, Successive)):
        return False
    plan = problem.plan
    free = isinstance(plan, ChainPlan) and not (np.any(plan.start) or np.any(plan.end))
    return free and problem.links.mask.size == 0 and has_features(problem.sites.rows)


def in_pieces(problem: PairwiseProblem, longest: int) -> PairwiseProblem:
    """The chains in pieces of at most `longest` sites; flat weights stay what they are.

    A chain has one piece, or two, four, eight, …: pieces of twice the length are pairs of these. First and last sites
    of chains have their biases as features, since ends of pieces must not.
    """
    lengths = np.diff(problem.sites.offsets)
    counts = 2 ** np.ceil(np.log2(np.maximum(lengths / longest, 1.0))).astype(np.int64)
    samples = np.repeat(np.arange(len(lengths)), counts)
    inside = np.arange(len(samples)) - np.repeat(np.cumsum(counts) - counts, counts)
    begins = problem.sites.offsets[samples] + inside * lengths[samples] // counts[samples]
    offsets = np.append(begins, problem.sites.offsets[-1]).astype(np.int64)
    node = np.zeros((len(problem.labels), problem.cost.shape[0]))
    node[np.arange(len(problem.labels)), problem.labels] = 1.0
    sites = problem.sites._replace(rows=rows_with_ends(problem.sites), offsets=offsets, first_row=-1, last_row=-1)
    plan = problem.plan._replace(offsets=offsets, longest=int(np.diff(offsets).max()))
    links = Joined(problem.links.mask, offsets, np.append(inside > 0, False), node)
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
    return SparseRows(
        rows.indptr + np.cumsum(more),
        np.insert(rows.indices, behind, numbers.astype(rows.indices.dtype)),
        np.insert(rows.data, behind, 1.0),
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
    np.add.at(joined.links.edge, owner, blocks.links.edge)
    inner = np.flatnonzero(pieces.links.follows[:-1] & ~np.isin(pieces.links.offsets[:-1], longer.links.offsets))
    heads = pieces.links.offsets[inner]
    np.add.at(joined.links.edge, owner[inner], blocks.node[heads - 1][:, :, None] * blocks.node[heads][:, None])
    joined.links.used[:] = joined.links.edge.any(axis=2)
    joined.links.square[:] = np.sum(joined.links.edge**2, axis=(1, 2))
    return joined


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
