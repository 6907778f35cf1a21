"""Three ways to add up and multiply scores, for one dynamic program over trees and chains.

==========  =======  =========  ===================================================================
ring        add      multiply   what comes out
==========  =======  =========  ===================================================================
MaxPlus     max      +          best scores
ScaledSum   +        x          sums of ``exp(score)``, from exponentials, kept in range
LogSum      log-sum  +          the same for any range of scores, with an exp for each pair of labels
==========  =======  =========  ===================================================================

A pass up a tree sends messages from tails to heads, ``message[b] = add_a inside[a] x table[a, b]``, and `inside` of a
head is its score times all messages. A pass down takes them apart again.

MaxPlus and ScaledSum never divide, so that zeros (forbidden labels) need no care: `before` keeps what a head was
before each message came, and ``inside[a] x outside[a]`` is what all labelings with label a add up to, as a share of the
sum over all labelings where the ring is a sum.

ScaledSum notices when doubles do not hold the range of the scores. All its numbers are shares: `inside` adds up to
about 1, `outside` multiplies it to probabilities. What underflows is below 1e-307 in these units, is divided at most by
a factor that `join` took out, and enters a probability times an entry of `outside`. With all factors above 1e-100 and
all of `outside` below 1e100, no probability has lost more than 1e-100. Otherwise NaN is returned, and the caller turns
to LogSum.

LogSum keeps every sum as its largest term, in `inside` and `message` as MaxPlus has them, and how many times that term
the sum is, in `outside` and `before`: differences of large scores stay exact where logarithms of sums would be rounded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._compile import implements, verb
from .vectors import exp_to_one, largest_of, max_step

SMALL, LARGE = 1e-100, 1e100


class MaxPlus(NamedTuple):
    pass


class ScaledSum(NamedTuple):
    pass


class LogSum(NamedTuple):
    pass


# A `work` has `inside` and `outside` of nodes, `message` and `before` of edges, and `weight`, as long as any message.
# Nodes (`tail`, `head`) and edges (`here`) are whatever picks their numbers out of these: a row or a range.


@verb
def begin(ring, work, v):
    """Before anything is sent to node v, whose scores are in `inside`."""


@verb
def send(ring, work, tail, here, table):
    """``message[b] = add_a inside[a] x table[a, b]``."""


@verb
def join(ring, work, head, here):
    """Multiply a head's `inside` by a message; returns the log of the factor taken out.

    NaN where that is out of range, -inf where every label of the head is forbidden.
    """


@verb
def close(ring, work, root, belief):
    """Where a root has all its messages: the log of what adds up there, and the shares of its labels in `belief`."""


@verb
def split(ring, work, head, here, belief):
    """What a tail sees of its head, into `weight`; undoes `join`. Returns 0, or NaN if out of range."""


@verb
def spread(ring, work, tail, here, table, belief, pairs):
    """From `weight` what is outside of the tail's labels, and what they and pairs add up to. Returns as `split`."""


@implements(begin, MaxPlus, ScaledSum)
def _(ring, work, v):
    pass


@implements(send, MaxPlus)
def _(ring, work, tail, here, table):
    max_step(work.inside[tail], table, work.message[here])


@implements(join, MaxPlus)
def _(ring, work, head, here):
    inside, message, before = work.inside[head], work.message[here], work.before[here]
    for b in range(len(inside)):
        before[b] = inside[b]
        inside[b] += message[b]
    return 0.0


@implements(split, MaxPlus)
def _(ring, work, head, here, belief):
    outside, message, before, weight = work.outside[head], work.message[here], work.before[here], work.weight
    for b in range(len(outside)):
        weight[b] = outside[b] + before[b]
        outside[b] += message[b]
    return 0.0


@implements(spread, MaxPlus)
def _(ring, work, tail, here, table, belief, pairs):
    inside, outside, weight = work.inside[tail], work.outside[tail], work.weight
    for a in range(len(inside)):
        best = -np.inf
        for b in range(table.shape[1]):
            score = table[a, b] + weight[b]
            best = score if score > best else best
        outside[a] = best
        belief[a] = inside[a] + best
    return 0.0


@implements(send, ScaledSum)
def _(ring, work, tail, here, table):
    inside, message = work.inside[tail], work.message[here]
    n_tail, n_head = table.shape
    first = inside[0]
    for b in range(n_head):
        message[b] = first * table[0, b]
    a = 1
    while a + 3 < n_tail:  # four labels a sweep, as in max_step
        p, q, r, s = inside[a], inside[a + 1], inside[a + 2], inside[a + 3]
        for b in range(n_head):
            message[b] += (p * table[a, b] + q * table[a + 1, b]) + (r * table[a + 2, b] + s * table[a + 3, b])
        a += 4
    while a < n_tail:
        p = inside[a]
        for b in range(n_head):
            message[b] += p * table[a, b]
        a += 1


