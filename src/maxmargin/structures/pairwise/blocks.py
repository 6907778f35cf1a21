"""Sites and links in part space: marginals of every site, and of the links as `links` keep them."""

from __future__ import annotations

from ..._compile import helper, implements
from ..._sums import dot
from ...inference.verbs import find_best
from ..verbs import (
    accumulate,
    add_block,
    add_corner,
    announce,
    block_value,
    corner_loss,
    direction_norm,
    find_corner,
    find_potentials_with,
    mean_loss,
    move,
    truth_value,
    upper_value,
)
from .layout import PairwiseProblem, link_weights
from .links import (
    accumulate_links,
    add_difference,
    add_marginals,
    corner_products,
    covered_norm,
    further_norm,
    link_scores,
    move_links,
    plus,
    prepare_links,
    score_labeling,
    score_marginals,
)
from .sites import drain, score_sites, site_weights, spread

# Below this share of |phi(corner)|^2 a direction's norm is summed afresh.
CANCELLED = 1e-6


@implements(find_potentials_with, PairwiseProblem)
def _(problem, work, w, i, emphasis):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin = sites.offsets[i]
    length = sites.offsets[i + 1] - begin
    score_sites(sites, site_weights(sites, n_labels, w), begin, length, work.node)
    unit = emphasis * problem.loss_scale[i]
    for t in range(length):
        costs = problem.cost[problem.labels[begin + t]]
        for k in range(n_labels):
            work.node[t, k] += unit * costs[k]
    prepare_links(problem.links, work, link_weights(problem.links, sites, n_labels, w), i)


@implements(find_corner, PairwiseProblem)
def _(problem, work, w, i):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    edge = link_scores(problem.links, work, link_weights(problem.links, sites, n_labels, w), i)
    node = work.node.reshape(work.node.size)[: (sites.offsets[i + 1] - sites.offsets[i]) * n_labels]
    return find_best(problem.plan, i, node, edge, work.scratch, work.labels)


@implements(announce, PairwiseProblem)
def _(problem, blocks, i):
    return None  # measured: the rows of a sample are long enough for the processor to find by itself


@implements(upper_value, PairwiseProblem)
def _(problem, work, w, i, value):
    return value


@implements(truth_value, PairwiseProblem)
def _(problem, work, w, i):
    begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
    return labeling_value(problem, work, w, i, problem.labels[begin:end])  # the loss of the truth is 0


@helper
def labeling_value(problem, work, w, i, labels):
    weights = link_weights(problem.links, problem.sites, problem.cost.shape[0], w)
    total = score_labeling(problem.links, problem.sites, work, weights, i, labels)
    for t in range(labels.shape[0]):
        total += work.node[t, labels[t]]
    return total


@implements(block_value, PairwiseProblem)
def _(problem, blocks, work, w, i):
    n_labels = problem.cost.shape[0]
    begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
    total = 0.0
    for t in range(begin, end):
        for k in range(n_labels):
            total += work.node[t - begin, k] * blocks.node[t, k]
    return total + score_marginals(
        problem.links, blocks, work, link_weights(problem.links, problem.sites, n_labels, w), i
    )


@implements(direction_norm, PairwiseProblem)
def _(problem, blocks, work, i):
    begin = problem.sites.offsets[i]
    length = problem.sites.offsets[i + 1] - begin
    labels = work.labels[:length]
    further = further_norm(problem.links, problem.sites, blocks, work, i)
    if problem.gram_offsets[i] == problem.gram_offsets[i + 1]:
        return further + norm_in_feature_space(problem, blocks, work, i)
    cross, corner = corner_products(problem.links, problem.sites, blocks, work, i)
    p = problem.gram_offsets[i]
    for t in range(length):
        mine = labels[t]
        cross += problem.gram[p] * blocks.node[begin + t, mine]
        corner += problem.gram[p]
        for u in range(t + 1, length):
            product = problem.gram[p + u - t]
            cross += product * (blocks.node[begin + u, mine] + blocks.node[begin + t, labels[u]])
            if mine == labels[u]:
                corner += 2.0 * product
        p += length - t
    work.products[0] = cross
    work.products[1] = corner
    norm = blocks.norm[i] - 2.0 * cross + corner
    # a small difference of large numbers has lost its digits, and the step with it
    return further + (norm if norm > CANCELLED * corner else norm_by_gram(problem, blocks, work, i))


