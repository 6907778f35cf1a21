"""Corners of sites and links within a range of the weight rows of sites; the last one has what no feature has."""

from __future__ import annotations

import numpy as np

from ..._compile import implements
from ..._threads import equal_shares
from ..directions import list_pair
from ..rows import SparseRows, add_outer_within, prefetch_outer
from ..weight_ranges import add_corner_within, ranges_of_rows
from .layout import PairwiseProblem, link_weights
from .links import add_difference, n_link_rows
from .sites import site_weights, spread_extras


@implements(ranges_of_rows, PairwiseProblem)
def _(problem, n_ranges):
    rows, n_rows = problem.sites.rows, problem.sites.n_rows
    if not isinstance(rows, SparseRows) or n_link_rows(problem.links) > 1:  # most weights may be those of links
        return None
    # features by how often they come: what a range takes is mostly that
    ends = np.unique(equal_shares(np.bincount(rows.indices, minlength=n_rows), n_ranges)[1:])
    return np.append(0, ends[ends > 0] if n_rows > 0 else ends)  # one range alone goes to the end


@implements(add_corner_within, PairwiseProblem)
def _(problem, work, i, scale, w, first, last):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        n_active = list_pair(problem.labels[t], work.labels[t - begin], work.active, work.values)
        if n_active > 0:
            prefetch_outer(sites.rows, t, n_active, work.active, n_labels, w, first, last)
    for t in range(begin, end):
        n_active = list_pair(problem.labels[t], work.labels[t - begin], work.active, work.values)
        if n_active > 0:
            add_outer_within(sites.rows, t, scale, n_active, work.active, work.values, weights, first, last)
            if last == sites.n_rows:
                spread_extras(sites, t, begin, end, scale, n_active, work.active, work.values, weights)
    if last == sites.n_rows:
        of_links = link_weights(problem.links, sites, n_labels, w)
        add_difference(problem.links, sites, problem.labels[begin:end], work, i, scale, of_links)
