"""Structures of the package in plain Python, through the same loops as a user's own."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .custom import CustomProblem
from .needs import Need, offered_if


class Known(Protocol):
    """What is known of a structure of the package, beyond what `CustomProblem` asks for."""

    def data(self) -> list[Any]:
        """Arrays that tell it from others, beyond its weights and the features of true outputs."""

    def decode(self, w: np.ndarray, i: int) -> Any:
        """The output that maximises ``<w, joint_feature(i, y)>``."""


class KnownProblem(CustomProblem):
    """Unlike of a user's structure, all of it is known, and its oracle is right."""

    structure: Known

    def fingerprint_parts(self) -> list[Any]:
        return [*super().fingerprint_parts(), *self.structure.data()]

    def offers(self) -> frozenset[Need]:
        return super().offers() | offered_if(factors=hasattr(self.structure, "factored"))

    def factored(self) -> Any:
        """The problem whose sites and links it can be taken apart into."""
        return self.structure.factored()  # type: ignore[attr-defined]

    def nothing_to_learn(self) -> None:
        """Its oracle is right: then the data are such that all outputs are as good."""

    def check_corner(self, value: float, w: np.ndarray, i: int) -> None:
        """Its oracle is right; true outputs may be none of those that it chooses from."""

    def ask(self, w: np.ndarray, i: int, emphasis: float) -> Any:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                return super().ask(w, i, emphasis)
        except ValueError as error:  # the data have been checked: all that can be refused is a score
            raise FloatingPointError(
                "scores are no finite numbers: features, costs or 1/lam are too large; rescale them"
            ) from error
