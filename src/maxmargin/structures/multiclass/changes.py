"""What a step changed of a sample's classes: keys are classes."""

from __future__ import annotations

import numpy as np

from ..._compile import implements
from ..changes import add_changes, changes_bound, keep_before, list_changes, new_before, tells_changes
from ..rows import has_features
from .blocks import spread
from .layout import MulticlassBlocks, MulticlassProblem


@implements(tells_changes, MulticlassProblem)
def _(problem):
    return has_features(problem.rows)


@implements(new_before, MulticlassProblem)
def _(problem, capacity):
    return MulticlassBlocks(np.zeros((1, problem.cost.shape[0])), np.zeros(1))


@implements(changes_bound, MulticlassProblem)
def _(problem, blocks, i):
    return problem.cost.shape[0]


@implements(keep_before, MulticlassProblem)
def _(problem, blocks, before, i):
    for k in range(before.node.shape[1]):
        before.node[0, k] = blocks.node[i, k]


@implements(list_changes, MulticlassProblem)
def _(problem, before, blocks, i, keys, values, count):
    for k in range(before.node.shape[1]):
        change = blocks.node[i, k] - before.node[0, k]
        if change != 0.0:
            keys[count], values[count] = k, change
            count += 1
    return count


@implements(add_changes, MulticlassProblem)
def _(problem, work, i, keys, values, first, last, scale, w):
    for j in range(last - first):
        work.active[j], work.values[j] = keys[first + j], values[first + j]
    spread(problem, work, i, -scale, last - first, w)
