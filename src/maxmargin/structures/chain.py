"""Linear chains in part space: node marginals of every position, edge marginals summed over the block.

Flat weights are ``[node (F + extras, K) | transitions (K, K)]``. The extras are weight rows of features that need no
storing: the intercept (1 at every position), then the boundary pair (1 at the first position, 1 at the last).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._compile import helper, implements, kernel
from .._sums import dot
from ..inference.chain import max_marginals, viterbi
from .masks import TransitionMask
from .rows import Rows, add_outer, add_scores, as_rows, drain_squares, row_dot
from .verbs import (
    accumulate,
    add_block,
    add_corner,
    announce,
    block_value,
    corner_loss,
    dimension,
    direction_norm,
    find_corner,
    mean_loss,
    move,
    n_blocks,
    new_blocks,
    new_totals,
    new_work,
    truth_value,
)

# A block's Gram matrix is kept while its pairs of positions number at most this many times its non-zeros.
GRAM_PAIRS_PER_NONZERO = 4


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
    active: np.ndarray  # (K,) labels with a non-zero entry, and the entries
    values: np.ndarray  # (K,)
    counts: np.ndarray  # (K, K) zero between calls
    products: np.ndarray  # (2,) <E phi, phi(corner)> and |phi(corner)|^2
    buffer: np.ndarray  # (n_rows, K) zero between calls, or empty where every block has its Gram matrix


def make_chains(matrix: Any, offsets: np.ndarray, *, intercept: bool, boundary: bool, mask: TransitionMask) -> Chains:
    """Lay out sequences for scoring: `matrix` holds all positions under each other."""
    n_features = matrix.shape[1]
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
    matrix : (N, F) features of all positions, float64, dense or CSR
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

    nonzeros = np.diff(matrix.indptr[offsets]) if sparse.issparse(matrix) else lengths * matrix.shape[1]
    pairs = lengths * (lengths + 1) // 2
    pairs[pairs > GRAM_PAIRS_PER_NONZERO * (nonzeros + lengths)] = 0
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


@implements(new_blocks, ChainProblem)
def _(problem):
    blocks = _zero_blocks(problem)
    fill_truth(problem, blocks)
    return blocks


@implements(new_totals, ChainProblem)
def _zero_blocks(problem):
    n, n_labels = n_blocks(problem), problem.cost.shape[0]
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
def node_weights(chains, n_labels, w):
    return w[: chains.n_rows * n_labels].reshape((chains.n_rows, n_labels))


@helper
def edge_weights(chains, n_labels, w):
    return w[chains.n_rows * n_labels :].reshape((n_labels, n_labels))


@helper
def score_nodes(chains, weights, begin, length, node):
    """Node scores of a block, extras included."""
    n_labels = node.shape[1]
    for t in range(length):
        if chains.intercept_row >= 0:
            for k in range(n_labels):
                node[t, k] = weights[chains.intercept_row, k]
        else:
            for k in range(n_labels):
                node[t, k] = 0.0
        add_scores(chains.rows, begin + t, weights, node[t])
    if chains.first_row >= 0:
        for k in range(n_labels):
            node[0, k] += weights[chains.first_row, k]
            node[length - 1, k] += weights[chains.last_row, k]


@helper
def score_edges(chains, transitions, masked):
    """Edge scores: the transitions themselves, or a masked copy."""
    if chains.edge_mask.shape[0] == 0:
        return transitions
    for a in range(masked.shape[0]):
        for b in range(masked.shape[1]):
            masked[a, b] = transitions[a, b] + chains.edge_mask[a, b]
    return masked


@implements(find_corner, ChainProblem)
def _(problem, work, w, i):
    chains = problem.chains
    n_labels = problem.cost.shape[0]
    begin = chains.offsets[i]
    length = chains.offsets[i + 1] - begin
    score_nodes(chains, node_weights(chains, n_labels, w), begin, length, work.node)
    for t in range(length):
        costs = problem.cost[problem.labels[begin + t]]
        for k in range(n_labels):
            work.node[t, k] += problem.loss_scale[i] * costs[k]
    edge = score_edges(chains, edge_weights(chains, n_labels, w), work.edge)
    return viterbi(work.node, edge, chains.start_mask, chains.end_mask, work.table, length, work.labels)


@implements(announce, ChainProblem)
def _(problem, blocks, i):
    return None  # measured: a chain's rows are long enough for the processor to find by itself


@implements(truth_value, ChainProblem)
def _(problem, work, w, i):
    transitions = edge_weights(problem.chains, problem.cost.shape[0], w)
    begin, end = problem.chains.offsets[i], problem.chains.offsets[i + 1]
    total = 0.0
    for t in range(begin, end):
        total += work.node[t - begin, problem.labels[t]]  # the loss of the truth is 0
        if t > begin:
            total += transitions[problem.labels[t - 1], problem.labels[t]]
    return total


@implements(block_value, ChainProblem)
def _(problem, blocks, work, w, i):
    n_labels = problem.cost.shape[0]
    transitions = edge_weights(problem.chains, n_labels, w)  # unmasked: -inf times a marginal of 0 is not 0
    begin, end = problem.chains.offsets[i], problem.chains.offsets[i + 1]
    total = 0.0
    for t in range(begin, end):
        for k in range(n_labels):
            total += work.node[t - begin, k] * blocks.node[t, k]
    edge = blocks.edge[i]
    for a in range(n_labels):
        if blocks.used[i, a]:
            for b in range(n_labels):
                total += transitions[a, b] * edge[a, b]
    return total


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


@implements(direction_norm, ChainProblem)
def _(problem, blocks, work, i):
    begin = problem.chains.offsets[i]
    length = problem.chains.offsets[i + 1] - begin
    labels = work.labels[:length]
    if problem.gram_offsets[i] == problem.gram_offsets[i + 1]:
        return norm_in_feature_space(problem, blocks, work, i)
    for t in range(1, length):
        work.counts[labels[t - 1], labels[t]] += 1.0
    cross, corner = 0.0, 0.0
    for t in range(1, length):
        if blocks.used[i, labels[t - 1]]:  # an unused row need not come from memory
            cross += blocks.edge[i, labels[t - 1], labels[t]]
        corner += work.counts[labels[t - 1], labels[t]]
    for t in range(1, length):
        work.counts[labels[t - 1], labels[t]] = 0.0
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
    return max(blocks.norm[i] - 2.0 * cross + corner, 0.0)


@helper
def norm_in_feature_space(problem, blocks, work, i):
    """The direction's norm for a block too long for a Gram matrix: spread it over the features, then collect."""
    chains = problem.chains
    n_labels = problem.cost.shape[0]
    begin, end = chains.offsets[i], chains.offsets[i + 1]
    for t in range(begin, end):
        n_active = corner_minus_marginals(blocks.node[t], work.labels[t - begin], work.active, work.values)
        spread(chains, t, begin, end, 1.0, n_active, work.active, work.values, work.buffer)
    total = 0.0
    for t in range(begin, end):
        total += drain_squares(chains.rows, t, work.buffer)
    for row in range(chains.n_rows - 3, chains.n_rows):
        if row >= 0:  # rows of the extras; a drained feature row adds nothing more
            for k in range(n_labels):
                total += work.buffer[row, k] * work.buffer[row, k]
                work.buffer[row, k] = 0.0
    for t in range(begin + 1, end):
        work.counts[work.labels[t - 1 - begin], work.labels[t - begin]] += 1.0
    for a in range(n_labels):
        for b in range(n_labels):
            difference = work.counts[a, b] - blocks.edge[i, a, b]
            total += difference * difference
            work.counts[a, b] = 0.0
    return total


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


