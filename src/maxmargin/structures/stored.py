"""What of structures may be in model files: layouts of weights, masks, springs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ..inference.pose import Springs
from ..persistence import storable
from ..persistence.registry import name_kind
from .boxes import BoxCandidates, DenseImage, WordImage
from .directions import BetweenCorners, ToCorner
from .masks import TransitionMask
from .pairwise import PairwiseWeights
from .smoothing import EntropySmoothing, L2Smoothing
from .weights import Layout, MulticlassWeights, MultilabelWeights, Weights

KINDS: dict[Any, tuple[type, ...]] = {"int": (int,), "bool": (bool,), "int | None": (int, type(None))}


def check_layout(layout: Any, values: bool) -> None:
    """Sizes must be numbers that are no less than 0: where weights are in memory follows from them."""
    for field in fields(layout):
        size = getattr(layout, field.name)
        if type(size) not in KINDS[field.type] or (size is not None and size < 0):
            raise ValueError(f"{field.name} of a layout of weights is {str(size)[:20]!r}")


def check_weights(weights: Weights, values: bool) -> None:
    """As many as the layout says."""
    layout, flat = weights
    if not isinstance(layout, Layout) or not isinstance(flat, np.ndarray) or flat.dtype != np.float64:
        raise ValueError("there are no weights with a layout")
    if flat.shape != (layout.size,):
        raise ValueError(f"{flat.size} weights, but their layout has {layout.size}")
    check_finite(flat, values)


def check_finite(array: np.ndarray, values: bool) -> None:
    """Refuse NaN and infinity, without another array of that size."""
    if values and array.size and not (np.isfinite(array.min()) and np.isfinite(array.max())):
        raise ValueError("weights are not finite numbers")


def check_springs(springs: Springs, values: bool) -> None:
    """Of one number of parts and types; none pushes."""
    shape = np.shape(springs.bias)
    if len(shape) != 2 or any(np.shape(one) != (*shape, 2) for one in springs[1:]):
        raise ValueError("parts of springs do not go together")
    if any(one.dtype != np.float64 or not np.isfinite(one).all() for one in springs) or np.any(springs.stiffness < 0):
        raise ValueError("springs are not finite numbers, or push")


for layout in (MulticlassWeights, MultilabelWeights, PairwiseWeights):
    storable(layout, check=check_layout)
storable(Weights, check=check_weights)
storable(Springs, check=check_springs)
for part in (TransitionMask, EntropySmoothing, L2Smoothing, ToCorner, BetweenCorners):
    storable(part)
for kind in (BoxCandidates, DenseImage, WordImage):
    name_kind(kind)
