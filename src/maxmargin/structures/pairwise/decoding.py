"""Labelings, max-marginals and marginals of samples under given weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, kernel
from ...inference.verbs import find_best, find_marginals, find_max_marginals, find_top, new_scratch
from .layout import link_weights
from .links import link_scores, n_links, n_pool_tables, prepare_links
from .sites import score_sites, site_weights


class DecodingWork(NamedTuple):
    """What is left of `PairwiseWork` where nothing is learned: a single short sample feels every array."""

    node: np.ndarray  # (longest, K)
    edge: np.ndarray  # (tables K^2,)
    masses: np.ndarray  # (1,)
    scratch: Any  # of the plan


def decoding_work(links: Any, plan: Any, longest: int, n_labels: int, most_labelings: int = 1) -> DecodingWork:
    """Scratch of one thread that finds labelings."""
    return DecodingWork(
        node=np.zeros((longest, n_labels)),
        edge=np.zeros(n_pool_tables(links) * n_labels * n_labels),
        masses=np.zeros(1),
        scratch=new_scratch(plan, most_labelings),
    )


@helper
def score_sample(sites, links, work, w, i):
    """Scores of the sites, flat, and of the links of one sample."""
    n_labels = work.node.shape[1]
    begin, end = sites.offsets[i], sites.offsets[i + 1]
    weights = link_weights(links, sites, n_labels, w)
    score_sites(sites, site_weights(sites, n_labels, w), begin, end - begin, work.node)
    prepare_links(links, work, weights, i)
    node = work.node.reshape(work.node.size)[: (end - begin) * n_labels]  # not what longer samples have left behind
    return node, link_scores(links, work, weights, i)


@kernel
def decode(sites, links, plan, work, w, first, last, labels, values):
    """Best labelings of samples `first` to `last` under w, and their scores."""
    for i in range(first, last):
        node, edge = score_sample(sites, links, work, w, i)
        values[i] = find_best(plan, i, node, edge, work.scratch, labels[sites.offsets[i] : sites.offsets[i + 1]])


@kernel
def decode_top(sites, links, plan, work, w, first, last, k, labels, values, counts):
    """The k best labelings of each sample, in the columns of its sites, and how many there are."""
    for i in range(first, last):
        node, edge = score_sample(sites, links, work, w, i)
        mine = labels[:, sites.offsets[i] : sites.offsets[i + 1]]
        counts[i] = find_top(plan, i, node, edge, work.scratch, k, mine, values[i])


@kernel
def decode_max_marginals(sites, links, plan, work, w, first, last, out):
    """Max-marginals of every site."""
    n_labels = work.node.shape[1]
    for i in range(first, last):
        node, edge = score_sample(sites, links, work, w, i)
        mine = out[sites.offsets[i] * n_labels : sites.offsets[i + 1] * n_labels]
        find_max_marginals(plan, i, node, edge, work.scratch, mine)


@kernel
def decode_marginals(sites, links, plan, work, w, first, last, temperature, out, logs):
    """Marginals of every site, flat, under ``p(y) ~ exp(score(y) / temperature)``, and log-partition functions."""
    n_labels = work.node.shape[1]
    most = 0
    for i in range(first, last):
        most = max(most, n_links(links, sites, i))
    edge_out = np.empty(most * n_labels * n_labels)
    for i in range(first, last):
        node, edge = score_sample(sites, links, work, w, i)
        mine = out[sites.offsets[i] * n_labels : sites.offsets[i + 1] * n_labels]
        node /= temperature
        logs[i] = find_marginals(plan, i, node, edge / temperature, work.scratch, mine, edge_out)


@kernel
def decode_log_probabilities(sites, links, plan, work, w, first, last, labels, out):
    """Logarithms of ``p(y) ~ exp(score(y))`` of given labelings, -inf where the mask forbids them or a label is < 0."""
    n_labels = work.node.shape[1]
    most_links, most_sites = 0, 0
    for i in range(first, last):
        most_links = max(most_links, n_links(links, sites, i))
        most_sites = max(most_sites, sites.offsets[i + 1] - sites.offsets[i])
    edge_out, node_out = np.empty(most_links * n_labels * n_labels), np.empty(most_sites * n_labels)
    found = np.empty(most_sites, np.int32)
    for i in range(first, last):
        begin, end = sites.offsets[i], sites.offsets[i + 1]
        node, edge = score_sample(sites, links, work, w, i)
        total = find_marginals(plan, i, node, edge, work.scratch, node_out[: node.size], edge_out)
        for t in range(end - begin):  # the given labeling is the best one where no other is allowed
            for k in range(n_labels):
                if k != labels[begin + t]:
                    node[t * n_labels + k] = -np.inf
        best = find_best(plan, i, node, edge, work.scratch, found[: end - begin])
        out[i] = min(best - total, 0.0) if best > -np.inf else -np.inf
