"""Images as grids of features, and the positions of parts in them, or say which sample is wrong and why."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ...structures.pose import Grid, check_tree
from .arrays import as_any_array, as_features, read_list, read_outputs, same_width


def read_grids(X: Any, n_features: int | None = None, estimator: str = "estimator") -> list[Grid]:
    """Images with the same number of features, of any sizes; none will do after a fit."""
    images = read_list(X, "images, at least one, each an (H, W, F) array of features", least=n_features is None)
    grids = [_grid(image, f"X, sample {i}") for i, image in enumerate(images)]
    same_width([grid.features.shape[1] for grid in grids], n_features, estimator)
    return grids


def read_positions(y: Any, grids: list[Grid], n_parts: int | None = None) -> np.ndarray:
    """(n, P, 2) columns and rows of the parts."""
    given = read_outputs(y, len(grids), "the positions of the parts")
    poses = [_positions(pose, grid, f"y, sample {i}") for i, (pose, grid) in enumerate(zip(given, grids, strict=True))]
    known = "the samples before have" if n_parts is None else "the model has"
    n_parts = len(poses[0]) if n_parts is None else n_parts
    for i, pose in enumerate(poses):
        if len(pose) != n_parts:
            raise ValueError(f"y, sample {i}: positions of {len(pose)} parts, but {known} {n_parts}")
    return np.stack(poses)


def check_parents(parents: Any, n_parts: int) -> np.ndarray:
    """The parent of every part, -1 for roots; a tree or several."""
    wanted = f"parents must be {n_parts} whole numbers, the parent of each part, -1 for a root"
    given = as_any_array(parents, "parents")
    if given.shape != (n_parts,) or given.dtype.kind not in "iu":
        raise ValueError(f"{wanted}, got {given.dtype} of shape {given.shape}")
    outside = (given < -1) | (given >= n_parts)
    if outside.any():
        part = int(np.argmax(outside))
        raise ValueError(f"{wanted}, but that of part {part} is {given[part]}")
    try:
        return check_tree(given)
    except ValueError as error:
        raise ValueError(f"parents: {str(error).partition(': ')[2]}; make the parts a tree") from error


def read_radius(radius: Any, positions: np.ndarray, known_as: np.ndarray) -> np.ndarray:
    """The scale of the loss (n,), the same for all or the distance between two parts in the true pose.

    `known_as` are the numbers that users know the samples by.
    """
    if isinstance(radius, numbers.Real) and not isinstance(radius, (bool, np.bool_)):
        if not 0 < float(radius) < np.inf:
            raise ValueError(f"radius must be a finite number > 0 or a pair of parts, got {radius!r}")
        return np.full(len(positions), float(radius))
    n_parts, pair = positions.shape[1], np.asarray(radius)
    if pair.shape != (2,) or pair.dtype.kind not in "iu" or not ((pair >= 0) & (pair < n_parts)).all():
        raise ValueError(f"radius must be a finite number > 0 or a pair of the {n_parts} parts, got {radius!r}")
    apart = np.linalg.norm(positions[:, pair[0]] - positions[:, pair[1]], axis=1)
    if not apart.all():
        raise ValueError(
            f"y, sample {known_as[np.argmin(apart)]}: parts {pair[0]} and {pair[1]} are at the same position, but "
            f"radius={radius!r} takes their distance as the scale of the loss: give a number, or parts that stay apart"
        )
    return apart


def _grid(image: Any, where: str) -> Grid:
    x = as_any_array(image, where)
    if x.ndim != 3 or x.size == 0:
        raise ValueError(
            f"{where}: must be an (H, W, F) array of features, none of them 0, got shape {x.shape}; if X is one image, "
            "wrap it: [X]"
        )
    x = as_features(x, where)
    wrong = ~np.isfinite(x).all(axis=2)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(f"{where}: features at column {column}, row {row} hold NaN or infinity")
    return Grid(x.shape[:2], x.reshape(-1, x.shape[2]))


def _positions(pose: Any, grid: Grid, where: str) -> np.ndarray:
    at = as_any_array(pose, where)
    if at.ndim != 2 or at.shape[1] != 2 or len(at) == 0:
        raise ValueError(f"{where}: must be (P, 2), column and row of each part, got shape {at.shape}")
    if at.dtype.kind not in "iuf":
        raise ValueError(f"{where}: must hold whole numbers, got {at.dtype}")
    whole = (at == np.floor(at)) & np.isfinite(at)
    if not whole.all():
        part = int(np.argmin(whole.all(axis=1)))
        raise ValueError(f"{where}: part {part} is at {_shown(at[part])}, but positions are whole numbers: round them")
    height, width = grid.shape
    inside = (at >= 0) & (at < (width, height))
    if not inside.all():
        part = int(np.argmin(inside.all(axis=1)))
        raise ValueError(
            f"{where}: part {part} is at {_shown(at[part])}, outside the image of {width} columns and {height} rows"
        )
    return at.astype(np.int64)


def _shown(position: np.ndarray) -> str:
    return f"({position[0]:g}, {position[1]:g})"
