"""Messages that lower an upper bound on the score of every labeling, sweep by sweep.

Messages m move scores from edges to nodes and back, and change the score of no labeling:

    node v has  b_v(x) = node_v(x) + sum_e m_ev(x),    edge e = (u, v) has  edge_e(x, y) - m_eu(x) - m_ev(y).

So the sum of everyone's own maximum is a bound, whatever the messages are, and the least such bound is the value of the
relaxation over the local polytope. A sweep visits the nodes in an order: a node takes in all that the edges behind it
can give, then spreads what it has evenly over those ahead (kolmogorov06). Neither can raise the bound. In a tree, where
each node has one edge ahead of it on the way back, one sweep back is max-product, and the bound is the best score.
Otherwise sweeps may stop short of the least bound: a coordinate cannot improve it alone.

After a sweep labels are chosen in the other direction, each the best given those of its neighbours chosen before.
"""

from __future__ import annotations

import numpy as np

from ..._compile import helper, routine


@helper
def label_count(plan, i, v):
    at = plan.offsets[i] + v
    return plan.label_offsets[at + 1] - plan.label_offsets[at]


@helper
def label_start(plan, i, v):
    """Where the labels of node v of sample i begin in the sample's node scores."""
    return plan.label_offsets[plan.offsets[i] + v] - plan.label_offsets[plan.offsets[i]]


@helper
def take_in(plan, i, e, v, edge, messages, belief):
    """Node v gets all that edge e can give: the edge's best with each label of v becomes 0."""
    n_tail, n_head = label_count(plan, i, plan.tail[e]), label_count(plan, i, plan.head[e])
    table, of_tail = plan.tables[e], plan.message_at[e]
    of_head, start = of_tail + n_tail, label_start(plan, i, v)
    if v == plan.tail[e]:
        for x in range(n_tail):
            best = -np.inf
            for y in range(n_head):
                best = max(best, edge[table + x * n_head + y] - messages[of_head + y])
            belief[start + x] += best - messages[of_tail + x]
            messages[of_tail + x] = best
        return
    for y in range(n_head):
        belief[start + y] -= messages[of_head + y]
        messages[of_head + y] = -np.inf
    for x in range(n_tail):
        for y in range(n_head):
            score = edge[table + x * n_head + y] - messages[of_tail + x]
            messages[of_head + y] = max(messages[of_head + y], score)
    for y in range(n_head):
        belief[start + y] += messages[of_head + y]


@helper
def message_start(plan, i, e, v):
    """Where the messages of edge e to its end v begin."""
    return plan.message_at[e] + (0 if v == plan.tail[e] else label_count(plan, i, plan.tail[e]))


@routine
def sweep(plan, i, edge, messages, belief, back):
    """Visit all nodes, in the order or back."""
    begin, n_nodes = plan.offsets[i], plan.offsets[i + 1] - plan.offsets[i]
    for p in range(n_nodes):
        v = plan.order[begin + (n_nodes - 1 - p if back else p)]
        first, middle, last = plan.first[begin + v], plan.middle[begin + v], plan.first[begin + v + 1]
        behind = (middle, last) if back else (first, middle)
        ahead = (first, middle) if back else (middle, last)
        for a in range(behind[0], behind[1]):
            take_in(plan, i, plan.around[a], v, edge, messages, belief)
        n_ahead, start = ahead[1] - ahead[0], label_start(plan, i, v)
        if n_ahead == 0:
            continue
        for a in range(ahead[0], ahead[1]):
            to = message_start(plan, i, plan.around[a], v)
            for x in range(label_count(plan, i, v)):
                messages[to + x] -= belief[start + x] / n_ahead
        for x in range(label_count(plan, i, v)):
            belief[start + x] = 0.0


@routine
def choose(plan, i, edge, messages, belief, back, labels):
    """Label the nodes one after the other, in the order or back."""
    begin, n_nodes = plan.offsets[i], plan.offsets[i + 1] - plan.offsets[i]
    for p in range(n_nodes):
        v = plan.order[begin + (n_nodes - 1 - p if back else p)]
        first, middle, last = plan.first[begin + v], plan.middle[begin + v], plan.first[begin + v + 1]
        known = (middle, last) if back else (first, middle)
        start, most = label_start(plan, i, v), -np.inf
        for x in range(label_count(plan, i, v)):
            score = belief[start + x]
            for a in range(known[0], known[1]):
                e = plan.around[a]
                n_head, at = label_count(plan, i, plan.head[e]), plan.tables[e]
                if v == plan.tail[e]:
                    at += x * n_head + labels[plan.head[e]]
                else:
                    at += labels[plan.tail[e]] * n_head + x
                score += edge[at] - messages[message_start(plan, i, e, v) + x]
            if score > most:
                most, labels[v] = score, x