@implements(join, ScaledSum)
def _(ring, work, head, here):
    inside, message, before = work.inside[head], work.message[here], work.before[here]
    total = 0.0
    for b in range(len(inside)):
        total += inside[b] * message[b]
    if not total >= SMALL:
        return np.nan
    scale = 1.0 / total
    for b in range(len(inside)):
        before[b] = inside[b] * scale
        message[b] *= scale
        inside[b] *= message[b]
    return np.log(total)


@implements(close, ScaledSum)
def _(ring, work, root, belief):
    inside, outside = work.inside[root], work.outside[root]
    total = 0.0
    for a in range(len(inside)):
        total += inside[a]  # at least the share of one label: not small
    for a in range(len(inside)):
        outside[a] = 1.0 / total
        belief[a] = inside[a] / total
    return np.log(total)


@implements(split, ScaledSum)
def _(ring, work, head, here, belief):
    outside, message, before, weight = work.outside[head], work.message[here], work.before[here], work.weight
    total = 0.0
    for b in range(len(outside)):
        weight[b] = outside[b] * before[b]
        outside[b] *= message[b]
        total += outside[b]
    return 0.0 if total <= LARGE else np.nan


@implements(spread, ScaledSum)
def _(ring, work, tail, here, table, belief, pairs):
    inside, outside, weight = work.inside[tail], work.outside[tail], work.weight
    total = 0.0
    for a in range(len(inside)):
        share, part = inside[a], 0.0
        for b in range(table.shape[1]):
            one = table[a, b] * weight[b]
            pairs[a, b] = share * one
            part += one
        outside[a] = part
        belief[a] = share * part
        total += part
    return 0.0 if total <= LARGE else np.nan


@implements(begin, LogSum)
def _(ring, work, v):
    work.outside[v][:] = 1.0


@implements(send, LogSum)
def _(ring, work, tail, here, table):
    inside, outside, message, before = work.inside[tail], work.outside[tail], work.message[here], work.before[here]
    max_step(inside, table, message)
    for b in range(len(message)):
        before[b] = 0.0
    for a in range(len(inside)):
        p, times = inside[a], outside[a]
        for b in range(len(message)):
            before[b] += times * exp_to_one(p + table[a, b] - (message[b] if message[b] > -np.inf else 0.0))


@implements(join, LogSum)
def _(ring, work, head, here):
    inside, outside, message, before = work.inside[head], work.outside[head], work.message[here], work.before[here]
    largest = -np.inf
    for b in range(len(inside)):
        inside[b] += message[b]
        if inside[b] > -np.inf:
            largest = inside[b] if inside[b] > largest else largest
            outside[b] *= before[b]
            if outside[b] > LARGE:
                inside[b] += np.log(outside[b])
                outside[b] = 1.0
    return 0.0 if largest > -np.inf else largest


@implements(close, LogSum)
def _(ring, work, root, belief):
    inside, outside = work.inside[root], work.outside[root]
    largest, total = largest_of(inside), 0.0
    for a in range(len(inside)):
        total += outside[a] * exp_to_one(inside[a] - largest)
    for a in range(len(inside)):
        belief[a] = outside[a] * exp_to_one(inside[a] - largest) / total
    return largest + np.log(total)


@implements(split, LogSum)
def _(ring, work, head, here, belief):
    before, weight = work.before[here], work.weight
    for b in range(len(before)):
        weight[b] = belief[b] / before[b] if before[b] > 0.0 else 0.0
    return 0.0


@implements(spread, LogSum)
def _(ring, work, tail, here, table, belief, pairs):
    inside, outside, message, weight = work.inside[tail], work.outside[tail], work.message[here], work.weight
    for a in range(len(inside)):
        p, times, total = inside[a], outside[a], 0.0
        for b in range(len(message)):
            gap = p + table[a, b] - (message[b] if message[b] > -np.inf else 0.0)
            pairs[a, b] = times * exp_to_one(gap) * weight[b]
            total += pairs[a, b]
        belief[a] = total
    return 0.0


MAX_PLUS, SCALED_SUM, LOG_SUM = MaxPlus(), ScaledSum(), LogSum()
