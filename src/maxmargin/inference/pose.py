"""The best pose: positions of parts on a grid, held together along a tree by springs.

Max-sum from the leaves to the roots. What a part offers its parent is the distance transform of its scores, the best
over the types of their relation, so that time is linear in the positions (felzenszwalb05; chen14).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import kernel, plain
from .distance_transform import Spring, new_grid_scratch, transform_grid
from .tree import make_tree_plan


class Springs(NamedTuple):
    """Between every part and its parent, R types of relation; what roots have is not looked at.

    A part at q with its parent at p in relation r adds ``bias - stiffness (q - p - anchor)^2 + pull (q - p - anchor)``,
    summed over columns (x) and rows (y).

    Parameters
    ----------
    bias : ndarray of shape (P, R)
        What a type of relation is worth.
    stiffness : ndarray of shape (P, R, 2)
        How much stretching costs, >= 0.
    pull : ndarray of shape (P, R, 2)
        What a step away from the anchor is worth.
    anchor : ndarray of shape (P, R, 2)
        Where the part is at rest, seen from its parent.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import Springs
    >>> flat = np.zeros((2, 1, 2))
    >>> Springs(bias=np.zeros((2, 1)), stiffness=flat + 1.0, pull=flat, anchor=flat).stiffness.shape
    (2, 1, 2)
    """

    bias: np.ndarray
    stiffness: np.ndarray
    pull: np.ndarray
    anchor: np.ndarray


class PartTree(NamedTuple):
    parents: np.ndarray  # (P,) -1 for roots
    upward: np.ndarray  # (P,) every part before its parent


class Pose(NamedTuple):
    """Where the parts of a figure are.

    Parameters
    ----------
    positions : ndarray of shape (P, 2)
        Column and row of each part.
    types : ndarray of shape (P,)
        The relation of each part to its parent, -1 for roots.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import Pose
    >>> Pose(np.array([[3, 5], [4, 5]]), np.array([-1, 0])).positions[1]
    array([4, 5])
    """

    positions: np.ndarray
    types: np.ndarray


def make_part_tree(parents: Any) -> PartTree:
    """A tree, or several, of parts that name their parent.

    Parameters
    ----------
    parents : array_like of shape (P,)
        The parent of each part, -1 for none.

    Returns
    -------
    PartTree
        The parents, and an order in which every part comes before its own.

    Examples
    --------
    >>> from maxmargin.inference import make_part_tree
    >>> make_part_tree([-1, 0, 1]).upward
    array([2, 1, 0])
    """
    parents = np.asarray(parents, np.int64)
    plan = make_tree_plan([0, len(parents)], parents, 1, shared=True)
    return PartTree(parents, np.concatenate([plan.tail[plan.upward], plan.roots]))


@kernel
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

    Parameters
    ----------
    scores : array_like of shape (P, H, W)
        Those of every part at every position; -inf forbids one.
    tree : PartTree
        From :func:`make_part_tree`.
    springs : Springs
        What holds the parts together.

    Returns
    -------
    pose : Pose
        Means nothing where no pose is possible.
    value : float
        Its score; -inf where no pose is possible.

    Examples
    --------
    A part likes column 3, but its parent, in column 0, holds it by a spring:

    >>> import numpy as np
    >>> from maxmargin.inference import Springs, best_pose, make_part_tree
    >>> scores = np.array([[[9.0, 0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0, 5.0]]])
    >>> flat = np.zeros((2, 1, 2))
    >>> for stiffness in (0.1, 10.0):
    ...     springs = Springs(np.zeros((2, 1)), flat + stiffness, flat, flat)
    ...     pose, value = best_pose(scores, make_part_tree([-1, 0]), springs)
    ...     print(pose.positions[1], round(value, 6))
    [3 0] 13.1
    [0 0] 9.0
    """
    scores = np.array(scores, np.float64, order="C")  # a copy: messages are added to it
    n_parts = len(tree.parents)
    _check(scores, n_parts, springs)
    springs = Springs(*(plain(of, np.float64) for of in springs))
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
