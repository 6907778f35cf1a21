"""What estimators that label sites share: predictions from samples laid out under the learned weights."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count, check_positive
from ..features import DictEncoder
from ..structures.graphs import MARGINALS, MAX_MARGINALS, TOP
from ..structures.weights import Weights
from ._calibration import best_temperature, hold_out, hold_out_folds
from ._decoding import Scored
from ._names import NamedWeights
from ._partial import LearnsInParts
from ._weights import Learned
from .inputs.arrays import SEQUENCES, Words
from .inputs.joining import check_known, read_classes
from .inputs.labels import encode_labels, stack_labels, unstack
from .inputs.weights import check_sample_weight


def answers(question: str) -> Any:
    """Decorates a method that only those estimators have whose inference answers the question."""
    return available_if(lambda model: question in model._answers)


class Losses(NamedTuple):
    """What wrong labels cost where a problem is made, and what ``lam=None`` follows from."""

    cost: np.ndarray  # (K, K)
    normalize: bool  # whether the loss of a sample is divided by the number of its sites
    largest: float  # the mean over samples of the largest loss: its unit
    lam: float  # of one sample, in units


class LabelingEstimator(NamedWeights, LearnsInParts):
    """Base of estimators whose outputs are labels of the sites of a sample."""

    coef_ = Learned()
    intercept_ = Learned()
    transitions_ = Learned()
    edge_coef_ = Learned()
    classes_: np.ndarray
    n_features_in_: int
    n_edge_features_in_: int | None
    vectorizer_: DictEncoder | None
    temperature_: float
    _weights: Weights
    _words: Words = SEQUENCES

    @property
    def _answers(self) -> frozenset[str]:
        """What may be asked beside the best labeling."""
        return frozenset({TOP, MAX_MARGINALS, MARGINALS})

    def _check_fitted(self) -> None:
        """As scikit-learn does, which takes a while: a short sentence would feel it."""
        if not hasattr(self, "classes_"):
            check_is_fitted(self)

    def _read_labels(
        self, labels: np.ndarray, offsets: np.ndarray, classes: Any, first: Any, kept: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Codes of labels, and the classes that these are of; `kept` are the numbers of the samples."""
        codes, known = encode_labels(labels, offsets, read_classes(classes, None if first is None else first.classes))
        check_known(codes, labels, known, np.repeat(kept, np.diff(offsets)))
        return codes, known

    @abstractmethod
    def _losses(self, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, weight: np.ndarray) -> Losses:
        """What wrong labels cost, given the true ones and the weights of samples."""

    @abstractmethod
    def _posed(self, problem: Any) -> Any:
        """What is minimised over the samples of a problem, as solvers take it."""

    @property
    def _penalty(self) -> float:
        """That of the sum of absolute weights."""
        return 0.0

    @abstractmethod
    def _lay_out(self, X: Any, lengths: Any = None) -> tuple[Scored, bool]:
        """What predict is given, ready to be scored, and whether outputs are to be flat."""

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Find the best labeling of each sample.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        lengths : array of int or None, default=None
            Of chains alone: the lengths of the sequences of a stacked X.

        Returns
        -------
        labels : list of arrays of shape (T,)
            One array, flat, for a stacked X.
        """
        scored, flat = self._lay_out(X, lengths)
        return self._as_given(self.classes_[self._best(scored)], scored, flat)

    @answers(MAX_MARGINALS)
    def decision_function(self, X: Any, lengths: Any = None) -> Any:
        """Find max-marginals: for every site and label, the score of the best labeling with that label there.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        lengths : array of int or None, default=None
            Of chains alone: the lengths of the sequences of a stacked X.

        Returns
        -------
        scores : list of arrays of shape (T, K)
            Columns in the order of ``classes_``; one array for a stacked X.
        """
        scored, flat = self._lay_out(X, lengths)
        return self._as_given(scored.max_marginals(), scored, flat)

    @answers(TOP)
    def predict_topk(self, X: Any, k: int, lengths: Any = None) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Find the k best labelings of each sample, best first.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        k : int
            How many, at least 1.
        lengths : array of int or None, default=None
            Of chains alone: the lengths of the sequences of a stacked X.

        Returns
        -------
        labelings : list of arrays of shape (m, T)
            Labels; m < k where there are no more labelings.
        scores : list of arrays of shape (m,)
        """
        k = check_count("k", k)
        labelings, scores = self._lay_out(X, lengths)[0].top(k)
        return [self.classes_[codes] for codes in labelings], scores

    @answers(MARGINALS)
    def predict_marginals(self, X: Any, temperature: float | None = None, lengths: Any = None) -> Any:
        """Find probabilities of the labels of every site, where ``p(y) ~ exp(score(y) / temperature)``.

        Those of a CRF are what it has learned. Max-margin learning does not fit probabilities: those of an SVM rank,
        and mean what they say after `calibrate`.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        temperature : float or None, default=None
            What scores are divided by, > 0; None: ``temperature_``, or 1 where `calibrate` was not called.
        lengths : array of int or None, default=None
            Of chains alone: the lengths of the sequences of a stacked X.

        Returns
        -------
        probabilities : list of arrays of shape (T, K)
            Columns in the order of ``classes_``; one array for a stacked X.
        """
        temperature = getattr(self, "temperature_", 1.0) if temperature is None else temperature
        check_positive("temperature", temperature)
        scored, flat = self._lay_out(X, lengths)
        marginals, logs = scored.marginals(float(temperature))
        _check_possible(logs, scored)
        return self._as_given(marginals, scored, flat)

    @answers(MARGINALS)
    def calibrate(self, X: Any, y: Any, cv: Any = None, sample_weight: Any = None, lengths: Any = None) -> Self:
        """Choose the temperature of `predict_marginals`, and keep it as ``temperature_`` until the next fit.

        It is the one under which the labels of samples that were not learned from are most probable, site by site.
        Labels predicted stay the same.

        Parameters
        ----------
        X : list of samples
            Not those of `fit`; or just those, with `cv`.
        y : list of T labels each
            The true ones. Labels never seen in training do not count.
        cv : int, cross-validation generator or None, default=None
            With so many folds of X and y, clones are fitted on all folds but one, and asked for that one.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.
        lengths : array of int or None, default=None
            Of chains alone, without `cv`: the lengths of the sequences of a stacked X.

        Returns
        -------
        self : estimator
        """
        self._check_fitted()
        if cv is None:
            held = [hold_out(self, X, y, sample_weight, lengths)]
        elif lengths is not None:
            raise ValueError("cv goes with a list of sequences: cut a stacked X into its sequences first")
        else:
            held = hold_out_folds(self, X, y, cv, sample_weight)
        self.temperature_ = best_temperature(held)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> float:
        """Measure the share of sites labelled right.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        y : list of T labels each
            The true ones. A label never seen in training counts as wrong.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.
        lengths : array of int or None, default=None
            Of chains alone: the lengths of the sequences of a stacked X.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        scored, _ = self._lay_out(X, lengths)
        offsets = scored.bounds
        weight = np.repeat(check_sample_weight(sample_weight, len(offsets) - 1), np.diff(offsets))
        if not weight.any():
            raise ValueError("X has no labels to score: give at least one sample that is not empty, with a weight")
        truth, _ = encode_labels(stack_labels(y, offsets, words=self._words), offsets, self.classes_)
        return float(np.average(self._best(scored) == truth, weights=weight))

    def _check_edge_features(self, given: list[Any] | None) -> None:
        if (given is None) != (self.n_edge_features_in_ is None):
            now, then = ("without", "with") if given is None else ("with", "without")
            hint = "; if X is one sample, wrap it: [X]" if given is None else ""
            raise ValueError(f"X comes {now} edge_features, but {type(self).__name__} was fitted {then} them{hint}")

    def _best(self, scored: Scored) -> np.ndarray:
        codes, values = scored.best()
        _check_possible(values, scored)
        return codes

    def _as_given(self, values: np.ndarray, scored: Scored, flat: bool) -> Any:
        return values if flat else unstack(values, scored.bounds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _check_possible(values: np.ndarray, scored: Scored) -> None:
    impossible = np.flatnonzero(values == -np.inf)
    if len(impossible):
        i = scored.present[impossible[0]]
        length = np.diff(scored.bounds)[i]
        raise ValueError(f"X, sample {i}: transition_mask allows no labeling of length {length}")
