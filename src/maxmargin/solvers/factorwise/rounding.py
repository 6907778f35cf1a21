"""A dual point of factors that do not quite agree: links give way to what their sites say.

A table of pairs is scaled down to where neither its rows nor its columns have more than the sites at its ends, and what
is missing then, at the tail and at the head, is added as the product of both. The result has the sites' marginals, and
lies as near to the table as these are to its own.
"""  # altschuler17, Alg. 2

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compile import helper, kernel
from ...structures.factors import Factors
from ...structures.factors.oracles import pair_table
from ..objective import DualPoint


def rounded(problem: Any, factors: Factors, w: np.ndarray, lam: float) -> DualPoint:
    """The dual point with the sites' marginals; w are the weights of sites and links as they are."""
    vector = np.zeros_like(w)
    n_pairs = problem.cost.shape[0] ** 2
    vector[:-n_pairs] = lam * w[:-n_pairs]  # those of sites stay
    room = np.zeros((2, int(factors.size.max())))
    loss = add_rounded(problem, factors, *room, vector)
    return DualPoint(vector, loss)


@kernel
def add_rounded(problem, factors, missing_tail, missing_head, vector):
    """Add the links' part of ``lam A alpha`` to a vector; returns ``b'alpha``."""
    table, loss = pair_table(problem, vector), 0.0
    for e in range(factors.pair_size.shape[0]):
        tail, head, share = factors.ends[2 * e], factors.ends[2 * e + 1], problem.weight[factors.sample_of_link[e]]
        tails, heads = factors.label[factors.first[tail] :], factors.label[factors.first[head] :]
        table[tails[0], heads[0]] += share
        fit_columns(factors, e, missing_tail, missing_head)
        begin = factors.pair_first[e]
        for p in range(begin, begin + factors.pair_size[e]):
            ta, hb = factors.tail_place[p], factors.head_place[p]
            mass = factors.pair_mass[p] * row_factor(factors, e, ta)
            column = missing_head[hb]
            own = factors.mass[factors.first[head] + hb]
            mass *= own / column if column > own else 1.0
            missing_tail[ta] -= mass
            table[tails[ta], heads[hb]] -= share * mass
        for p in range(factors.size[head]):
            missing_head[p] = max(factors.mass[factors.first[head] + p] - missing_head[p], 0.0)
        add_missing(factors, table, tail, head, share, missing_tail, missing_head)
    for j in range(factors.size.shape[0]):
        i, costs = factors.sample_of_site[j], problem.cost[problem.labels[j]]
        for p in range(factors.first[j], factors.first[j] + factors.size[j]):
            loss += problem.weight[i] * problem.loss_scale[i] * costs[factors.label[p]] * factors.mass[p]
    return loss


@helper
def row_factor(factors, e, place):
    """What the masses of a label of the tail are scaled by."""
    given = factors.given[factors.slot_first[2 * e] + place]
    own = factors.mass[factors.first[factors.ends[2 * e]] + place]
    return own / given if given > own else 1.0


@helper
def fit_columns(factors, e, missing_tail, missing_head):
    """Sums of columns after rows are scaled go to `missing_head`, and what sites have to `missing_tail`."""
    tail, head, begin = factors.ends[2 * e], factors.ends[2 * e + 1], factors.pair_first[e]
    for p in range(factors.size[tail]):
        missing_tail[p] = factors.mass[factors.first[tail] + p]
    for p in range(factors.size[head]):
        missing_head[p] = 0.0
    for p in range(begin, begin + factors.pair_size[e]):
        missing_head[factors.head_place[p]] += factors.pair_mass[p] * row_factor(factors, e, factors.tail_place[p])


@helper
def add_missing(factors, table, tail, head, share, missing_tail, missing_head):
    """What is missing at the head, as it is missing at the tail."""
    total = 0.0
    for q in range(factors.size[head]):
        total += missing_head[q]
    if total <= 0.0:
        return
    for p in range(factors.size[tail]):
        if missing_tail[p] > 0.0:
            a, part = factors.label[factors.first[tail] + p], share * missing_tail[p] / total
            for q in range(factors.size[head]):
                if missing_head[q] > 0.0:
                    table[a, factors.label[factors.first[head] + q]] -= part * missing_head[q]
