"""The sites of all samples under each other: features, scores from weights, weights from marginals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, kernel, plain
from ..rows import (
    Rows,
    add_outer,
    add_outer_all,
    add_scores,
    add_scores_from,
    as_rows,
    count_weight_rows,
    drain_squares,
    label_score,
    list_ranges,
    row_dot,
)


class Sites(NamedTuple):
    """Feature rows, and weight rows of features that need no storing; row numbers of absent ones are -1."""

    rows: Rows
    offsets: np.ndarray  # (n + 1,) int64
    n_rows: int  # weight rows: F + extras
    intercept_row: int  # 1 at every site
    first_row: int  # 1 at the first site of a sample
    last_row: int  # 1 at the last one


def make_sites(matrix: Any, offsets: np.ndarray, *, intercept: bool, boundary: bool) -> Sites:
    n_features = count_weight_rows(matrix)
    return Sites(
        rows=as_rows(matrix),
        offsets=plain(offsets, np.int64),
        n_rows=n_features + intercept + 2 * boundary,
        intercept_row=n_features if intercept else -1,
        first_row=n_features + intercept if boundary else -1,
        last_row=n_features + intercept + 1 if boundary else -1,
    )


@helper
def site_weights(sites, n_labels, w):
    return w[: sites.n_rows * n_labels].reshape((sites.n_rows, n_labels))


@helper
def score_sites(sites, weights, begin, length, node):
    """Label scores of a sample's sites, extras included."""
    n_labels = node.shape[1]
    for t in range(length):
        if sites.intercept_row >= 0:
            for k in range(n_labels):
                node[t, k] = weights[sites.intercept_row, k]
        else:
            for k in range(n_labels):
                node[t, k] = 0.0
        add_scores(sites.rows, begin + t, weights, node[t])
    add_ends(sites, weights, length, node)


@helper
def add_ends(sites, weights, length, node):
    """Add what the first and the last site of a sample have of their own."""
    if sites.first_row >= 0:
        for k in range(node.shape[1]):
            node[0, k] += weights[sites.first_row, k]
            node[length - 1, k] += weights[sites.last_row, k]


@helper
def score_labels(sites, weights, begin, end, t, low, scores):
    """Scores of some labels of a site, from `low` on, where its sample goes from `begin` to `end`."""
    for k in range(scores.shape[0]):
        scores[k] = 0.0
    add_scores_from(sites.rows, t, weights, low, scores)
    for row, is_there in extras_of(sites, begin, end, t):
        if is_there:
            for k in range(scores.shape[0]):
                scores[k] += weights[row, low + k]


@helper
def score_label(sites, weights, begin, end, t, k):
    """That of one label."""
    total = label_score(sites.rows, t, weights, k)
    for row, is_there in extras_of(sites, begin, end, t):
        if is_there:
            total += weights[row, k]
    return total


@helper
def extras_of(sites, begin, end, t):
    """Rows of features that need no storing, and whether site t has them."""
    return (
        (sites.intercept_row, sites.intercept_row >= 0),
        (sites.first_row, sites.first_row >= 0 and t == begin),
        (sites.last_row, sites.last_row >= 0 and t == end - 1),
    )


@helper
def score_sites_on(sites, anchor, offset, share, begin, length, node):
    """The same at the weights ``anchor + share offset``."""
    score_sites(sites, offset, begin, length, node)
    for t in range(length):
        for k in range(node.shape[1]):
            node[t, k] *= share
            if sites.intercept_row >= 0:
                node[t, k] += anchor[sites.intercept_row, k]
        add_scores(sites.rows, begin + t, anchor, node[t])
    add_ends(sites, anchor, length, node)


@helper
def spread(sites, t, begin, end, scale, n_active, active, values, weights):
    """Add ``scale phi`` of one site to site weights, for the labels listed in their order."""
    n_labels = weights.shape[1]
    if n_active == n_labels and active[n_labels - 1] == n_labels - 1:  # all of them: rows of weights at once
        add_outer_all(sites.rows, t, scale, values, weights)
        spread_extras(sites, t, begin, end, scale, n_active, active, values, weights)
    else:
        spread_some(sites, t, begin, end, scale, n_active, active, values, weights)


@helper
def spread_some(sites, t, begin, end, scale, n_active, active, values, weights):
    """The same for labels in any order."""
    add_outer(sites.rows, t, scale, n_active, active, values, weights)
    spread_extras(sites, t, begin, end, scale, n_active, active, values, weights)


@helper
def spread_extras(sites, t, begin, end, scale, n_active, active, values, weights):
    for j in range(n_active):
        if sites.intercept_row >= 0:
            weights[sites.intercept_row, active[j]] += scale * values[j]
        if sites.first_row >= 0 and t == begin:
            weights[sites.first_row, active[j]] += scale * values[j]
        if sites.first_row >= 0 and t == end - 1:
            weights[sites.last_row, active[j]] += scale * values[j]


@helper
def list_site_ranges(sites, begin, end, n_labels, support):
    """List the ranges of weights of sites `begin` to `end`; returns how many there are."""
    extras = min_row(sites)
    count = 0
    for t in range(begin, end):
        count = list_ranges(sites.rows, t, 0, n_labels, support, count)
    if extras < sites.n_rows:
        support[count, 0], support[count, 1] = extras * n_labels, sites.n_rows * n_labels
        count += 1
    return count


@helper
def min_row(sites):
    """The first row of the extras, which are the last ones; the number of rows where there are none."""
    if sites.intercept_row >= 0:
        return sites.intercept_row
    return sites.first_row if sites.first_row >= 0 else sites.n_rows


@helper
def drain(sites, begin, end, buffer):
    """Squared norm of what was spread over a buffer by sites `begin` to `end`; leaves it zero."""
    total = 0.0
    for t in range(begin, end):
        total += drain_squares(sites.rows, t, buffer)
    for row in range(sites.n_rows - 3, sites.n_rows):
        if row >= 0:  # rows of the extras; a drained feature row adds nothing more
            for k in range(buffer.shape[1]):
                total += buffer[row, k] * buffer[row, k]
                buffer[row, k] = 0.0
    return total


@kernel
def fill_gram(sites, gram_offsets, gram, first, last):
    """Upper triangles of the Gram matrices of samples `first` to `last`, extras included."""
    for i in range(first, last):
        p = gram_offsets[i]
        if p == gram_offsets[i + 1]:
            continue
        begin, end = sites.offsets[i], sites.offsets[i + 1]
        for t in range(begin, end):
            for u in range(t, end):
                product = row_dot(sites.rows, t, u)
                if sites.intercept_row >= 0:
                    product += 1.0
                if sites.first_row >= 0 and t == u:
                    product += (1.0 if t == begin else 0.0) + (1.0 if t == end - 1 else 0.0)
                gram[p] = product
                p += 1
