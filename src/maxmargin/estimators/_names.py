"""What was learned, by name: features and transitions of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._parameters import check_count
from ..features import DictEncoder


class TopFeatures(NamedTuple):
    """The features that speak most for a label, and those that speak most against it: names and weights."""

    positive: list[tuple[str, float]]
    negative: list[tuple[str, float]]


class NamedWeights:
    """Weights by name, for estimators with `coef_` and `transitions_`."""

    coef_: Any
    transitions_: Any
    classes_: np.ndarray
    n_features_in_: int
    vectorizer_: DictEncoder | None
    transition_mask_: Any

    def _check_fitted(self) -> None: ...

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Give the names of the features: those of feature dicts, or "x0", "x1", ….

        Parameters
        ----------
        input_features : array of str of shape (F,) or None, default=None
            Names to take instead.

        Returns
        -------
        names : array of shape (F,)
            Strings, as objects.
        """
        self._check_fitted()
        if input_features is not None:
            names = np.asarray(input_features, dtype=object)
            if names.shape != (self.n_features_in_,):
                raise ValueError(f"{names.size} names for {self.n_features_in_} features")
            return names
        if self.vectorizer_ is not None:
            return self.vectorizer_.get_feature_names_out()
        return np.array([f"x{f}" for f in range(self.n_features_in_)], dtype=object)

    def top_features(self, k: int = 10, input_features: Any = None) -> dict[Any, TopFeatures]:
        """Find the features that speak most for and against each label.

        Parameters
        ----------
        k : int, default=10
            At most so many of each.
        input_features : array of str of shape (F,) or None, default=None
            Names of the features, where X came without.

        Returns
        -------
        top : dict of TopFeatures
            By label: ``positive`` and ``negative``, lists of (name, weight), largest weights first. Weights of 0 are
            left out.
        """
        k, names = check_count("k", k), self.get_feature_names_out(input_features)
        if not hasattr(self, "coef_"):
            raise ValueError("behind a kernel features have no weights: fit with kernel=None")
        return {
            label: TopFeatures(_largest(names, weights, k, 1.0), _largest(names, weights, k, -1.0))
            for label, weights in zip(self.classes_.tolist(), self.coef_, strict=True)
        }

    def transition_table(self, k: int | None = None) -> list[tuple[Any, Any, float]]:
        """List the weights of transitions by the names of their labels.

        Parameters
        ----------
        k : int or None, default=None
            Only so many, with the largest weights; None: all.

        Returns
        -------
        table : list of tuples (label, next label, weight)
            Largest weights first; what the transition mask forbids is left out. In trees and graphs, the label of a
            node and that of its parent, or of the tail and the head of an edge.
        """
        self._check_fitted()
        weights = np.asarray(self.transitions_)
        mask = getattr(self.transition_mask_, "allowed", self.transition_mask_)
        allowed = np.ones(weights.shape, bool) if mask is None else mask
        labels = self.classes_.tolist()
        order = np.argsort(-weights, axis=None, kind="stable")
        pairs = zip(*np.unravel_index(order, weights.shape), strict=True)
        table = [(labels[a], labels[b], float(weights[a, b])) for a, b in pairs if allowed[a, b]]
        return table if k is None else table[: check_count("k", k)]


def _largest(names: np.ndarray, weights: np.ndarray, k: int, sign: float) -> list[tuple[str, float]]:
    """The k weights of one sign that are farthest from 0; of equals the first."""
    signed = sign * weights
    k = min(k, len(signed))
    few = np.sort(np.argpartition(-signed, k - 1)[:k])
    order = few[np.argsort(-signed[few], kind="stable")]
    return [(str(names[f]), float(weights[f])) for f in order if signed[f] > 0.0]
