"""What estimators of labels minimise beside penalties of weights: the hinge loss of SVMs, the log-loss of CRFs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._parameters import check_not_negative
from ..solvers.tolerance import Goal, Relative, as_goal
from ..structures import LogLoss
from ._scaling import LAM_OF_LOG_LOSS, LAM_OF_ONE, mean_largest_loss, normalizes
from .inputs.labels import encode_labels, stack_labels
from .inputs.weights import label_costs

SHARE = 0.01  # of the objective of a CRF that its gap may be


class Losses(NamedTuple):
    """What wrong labels cost where a problem is made, and what ``lam=None`` follows from."""

    cost: np.ndarray  # (K, K)
    normalize: bool  # whether the loss of a sample is divided by the number of its sites
    largest: float  # the mean over samples of the largest loss: its unit
    lam: float  # of one sample, in units


class HingeLoss:
    """Minimise the hinge loss of wrong labels. Stands before the estimator of labels among the bases of a class."""

    loss: str | None
    class_weight: Any
    cost_matrix: Any

    def _losses(self, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, weight: np.ndarray) -> Losses:
        normalize, lengths = normalizes(self), np.diff(offsets)
        costs = label_costs(self.cost_matrix, self.class_weight, classes, codes, np.repeat(weight, lengths))
        worst = mean_largest_loss(costs.max(axis=1)[codes], offsets, normalize, weight)
        return Losses(costs, normalize, worst, LAM_OF_ONE * float(np.average(lengths, weights=weight)))

    def _posed(self, problem: Any) -> Any:
        return problem


class LogLikelihood:
    """Minimise minus the log-probability of the true labels. Stands before the estimator of labels, as `HingeLoss`."""

    l1: float
    tol: float | None
    classes_: np.ndarray
    _lay_out: Any
    _words: Any

    def _losses(self, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, weight: np.ndarray) -> Losses:
        return Losses(np.zeros((len(classes), len(classes))), False, 1.0, LAM_OF_LOG_LOSS)

    def _posed(self, problem: Any) -> Any:
        return LogLoss(problem)

    @property
    def _goal(self) -> Goal:
        """Log-losses have no largest value, and grow with the samples: a share of the objective is what they mean."""
        return Relative(SHARE) if self.tol is None else as_goal(self.tol)

    @property
    def _penalty(self) -> float:
        check_not_negative("l1", self.l1)
        if self.l1 == np.inf:
            raise ValueError("l1 must be finite")
        return float(self.l1)

    def log_likelihood(self, X: Any, y: Any, lengths: Any = None) -> np.ndarray:
        """Find the logarithm of the probability of each sample's labeling, ``log p(y | x)``.

        Its mean over the training data, with the sign changed, is what `fit` minimises beside the penalties. The
        temperature of `calibrate` has no part in it.

        Parameters
        ----------
        X : list of samples
            As in `fit`.
        y : list of T labels each
            The labelings. One with a label never seen in training, or that the transition mask forbids, has
            probability 0.
        lengths : array of int or None, default=None
            Of chains alone: the lengths of the sequences of a stacked X.

        Returns
        -------
        log_likelihood : array of shape (n,)
            One number <= 0 a sample, -inf where the probability is 0.
        """
        scored, _ = self._lay_out(X, lengths)
        codes, _ = encode_labels(stack_labels(y, scored.bounds, words=self._words), scored.bounds, self.classes_)
        return scored.log_probabilities(codes)
