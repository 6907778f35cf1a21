"""Sums over chains whose edges all share one table: a matrix product a position, for all samples at once.

Scores are exponentiated once, and what is added up at a position is divided by its sum, so that numbers stay in range.
Pairs of labels of all positions are one product at the end. It is for tables of a moderate range, `fits` says which.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from .forests import Forest

# Of the largest exponent of a type, what the range of edge scores may be. An exponential that is lost belongs to a
# label that is worse than the best of its position by the whole exponent, of which edges make up for twice their range.
WIDEST = 0.2


class Summed(NamedTuple):
    """What a pass forward leaves for one backward; positions come first."""

    values: Tensor  # (B,) log-partition functions
    table: Tensor  # (K, K) exponentials of edge scores
    node: Tensor  # (T, B, K) of node scores, each position's divided by the largest
    inside: Tensor  # (T, B, K) shares of labels, given the scores up to there
    totals: Tensor  # (T, B, 1) what they were divided by


def fits(forest: Forest) -> bool:
    """Whether there is one table for all edges of all chains, of a moderate range."""
    edge = forest.edge
    if not forest.is_chain or edge.shape[0] * edge.shape[1] != 1:
        return False
    return is_moderate(forest)


def is_moderate(forest: Forest) -> bool:
    """Whether nothing is lost where edge scores are exponentiated."""
    least, largest = forest.table_range
    return largest - least <= WIDEST * math.log(torch.finfo(forest.edge.dtype).max)  # not where anything is forbidden


def sum_up(forest: Forest) -> Summed:
    """Log-partition functions."""
    length = forest.node.shape[1]
    largest = forest.edge.amax()
    table = (forest.edge[0, 0] - largest).exp()
    best = forest.node.amax(dim=2, keepdim=True)
    best = torch.where(torch.isfinite(best), best, 0.0)
    node = (forest.node - best).exp().transpose(0, 1).contiguous()
    inside, totals = torch.empty_like(node), torch.empty_like(node[:, :, :1])
    here, least = node[0], torch.finfo(node.dtype).tiny  # nothing is 0 of nothing where all is forbidden
    for t in range(length):
        if t > 0:
            here = (inside[t - 1] @ table) * node[t]
        torch.sum(here, dim=1, keepdim=True, out=totals[t])
        torch.div(here, totals[t].clamp(min=least), out=inside[t])
    logs = (totals[:, :, 0].log().T + best[:, :, 0]).double()  # positions after the end add up to nothing of a sample's
    values = torch.where(forest.real, logs, 0.0).sum(dim=1)
    values += (forest.sizes.to(values.device) - 1) * largest.double()
    return Summed(values.to(node.dtype), table, node, inside, totals)


def spread_down(forest: Forest, summed: Summed, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of the weighted sum of log-partition functions by the scores of labels and of edges."""
    length = forest.node.shape[1]
    shares, rest = summed.inside.clone(), torch.zeros_like(summed.node)
    real = forest.real.T[:, :, None]
    ends = bool((forest.sizes < length).any())
    outside = torch.ones_like(summed.node[0])
    back = summed.table.T.contiguous()
    for t in range(length - 1, 0, -1):
        torch.div(summed.node[t] * outside, summed.totals[t], out=rest[t])
        before = rest[t] @ back
        if ends:
            before = torch.where(real[t], before, 1.0)  # the end is here, or earlier
        shares[t - 1] *= before
        outside = before
    counts = real & (summed.values > -torch.inf)[:, None]
    shares, rest = (torch.where(counts, one * weight[:, None], 0.0) for one in (shares, rest))
    n_labels = forest.node.shape[2]
    pairs = summed.inside[:-1].reshape(-1, n_labels).T @ rest[1:].reshape(-1, n_labels)
    return shares.transpose(0, 1), (pairs * summed.table)[None, None]