@helper
def norm_by_gram(problem, blocks, work, i):
    """The direction's norm term by term: slower than by the products kept, exact for short directions."""
    n_labels = problem.cost.shape[0]
    begin = problem.sites.offsets[i]
    length = problem.sites.offsets[i + 1] - begin
    total = covered_norm(problem.links, problem.sites, blocks, work, i)
    p = problem.gram_offsets[i]
    for t in range(length):
        for u in range(t, length):
            inner = 0.0
            for k in range(n_labels):
                mine = (1.0 if k == work.labels[t] else 0.0) - blocks.node[begin + t, k]
                other = (1.0 if k == work.labels[u] else 0.0) - blocks.node[begin + u, k]
                inner += mine * other
            total += (1.0 if t == u else 2.0) * problem.gram[p] * inner
            p += 1
    return max(total, 0.0)


@helper
def norm_in_feature_space(problem, blocks, work, i):
    """The direction's norm for a block too long for a Gram matrix: spread it over the features, then collect."""
    sites = problem.sites
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    for t in range(begin, end):
        n_active = corner_minus_marginals(blocks.node[t], work.labels[t - begin], work.active, work.values)
        spread(sites, t, begin, end, 1.0, n_active, work.active, work.values, work.buffer)
    total = drain(sites, begin, end, work.buffer)
    return total + covered_norm(problem.links, sites, blocks, work, i)


@helper
def corner_minus_marginals(marginals, label, active, values):
    """List the non-zeros of ``e_label - marginals``; their number is returned."""
    n_active = 0
    if marginals[label] == 1.0:
        return n_active
    for k in range(marginals.shape[0]):
        m = marginals[k]
        if m != 0.0 or k == label:
            active[n_active] = k
            values[n_active] = (1.0 if k == label else 0.0) - m
            n_active += 1
    return n_active


@implements(move, PairwiseProblem)
def _(problem, blocks, work, w, i, gamma, scale):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        label = work.labels[t - begin]
        n_active = corner_minus_marginals(blocks.node[t], label, work.active, work.values)
        if n_active > 0:
            spread(sites, t, begin, end, -scale * gamma, n_active, work.active, work.values, weights)
            for k in range(n_labels):
                blocks.node[t, k] *= 1.0 - gamma
            blocks.node[t, label] = plus(blocks.node[t, label], gamma)
    move_links(problem.links, sites, blocks, work, link_weights(problem.links, sites, n_labels, w), i, gamma, scale)
    blocks.loss[i] += gamma * (corner_loss(problem, work, i) - blocks.loss[i])
    keep = 1.0 - gamma
    blocks.norm[i] = keep * (keep * blocks.norm[i] + 2.0 * gamma * work.products[0]) + gamma * gamma * work.products[1]


@implements(corner_loss, PairwiseProblem)
def _(problem, work, i):
    begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
    total = 0.0
    for t in range(begin, end):
        total += problem.cost[problem.labels[t], work.labels[t - begin]]
    return problem.loss_scale[i] * total


@implements(mean_loss, PairwiseProblem)
def _(problem, blocks):
    return dot(problem.weight, blocks.loss)


@implements(accumulate, PairwiseProblem)
def _(problem, totals, blocks, i, amount):
    for t in range(problem.sites.offsets[i], problem.sites.offsets[i + 1]):
        for k in range(problem.cost.shape[0]):
            totals.node[t, k] += amount * blocks.node[t, k]
    accumulate_links(problem.links, totals, blocks, i, amount)
    totals.loss[i] += amount * blocks.loss[i]


@implements(add_block, PairwiseProblem)
def _(problem, blocks, work, i, scale, mass, w):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        n_active = 0
        for k in range(n_labels):
            value = (mass if k == problem.labels[t] else 0.0) - blocks.node[t, k]
            if value != 0.0:
                work.active[n_active], work.values[n_active] = k, value
                n_active += 1
        spread(sites, t, begin, end, scale, n_active, work.active, work.values, weights)
    labels, of_links = problem.labels[begin:end], link_weights(problem.links, sites, n_labels, w)
    add_marginals(problem.links, sites, labels, blocks, work, i, scale, mass, of_links)


@implements(add_corner, PairwiseProblem)
def _(problem, work, i, scale, w):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        true, corner = problem.labels[t], work.labels[t - begin]
        if true != corner:
            work.active[0], work.active[1] = true, corner
            work.values[0], work.values[1] = 1.0, -1.0
            spread(sites, t, begin, end, scale, 2, work.active, work.values, weights)
    add_difference(
        problem.links, sites, problem.labels[begin:end], work, i, scale, link_weights(problem.links, sites, n_labels, w)
    )
