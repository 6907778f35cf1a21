"""Maximum flow by blocking flows (dinitz70), on floats, from any residual network.

Arc a leads from ``to[back[a]]`` to ``to[a]``, and ``residual[a]`` more may flow along it. Node v has the excess
``excess[v]``: positive, what the source may still send into it; negative, what it may still pass to the sink.
Capacities may be infinite.

A search has a side. On the side of the source (1) it begins at *roots* of positive excess and follows the arcs to
*ends* of negative excess; on that of the sink (-1) the other way round, against the arcs. Levels count from the roots,
and paths are built from the ends: from there every step down a level that has not yet failed leads to a root.

An augmentation takes exactly all that is left of one arc, root or end, which then is 0, not nearly. So the number of
phases is at most that of nodes and that of augmentations in each at most that of arcs, however sums are rounded.
Measured on planar graphs of 150 nodes and 430 edges, from weak to strong edges: 17 to 36 microseconds; search trees
kept between augmentations (boykov04) took 16 to 40, shortest augmenting paths, one source after the other, 26 to 128.
"""

from __future__ import annotations

import numpy as np

from ..._compile import helper, routine


@helper
def find_levels(first, to, back, residual, excess, side, root, level, turn, queue):
    """Put the nodes that can be reached into `queue`, and count their levels from 1; 0 is for others.

    Roots are all nodes of excess, or only `root` if that is not negative. Returns how many nodes were reached, and the
    level of the nearest ends, beyond which the search does not go.
    """
    n_nodes, n_reached = len(first) - 1, 0
    for v in range(n_nodes):
        level[v] = 0
        if v == root or (root < 0 and side * excess[v] > 0.0):
            level[v], turn[v], queue[n_reached] = 1, first[v], v
            n_reached += 1
    nearest, at = n_nodes + 1, 0
    while at < n_reached and level[queue[at]] < nearest:
        u = queue[at]
        at += 1
        for a in range(first[u], first[u + 1]):
            w = to[a]
            if level[w] == 0 and residual[a if side > 0 else back[a]] > 0.0:
                level[w], turn[w], queue[n_reached] = level[u] + 1, first[w], w
                n_reached += 1
                if side * excess[w] < 0.0:
                    nearest = level[w]
    return n_reached, nearest


@helper
def augment(back, residual, excess, side, root, end, path, depth):
    """Send what fits between a root and an end along the arcs of `path`; returns how much, and the first full arc."""
    amount = min(abs(excess[root]), abs(excess[end]))
    for step in range(depth):
        left = residual[path[step]]
        amount = left if left < amount else amount
    if amount == np.inf:
        return amount, depth
    full = depth
    for step in range(depth - 1, -1, -1):
        a = path[step]
        residual[a] -= amount
        residual[back[a]] += amount
        full = step if residual[a] <= 0.0 else full
    excess[root] -= side * amount
    excess[end] += side * amount
    return amount, full


@helper
def fill_end(first, to, back, residual, excess, side, end, level, turn, path):
    """Send to one end what the levels let through; returns how much."""
    sent, depth, u = 0.0, 0, end
    while True:
        if level[u] == 1 and side * excess[u] > 0.0:
            amount, full = augment(back, residual, excess, side, u, end, path, depth)
            sent += amount
            if amount == np.inf or excess[end] == 0.0:
                return sent
            if full < depth:
                depth = full
                u = to[path[full]] if side > 0 else to[back[path[full]]]
                continue
        below = level[u] - 1
        while turn[u] < first[u + 1] and below > 0:
            a = turn[u]
            along = back[a] if side > 0 else a
            if level[to[a]] == below and residual[along] > 0.0:
                break
            turn[u] += 1
        if below > 0 and turn[u] < first[u + 1]:
            path[depth] = back[turn[u]] if side > 0 else turn[u]
            depth += 1
            u = to[turn[u]]
            continue
        level[u] = 0  # nothing more gets through here
        if depth == 0:
            return sent
        depth -= 1
        u = to[path[depth]] if side > 0 else to[back[path[depth]]]


@routine
def send_flow(first, to, back, residual, excess, side, root, limit, level, turn, queue, path):
    """Send flow, at least up to `limit` if so much gets through; returns how much, infinity if there is no bound.

    If less than `limit` got through, the nodes with a level are those that the roots reach, still.
    """
    flow = 0.0
    while flow < limit:
        n_reached, nearest = find_levels(first, to, back, residual, excess, side, root, level, turn, queue)
        if nearest == len(first):  # no end
            break
        for at in range(n_reached):
            v = queue[at]
            if level[v] == nearest and side * excess[v] < 0.0:
                flow += fill_end(first, to, back, residual, excess, side, v, level, turn, path)
                if flow >= limit:
                    break
    return flow