@helper
def fill_belief(plan, i, node, messages, belief):
    for k in range(label_start(plan, i, plan.offsets[i + 1] - plan.offsets[i])):
        belief[k] = node[k]
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        at = plan.message_at[e]
        for v in (plan.tail[e], plan.head[e]):
            start = label_start(plan, i, v)
            for x in range(label_count(plan, i, v)):
                belief[start + x] += messages[at + x]
            at += label_count(plan, i, v)


@helper
def best_of_node(plan, i, v, belief):
    start, best = label_start(plan, i, v), -np.inf
    for x in range(label_count(plan, i, v)):
        best = max(best, belief[start + x])
    return best


@helper
def bound_of_nodes(plan, i, belief):
    """The bound after a sweep, which leaves the edges with a maximum of 0."""
    total = 0.0
    for v in range(plan.offsets[i + 1] - plan.offsets[i]):
        total += best_of_node(plan, i, v, belief)
    return total


@routine
def bound_of(plan, i, node, edge, messages, belief):
    """The bound that any messages give; leaves the nodes' beliefs behind."""
    fill_belief(plan, i, node, messages, belief)
    total = bound_of_nodes(plan, i, belief)
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        n_tail, n_head = label_count(plan, i, plan.tail[e]), label_count(plan, i, plan.head[e])
        table, of_tail, best = plan.tables[e], plan.message_at[e], -np.inf
        for x in range(n_tail):
            for y in range(n_head):
                score = edge[table + x * n_head + y] - messages[of_tail + x] - messages[of_tail + n_tail + y]
                best = max(best, score)
        total += best
    return total


@helper
def score(plan, i, node, edge, labels):
    """The score of a labeling."""
    total = 0.0
    for v in range(plan.offsets[i + 1] - plan.offsets[i]):
        total += node[label_start(plan, i, v) + labels[v]]
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        u, v = plan.tail[e], plan.head[e]
        total += edge[plan.tables[e] + labels[u] * label_count(plan, i, v) + labels[v]]
    return total


@routine
def keep_better(plan, i, node, edge, messages, belief, back, trial, labels, value):
    """Choose labels after a sweep, and keep them if they are better than those known; returns the score of the best."""
    choose(plan, i, edge, messages, belief, back, trial)
    found = score(plan, i, node, edge, trial)
    if found > value:
        for v in range(plan.offsets[i + 1] - plan.offsets[i]):
            labels[v] = trial[v]
        return found
    return value


# Sweeps there and back between looks at the bound, and what share of its distance to the labels it must have come down.
LOOK, PROGRESS = 5, 0.02


@routine
def pass_messages(plan, i, node, edge, messages, belief, trial, value, tol, most_sweeps, labels):
    """Sweep until the bound is down at the best score known, or comes down no more; returns both.

    That score is `value`, or that of better labels, which are written. Without sweeps the bound is that of the messages
    as they are.
    """
    fill_belief(plan, i, node, messages, belief)
    before = np.inf
    for s in range(most_sweeps):
        if s > 0:
            sweep(plan, i, edge, messages, belief, False)
            value = keep_better(plan, i, node, edge, messages, belief, True, trial, labels, value)
        sweep(plan, i, edge, messages, belief, True)
        value = keep_better(plan, i, node, edge, messages, belief, False, trial, labels, value)
        bound = bound_of_nodes(plan, i, belief)
        if bound - value <= tol * (1.0 + abs(bound)):
            break
        if s % LOOK == 0:
            if before - bound <= PROGRESS * (bound - value):
                break
            before = bound
    return value, bound_of(plan, i, node, edge, messages, belief)


@routine
def find_distances(plan, i, edge, messages, belief, distance):
    """How far each label is from the best of its node, with all that its edges could give it."""
    n_nodes = plan.offsets[i + 1] - plan.offsets[i]
    for k in range(label_start(plan, i, n_nodes)):
        distance[k] = -belief[k]
    for e in range(plan.edge_offsets[i], plan.edge_offsets[i + 1]):
        u, v = plan.tail[e], plan.head[e]
        n_tail, n_head = label_count(plan, i, u), label_count(plan, i, v)
        of_tail, of_head = plan.message_at[e], plan.message_at[e] + n_tail
        for x in range(n_tail):
            best = -np.inf
            for y in range(n_head):
                best = max(best, edge[plan.tables[e] + x * n_head + y] - messages[of_head + y])
            distance[label_start(plan, i, u) + x] -= best - messages[of_tail + x]
        for y in range(n_head):
            best = -np.inf
            for x in range(n_tail):
                best = max(best, edge[plan.tables[e] + x * n_head + y] - messages[of_tail + x])
            distance[label_start(plan, i, v) + y] -= best - messages[of_head + y]
    for v in range(n_nodes):
        start, least = label_start(plan, i, v), np.inf
        for x in range(label_count(plan, i, v)):
            least = min(least, distance[start + x])
        for x in range(label_count(plan, i, v)):
            distance[start + x] -= least
