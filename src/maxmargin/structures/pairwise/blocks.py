"""Sites and links in part space: marginals of every site, and of the links as `links` keep them."""

from __future__ import annotations

from ..._compile import helper, implements
from ..._prefetch import prefetch
from ...inference.verbs import find_best
from ..directions import list_difference, list_pair
from ..lines import find_potentials_on, write_weights
from ..rows import prefetch_rows, prefetch_weights
from ..verbs import (
    accumulate,
    add_block,
    add_corner,
    announce,
    announce_weights,
    block_value,
    corner_loss,
    find_corner,
    find_potentials_with,
    truth_value,
)
from .layout import PairwiseProblem, link_weights
from .links import (
    accumulate_links,
    add_difference,
    add_marginals,
    announce_links,
    link_scores,
    link_width,
    list_link_ranges,
    prepare_links,
    score_labeling,
    score_marginals,
)
from .sites import score_sites, score_sites_on, site_weights, spread

# Of a long sample the first sites have to do, and of much else some: more would leave the cache before it is wanted.
SITES_AHEAD, NUMBERS_AHEAD = 64, 2048


@implements(find_potentials_with, PairwiseProblem)
def _(problem, work, w, i, emphasis):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin = sites.offsets[i]
    length = sites.offsets[i + 1] - begin
    score_sites(sites, site_weights(sites, n_labels, w), begin, length, work.node)
    add_losses(problem, work, i, emphasis)
    prepare_links(problem.links, work, link_weights(problem.links, sites, n_labels, w), i)


@helper
def add_losses(problem, work, i, emphasis):
    begin, end, unit = problem.sites.offsets[i], problem.sites.offsets[i + 1], emphasis * problem.loss_scale[i]
    for t in range(end - begin):
        costs = problem.cost[problem.labels[begin + t]]
        for k in range(costs.shape[0]):
            work.node[t, k] += unit * costs[k]


@implements(find_potentials_on, PairwiseProblem)
def _(problem, line, work, i, share, emphasis):
    sites, links, n_labels = problem.sites, problem.links, problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    anchor, offset = site_weights(sites, n_labels, line.anchor), site_weights(sites, n_labels, line.offset)
    score_sites_on(sites, anchor, offset, share, begin, end - begin, work.node)
    add_losses(problem, work, i, emphasis)
    first, width = sites.n_rows * n_labels, link_width(links, n_labels)
    write_weights(line, list_link_ranges(links, i, first, width, line.support, 0), share)
    prepare_links(links, work, link_weights(links, sites, n_labels, line.w), i)


@implements(announce, PairwiseProblem)
def _(problem, blocks, i):
    begin, end, n_labels = problem.sites.offsets[i], problem.sites.offsets[i + 1], problem.cost.shape[0]
    end = min(end, begin + SITES_AHEAD)
    prefetch(problem.labels, begin, end - begin)
    prefetch_rows(problem.sites.rows, begin, end)
    prefetch(blocks.node, begin * n_labels, min((end - begin) * n_labels, NUMBERS_AHEAD))
    first = problem.gram_offsets[i]  # of which a step reads some rows here and there
    prefetch(problem.gram, first, min(problem.gram_offsets[i + 1] - first, NUMBERS_AHEAD))
    announce_links(blocks.links, i)


@implements(announce_weights, PairwiseProblem)
def _(problem, w, i):
    sites = problem.sites
    prefetch_weights(sites.rows, sites.offsets[i], sites.offsets[i + 1], problem.cost.shape[0], w)


@implements(find_corner, PairwiseProblem)
def _(problem, work, w, i):
    sites, n_labels = problem.sites, problem.cost.shape[0]
    edge = link_scores(problem.links, work, link_weights(problem.links, sites, n_labels, w), i)
    node = work.node.reshape(work.node.size)[: (sites.offsets[i + 1] - sites.offsets[i]) * n_labels]
    return find_best(problem.plan, i, node, edge, work.scratch, work.labels)


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
        truth = problem.labels[t]
        if blocks.node[t, truth] == 1.0:  # most sites, of which the others need not come from memory
            total += work.node[t - begin, truth]
        else:
            for k in range(n_labels):
                total += work.node[t - begin, k] * blocks.node[t, k]
    of_links = link_weights(problem.links, problem.sites, n_labels, w)
    return total + score_marginals(blocks.links, problem.links, work, of_links, i)


@implements(corner_loss, PairwiseProblem)
def _(problem, work, i):
    begin, end = problem.sites.offsets[i], problem.sites.offsets[i + 1]
    total = 0.0
    for t in range(begin, end):
        total += problem.cost[problem.labels[t], work.labels[t - begin]]
    return problem.loss_scale[i] * total


@implements(accumulate, PairwiseProblem)
def _(problem, totals, blocks, i, amount):
    for t in range(problem.sites.offsets[i], problem.sites.offsets[i + 1]):
        if blocks.node[t, problem.labels[t]] == 1.0:  # most sites, of which the others need not come from memory
            totals.node[t, problem.labels[t]] += amount
        else:
            for k in range(problem.cost.shape[0]):
                totals.node[t, k] += amount * blocks.node[t, k]
    accumulate_links(blocks.links, totals.links, problem.links, i, amount)
    totals.loss[i] += amount * blocks.loss[i]


@implements(add_block, PairwiseProblem)
def _(problem, blocks, work, i, scale, mass, w):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        n_active = list_difference(blocks.node[t], problem.labels[t], mass, work.active, work.values)
        spread(sites, t, begin, end, scale, n_active, work.active, work.values, weights)
    labels, of_links = problem.labels[begin:end], link_weights(problem.links, sites, n_labels, w)
    add_marginals(blocks.links, problem.links, sites, labels, work, i, scale, mass, of_links)


@implements(add_corner, PairwiseProblem)
def _(problem, work, i, scale, w):
    sites = problem.sites
    n_labels = problem.cost.shape[0]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = site_weights(sites, n_labels, w)
    for t in range(begin, end):
        n_active = list_pair(problem.labels[t], work.labels[t - begin], work.active, work.values)
        if n_active > 0:
            spread(sites, t, begin, end, scale, n_active, work.active, work.values, weights)
    add_difference(
        problem.links, sites, problem.labels[begin:end], work, i, scale, link_weights(problem.links, sites, n_labels, w)
    )
