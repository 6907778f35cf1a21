"""What the edges of a graph are learned as: how links are made, and weights become attributes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..structures.pairwise import links_of, potts_links_of


class PairWeights:
    """A weight for each pair of labels, and for each of them and each feature."""

    def links(self, plan: Any, n_labels: int, allowed: np.ndarray | None, matrix: Any) -> Any:
        return links_of(plan, n_labels, allowed, matrix)

    def attributes(self, weights: np.ndarray, n_labels: int) -> dict[str, np.ndarray]:
        tables = weights.reshape(-1, n_labels, n_labels)
        return {"transitions_": tables[0], "edge_coef_": tables[1:]}

    def flat(self, transitions: np.ndarray, edge_coef: np.ndarray) -> np.ndarray:
        return np.concatenate([transitions.ravel(), edge_coef.ravel()])

    def check(self, plan: Any, matrix: Any) -> None:
        """Refuse features of the plan's edges that cannot be."""

    def positive(self, first: int, n_features: int) -> np.ndarray | None:
        """Indices of weights that must be >= 0; those of edges begin at `first`."""
        return None


class UnmaskedPairWeights(PairWeights):
    """The same where no pair can be forbidden."""

    def links(self, plan: Any, n_labels: int, allowed: np.ndarray | None, matrix: Any) -> Any:
        if allowed is not None:
            raise ValueError(
                'transition_mask does not go with inference="lp", whose bounds need finite scores: take "junction"'
            )
        return super().links(plan, n_labels, allowed, matrix)


class DifferenceWeights:
    """What a difference of labels costs: a weight >= 0, and one for each feature, which is >= 0, too."""

    def links(self, plan: Any, n_labels: int, allowed: np.ndarray | None, matrix: Any) -> Any:
        if allowed is not None:
            raise ValueError('transition_mask does not go with inference="cut": a mask need not be submodular')
        return potts_links_of(plan, matrix)

    def check(self, plan: Any, matrix: Any) -> None:
        lowest = (
            np.asarray(matrix.min(axis=1).todense()).ravel() if sp.issparse(matrix) else matrix.min(axis=1, initial=0.0)
        )
        if np.any(lowest < 0):
            e = int(np.argmax(lowest < 0))
            sample = int(np.searchsorted(plan.edge_offsets, e, side="right")) - 1
            raise ValueError(
                f"X, sample {sample}, edge {plan.tail[e]} -> {plan.head[e]}: edge_features must be >= 0 with "
                'inference="cut", or edges would not be submodular'
            )

    def attributes(self, weights: np.ndarray, n_labels: int) -> dict[str, np.ndarray]:
        tables = -weights[:, None, None] * (1.0 - np.eye(n_labels))
        return {"transitions_": tables[0], "edge_coef_": tables[1:]}

    def flat(self, transitions: np.ndarray, edge_coef: np.ndarray) -> np.ndarray:
        """Refuses weights of another kind: fitted otherwise, or changed since."""
        tables = np.concatenate([transitions[None], edge_coef])
        weights = -tables[:, 0, 1]
        known = self.attributes(weights, tables.shape[1])
        bad = (weights < 0) | (tables != np.concatenate([known["transitions_"][None], known["edge_coef_"]])).any(
            axis=(1, 2)
        )
        if bad.any():
            k = int(np.argmax(bad))
            name = f"edge_coef_, edge feature {k - 1}" if k else "transitions_"
            raise ValueError(
                f'{name}: its weights are no cost >= 0 of labels that differ, as inference="cut" needs: fit again'
            )
        return weights

    def positive(self, first: int, n_features: int) -> np.ndarray | None:
        return np.arange(first, first + 1 + n_features)
