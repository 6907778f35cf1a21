"""What estimators of labels minimise beside penalties of weights: the hinge loss of SVMs, the log-loss of CRFs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._parameters import check_not_negative, check_positive
from ..solvers.tolerance import Goal, Relative
from ..structures import LogLoss
from ._encoded import Encoded
from ._labeling import LabelingEstimator, Losses
from ._scaling import LAM_OF_LOG_LOSS, LAM_OF_ONE, mean_largest_loss, normalizes
from .inputs.labels import encode_labels, stack_labels
from .inputs.weights import label_costs

SHARE = 0.01  # of the objective of a CRF that its gap may be


class HingeLoss(LabelingEstimator):
    """Minimise the hinge loss of wrong labels. Stands first among the bases of a class."""

    loss: str | None
    class_weight: Any
    cost_matrix: Any

    def _losses(self, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, weight: np.ndarray) -> Losses:
        normalize, lengths = normalizes(self), np.diff(offsets)
        costs = label_costs(self.cost_matrix, self.class_weight, classes, codes, np.repeat(weight, lengths))
        worst = mean_largest_loss(costs.max(axis=1)[codes], offsets, normalize, weight)
        return Losses(costs, normalize, worst, LAM_OF_ONE * float(np.average(lengths, weights=weight)))

    def _losses_by_label(
        self, classes: np.ndarray, sums: np.ndarray, shares: np.ndarray, weight: float, length: float
    ) -> Losses:
        """The same, given what is known of the positions of each label: their weights, and these over their lengths.

        `weight` is the sum over samples, `length` their mean one.
        """
        normalize = normalizes(self)
        costs = label_costs(self.cost_matrix, self.class_weight, classes, np.arange(len(classes)), sums)
        worst = costs.max(axis=1) @ (shares if normalize else sums) / weight
        return Losses(costs, normalize, float(worst), LAM_OF_ONE * length)

    def _posed(self, problem: Any) -> Any:
        return problem


class LogLikelihood(LabelingEstimator):
    """Minimise minus the log-probability of the true labels. Stands first among the bases of a class."""

    l1: float

    def _losses(self, classes: np.ndarray, codes: np.ndarray, offsets: np.ndarray, weight: np.ndarray) -> Losses:
        return Losses(np.zeros((len(classes), len(classes))), False, 1.0, LAM_OF_LOG_LOSS)

    def _losses_by_label(self, *known: Any) -> Losses:
        raise TypeError("a log-loss needs all samples in memory, and these are on disk: take ChainSVM")

    def _posed(self, problem: Any) -> Any:
        return LogLoss(problem)

    def _regularization(self, encoded: Encoded) -> Any:
        lam = super()._regularization(encoded)
        if not self.l1:
            check_positive("lam", lam)  # or weights may have no optimum
        return lam

    def _goal(self) -> Goal:
        """Log-losses have no largest value, and grow with the samples: a share of the objective is what they mean."""
        return Relative(SHARE) if self.tol is None else super()._goal()

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
