"""A block of sites and links along a direction: its length in feature space, and the step."""

from __future__ import annotations

from ..._compile import helper, implements, routine, verb
from ..directions import BetweenCorners, Measured, ToCorner, ToExpectation, list_change, plus
from ..verbs import measure, move
from .layout import PairwiseProblem, link_weights
from .links import further_norm, goal_products, move_links, short_norm
from .sites import drain, site_weights, spread

# Below this share of |g|^2 a norm that is a difference of kept ones is summed afresh.
CANCELLED = 1e-6


@verb
def change_at(direction, s, k, marginals, corner):
    """What the marginal of label k at site s of a sample changes by, on the whole way to a goal."""


@implements(change_at, ToCorner)
def _(direction, s, k, marginals, corner):
    return (1.0 if k == corner else 0.0) - marginals[k]


@implements(change_at, ToExpectation)
def _(direction, s, k, marginals, corner):
    return direction.expectation.node[s * marginals.shape[0] + k] - marginals[k]


@verb
def site_products(direction, problem, blocks, work, i):
    """``<E phi, g>`` and ``|g|^2`` of the sites, from the block's Gram matrix; see :func:`~.links.goal_products`."""


@implements(site_products, ToCorner)
def _(direction, problem, blocks, work, i):
    begin = problem.sites.offsets[i]
    length = problem.sites.offsets[i + 1] - begin
    labels, p = work.labels[:length], problem.gram_offsets[i]
    cross, square = 0.0, 0.0
    for t in range(length):
        mine = labels[t]
        cross += problem.gram[p] * blocks.node[begin + t, mine]
        square += problem.gram[p]
        for u in range(t + 1, length):
            product = problem.gram[p + u - t]
            cross += product * (blocks.node[begin + u, mine] + blocks.node[begin + t, labels[u]])
            if mine == labels[u]:
                square += 2.0 * product
        p += length - t
    return cross, square


@implements(site_products, BetweenCorners)
def _(direction, problem, blocks, work, i):
    begin = problem.sites.offsets[i]
    length = problem.sites.offsets[i + 1] - begin
    corner, away, first = work.labels[:length], work.away[:length], problem.gram_offsets[i]
    cross, square = 0.0, 0.0
    for t in range(length):
        if corner[t] == away[t]:
            continue
        for u in range(length):
            low, high = min(t, u), max(t, u)
            product = problem.gram[first + low * length - (low * (low - 1)) // 2 + high - low]
            cross += product * (blocks.node[begin + u, corner[t]] - blocks.node[begin + u, away[t]])
            if corner[u] != away[u]:
                agree = (1.0 if corner[t] == corner[u] else 0.0) + (1.0 if away[t] == away[u] else 0.0)
                cancel = (1.0 if corner[t] == away[u] else 0.0) + (1.0 if away[t] == corner[u] else 0.0)
                square += product * (agree - cancel)
    return cross, square


@implements(site_products, ToExpectation)
def _(direction, problem, blocks, work, i):
    goal, n_labels = direction.expectation.node, problem.cost.shape[0]
    begin = problem.sites.offsets[i]
    length, p = problem.sites.offsets[i + 1] - begin, problem.gram_offsets[i]
    cross, square = 0.0, 0.0
    for t in range(length):
        for u in range(t, length):
            crossing, inside = 0.0, 0.0
            for k in range(n_labels):
                mine, other = goal[t * n_labels + k], goal[u * n_labels + k]
                crossing += mine * blocks.node[begin + u, k] + other * blocks.node[begin + t, k]
                inside += mine * other
            once = 0.5 if t == u else 1.0
            cross += once * problem.gram[p] * crossing
            square += 2.0 * once * problem.gram[p] * inside
            p += 1
    return cross, square


@implements(measure, PairwiseProblem)
def _(problem, direction, blocks, work, i):
    return measure_block(problem, direction, blocks, work, i)


@routine
def measure_block(problem, direction, blocks, work, i):
    links, sites = problem.links, problem.sites
    further = further_norm(blocks.links, direction, links, work, i)
    if problem.gram_offsets[i] == problem.gram_offsets[i + 1]:
        further += short_norm(blocks.links, direction, links, sites, work, i)
        return Measured(further + norm_in_feature_space(problem, direction, blocks, work, i), 0.0, 0.0)
    cross, square = goal_products(blocks.links, direction, links, sites, work, i)
    of_sites, square_of_sites = site_products(direction, problem, blocks, work, i)
    cross, norm = along(direction, problem, blocks, work, i, cross + of_sites, square + square_of_sites)
    return Measured(further + norm, cross, norm)


@verb
def along(direction, problem, blocks, work, i, cross, square):
    """``<E phi, D>`` and ``|D|^2`` of a direction D, from those of its goal."""


@implements(along, BetweenCorners)
def _(direction, problem, blocks, work, i, cross, square):
    return cross, max(square, 0.0)


@implements(along, ToCorner, ToExpectation)
def _(direction, problem, blocks, work, i, cross, square):
    norm = blocks.norm[i] - 2.0 * cross + square
    if norm <= CANCELLED * square:  # a small difference of large numbers has lost its digits, and the step with it
        norm = norm_by_gram(problem, direction, blocks, work, i)
    return cross - blocks.norm[i], norm


@routine
def norm_by_gram(problem, direction, blocks, work, i):
    """The direction's norm term by term: slower than by the products kept, exact for short directions."""
    begin = problem.sites.offsets[i]
    length, p = problem.sites.offsets[i + 1] - begin, problem.gram_offsets[i]
    total = short_norm(blocks.links, direction, problem.links, problem.sites, work, i)
    for t in range(length):
        for u in range(t, length):
            inner = 0.0
            for k in range(problem.cost.shape[0]):
                mine = change_at(direction, t, k, blocks.node[begin + t], work.labels[t])
                inner += mine * change_at(direction, u, k, blocks.node[begin + u], work.labels[u])
            total += (1.0 if t == u else 2.0) * problem.gram[p] * inner
            p += 1
    return max(total, 0.0)


@helper
def list_site(direction, blocks, work, begin, t):
    """List how the marginals of a site change; the number of entries is returned."""
    s = t - begin
    return list_change(direction, s, blocks.node[t], work.labels[s], work.away[s], work.active, work.values)


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
    blocks.norm[i] += gamma * (2.0 * measured.cross + gamma * measured.square)
