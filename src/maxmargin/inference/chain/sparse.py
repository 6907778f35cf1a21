"""The best labeling of a chain whose edge scores are 0 but for a few, without a look at all pairs of labels.

Where the score of a transition is 0, the best predecessor is the best of all prefixes, whatever comes next. What is
left to find are labels that the best prefix does not like to be followed by, and transitions that are worth more than
0: of the table it is known where it is not 0, row by row, and all that is above 0 is listed once more, close together.
Learned scores are below 0 at most places where they are not 0, and above it where the truth has been. What is skipped
is known not to matter, rounding included, so that values and labelings are those of `viterbi` to the last bit, ties as
well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, routine
from ..._thin import thin_zeros
from .passes import best_end, viterbi

# Every so-manieth label is in the same lane: maxima of lanes are found side by side, many at once, and only lanes that
# promise enough are looked into.
LANES = 256

# So many of the best prefixes are known in their order; of labels that like none of them, all are looked at.
LEADERS = 8

# Scores looked up here and there cost so many times what they cost one after the other.
SCATTERED = 8


class EdgeLists(NamedTuple):
    """Where a table of edge scores is not 0, and what is there where it is above 0: the *gains* of a row.

    Pairs listed in vain and bounds too high cost time, not answers.
    """

    columns: np.ndarray  # (K, K) int32; of row a the first ``listed[a]``
    listed: np.ndarray  # (K,)
    place: np.ndarray  # (K, K) int32; where in its row a pair is listed, counted from 1, and 0 where it is not
    rank: np.ndarray  # (K, K) int32; of a place in a row: which gain of the row it is, counted from 1, and 0 if none
    first: np.ndarray  # (K,) where the gains of a row begin in the pool
    n_gains: np.ndarray  # (K,) how many there are
    room: np.ndarray  # (K,) and may be before they have to move
    heads: np.ndarray  # (pool,) int32; their columns
    scores: np.ndarray  # (pool,) and scores
    bound: np.ndarray  # (K,) no score of the row is larger; -inf where there are no gains
    free: np.ndarray  # (1,) where the pool is free from
    address: np.ndarray  # (1,) of the table that all this is known of, 0 for none
    leaders: np.ndarray  # (LEADERS,) working memory, as are the next
    lanes: np.ndarray  # (LANES,) the best prefix of each lane
    previous: np.ndarray  # (longest, K) int32; the label before each on the best prefix that ends there


def new_edge_lists(longest: int, n_labels: int) -> EdgeLists:
    shape, pool = (n_labels, n_labels), 4 * n_labels * n_labels // SCATTERED + n_labels
    return EdgeLists(
        columns=thin_zeros(shape, np.int32),
        listed=np.zeros(n_labels, np.int64),
        place=thin_zeros(shape, np.int32),
        rank=thin_zeros(shape, np.int32),
        first=np.zeros(n_labels, np.int64),
        n_gains=np.zeros(n_labels, np.int64),
        room=np.zeros(n_labels, np.int64),
        heads=np.empty(pool, np.int32),
        scores=np.empty(pool),
        bound=np.full(n_labels, -np.inf),
        free=np.zeros(1, np.int64),
        address=np.zeros(1, np.int64),
        leaders=np.zeros(min(LEADERS, n_labels), np.int64),
        lanes=np.zeros(min(LANES, n_labels)),
        previous=np.zeros((longest, n_labels), np.int32),
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
        note_score(lists, a, lists.place[a, b] - 1, edge[a, b])


@helper
def list_pair(lists, a, b):
    at = lists.listed[a]
    lists.columns[a, at], lists.rank[a, at] = b, 0
    lists.listed[a] = at + 1
    lists.place[a, b] = at + 1


@helper
def note_score(lists, a, at, score):
    """The score of the pair at a place of row a: it becomes a gain, or is none any more."""
    rank = lists.rank[a, at]
    if score > 0.0:
        if rank == 0:
            if lists.n_gains[a] == lists.room[a] and not finds_room(lists, a):
                return
            lists.n_gains[a] += 1
            rank = lists.rank[a, at] = lists.n_gains[a]
            lists.heads[lists.first[a] + rank - 1] = lists.columns[a, at]
        lists.scores[lists.first[a] + rank - 1] = score
        lists.bound[a] = max(lists.bound[a], score)
    elif rank > 0:
        drop_gain(lists, a, rank)
        lists.rank[a, at] = 0


@helper
def drop_gain(lists, a, rank):
    """The last gain of the row takes the place of one."""
    first, last = lists.first[a], lists.first[a] + lists.n_gains[a] - 1
    head = lists.heads[last]
    lists.heads[first + rank - 1], lists.scores[first + rank - 1] = head, lists.scores[last]
    lists.rank[a, lists.place[a, head] - 1] = rank
    lists.n_gains[a] -= 1
    if lists.n_gains[a] == 0:
        lists.bound[a] = -np.inf


@helper
def finds_room(lists, a):
    """Whether the gains of a row may be more, where the pool is free; if not, it is said to be full."""
    room, begin, target = max(2 * lists.room[a], 2), lists.first[a], lists.free[0]
    if target + room > lists.heads.shape[0]:
        lists.free[0] = lists.heads.shape[0]
        return False
    for j in range(lists.n_gains[a]):
        lists.heads[target + j], lists.scores[target + j] = lists.heads[begin + j], lists.scores[begin + j]
    lists.first[a], lists.room[a], lists.free[0] = target, room, target + room
    return True


@helper
def know_table(lists, edge):
    """The lists become those of a table, if they are not."""
    if not knows(lists, edge):
        read_table(lists, edge)
        lists.address[0] = np.int64(edge.ctypes.data)


@routine
def read_table(lists, edge):
    lists.free[0] = 0
    for a in range(edge.shape[0]):
        for j in range(lists.listed[a]):
            lists.place[a, lists.columns[a, j]] = 0
        lists.listed[a], lists.n_gains[a], lists.room[a], lists.bound[a] = 0, 0, 0, -np.inf
        for b in range(edge.shape[0]):
            if edge[a, b] != 0.0:
                list_pair(lists, a, b)
                note_score(lists, a, lists.listed[a] - 1, edge[a, b])


@helper
def fill_lanes(values, lane):
    """The maxima of the lanes of prefixes."""
    n_lanes = lane.shape[0]
    for j in range(n_lanes):
        lane[j] = values[j]
    for first in range(n_lanes, values.shape[0], n_lanes):
        some = values[first : first + n_lanes]
        for j in range(some.shape[0]):
            lane[j] = some[j] if some[j] > lane[j] else lane[j]


@helper
def is_ahead(before, a, b):
    return before[a] > before[b] or (before[a] == before[b] and a < b)


@helper
def least_of_leaders(lane, n_leaders):
    """A score that the best prefixes of so many labels reach: each group of lanes has one of them."""
    size, least = lane.shape[0] // n_leaders, np.inf
    for group in range(n_leaders):
        some, most = lane[group * size : (group + 1) * size], -np.inf
        for j in range(size):
            most = max(most, some[j])
        least = min(least, most)
    return least


@helper
def find_leaders(before, lane, leaders):
    """The labels of the best prefixes, best first, ties in their order."""
    last, filled, n_lanes = leaders.shape[0] - 1, 0, lane.shape[0]
    least = least_of_leaders(lane, last + 1)
    for j in range(n_lanes):
        if lane[j] >= least:
            for a in range(j, before.shape[0], n_lanes):
                if before[a] >= least and (filled <= last or is_ahead(before, a, leaders[last])):
                    at = min(filled, last)
                    while at > 0 and is_ahead(before, a, leaders[at - 1]):
                        leaders[at] = leaders[at - 1]
                        at -= 1
                    leaders[at] = a
                    filled += 1
            if filled > last:
                least = before[leaders[last]]


@helper
def better(before, edge, a, b, who, best):
    """The label before b, and the score: what was found so far, or a, if that is better, or as good and lower."""
    score = before[a] + edge[a, b]
    if score > best or (score == best and a < who):
        return a, score
    return who, best


@helper
def best_before(before, edge, leaders, b):
    """The label before b on the best prefix, and its score; they may miss scores above 0."""
    who, best = leaders[0], before[leaders[0]] + edge[leaders[0], b]
    for s in range(1, leaders.shape[0]):
        a = leaders[s]
        if before[a] < best:
            return who, best
        who, best = better(before, edge, a, b, who, best)
        if edge[a, b] >= 0.0:  # all others are worse, and nothing makes up for it
            return who, best
    for a in range(before.shape[0]):
        if before[a] >= best:
            who, best = better(before, edge, a, b, who, best)
    return who, best


@helper
def sparse_step(before, edge, lists, here, previous):
    """As `max_step`, and who was best."""
    fill_lanes(before, lists.lanes)
    find_leaders(before, lists.lanes, lists.leaders)
    top = lists.leaders[0]
    peak = lowest = before[top]
    for b in range(here.shape[0]):
        here[b] = peak
        previous[b] = top
    for j in range(lists.listed[top]):
        b = lists.columns[top, j]
        if edge[top, b] < 0.0:
            previous[b], here[b] = best_before(before, edge, lists.leaders, b)
            lowest = min(lowest, here[b])
    for a in range(here.shape[0]):
        if before[a] + lists.bound[a] >= lowest:
            take_gains(before[a], lists, a, here, previous)


@helper
def take_gains(score, lists, a, here, previous):
    """Where a prefix that ends in a, with such a score, is the best one for what it gains; the bound becomes exact.

    Which are better nobody can foresee, so that a choice of what to write takes less time than one whether to.
    """
    begin, end, most = lists.first[a], lists.first[a] + lists.n_gains[a], -np.inf
    heads, gains = lists.heads[begin:end], lists.scores[begin:end]
    for j in range(heads.shape[0]):
        b, total = heads[j], score + gains[j]
        most = max(most, gains[j])
        best, who = here[b], previous[b]
        is_better = (total > best) | ((total == best) & (a < who))
        here[b] = total if is_better else best
        previous[b] = a if is_better else who
    lists.bound[a] = most


@helper
def is_crowded(lists):
    """Whether there are, or were, so many gains that a look at the whole table costs less."""
    return lists.free[0] >= lists.heads.shape[0]


@helper
def sparse_viterbi(node, edge, start, end, lists, table, length, labels):
    """As `viterbi`, with lists that know the edge scores."""
    n_labels = edge.shape[0]
    if is_crowded(lists):
        return viterbi(node, edge, start, end, table, length, labels)
    for b in range(n_labels):
        table[0, b] = node[0, b] + start[b]
    for t in range(1, length):
        here = table[t]
        sparse_step(table[t - 1], edge, lists, here, lists.previous[t])
        for b in range(n_labels):
            here[b] += node[t, b]
    chosen, value = best_end(table[length - 1], end)
    labels[length - 1] = chosen
    for t in range(length - 1, 0, -1):
        chosen = lists.previous[t, chosen]
        labels[t - 1] = chosen
    return value