@helper
def spread(chains, t, begin, end, scale, n_active, active, values, weights):
    """Add ``scale phi`` of one position to node weights, for the labels listed."""
    add_outer(chains.rows, t, scale, n_active, active, values, weights)
    for j in range(n_active):
        if chains.intercept_row >= 0:
            weights[chains.intercept_row, active[j]] += scale * values[j]
        if chains.first_row >= 0 and t == begin:
            weights[chains.first_row, active[j]] += scale * values[j]
        if chains.first_row >= 0 and t == end - 1:
            weights[chains.last_row, active[j]] += scale * values[j]


@implements(move, ChainProblem)
def _(problem, blocks, work, w, i, gamma, scale):
    chains = problem.chains
    n_labels = problem.cost.shape[0]
    begin, end = chains.offsets[i], chains.offsets[i + 1]
    weights = node_weights(chains, n_labels, w)
    for t in range(begin, end):
        label = work.labels[t - begin]
        n_active = corner_minus_marginals(blocks.node[t], label, work.active, work.values)
        if n_active > 0:
            spread(chains, t, begin, end, -scale * gamma, n_active, work.active, work.values, weights)
            for k in range(n_labels):
                blocks.node[t, k] *= 1.0 - gamma
            blocks.node[t, label] += gamma
    transitions = edge_weights(chains, n_labels, w)
    move_edges(transitions, blocks.edge[i], blocks.used[i], work.labels, end - begin, gamma, scale)
    blocks.loss[i] += gamma * (corner_loss(problem, work, i) - blocks.loss[i])
    keep = 1.0 - gamma
    blocks.norm[i] = keep * (keep * blocks.norm[i] + 2.0 * gamma * work.products[0]) + gamma * gamma * work.products[1]


