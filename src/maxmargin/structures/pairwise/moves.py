"""A block of sites and links along a direction: its length in feature space, and the step."""

from __future__ import annotations

from ..._compile import helper, implements, routine, verb
from ..directions import BetweenCorners, Measured, ToCorner, ToExpectation, fill_change, list_change, plus
from ..rows import most_ranges
from ..verbs import (
    add_direction,
    find_potentials,
    find_support,
    measure,
    move,
    renew_potentials,
    settle_block,
    shift_potentials,
    support_bound,
)
from .layout import PairwiseProblem, link_weights
from .links import (
    add_link_direction,
    link_norm,
    link_width,
    list_link_ranges,
    most_link_ranges,
    move_links,
    prepare_links,
    settle_links,
)
from .sites import drain, list_site_ranges, site_weights, spread


@implements(measure, PairwiseProblem)
def _(problem, direction, blocks, work, i):
    return Measured(norm_along(problem, direction, blocks, work, i))


@routine
def norm_along(problem, direction, blocks, work, i):
    norm = link_norm(blocks.links, direction, problem.links, problem.sites, work, i)
    if has_gram(problem, i):
        return norm + norm_by_gram(direction, problem, blocks, work, i)
    return norm + norm_in_feature_space(problem, direction, blocks, work, i)


@helper
def has_gram(problem, i):
    return problem.gram_offsets[i] < problem.gram_offsets[i + 1]


