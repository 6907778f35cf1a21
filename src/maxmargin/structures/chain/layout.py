"""Chains laid out flat: sequences to score, problems to learn, dual state, scratch.

Flat weights are ``[node (F + extras, K) | transitions (K, K)]``. The extras are weight rows of features that need no
storing: the intercept (1 at every position), then the boundary pair (1 at the first position, 1 at the last). With
kernel rows theirs stand for the F features, see :class:`~..rows.KernelRows`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, kernel
from ..masks import TransitionMask
from ..rows import Rows, as_rows, count_weight_rows, flat_inner, has_features, row_dot, stored
from ..verbs import can_be_bounded, dimension, inner, n_blocks, new_blocks, new_totals, new_work

# A block's Gram matrix is kept while its pairs of positions number at most this many times its non-zeros.
GRAM_PAIRS_PER_NONZERO = 4
# And while making it costs no more than some passes: T^2 F / 2 against T F K.
GRAM_LENGTH_PER_LABEL = 16


# More memory than this for the dual state is asked for by mistake.
MOST_BYTES = 64e9


class Chains(NamedTuple):
    """Sequences to score: enough to decode. Row numbers of absent extras are -1."""

    rows: Rows
    offsets: np.ndarray  # (n + 1,) int64
    n_rows: int  # weight rows: F + extras
    intercept_row: int
    first_row: int
    last_row: int
    edge_mask: np.ndarray  # (K, K) 0 or -inf, or empty
    start_mask: np.ndarray  # (K,) 0 or -inf
    end_mask: np.ndarray  # (K,)


class ChainProblem(NamedTuple):
    """Sequences with their true labels and costs: enough to learn."""

    chains: Chains
    labels: np.ndarray  # (N,) int32
    cost: np.ndarray  # (K, K) loss of a position: row the true label, class weight included
    loss_scale: np.ndarray  # (n,) 1 / T or 1
    weight: np.ndarray  # (n,) s_i / S
    gram: np.ndarray  # upper triangles of the blocks' Gram matrices of node features, extras included
    gram_offsets: np.ndarray  # (n + 1,); an empty range: too long a block, its norms come from feature space
    longest: int


class ChainBlocks(NamedTuple):
    node: np.ndarray  # (N, K)
    edge: np.ndarray  # (n, K, K) summed over the positions of the block
    used: np.ndarray  # (n, K) bool: rows of `edge` that are not all zero
    loss: np.ndarray  # (n,)
    norm: np.ndarray  # (n,) |E phi_i|^2, kept for blocks with a Gram matrix


class ChainWork(NamedTuple):
    node: np.ndarray  # (longest, K) loss-augmented node scores
    edge: np.ndarray  # (K, K) masked edge scores
    table: np.ndarray  # (longest, K)
    labels: np.ndarray  # (longest,) int32, the corner
    away: np.ndarray  # (longest,) int32, the away corner
    active: np.ndarray  # (K,) labels with a non-zero entry, and the entries
    values: np.ndarray  # (K,)
    counts: np.ndarray  # (K, K) zero between calls
    products: np.ndarray  # (2,) <E phi, phi(corner)> and |phi(corner)|^2
    buffer: np.ndarray  # (n_rows, K) zero between calls, or empty where every block has its Gram matrix


def make_chains(matrix: Any, offsets: np.ndarray, *, intercept: bool, boundary: bool, mask: TransitionMask) -> Chains:
    """Lay out sequences for scoring: `matrix` holds all positions under each other."""
    n_features = count_weight_rows(matrix)
    return Chains(
        rows=as_rows(matrix),
        offsets=np.asarray(offsets, np.int64),
        n_rows=n_features + intercept + 2 * boundary,
        intercept_row=n_features if intercept else -1,
        first_row=n_features + intercept if boundary else -1,
        last_row=n_features + intercept + 1 if boundary else -1,
        edge_mask=np.where(mask.allowed, 0.0, -np.inf) if not mask.allowed.all() else np.empty((0, 0)),
        start_mask=np.where(mask.start, 0.0, -np.inf),
        end_mask=np.where(mask.end, 0.0, -np.inf),
    )


def make_chain_problem(
    matrix: Any,
    offsets: np.ndarray,
    labels: np.ndarray,
    n_labels: int,
    *,
    intercept: bool = True,
    boundary: bool = True,
    normalize: bool = True,
    cost: np.ndarray | None = None,
    class_weight: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    mask: TransitionMask | None = None,
) -> ChainProblem:
    """Encode sequences once into flat arrays.

    Parameters
    ----------
    matrix : (N, F) features of all positions, float64, dense or CSR, or kernel rows
    offsets : (n + 1,) sequence i is ``matrix[offsets[i]:offsets[i + 1]]``
    labels : (N,) int, in ``range(n_labels)``
    intercept, boundary : whether labels have a bias, and first and last positions biases of their own
    normalize : divide the loss by the sequence's length
    cost : (K, K), loss of a position; row: true label
    class_weight : (K,), multiplies the row of the true label
    sample_weight : (n,)
    mask : allowed transitions, first and last labels
    """
    offsets = np.asarray(offsets, np.int64)
    n, lengths = len(offsets) - 1, np.diff(offsets)
    mask = TransitionMask.everything(n_labels) if mask is None else mask
    chains = make_chains(matrix, offsets, intercept=intercept, boundary=boundary, mask=mask)
    cost = 1.0 - np.eye(n_labels) if cost is None else cost
    if class_weight is not None:
        cost = cost * np.asarray(class_weight)[:, None]
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)

    pairs = lengths * (lengths + 1) // 2
    if has_features(chains.rows):  # a kernel has no feature space for norms to come from
        pairs[pairs > GRAM_PAIRS_PER_NONZERO * (stored(chains.rows, offsets) + lengths)] = 0
        pairs[lengths > GRAM_LENGTH_PER_LABEL * n_labels] = 0
    gram_offsets = np.concatenate([[0], np.cumsum(pairs)]).astype(np.int64)
    gram = np.empty(gram_offsets[-1])
    fill_gram(chains, gram_offsets, gram)
    return ChainProblem(
        chains=chains,
        labels=np.asarray(labels, np.int32),
        cost=np.ascontiguousarray(cost, np.float64),
        loss_scale=1.0 / lengths if normalize else np.ones(n),
        weight=weight / weight.sum(),
        gram=gram,
        gram_offsets=gram_offsets,
        longest=int(lengths.max()),
    )


@kernel(n_parts=1)
def fill_gram(chains, gram_offsets, gram):
    for i in range(chains.offsets.shape[0] - 1):
        p = gram_offsets[i]
        if p == gram_offsets[i + 1]:
            continue
        begin, end = chains.offsets[i], chains.offsets[i + 1]
        for t in range(begin, end):
            for u in range(t, end):
                product = row_dot(chains.rows, t, u)
                if chains.intercept_row >= 0:
                    product += 1.0
                if chains.first_row >= 0 and t == u:
                    product += (1.0 if t == begin else 0.0) + (1.0 if t == end - 1 else 0.0)
                gram[p] = product
                p += 1


@implements(n_blocks, ChainProblem)
def _(problem):
    return problem.chains.offsets.shape[0] - 1


@implements(dimension, ChainProblem)
def _(problem):
    n_labels = problem.cost.shape[0]
    return (problem.chains.n_rows + n_labels) * n_labels


@implements(inner, ChainProblem)
def _(problem, u, v):
    return flat_inner(problem.chains.rows, problem.cost.shape[0], u, v)


@implements(can_be_bounded, ChainProblem)
def _(problem):
    return has_features(problem.chains.rows)


@implements(new_blocks, ChainProblem)
def _(problem):
    blocks = _zero_blocks(problem)
    fill_truth(problem, blocks)
    return blocks


@implements(new_totals, ChainProblem)
def _zero_blocks(problem):
    n, n_labels = n_blocks(problem), problem.cost.shape[0]
    wanted = 8 * n_labels * (n * n_labels + len(problem.labels))
    if wanted > MOST_BYTES:
        raise MemoryError(
            f"the dual state of {n} sequences with {n_labels} labels takes {wanted / 1e9:.0f} GB "
            "(a matrix of label pairs a sequence): merge rare labels, or learn from fewer sequences"
        )
    return ChainBlocks(
        node=np.zeros((len(problem.labels), n_labels)),
        edge=np.zeros((n, n_labels, n_labels)),
        used=np.zeros((n, n_labels), np.bool_),
        loss=np.zeros(n),
        norm=np.zeros(n),
    )


@implements(new_work, ChainProblem)
def _(problem):
    n_labels = problem.cost.shape[0]
    all_in_gram = np.all(np.diff(problem.gram_offsets) > 0)
    return chain_work(problem.longest, n_labels, 0 if all_in_gram else problem.chains.n_rows)


def chain_work(longest: int, n_labels: int, buffer_rows: int = 0) -> ChainWork:
    return ChainWork(
        node=np.zeros((longest, n_labels)),
        edge=np.zeros((n_labels, n_labels)),
        table=np.zeros((longest, n_labels)),
        labels=np.zeros(longest, np.int32),
        away=np.zeros(longest, np.int32),
        active=np.zeros(n_labels, np.int64),
        values=np.zeros(n_labels),
        counts=np.zeros((n_labels, n_labels)),
        products=np.zeros(2),
        buffer=np.zeros((buffer_rows, n_labels)),
    )


@kernel(n_parts=2)
def fill_truth(problem, blocks):
    for i in range(blocks.loss.shape[0]):
        begin, end = problem.chains.offsets[i], problem.chains.offsets[i + 1]
        counts = blocks.edge[i]
        for t in range(begin, end):
            blocks.node[t, problem.labels[t]] = 1.0
            if t > begin:
                counts[problem.labels[t - 1], problem.labels[t]] += 1.0
                blocks.used[i, problem.labels[t - 1]] = True
        blocks.norm[i] = corner_product(problem, i, problem.labels[begin:end], counts)


@helper
def corner_product(problem, i, labels, counts):
    """``|phi_i(labels)|^2``, given the labeling's edge counts."""
    length = labels.shape[0]
    total = 0.0
    for t in range(1, length):
        total += counts[labels[t - 1], labels[t]]
    p = problem.gram_offsets[i]
    if p == problem.gram_offsets[i + 1]:
        return total
    for t in range(length):
        total += problem.gram[p]
        p += 1
        for u in range(t + 1, length):
            if labels[t] == labels[u]:
                total += 2.0 * problem.gram[p]
            p += 1
    return total
