"""Poses: positions of parts in images, springs along a tree, and the truncated distance as a loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..inference.pose import PartTree, Pose, Springs, best_pose, make_part_tree
from .relations import find_anchors, nearest_types

# Displacements from an anchor are measured in so many root mean squares of theirs. Tried on 30 figures, 40 passes:
# with 1 the gap is 2.5 times as large, with 6 the springs stay soft, and a third more of the test parts are missed.
DEVIATIONS = 3.0

PER_SPRING = 5  # weights: bias, stiffness along x and y, pull along x and y


class Grid(NamedTuple):
    """The positions of one image."""

    shape: tuple[int, int]  # rows and columns
    features: np.ndarray  # (rows * columns, F) float64

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """(P, H, W) scores of the parts for their weights (P, F)."""
        return (coef @ self.features.T).reshape(-1, *self.shape)

    def best(self, coef: np.ndarray, parents: np.ndarray, springs: Springs) -> Pose:
        """The pose of the highest score."""
        return best_pose(self.scores(coef), make_part_tree(parents), springs)[0]

    def features_at(self, positions: np.ndarray) -> np.ndarray:
        """(P, F) for the columns and rows (P, 2) of the parts."""
        return self.features[positions[:, 1] * self.shape[1] + positions[:, 0]]


class PoseModel(NamedTuple):
    """What w means: weights (P, F) of the features of each part, then five for every edge and type."""

    tree: PartTree
    anchors: np.ndarray  # (P, R, 2)
    scale: np.ndarray  # (P,) pixels that displacements from an anchor are measured in
    n_features: int

    @property
    def edges(self) -> np.ndarray:
        """The parts that have a parent."""
        return np.flatnonzero(self.tree.parents >= 0)

    @property
    def n_part_weights(self) -> int:
        return len(self.tree.parents) * self.n_features

    @property
    def n_weights(self) -> int:
        return self.n_part_weights + len(self.edges) * self.anchors.shape[1] * PER_SPRING

    def stiffness_places(self) -> np.ndarray:
        """Where w must be >= 0, or springs would push."""
        of_springs = np.arange(self.n_part_weights, self.n_weights).reshape(-1, PER_SPRING)
        return of_springs[:, 1:3].ravel()

    def unpack(self, w: np.ndarray) -> dict[str, Any]:
        """Weights of the parts, and springs in pixels."""
        n_parts, n_types, _ = self.anchors.shape
        coef = w[: self.n_part_weights].reshape(n_parts, self.n_features)
        springs = np.zeros((n_parts, n_types, PER_SPRING))
        springs[self.edges] = w[self.n_part_weights :].reshape(-1, n_types, PER_SPRING)
        scale = self.scale[:, None, None]
        in_pixels = Springs(springs[..., 0], springs[..., 1:3] / scale**2, springs[..., 3:] / scale, self.anchors)
        return {"coef": coef, "springs": in_pixels}

    def joint_feature(self, grid: Grid, pose: Pose) -> np.ndarray:
        edges, parents, n_types = self.edges, self.tree.parents, self.anchors.shape[1]
        types = pose.types[edges]
        away = pose.positions[edges] - pose.positions[parents[edges]] - self.anchors[edges, types]
        away = away / self.scale[edges, None]
        springs = np.zeros((len(edges), n_types, PER_SPRING))
        springs[np.arange(len(edges)), types] = np.hstack([np.ones((len(edges), 1)), -(away**2), away])
        return np.concatenate([grid.features_at(pose.positions).ravel(), springs.ravel()])


def check_tree(parents: np.ndarray) -> np.ndarray:
    """The parents, if they are those of a tree or several."""
    return make_part_tree(parents).parents


def make_pose_model(
    positions: np.ndarray, parents: np.ndarray, n_types: int, n_features: int, weight: np.ndarray
) -> PoseModel:
    """Anchors from poses (n, P, 2); displacements from them are measured in deviations, pixels at least."""
    anchors = find_anchors(positions, parents, n_types, weight)
    square = nearest_types(positions, parents, anchors)[1]
    scale = DEVIATIONS * np.sqrt(np.maximum(1.0, weight @ square / weight.sum()))
    return PoseModel(make_part_tree(parents), anchors, scale, n_features)


class Poses:
    """Images whose outputs are poses; a structure for `KnownProblem`.

    The loss is the mean over parts of ``min(1, d^2 / radius^2)``, d being the distance to the true position (osokin16,
    I.4, which prints max). It is a sum over parts, so that the pose of the highest score plus loss is found as the best
    pose is. The type of a true relation is that of the nearest anchor; other types cost nothing.
    """

    def __init__(
        self,
        grids: list[Grid],
        positions: np.ndarray,
        model: PoseModel,
        radius: np.ndarray,
        sample_weight: np.ndarray | None = None,
    ):
        self.grids, self.model, self.radius, self.sample_weight = grids, model, radius, sample_weight
        types = nearest_types(positions, model.tree.parents, model.anchors)[0]
        self.y = list(map(Pose, positions, types))
        self.n_samples, self.n_features = len(grids), model.n_weights

    def max_oracle(self, w: np.ndarray, i: int) -> Pose:
        return self.best(w, i, loss_maps(self.grids[i].shape, self.y[i].positions, self.radius[i]))

    def decode(self, w: np.ndarray, i: int) -> Pose:
        return self.best(w, i, 0.0)

    def best(self, w: np.ndarray, i: int, extra: Any) -> Pose:
        """With scores (P, H, W) that come on top."""
        parts = self.model.unpack(w)
        return best_pose(self.grids[i].scores(parts["coef"]) + extra, self.model.tree, parts["springs"])[0]

    def joint_feature(self, i: int, y: Pose) -> np.ndarray:
        return self.model.joint_feature(self.grids[i], y)

    def loss(self, i: int, y: Pose) -> float:
        return float(truncated_distances(self.y[i].positions, y.positions, self.radius[i]).mean())

    def data(self) -> list[np.ndarray]:
        parts = [self.radius, self.model.tree.parents, self.model.anchors, self.model.scale]
        for grid, pose in zip(self.grids, self.y, strict=True):
            parts += [np.array(grid.shape), grid.features, pose.positions]
        return parts


def truncated_distances(positions: np.ndarray, others: np.ndarray, radius: Any) -> np.ndarray:
    """``min(1, d^2 / radius^2)`` of every part."""
    return np.minimum(1.0, ((positions - others) ** 2).sum(axis=-1) / radius**2)


def loss_maps(shape: tuple[int, int], positions: np.ndarray, radius: float) -> np.ndarray:
    """(P, H, W): what each part adds to the loss at each position."""
    rows = (np.arange(shape[0]) - positions[:, 1:]) ** 2
    columns = (np.arange(shape[1]) - positions[:, :1]) ** 2
    return np.minimum(1.0, (rows[:, :, None] + columns[:, None, :]) / radius**2) / len(positions)
