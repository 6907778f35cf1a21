"""The best labeling of a chain whose edge scores are 0 but for a few, without a look at all pairs of labels.

Where the score of a transition is 0, the best predecessor is the best of all prefixes, whatever comes next. What is
left to find are labels that the best prefix does not like to be followed by, and transitions that are worth more than
0. Of the table it is known where it is not 0, row by row, and how much each row can gain. What is skipped is known not
to matter, rounding included, so that values and labelings are those of `viterbi` to the last bit, ties as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, routine
from ..vectors import max_step
from .passes import best_end

# Every so-manieth label is in the same lane: maxima of lanes are found side by side, many at once, and only lanes that
# promise enough are looked into.
LANES = 256

# So many of the best prefixes are known in their order; of labels that like none of them, all are looked at.
LEADERS = 8

# Scores looked up here and there cost so many times what they cost one after the other.
SCATTERED = 8


class EdgeLists(NamedTuple):
    """Where a table of edge scores is not 0, and what is there: in the table every score would be a line of memory.

    Pairs listed in vain and bounds too high cost time, not answers.
    """

    columns: np.ndarray  # (K, K) int32; of row a the first ``listed[a]``
    scores: np.ndarray  # (K, K) of these
    listed: np.ndarray  # (K,)
    place: np.ndarray  # (K, K) int32; where in its row a pair is listed, counted from 1, and 0 where it is not
    bound: np.ndarray  # (K,) no score of the row is larger; >= 0
    address: np.ndarray  # (1,) of the table that all this is known of, 0 for none
    leaders: np.ndarray  # (LEADERS,) working memory, as are the next
    rows: np.ndarray  # (K,)
    lanes: np.ndarray  # (longest, LANES) the best prefix of each lane
    reach: np.ndarray  # (longest, LANES) and the best with what its row can gain


def new_edge_lists(longest: int, n_labels: int) -> EdgeLists:
    n_lanes = min(LANES, n_labels)
    return EdgeLists(
        columns=np.empty((n_labels, n_labels), np.int32),  # pages that nobody writes to do not become resident
        scores=np.empty((n_labels, n_labels)),
        listed=np.zeros(n_labels, np.int64),
        place=np.zeros((n_labels, n_labels), np.int32),
        bound=np.zeros(n_labels),
        address=np.zeros(1, np.int64),
        leaders=np.zeros(min(LEADERS, n_labels), np.int64),
        rows=np.zeros(n_labels, np.int64),
        lanes=np.zeros((longest, n_lanes)),
        reach=np.zeros((longest, n_lanes)),
    )


@helper
def knows(lists, edge):
    return lists.address[0] == np.int64(edge.ctypes.data)


@helper
def follow_change(lists, edge, a, b):
    """The score of a pair is not what it was, in a table that may be another one."""
    if knows(lists, edge):
        if lists.place[a, b] == 0:
            list_pair(lists, a, b)
        lists.scores[a, lists.place[a, b] - 1] = edge[a, b]
        lists.bound[a] = max(lists.bound[a], edge[a, b])


@helper
def list_pair(lists, a, b):
    lists.columns[a, lists.listed[a]] = b
    lists.listed[a] += 1
    lists.place[a, b] = lists.listed[a]


@helper
def know_table(lists, edge):
    """The lists become those of a table, if they are not."""
    if not knows(lists, edge):
        read_table(lists, edge)
        lists.address[0] = np.int64(edge.ctypes.data)


@routine
def read_table(lists, edge):
    for a in range(edge.shape[0]):
        for j in range(lists.listed[a]):
            lists.place[a, lists.columns[a, j]] = 0
        lists.listed[a], bound = 0, 0.0
        for b in range(edge.shape[0]):
            if edge[a, b] != 0.0:
                lists.scores[a, lists.listed[a]] = edge[a, b]
                list_pair(lists, a, b)
                bound = max(bound, edge[a, b])
        lists.bound[a] = bound


@helper
def fill_lanes(values, lists, t):
    """The maxima of the lanes of prefixes that end at t."""
    n_labels, lane, reach = values.shape[0], lists.lanes[t], lists.reach[t]
    n_lanes = lane.shape[0]
    for j in range(n_lanes):
        lane[j] = values[j]
        reach[j] = values[j] + lists.bound[j]
    for first in range(n_lanes, n_labels, n_lanes):
        some, bounds = values[first : first + n_lanes], lists.bound[first : first + n_lanes]
        for j in range(some.shape[0]):
            most = some[j] + bounds[j]
            lane[j] = some[j] if some[j] > lane[j] else lane[j]
            reach[j] = most if most > reach[j] else reach[j]


@helper
def is_ahead(before, a, b):
    return before[a] > before[b] or (before[a] == before[b] and a < b)


@helper
def find_leaders(before, lane, leaders):
    """The labels of the best prefixes, best first, ties in their order."""
    last, filled, n_lanes = leaders.shape[0] - 1, 0, lane.shape[0]
    for j in range(n_lanes):
        if filled <= last or lane[j] >= before[leaders[last]]:
            for a in range(j, before.shape[0], n_lanes):
                if filled <= last or is_ahead(before, a, leaders[last]):
                    at = min(filled, last)
                    while at > 0 and is_ahead(before, a, leaders[at - 1]):
                        leaders[at] = leaders[at - 1]
                        at -= 1
                    leaders[at] = a
                    filled += 1


@helper
def best_before(before, edge, leaders, b, best):
    """The best score of a prefix followed by b, that of the first leader given; it may miss scores above 0."""
    for s in range(1, leaders.shape[0]):
        a = leaders[s]
        if before[a] <= best:
            return best
        best = max(best, before[a] + edge[a, b])
        if edge[a, b] >= 0.0:  # all others are worse, and nothing makes up for it
            return best
    for a in range(before.shape[0]):
        if before[a] > best:
            best = max(best, before[a] + edge[a, b])
    return best


@helper
def sparse_step(before, edge, lists, t, here):
    """As `max_step`, from prefixes that end at t."""
    n_labels, reach = edge.shape[0], lists.reach[t]
    find_leaders(before, lists.lanes[t], lists.leaders)
    top = lists.leaders[0]
    peak = lowest = before[top]
    for b in range(n_labels):
        here[b] = peak
    for j in range(lists.listed[top]):
        b, score = lists.columns[top, j], lists.scores[top, j]
        here[b] = peak + score
        if score < 0.0:
            here[b] = best_before(before, edge, lists.leaders, b, here[b])
            lowest = min(lowest, here[b])
    count, size = 0, 0
    for j in range(reach.shape[0]):
        if reach[j] > lowest:  # others gain nothing anywhere
            for a in range(j, n_labels, reach.shape[0]):
                if before[a] + lists.bound[a] > lowest and a != top:
                    lists.rows[count] = a
                    count += 1
                    size += lists.listed[a]
    if size * SCATTERED > n_labels * n_labels:
        max_step(before, edge, here)
    else:
        gain_from_rows(before, lists, count, here)


@helper
def gain_from_rows(before, lists, count, here):
    for r in range(count):
        a = lists.rows[r]
        for j in range(lists.listed[a]):
            b, score = lists.columns[a, j], before[a] + lists.scores[a, j]
            if score > here[b]:
                here[b] = score


@helper
def sparse_viterbi(node, edge, start, end, lists, table, length, labels):
    """As `viterbi`, with lists that know the edge scores."""
    n_labels = edge.shape[0]
    for b in range(n_labels):
        table[0, b] = node[0, b] + start[b]
    for t in range(1, length):
        here = table[t]
        fill_lanes(table[t - 1], lists, t - 1)
        sparse_step(table[t - 1], edge, lists, t - 1, here)
        for b in range(n_labels):
            here[b] += node[t, b]
    chosen, value = best_end(table[length - 1], end)
    labels[length - 1] = chosen
    for t in range(length - 1, 0, -1):
        chosen = sparse_previous(table[t - 1], edge, lists, t - 1, chosen)
        labels[t - 1] = chosen
    return value


@helper
def sparse_previous(before, edge, lists, t, chosen):
    """The label at t before the chosen one; of a column only what may be best comes from memory."""
    reach, start = lists.reach[t], 0
    for j in range(1, reach.shape[0]):  # where most is promised first: then little is left to look at
        if reach[j] > reach[start]:
            start = j
    previous, best = best_of_lane(before, edge, lists, start, reach.shape[0], chosen, 0, -np.inf)
    for j in range(reach.shape[0]):
        if reach[j] >= best and j != start:
            previous, best = best_of_lane(before, edge, lists, j, reach.shape[0], chosen, previous, best)
    return previous


@helper
def best_of_lane(before, edge, lists, j, n_lanes, chosen, previous, best):
    for a in range(j, before.shape[0], n_lanes):
        if before[a] + lists.bound[a] >= best:
            score = before[a] + edge[a, chosen]
            if score > best or (score == best and a < previous):
                previous, best = a, score
    return previous, best
