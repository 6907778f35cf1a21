"""Tiny images with figures of three parts, and all their poses written out."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np

from maxmargin import PoseSVM
from maxmargin.inference import Pose
from reference import from_callables
from solvers.test_box import boxed_optimum

LAM, F = 0.2, 2
PARENTS = [1, -1, 1]
SHAPES = [(2, 3), (3, 2), (2, 2), (1, 4), (2, 3)]  # rows and columns
Y = [
    [(0, 0), (1, 0), (2, 1)],
    [(1, 2), (1, 1), (0, 1)],
    [(0, 0), (1, 1), (0, 1)],
    [(0, 0), (1, 0), (3, 0)],
    [(1, 1), (1, 0), (2, 0)],
]


def make_images():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(*shape, F)) for shape in SHAPES]


X = make_images()


def model_of(**params):
    given = {"lam": LAM, "tol": 1e-3, "parents": PARENTS, "n_types": 2, "radius": 2.0, "random_state": 0}
    return PoseSVM(**{**given, **params})


def outputs(shape, parents, n_types):
    """All poses of an image."""
    places = list(itertools.product(range(shape[1]), range(shape[0])))
    kinds = list(itertools.product(*(range(n_types) if parent >= 0 else [-1] for parent in parents)))
    for positions in itertools.product(places, repeat=len(parents)):
        for types in kinds:
            yield Pose(np.array(positions), np.array(types))


def score_of(model, image, pose):
    """By the fitted attributes."""
    total = 0.0
    for part, (x, y) in enumerate(pose.positions):
        total += model.coef_[part] @ image[y, x]
        parent, r, springs = model.parents_[part], pose.types[part], model.springs_
        if parent >= 0:
            away = pose.positions[part] - pose.positions[parent] - springs.anchor[part, r]
            total += springs.bias[part, r] - springs.stiffness[part, r] @ away**2 + springs.pull[part, r] @ away
    return total


def loss_of(truth, positions, radius):
    squares = ((np.asarray(truth) - positions) ** 2).sum(axis=1)
    return np.mean([min(1.0, square / radius**2) for square in squares])


def enumerated(model, weight=None):
    """The problem of a model, and its optimum with springs that do not push, by an independent QP solver."""
    encoded = model.encode(X, Y, weight)
    own = encoded.problem.structure
    shapes = [grid.shape for grid in own.grids]
    parents, n_types = own.model.tree.parents, own.model.anchors.shape[1]
    flat = [np.append(pose.positions, pose.types) for pose in own.y]

    def unflat(y):
        return Pose(y[: 2 * len(parents)].reshape(-1, 2), y[2 * len(parents) :])

    reference = from_callables(
        len(shapes),
        lambda i: [np.append(pose.positions, pose.types) for pose in outputs(shapes[i], parents, n_types)],
        lambda i, y: own.joint_feature(i, unflat(y)),
        lambda i, y: loss_of(own.y[i].positions, unflat(y).positions, own.radius[i]),
        flat,
        encoded.problem.weight,
    )
    lower = np.full(reference.d, -np.inf)
    lower[own.model.stiffness_places()] = 0.0
    pair = SimpleNamespace(reference=reference, to_reference=lambda bounds: bounds)
    return reference, boxed_optimum(pair, model.lam, lower, np.full(reference.d, np.inf))
