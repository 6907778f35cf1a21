"""Inference in plain PyTorch operations, on any device: a step a node, for all samples at once.

It is what runs where there are no compiled kernels. Every pass goes up the trees and keeps, of each node, the scores of
its labels with all below (`inside`); going down again, a node's label is chosen given its parent's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from .forests import Forest


class Summed(NamedTuple):
    """What a pass up leaves for one down."""

    values: Tensor  # (B,) log-partition functions
    inside: Tensor  # (B, N, K) each node's shifted, so that its largest is 0
    messages: Tensor  # (B, N, K) what a node sends to its parent, by the label of that


def table_of(forest: Forest, node: Tensor) -> Tensor:
    """(B or 1, K, K) tables of one node of each sample with its parent."""
    edge = forest.edge
    if edge.shape[1] == 1:
        return edge[:, 0]
    row = torch.arange(len(node), device=node.device) if len(edge) > 1 else 0
    return edge[row, node.clamp(max=edge.shape[1] - 1)]


def rows_of(forest: Forest) -> Tensor:
    return torch.arange(len(forest.node), device=forest.node.device)


def no_table(forest: Forest) -> bool:
    """Whether there is no edge at all, and no table to look at."""
    return forest.edge.shape[1] == 0 or forest.node.shape[1] == 1


def find_best(forest: Forest) -> Tensor:
    """(B, N) the best labelings; ties go to the lowest label, roots first."""
    inside = forest.node.clone()
    if not no_table(forest):
        rows = rows_of(forest)
        for node in forest.steps:
            head = forest.heads[rows, node]
            message = (inside[rows, node][:, :, None] + table_of(forest, node)).amax(dim=1)
            inside[rows, head.clamp(min=0)] += torch.where(head[:, None] >= 0, message, 0.0)
    return choose_down(forest, inside[:, None], lambda scores: scores.argmax(dim=-1))[:, 0]


def choose_down(forest: Forest, inside: Tensor, choose: Callable[[Tensor], Tensor]) -> Tensor:
    """(B, S, N) labels from the roots down, S of each sample, chosen by `inside` (B, 1 or S, N, K) and tables."""
    n_samples, _, n_labels = forest.node.shape
    labels = choose(inside)  # of roots; the others follow
    if no_table(forest):
        return labels * forest.real[:, None]
    rows = rows_of(forest)
    for node in forest.steps.flip(0):
        head = forest.heads[rows, node]
        above = labels[rows, :, head.clamp(min=0)]  # (B, S)
        table = table_of(forest, node).expand(n_samples, n_labels, n_labels).transpose(1, 2)
        given = table.gather(1, above[:, :, None].expand(-1, -1, n_labels))  # (B, S, K): rows by the label above
        chosen = choose(inside[rows, :, node] + given)
        labels[rows, :, node] = torch.where(head[:, None] >= 0, chosen, labels[rows, :, node])
    return labels * forest.real[:, None]


def sum_up(forest: Forest) -> Summed:
    """Log-partition functions."""
    inside, messages = forest.node.clone(), torch.zeros_like(forest.node)
    shifts = torch.zeros(len(inside), dtype=torch.float64, device=inside.device)
    rows = rows_of(forest)
    for node in forest.steps:
        head = forest.heads[rows, node]
        real = forest.real[rows, node]
        own = inside[rows, node]
        shift = own.amax(dim=1)
        shift = torch.where(torch.isfinite(shift), shift, 0.0)
        own = own - shift[:, None]
        inside[rows, node] = own
        shifts += torch.where(real, shift, 0.0)
        if no_table(forest):
            continue
        message = torch.logsumexp(own[:, :, None] + table_of(forest, node), dim=1)
        messages[rows, node] = message
        inside[rows, head.clamp(min=0)] += torch.where(head[:, None] >= 0, message, 0.0)
    at_roots = torch.logsumexp(inside, dim=2).double()
    values = shifts + torch.where(forest.real & (forest.heads < 0), at_roots, 0.0).sum(dim=1)
    return Summed(values.to(inside.dtype), inside, messages)


def spread_down(forest: Forest, summed: Summed, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of the weighted sum of log-partition functions by the scores of labels and of edges.

    They are marginals times the weight (B,) of their sample, those of edges summed where scores are shared.
    """
    rows = rows_of(forest)
    roots = torch.softmax(summed.inside, dim=2).nan_to_num(0.0)  # nothing where all is forbidden
    weight = torch.where(summed.values > -torch.inf, weight, 0.0)
    shares = roots * weight[:, None, None] * forest.real[:, :, None]
    edges = torch.zeros_like(forest.edge)
    if no_table(forest):
        return shares, edges
    for node in forest.steps.flip(0):
        head = forest.heads[rows, node]
        has_head = (head >= 0)[:, None]
        above, message = shares[rows, head.clamp(min=0)], summed.messages[rows, node]
        above = torch.where(has_head, above, 0.0)
        message = torch.where(torch.isfinite(message), message, 0.0)[:, None, :]
        given = (summed.inside[rows, node][:, :, None] + table_of(forest, node) - message).exp()
        pairs = given * above[:, None, :]
        own = pairs.sum(dim=2)
        add_pairs(edges, node, has_head, pairs)
        shares[rows, node] = torch.where(has_head, own, shares[rows, node])
    return shares, edges


def add_pairs(edges: Tensor, node: Tensor, has_head: Tensor, pairs: Tensor) -> None:
    """Add (B, K, K) tables where the scores are that they belong to."""
    pairs = torch.where(has_head[:, :, None], pairs, 0.0)
    if len(edges) == 1 and edges.shape[1] == 1:
        edges[0, 0] += pairs.sum(dim=0)
        return
    places = node.clamp(max=edges.shape[1] - 1)
    samples = torch.zeros_like(node) if len(edges) == 1 else torch.arange(len(node), device=node.device)
    edges.index_put_((samples, places), pairs, accumulate=True)


def draw(forest: Forest, inside: Tensor, count: int, generator: torch.Generator | None) -> Tensor:
    """(B, count, N) labelings drawn from ``p(y) ~ exp(score(y))``, given what a pass up left, in logarithms."""

    def choose(scores: Tensor) -> Tensor:
        scores = scores.expand(-1, count, *scores.shape[2:])
        uniform = torch.rand(scores.shape, dtype=scores.dtype, device=scores.device, generator=generator)
        # the largest score with noise of Gumbel's distribution is drawn in proportion to exponentials
        noise = -torch.log(-torch.log(uniform.clamp(min=torch.finfo(scores.dtype).tiny)))
        return (scores + noise).argmax(dim=-1)

    return choose_down(forest, inside[:, None], choose)
