"""Inference by the compiled kernels of `maxmargin.inference`, on CPU tensors: they are read where they lie."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from .._threads import on_ranges
from ..inference import ChainPlan, make_tree_plan
from ..inference.batches import best_of_range, sums_of_range, top_of_range
from ..inference.verbs import new_scratch
from .forests import Forest

# Pairs of labels that are worth a thread.
WORTH_A_THREAD = 1e6


class Summed(NamedTuple):
    """Log-partition functions, and marginals of each sample by itself."""

    values: Tensor  # (B,)
    node: Tensor  # (B, N, K)
    edge: Tensor  # (B, 1 or E, K, K)


class Asked(NamedTuple):
    """A batch as kernels take it."""

    plan: Any
    node: np.ndarray  # (B, N K)
    edge: np.ndarray  # (1 or B, tables)
    n_labels: int
    n_threads: int


def ask(forest: Forest) -> Asked:
    n_samples, _, n_labels = forest.node.shape
    node = forest.node.reshape(n_samples, -1).double().contiguous().numpy()
    edge = forest.edge.reshape(len(forest.edge), -1).double().contiguous().numpy()
    if edge.shape[1] == 0:  # of chains of one position: nobody looks at it
        edge = np.zeros((1, n_labels * n_labels))
    work = float(forest.sizes.sum()) * n_labels**2
    n_threads = min(torch.get_num_threads(), n_samples, 1 + int(work / WORTH_A_THREAD))
    return Asked(plan_of(forest), node, edge, n_labels, n_threads)


def plan_of(forest: Forest) -> Any:
    """Chains whose edges share a table have code of their own, everything else is trees."""
    n_nodes, n_labels = forest.node.shape[1:]
    offsets = np.zeros(len(forest.sizes) + 1, np.int64)
    np.cumsum(forest.sizes.numpy(), out=offsets[1:])
    if forest.is_chain and (forest.shares_table or n_nodes == 1):
        nothing = np.zeros(n_labels)
        return ChainPlan(offsets, nothing, nothing, n_nodes)
    parents = forest.heads.numpy()[forest.real.numpy()]
    plan = make_tree_plan(offsets, parents, n_labels, shared=forest.shares_table)
    if forest.shares_table:
        return plan
    table, sizes = n_labels * n_labels, plan.sizes.copy()
    sizes[3] = n_nodes * table
    return plan._replace(tables=plan.tail * table, sizes=sizes)  # each where its node's is, roots' included


def find_best(forest: Forest) -> Tensor:
    asked = ask(forest)
    labels = np.zeros(forest.node.shape[:2], np.int64)

    def on_range(first: int, last: int) -> None:
        scratch = new_scratch(asked.plan, 1)
        best_of_range(asked.plan, asked.node, asked.edge, scratch, asked.n_labels, first, last, labels)

    on_ranges(len(labels), asked.n_threads, on_range)
    return torch.from_numpy(labels)


def find_top(forest: Forest, k: int) -> tuple[Tensor, Tensor]:
    asked = ask(forest)
    n_samples, n_nodes = forest.node.shape[:2]
    labels, values = np.zeros((n_samples, k, n_nodes), np.int64), np.full((n_samples, k), -np.inf)
    counts = np.zeros(n_samples, np.int64)

    def on_range(first: int, last: int) -> None:
        scratch = new_scratch(asked.plan, k)
        top_of_range(
            asked.plan, asked.node, asked.edge, scratch, asked.n_labels, k, first, last, labels, values, counts
        )

    on_ranges(n_samples, asked.n_threads, on_range)
    values[np.arange(k) >= counts[:, None]] = -np.inf
    return torch.from_numpy(labels), torch.from_numpy(values).to(forest.node.dtype)


def sum_up(forest: Forest) -> Summed:
    asked = ask(forest)
    n_samples, _, n_labels = forest.node.shape
    values, shares = np.zeros(n_samples), np.zeros_like(asked.node)
    places = tables_of(forest)
    edges = np.zeros((n_samples, forest.edge.shape[1], n_labels * n_labels))

    def on_range(first: int, last: int) -> None:
        scratch, pairs = new_scratch(asked.plan, 1), np.zeros(max(places.shape[1], 1) * n_labels * n_labels)
        sums_of_range(
            asked.plan,
            asked.node,
            asked.edge,
            scratch,
            n_labels,
            pairs,
            places,
            first,
            last,
            values,
            shares,
            edges,
        )

    on_ranges(n_samples, asked.n_threads, on_range)
    dtype = forest.node.dtype
    return Summed(
        torch.from_numpy(values).to(dtype),
        torch.from_numpy(shares).to(dtype).reshape(forest.node.shape),
        torch.from_numpy(edges).to(dtype).reshape(n_samples, -1, n_labels, n_labels),
    )


def tables_of(forest: Forest) -> np.ndarray:
    """(B, E) which table each edge of a sample has, in the order of the plan's edges; -1 where there are no more."""
    heads = forest.heads.numpy()
    is_edge = heads >= 0
    most = int(is_edge.sum(axis=1).max(initial=0))
    places = np.full((len(heads), most), -1, np.int64)
    samples, nodes = np.nonzero(is_edge)
    rank = np.cumsum(is_edge, axis=1)[samples, nodes] - 1
    places[samples, rank] = 0 if forest.shares_table else nodes
    return places


def spread_down(forest: Forest, summed: Summed, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of the weighted sum of log-partition functions by the scores of labels and of edges."""
    node = summed.node * weight[:, None, None]
    if len(forest.edge) == 1 and len(summed.edge) > 1:
        return node, torch.tensordot(weight, summed.edge, dims=1)[None]
    return node, summed.edge * weight[:, None, None, None]
