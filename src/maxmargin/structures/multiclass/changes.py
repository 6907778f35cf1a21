"""What a move changes of a sample's classes: keys are classes."""

from __future__ import annotations

from ..._compile import implements
from ..changes import add_changes, changes_bound, list_changes, tells_changes
from ..rows import has_features
from .blocks import list_moves, spread
from .layout import MulticlassProblem


@implements(tells_changes, MulticlassProblem)
def _(problem):
    return has_features(problem.rows)


@implements(changes_bound, MulticlassProblem)
def _(problem, blocks, i, moves):
    return moves * problem.cost.shape[0]


@implements(list_changes, MulticlassProblem)
def _(problem, direction, blocks, work, i, gamma, keys, values, count):
    n_listed = list_moves(problem, direction, blocks, work, i)
    for j in range(n_listed):
        keys[count + j], values[count + j] = work.active[j], gamma * work.values[j]
    return count + n_listed


@implements(add_changes, MulticlassProblem)
def _(problem, work, i, keys, values, first, last, scale, w):
    for j in range(last - first):
        work.active[j], work.values[j] = keys[first + j], values[first + j]
    spread(problem, work, i, -scale, last - first, w)
