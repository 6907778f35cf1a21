"""Stochastic steps against a subgradient, one sample each, with weights ``scale u`` so that shrinking costs nothing.

Which method it is, a *rule* says: how long steps are, how they shrink the weights, how losses count. Averages are
kept in the same way: with changes ``u_t = u_{t-1} + delta_t`` and weights ``omega_t`` of the iterates,
``sum_t omega_t scale_t u_t = total u - sum_t total_{t-1} delta_t`` with ``total_t = sum_{s <= t} omega_s scale_s``. So
each change is written twice, and the whole vector never.
"""

from __future__ import annotations

from typing import NamedTuple

from ..._compile import implements, kernel, verb
from ...structures.verbs import add_corner, find_corner, find_potentials_with
from ..box import Box, NoBox, after_change

# Below this the factor of the weights is multiplied out.
SMALL_SCALE = 1e-9

# Entries of `scales`: the factor of u, the sum of omega times that factor, and of omega.
SCALE, TOTAL, MASS = 0, 1, 2


@verb
def step_length(rule, lam, k):
    """Of step k, counted from 0."""


@verb
def shrinkage(rule, lam, k):
    """What weights are multiplied by in step k."""


@verb
def emphasis(rule, scale):
    """How much losses count where the weights are scale times those at hand."""


@verb
def importance(rule, k):
    """Of the iterate after step k in the average."""


class Pegasos(NamedTuple):
    """``1 / (lam (k + 1))``; what comes late counts more in the average."""  # shalev10, lacoste12


@implements(step_length, Pegasos)
def _(rule, lam, k):
    return 1.0 / (lam * (k + 1.0))


@implements(shrinkage, Pegasos)
def _(rule, lam, k):
    return k / (k + 1.0) if k > 0 else 1.0  # there is nothing yet to forget


class Decaying(NamedTuple):
    """``gamma0 / (1 + k / t0)``."""  # pillutla18, Sec. 7

    gamma0: float
    t0: float  # in steps


@implements(step_length, Decaying)
def _(rule, lam, k):
    return rule.gamma0 / (1.0 + k / rule.t0)


@implements(shrinkage, Decaying)
def _(rule, lam, k):
    return 1.0 - lam * rule.gamma0 / (1.0 + k / rule.t0)


@implements(emphasis, Pegasos, Decaying)
def _(rule, scale):
    return 1.0 / scale


@implements(importance, Pegasos, Decaying)
def _(rule, k):
    return k + 1.0


class Mistakes(NamedTuple):
    """The perceptron: steps of length 1 where the best output is wrong, whatever its loss; all iterates count alike."""


@implements(step_length, Mistakes)
def _(rule, lam, k):
    return 1.0


@implements(shrinkage, Mistakes)
def _(rule, lam, k):
    return 1.0


@implements(emphasis, Mistakes)
def _(rule, scale):
    return 0.0


@implements(importance, Mistakes)
def _(rule, k):
    return 1.0


@verb
def project(box, u, late, scale, total):
    """The weights ``scale u`` become the nearest in the box; `late` follows as it does every change."""


@implements(project, NoBox)
def _(box, u, late, scale, total):
    return None


@implements(project, Box)
def _(box, u, late, scale, total):
    for j in range(box.indices.shape[0]):
        at = box.indices[j]
        inside = min(max(scale * u[at], box.lower[j]), box.upper[j]) / scale
        if late.shape[0] > 0:
            late[at] += total * (inside - u[at])
        u[at] = inside


@kernel
def descend(problem, work, rule, box, u, late, scales, order, lam, done):
    """Steps on the blocks in `order`, which follow `done` others; returns how many before the scale became small.

    Where averages are wanted, `late` is ``sum_t total_{t-1} delta_t``; else it is empty.
    """
    n = problem.weight.shape[0]
    for position in range(order.shape[0]):
        scale, total = scales[SCALE], scales[TOTAL]
        if scale < SMALL_SCALE:
            return position
        i, k = order[position], done + position
        find_potentials_with(problem, work, u, i, emphasis(rule, scale))
        find_corner(problem, work, u, i)
        scale *= shrinkage(rule, lam, k)
        amount = step_length(rule, lam, k) * n * problem.weight[i] / scale
        add_corner(problem, work, i, amount, u)
        if late.shape[0] > 0:
            add_corner(problem, work, i, amount * total, late)
        project(box, u, late, scale, total)
        after_change(box, problem, work)
        scales[SCALE] = scale
        scales[TOTAL] = total + importance(rule, k) * scale
        scales[MASS] += importance(rule, k)
    return order.shape[0]