@helper
def gram_row(problem, i, length, t):
    """Products of site t with those from t on, each at its own number."""
    return problem.gram[problem.gram_offsets[i] + t * length - (t * (t - 1)) // 2 - t :]


@helper
def list_site(direction, blocks, work, begin, t):
    """List how the marginals of a site change; the number of entries is returned."""
    s = t - begin
    return list_change(direction, s, blocks.node[t], work.labels[s], work.away[s], work.active, work.values)


@verb
def norm_by_gram(direction, problem, blocks, work, i):
    """``sum_tu G_tu <D_t, D_u>`` over the sites that change: in most steps they are few."""


@implements(norm_by_gram, BetweenCorners)
def _(direction, problem, blocks, work, i):
    corner, away, changed, count, total = work.labels, work.away, work.changed, 0, 0.0
    length = problem.sites.offsets[i + 1] - problem.sites.offsets[i]
    for t in range(length):
        if corner[t] != away[t]:
            changed[count] = t
            count += 1
    for a in range(count):
        t = changed[a]
        gram = gram_row(problem, i, length, t)
        total += 2.0 * gram[t]
        for b in range(a + 1, count):
            u = changed[b]
            alike = int(corner[t] == corner[u]) + int(away[t] == away[u])
            total += 2.0 * (alike - int(corner[t] == away[u]) - int(away[t] == corner[u])) * gram[u]
    return max(total, 0.0)


@implements(norm_by_gram, ToCorner, ToExpectation)
def _(direction, problem, blocks, work, i):
    begin, changed, changes, weighted = problem.sites.offsets[i], work.changed, work.changes, work.weighted
    length, width = problem.sites.offsets[i + 1] - begin, work.weighted.shape[0]
    count, total = 0, 0.0
    for t in range(length):
        if fill_change(direction, t, blocks.node[begin + t], work.labels[t], work.away[t], changes[count]):
            changed[count] = t
            count += 1
    for a in range(count):
        t = changed[a]
        gram = gram_row(problem, i, length, t)
        own = 0.5 * gram[t]
        for k in range(width):
            weighted[k] = own * changes[a, k]
        b = a + 1
        while b + 3 < count:  # four sites a sweep: a quarter of the loads and stores of `weighted`
            p, q, r, s = gram[changed[b]], gram[changed[b + 1]], gram[changed[b + 2]], gram[changed[b + 3]]
            for k in range(width):
                weighted[k] += (p * changes[b, k] + q * changes[b + 1, k]) + (
                    r * changes[b + 2, k] + s * changes[b + 3, k]
                )
            b += 4
        while b < count:
            p = gram[changed[b]]
            for k in range(width):
                weighted[k] += p * changes[b, k]
            b += 1
        for k in range(width):
            total += 2.0 * weighted[k] * changes[a, k]
    return max(total, 0.0)


@routine
def norm_in_feature_space(problem, direction, blocks, work, i):
    """The norm for a block too long for a Gram matrix: spread the direction over the features, then collect."""
    begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
    for t in range(begin, end):
        count = list_site(direction, blocks, work, begin, t)
        spread(problem.sites, t, begin, end, 1.0, count, work.active, work.values, work.buffer)
    return drain(problem.sites, begin, end, work.buffer)


@implements(move, PairwiseProblem)
def _(problem, direction, measured, blocks, work, w, i, gamma, scale):
    sites, links, n_labels = problem.sites, problem.links, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights, loss = site_weights(sites, n_labels, w), 0.0
    for t in range(begin, end):
        count = list_site(direction, blocks, work, begin, t)
        if count == 0:
            continue
        spread(sites, t, begin, end, -scale * gamma, count, work.active, work.values, weights)
        costs = problem.cost[problem.labels[t]]
        for j in range(count):
            k, value = work.active[j], work.values[j]
            blocks.node[t, k] = plus(blocks.node[t, k], gamma * value)
            loss += costs[k] * value
    of_links = link_weights(links, sites, n_labels, w)
    move_links(blocks.links, direction, links, sites, work, of_links, i, gamma, scale)
    blocks.loss[i] += gamma * problem.loss_scale[i] * loss


@implements(shift_potentials, PairwiseProblem)
def _(problem, direction, blocks, work, i, gamma, scale):
    if not has_gram(problem, i):
        return
    begin = problem.sites.offsets[i]
    length = problem.sites.offsets[i + 1] - begin
    for u in range(length):
        count = list_site(direction, blocks, work, begin, begin + u)
        for t in range(length if count > 0 else 0):
            product = scale * gamma * gram_row(problem, i, length, min(t, u))[max(t, u)]
            for j in range(count):
                work.node[t, work.active[j]] -= product * work.values[j]


@implements(renew_potentials, PairwiseProblem)
def _(problem, work, w, i):
    if has_gram(problem, i):
        prepare_links(problem.links, work, link_weights(problem.links, problem.sites, problem.cost.shape[0], w), i)
    else:
        find_potentials(problem, work, w, i)


@implements(add_direction, PairwiseProblem)
def _(problem, direction, blocks, work, i, scale, w):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        count = list_site(direction, blocks, work, begin, t)
        if count > 0:
            spread(sites, t, begin, end, scale, count, work.active, work.values, weights)
    of_links = link_weights(problem.links, sites, n_labels, w)
    add_link_direction(blocks.links, direction, problem.links, sites, work, of_links, i, scale)


@implements(settle_block, PairwiseProblem)
def _(problem, expectation, blocks, i):
    begin, end, n_labels = problem.sites.offsets[i], problem.sites.offsets[i + 1], problem.cost.shape[0]
    loss = 0.0
    for t in range(begin, end):
        for k in range(n_labels):
            mass = expectation.node[(t - begin) * n_labels + k]
            blocks.node[t, k] = mass
            loss += problem.cost[problem.labels[t], k] * mass
    settle_links(blocks.links, expectation, problem.links, i)
    blocks.loss[i] = problem.loss_scale[i] * loss


@implements(support_bound, PairwiseProblem)
def _(problem):
    return most_ranges(problem.sites.rows, problem.sites.offsets) + 1 + most_link_ranges(problem.links)


@implements(find_support, PairwiseProblem)
def _(problem, i, support):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    count = list_site_ranges(sites, sites.offsets[i], sites.offsets[i + 1], n_labels, support)
    first, width = sites.n_rows * n_labels, link_width(problem.links, n_labels)
    return list_link_ranges(problem.links, i, first, width, support, count)
