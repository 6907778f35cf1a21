"""The best pose: positions of parts on a grid, held together along a tree by springs.

Max-sum from the leaves to the roots. What a part offers its parent is the distance transform of its scores, the best
over the types of their relation, so that time is linear in the positions (felzenszwalb05; chen14).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import kernel
from .distance_transform import Spring, new_grid_scratch, transform_grid
from .tree import make_tree_plan


class Springs(NamedTuple):
    """Between every part and its parent, R types of relation; what roots have is not looked at.

    A part at q with its parent at p in relation r adds ``bias - stiffness (q - p - anchor)^2 + pull (q - p - anchor)``,
    summed over columns (x) and rows (y).
    """

    bias: np.ndarray  # (P, R)
    stiffness: np.ndarray  # (P, R, 2) >= 0
    pull: np.ndarray  # (P, R, 2)
    anchor: np.ndarray  # (P, R, 2)


class PartTree(NamedTuple):
    parents: np.ndarray  # (P,) -1 for roots
    upward: np.ndarray  # (P,) every part before its parent


class Pose(NamedTuple):
    positions: np.ndarray  # (P, 2) column and row of each part
    types: np.ndarray  # (P,) the relation to the parent, -1 for roots


def make_part_tree(parents: Any) -> PartTree:
    """A tree, or several, of parts that name their parent, -1 for none."""
    parents = np.asarray(parents, np.int64)
    plan = make_tree_plan([0, len(parents)], parents, 1, shared=True)
    return PartTree(parents, np.concatenate([plan.tail[plan.upward], plan.roots]))


@kernel(n_parts=2)
def _find_pose(tree, springs, scores, places, kinds, positions, types):
    """Fill positions and types, return their score; messages are added to `scores` (P, H, W)."""
    _, height, width = scores.shape
    scratch = new_grid_scratch(height, width)
    offered, origin = np.empty((height, width)), np.empty((height, width), np.int32)
    message = np.empty((height, width))
    for part in tree.upward:
        parent = tree.parents[part]
        if parent < 0:
            continue
        message[:] = -np.inf
        places[part] = -1
        kinds[part] = 0
        for r in range(springs.bias.shape[1]):
            spring = Spring(springs.stiffness[part, r], springs.pull[part, r], springs.anchor[part, r])
            transform_grid(scores[part], spring, scratch, offered, origin)
            for y in range(height):
                for x in range(width):
                    value = offered[y, x] + springs.bias[part, r]
                    if value > message[y, x]:
                        message[y, x], places[part, y, x], kinds[part, y, x] = value, origin[y, x], r
        for y in range(height):
            for x in range(width):
                scores[parent, y, x] += message[y, x]
    total = 0.0
    for part in tree.upward[::-1]:
        parent = tree.parents[part]
        if parent < 0:
            place = np.argmax(scores[part])
            total += scores[part, place // width, place % width]
            types[part] = -1
        else:
            x, y = positions[parent]
            place = places[part, y, x]
            types[part] = kinds[part, y, x]
        positions[part, 0], positions[part, 1] = place % width, place // width
    return total


def best_pose(scores: Any, tree: PartTree, springs: Springs) -> tuple[Pose, float]:
    """The positions and types of the highest score, and the score.

    `scores` (P, H, W) are those of every part at every position; -inf forbids one. Where no pose is possible the score
    is -inf, and what stands for the pose means nothing.
    """
    scores = np.array(scores, np.float64, order="C")  # a copy: messages are added to it
    n_parts = len(tree.parents)
    _check(scores, n_parts, springs)
    positions, types = np.zeros((n_parts, 2), np.int64), np.empty(n_parts, np.int64)
    places, kinds = np.empty(scores.shape, np.int32), np.empty(scores.shape, np.int16)
    value = _find_pose(tree, springs, scores, places, kinds, positions, types)
    return Pose(positions, types), float(value)


def _check(scores: np.ndarray, n_parts: int, springs: Springs) -> None:
    if scores.ndim != 3 or len(scores) != n_parts or scores.size == 0:
        raise ValueError(f"scores must be ({n_parts}, H, W), a grid for every part, got shape {scores.shape}")
    if not (scores < np.inf).all():
        raise ValueError("scores must be numbers below infinity; -inf forbids a position")
    n_types = springs.bias.shape[-1]
    for name, of in zip(Springs._fields, springs, strict=True):
        shape = (n_parts, n_types) if name == "bias" else (n_parts, n_types, 2)
        if of.shape != shape or not np.isfinite(of).all():
            raise ValueError(f"{name} of the springs must be finite, of shape {shape}, got {of.shape}")
    if n_types < 1 or (springs.stiffness < 0).any():
        raise ValueError("springs need at least one type of relation, and stiffness >= 0")
