"""Chains in part space: node marginals of every position, edge marginals summed over the block."""

from __future__ import annotations

from ..._compile import helper, implements
from ..._sums import dot
from ...inference.chain import viterbi
from ..rows import add_outer, drain_squares
from ..verbs import (
    accumulate,
    add_block,
    add_corner,
    announce,
    block_value,
    corner_loss,
    direction_norm,
    find_corner,
    find_potentials,
    mean_loss,
    move,
    truth_value,
    upper_value,
)
from .layout import ChainProblem
from .scoring import edge_weights, node_weights, score_edges, score_nodes

# Below this share of |phi(corner)|^2 a direction's norm is summed afresh.
CANCELLED = 1e-6


@implements(find_potentials, ChainProblem)
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


@implements(find_corner, ChainProblem)
def _(problem, work, w, i):
    chains = problem.chains
    length = chains.offsets[i + 1] - chains.offsets[i]
    edge = score_edges(chains, edge_weights(chains, problem.cost.shape[0], w), work.edge)
    return viterbi(work.node, edge, chains.start_mask, chains.end_mask, work.table, length, work.labels)


@implements(announce, ChainProblem)
def _(problem, blocks, i):
    return None  # measured: a chain's rows are long enough for the processor to find by itself


@implements(upper_value, ChainProblem)
def _(problem, work, w, i, value):
    return value


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
    norm = blocks.norm[i] - 2.0 * cross + corner
    # a small difference of large numbers has lost its digits, and the step with it
    return norm if norm > CANCELLED * corner else norm_by_gram(problem, blocks, work, i)


@helper
def norm_by_gram(problem, blocks, work, i):
    """The direction's norm term by term: slower than by the products kept, exact for short directions."""
    n_labels = problem.cost.shape[0]
    begin = problem.chains.offsets[i]
    length = problem.chains.offsets[i + 1] - begin
    total = edge_direction_norm(blocks.edge[i], work.labels[:length], work.counts)
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
def edge_direction_norm(edge, labels, counts):
    """Squared norm of the labeling's edge counts minus the edge marginals."""
    for t in range(1, labels.shape[0]):
        counts[labels[t - 1], labels[t]] += 1.0
    total = 0.0
    for a in range(edge.shape[0]):
        for b in range(edge.shape[0]):
            difference = counts[a, b] - edge[a, b]
            total += difference * difference
            counts[a, b] = 0.0
    return total


@helper
def norm_in_feature_space(problem, blocks, work, i):
    """The direction's norm for a block too long for a Gram matrix: spread it over the features, then collect."""
    chains = problem.chains
    begin, end = chains.offsets[i], chains.offsets[i + 1]
    for t in range(begin, end):
        n_active = corner_minus_marginals(blocks.node[t], work.labels[t - begin], work.active, work.values)
        spread(chains, t, begin, end, 1.0, n_active, work.active, work.values, work.buffer)
    total = buffer_norm(chains, begin, end, work.buffer)
    return total + edge_direction_norm(blocks.edge[i], work.labels[: end - begin], work.counts)


@helper
def buffer_norm(chains, begin, end, buffer):
    """Squared norm of what was spread over a buffer by positions `begin` to `end`; leaves it zero."""
    total = 0.0
    for t in range(begin, end):
        total += drain_squares(chains.rows, t, buffer)
    for row in range(chains.n_rows - 3, chains.n_rows):
        if row >= 0:  # rows of the extras; a drained feature row adds nothing more
            for k in range(buffer.shape[1]):
                total += buffer[row, k] * buffer[row, k]
                buffer[row, k] = 0.0
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


@helper
def plus(mass, gamma):
    """``mass + gamma``, and 0 where only rounding is left: what is exactly 0 costs nothing later."""
    total = mass + gamma
    return total if total > 1e-15 else 0.0


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
            blocks.node[t, label] = plus(blocks.node[t, label], gamma)
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
        edge[labels[t - 1], labels[t]] = plus(edge[labels[t - 1], labels[t]], gamma)
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
