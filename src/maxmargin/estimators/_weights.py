"""Attributes of models that are parts of their flat weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..structures.weights import Layout, Weights
from ._scaling import PLAIN, Scaling


class Learned:
    """A named part of a model's flat weights, which are kept once, in the order that kernels score with.

    Reading gives a view, so that a change in place is one of the model; assigning writes through. There is no such
    attribute before a fit, or where the layout has no such part.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.attribute, self.part = name, name.removesuffix("_")

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self
        weights = self._weights_of(model)
        return weights.layout.parts[self.part].read(weights.flat)

    def __set__(self, model: Any, value: Any) -> None:
        weights = self._weights_of(model)
        weights.layout.write(weights.flat, self.part, value)

    def _weights_of(self, model: Any) -> Weights:
        weights = vars(model).get("_weights")
        if weights is None or self.part not in weights.layout.parts:
            raise AttributeError(f"{type(model).__name__!r} object has no attribute {self.attribute!r}")
        return weights


def as_weights(layout: Layout, scaling: Scaling, w: np.ndarray) -> dict[str, Weights]:
    """What `Learned` attributes are read from; a copy, since solvers may go on with `w`."""
    return {"_weights": Weights(layout, in_given_units(layout, scaling, w))}


def in_given_units(layout: Layout, scaling: Scaling, w: np.ndarray, kernel: bool = False) -> np.ndarray:
    """A copy of flat weights, for features and losses as they came."""
    if scaling is PLAIN:
        return np.array(w, np.float64)
    return layout.pack(**scaling.undo(layout.unpack(w), kernel))


def as_attributes(unpack: Callable[[np.ndarray], dict[str, Any]], scaling: Scaling, w: np.ndarray) -> dict[str, Any]:
    """What a structure unpacks, for features as they came, by the names of fitted attributes."""
    return {f"{name}_": part for name, part in scaling.undo(unpack(w)).items()}