@helper
def move_edges(transitions, edge, used, labels, length, gamma, scale):
    n_labels = edge.shape[0]
    keep, step = 1.0 - gamma, scale * gamma
    for a in range(n_labels):
        if used[a]:
            for b in range(n_labels):
                transitions[a, b] += step * edge[a, b]
                edge[a, b] *= keep
            used[a] = keep > 0.0
    for t in range(1, length):
        transitions[labels[t - 1], labels[t]] -= step
        edge[labels[t - 1], labels[t]] += gamma
        used[labels[t - 1]] = True


@implements(corner_loss, ChainProblem)
def _(problem, work, i):
    begin, end = problem.chains.offsets[i], problem.chains.offsets[i + 1]
    total = 0.0
    for t in range(begin, end):
        total += problem.cost[problem.labels[t], work.labels[t - begin]]
    return problem.loss_scale[i] * total


@implements(mean_loss, ChainProblem)
def _(problem, blocks):
    return dot(problem.weight, blocks.loss)


@implements(accumulate, ChainProblem)
def _(problem, totals, blocks, i, amount):
    n_labels = problem.cost.shape[0]
    for t in range(problem.chains.offsets[i], problem.chains.offsets[i + 1]):
        for k in range(n_labels):
            totals.node[t, k] += amount * blocks.node[t, k]
    total, edge = totals.edge[i], blocks.edge[i]
    for a in range(n_labels):
        if blocks.used[i, a]:
            totals.used[i, a] = True
            for b in range(n_labels):
                total[a, b] += amount * edge[a, b]
    totals.loss[i] += amount * blocks.loss[i]


@implements(add_block, ChainProblem)
def _(problem, blocks, work, i, scale, mass, w):
    chains = problem.chains
    n_labels = problem.cost.shape[0]
    begin, end = chains.offsets[i], chains.offsets[i + 1]
    weights, transitions = node_weights(chains, n_labels, w), edge_weights(chains, n_labels, w)
    for t in range(begin, end):
        n_active = 0
        for k in range(n_labels):
            value = (mass if k == problem.labels[t] else 0.0) - blocks.node[t, k]
            if value != 0.0:
                work.active[n_active], work.values[n_active] = k, value
                n_active += 1
        spread(chains, t, begin, end, scale, n_active, work.active, work.values, weights)
        if t > begin:
            transitions[problem.labels[t - 1], problem.labels[t]] += scale * mass
    for a in range(n_labels):
        if blocks.used[i, a]:
            for b in range(n_labels):
                transitions[a, b] -= scale * blocks.edge[i, a, b]


@implements(add_corner, ChainProblem)
def _(problem, work, i, scale, w):
    chains = problem.chains
    n_labels = problem.cost.shape[0]
    begin, end = chains.offsets[i], chains.offsets[i + 1]
    weights, transitions = node_weights(chains, n_labels, w), edge_weights(chains, n_labels, w)
    for t in range(begin, end):
        true, corner = problem.labels[t], work.labels[t - begin]
        if true != corner:
            work.active[0], work.active[1] = true, corner
            work.values[0], work.values[1] = 1.0, -1.0
            spread(chains, t, begin, end, scale, 2, work.active, work.values, weights)
        if t > begin:
            transitions[problem.labels[t - 1], true] += scale
            transitions[work.labels[t - 1 - begin], corner] -= scale


@kernel(n_parts=2)
def decode(chains, work, w, first, last, labels, values):
    """Best labelings of sequences `first` to `last` under w, and their scores."""
    n_labels = work.node.shape[1]
    weights, transitions = node_weights(chains, n_labels, w), edge_weights(chains, n_labels, w)
    edge = score_edges(chains, transitions, work.edge)
    for i in range(first, last):
        begin, end = chains.offsets[i], chains.offsets[i + 1]
        score_nodes(chains, weights, begin, end - begin, work.node)
        values[i] = viterbi(
            work.node, edge, chains.start_mask, chains.end_mask, work.table, end - begin, labels[begin:end]
        )


@kernel(n_parts=2)
def decode_max_marginals(chains, work, w, first, last, out):
    """Max-marginals of every position of sequences `first` to `last` under w."""
    n_labels = work.node.shape[1]
    weights, transitions = node_weights(chains, n_labels, w), edge_weights(chains, n_labels, w)
    edge = score_edges(chains, transitions, work.edge)
    for i in range(first, last):
        begin, end = chains.offsets[i], chains.offsets[i + 1]
        score_nodes(chains, weights, begin, end - begin, work.node)
        max_marginals(work.node, edge, chains.start_mask, chains.end_mask, work.table, end - begin, out[begin:end])
