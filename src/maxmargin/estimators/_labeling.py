"""What estimators that label sites share: predictions from samples laid out under the learned weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._parameters import check_count, check_positive
from ._base import MaxMarginEstimator
from ._decoding import Scored
from .inputs.labels import encode_labels, stack_labels, unstack
from .inputs.weights import check_sample_weight


class LabelingEstimator(MaxMarginEstimator):
    """Base of estimators whose outputs are labels of the sites of a sample.

    `lengths` are those of the sequences of a stacked X; outputs are flat then.
    """

    classes_: np.ndarray
    n_edge_features_in_: int | None
    _lay_out: Callable[..., tuple[Scored, bool]]  # of what predict is given, and whether outputs are to be flat

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The best labeling of each sample, a list of arrays."""
        scored, flat = self._lay_out(X, lengths)
        return self._as_given(self.classes_[self._best(scored)], scored, flat)

    def decision_function(self, X: Any, lengths: Any = None) -> Any:
        """Max-marginals: for every site and label, the score of the best labeling with that label there."""
        scored, flat = self._lay_out(X, lengths)
        return self._as_given(scored.max_marginals(), scored, flat)

    def predict_topk(self, X: Any, k: int, lengths: Any = None) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The k best labelings of each sample, best first.

        Returns
        -------
        labelings : list of (m, T) arrays of labels; m < k where there are no more labelings
        scores : list of (m,) arrays
        """
        k = check_count("k", k)
        labelings, scores = self._lay_out(X, lengths)[0].top(k)
        return [self.classes_[codes] for codes in labelings], scores

    def predict_marginals(self, X: Any, temperature: float = 1.0, lengths: Any = None) -> Any:
        """Probabilities of the labels of every site, where ``p(y) ~ exp(score(y) / temperature)``.

        A list of (T, K) arrays, columns in the order of ``classes_``. Max-margin learning does not fit probabilities:
        they rank, and are not calibrated.
        """
        check_positive("temperature", temperature)
        scored, flat = self._lay_out(X, lengths)
        marginals, logs = scored.marginals(float(temperature))
        _check_possible(logs, scored)
        return self._as_given(marginals, scored, flat)

    def score(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> float:
        """Share of sites labelled right. A label never seen in training counts as wrong."""
        scored, _ = self._lay_out(X, lengths)
        offsets = scored.sites.offsets
        truth, _ = encode_labels(stack_labels(y, offsets), offsets, self.classes_)
        weight = check_sample_weight(sample_weight, len(offsets) - 1)
        return float(np.average(self._best(scored) == truth, weights=np.repeat(weight, np.diff(offsets))))

    def _check_edge_features(self, given: list[Any] | None) -> None:
        if (given is None) != (self.n_edge_features_in_ is None):
            now, then = ("without", "with") if given is None else ("with", "without")
            raise ValueError(f"X comes {now} edge_features, but {type(self).__name__} was fitted {then} them")

    def _best(self, scored: Scored) -> np.ndarray:
        codes, values = scored.best()
        _check_possible(values, scored)
        return codes

    def _as_given(self, values: np.ndarray, scored: Scored, flat: bool) -> Any:
        return values if flat else unstack(values, scored.sites.offsets)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _check_possible(values: np.ndarray, scored: Scored) -> None:
    impossible = np.flatnonzero(values == -np.inf)
    if len(impossible):
        i = int(impossible[0])
        length = np.diff(scored.sites.offsets)[i]
        raise ValueError(f"X, sample {i}: transition_mask allows no labeling of length {length}")
