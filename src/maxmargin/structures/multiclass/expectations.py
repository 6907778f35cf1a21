"""Expectations over the classes of a sample, and the marginals at which it is optimal by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import helper, implements
from ...inference.vectors import exp_scores, largest_of
from ...inference.verbs import FLOOR
from ..directions import list_difference
from ..smoothing import Untilted
from ..verbs import (
    add_expectation,
    find_between,
    find_entry,
    find_expectation,
    find_optimum,
    keep_expectation,
    largest_loss,
    mix_corner,
    new_expectation,
    new_interior,
    new_tilts,
    tilt_value,
)
from .blocks import spread
from .layout import MulticlassProblem


class Expected(NamedTuple):
    scores: np.ndarray  # (K,)
    node: np.ndarray  # (K,) probabilities
    log_sum: np.ndarray  # (1,) log of the sum over classes, where they start from tilts or from nothing


class Tilts(NamedTuple):
    node: np.ndarray  # (n, K) logarithms of probabilities, but for a constant


class Interior(NamedTuple):
    node: np.ndarray  # (n, K) probabilities


@implements(new_tilts, MulticlassProblem)
def _(problem):
    return Tilts(np.zeros((len(problem.labels), problem.cost.shape[0])))


@implements(largest_loss, MulticlassProblem)
def _(problem):
    return float(problem.weight @ problem.cost.max(axis=1)[problem.labels])


@implements(new_interior, MulticlassProblem)
def _(problem):
    return Interior(np.zeros((len(problem.labels), problem.cost.shape[0])))


@implements(new_expectation, MulticlassProblem)
def _(problem):
    return Expected(np.zeros(problem.cost.shape[0]), np.zeros(problem.cost.shape[0]), np.zeros(1))


@helper
def settle_weights(expectation, work):
    """Weights of classes become probabilities; returns what the potentials at hand are worth there."""
    node, total, value = expectation.node, 0.0, 0.0
    for k in range(node.shape[0]):
        total += node[k]
    expectation.log_sum[0] = np.log(total)
    for k in range(node.shape[0]):
        node[k] /= total
        value += node[k] * work.node[k]
    return value


@helper
def expect_scores(expectation, work):
    """Classes have probabilities in proportion to exp(scores); returns what the potentials at hand are worth there."""
    largest = exp_scores(expectation.scores, expectation.node)
    value = settle_weights(expectation, work)
    expectation.log_sum[0] += largest
    return value


@implements(find_expectation, (MulticlassProblem, Tilts))
def _(problem, base, expectation, work, w, i, eta):
    for k in range(expectation.scores.shape[0]):
        expectation.scores[k] = base.node[i, k] + eta * work.node[k]
    return expect_scores(expectation, work)


@implements(find_between, MulticlassProblem)
def _(problem, tilts, expectation, work, w, i, eta):
    for k in range(expectation.scores.shape[0]):
        expectation.scores[k] = (1.0 - eta) * tilts.node[i, k] + eta * work.node[k]
    return expect_scores(expectation, work)


@implements(tilt_value, MulticlassProblem)
def _(problem, expectation, i):
    total = 0.0
    for k in range(expectation.scores.shape[0]):
        total += expectation.scores[k] * expectation.node[k]
    return total


@implements(add_expectation, MulticlassProblem)
def _(problem, expectation, work, i, scale, w):
    count = list_difference(expectation.node, problem.labels[i], 1.0, work.active, work.values)
    spread(problem, work, i, scale, count, w)


@implements(find_expectation, (MulticlassProblem, Untilted))
def _(problem, base, expectation, work, w, i, eta):
    for k in range(expectation.scores.shape[0]):
        expectation.scores[k] = eta * work.node[k]
    return expect_scores(expectation, work)


@implements(find_expectation, (MulticlassProblem, Interior))
def _(problem, base, expectation, work, w, i, eta):  # mohapatra16, Prop. 1
    scores, node = expectation.scores, expectation.node
    for k in range(scores.shape[0]):
        scores[k] = eta * work.node[k]
    exp_scores(scores, node)
    for k in range(scores.shape[0]):  # what underflowed is nothing beside the floor of another class
        node[k] *= base.node[i, k] + FLOOR
    return settle_weights(expectation, work)


@implements(find_entry, MulticlassProblem)
def _(problem, base, blocks, expectation, work, w, i, odds):
    for k in range(expectation.node.shape[0]):
        mass = blocks.node[i, k]
        expectation.scores[k] = max(np.log(mass), -odds) if mass > 0.0 else -odds
        expectation.node[k] = np.exp(expectation.scores[k])
    value = settle_weights(expectation, work)
    keep_expectation(problem, base, expectation, i, 1.0)
    return value


@implements(keep_expectation, (MulticlassProblem, Tilts))
def _(problem, base, expectation, i, gamma):
    for k in range(expectation.scores.shape[0]):
        base.node[i, k] = expectation.scores[k]


@implements(keep_expectation, (MulticlassProblem, Interior))
def _(problem, base, expectation, i, gamma):
    for k in range(expectation.node.shape[0]):
        base.node[i, k] = (1.0 - gamma) * base.node[i, k] + gamma * expectation.node[k]


@implements(mix_corner, MulticlassProblem)
def _(problem, base, work, i, gamma):
    for k in range(problem.cost.shape[0]):
        base.node[i, k] *= 1.0 - gamma
    base.node[i, work.label[0]] += gamma


@implements(find_optimum, MulticlassProblem)
def _(problem, blocks, expectation, work, i, scale):
    # a maximum of -curvature/2 |mu - (mu_i + theta / curvature)|^2: the point of the simplex nearest to that
    n_labels, curvature = work.node.shape[0], scale * problem.squared_norm[i]
    goal, best = expectation.node, work.label[0]
    top = work.node[best]
    for k in range(n_labels):  # differences of scores: where the curvature is small, their sizes would hide it
        goal[k] = blocks.node[i, k] * curvature + (work.node[k] - top)
    # what rises above a level sums to the curvature: raise the level until it does
    level, raised = -np.inf, largest_of(goal) - curvature
    while raised > level:
        level, total, count = raised, 0.0, 0
        for k in range(n_labels):
            if goal[k] > level:
                total += goal[k] - level
                count += 1
        raised = level + (total - curvature) / count if count > 0 else level
    for k in range(n_labels):
        goal[k] = max(goal[k] - level, 0.0) / curvature if curvature > 0.0 else (1.0 if k == best else 0.0)
