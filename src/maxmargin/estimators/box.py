"""One box in an image: `BoxSVM`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count
from ..metrics import box_iou
from ..structures.boxes import (
    BoxCandidates,
    DenseImage,
    Image,
    ImageBoxes,
    ProposedBoxes,
    WordImage,
)
from ..structures.known import KnownProblem
from ._base import PARAMETERS, MaxMarginEstimator, Posed, by_sample, init_of
from .inputs.boxes import check_inside, check_n_words, check_overlap, read_box_samples, read_boxes
from .inputs.weights import check_sample_weight


class BoxSVM(MaxMarginEstimator):
    """Structured SVM for object localization: the box of an image that the object is in.

    A box scores the sum of ``<coef_, x> + intercept_`` over its pixels x; a proposed box, ``<coef_, x>`` of its own
    features. The loss of a box is 1 - IoU with the true one, its intersection over union. Learns by minimising
    ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss (blaschko08), and certifies how far
    from the optimum it stopped (``gap_``). There, w is `coef_` times the mean area of the true boxes, so that the same
    `lam` fits boxes of any size.

    Parameters
    ----------
    lam : float or None
        Regularisation; None means 1 / (sum of sample weights).
    solver, tol, max_passes, max_seconds, random_state, verbose, warm_start : as in `ChainSVM`
    fit_intercept : bool
        Whether a pixel has a bias, regularised like the other weights: what a box costs or gains by its size.
        Proposed boxes have none, as it would be the same for all.
    n_words : int or None
        How many words there are, where pixels are words; None means up to the largest of X.

    Attributes
    ----------
    coef_ : (F,)    intercept_ : float    n_features_in_ : int
    primal_, dual_, gap_, status_, solver_, n_passes_, n_oracle_calls_, history_
    """

    fit_intercept: bool
    n_words: int | None
    n_jobs = None  # no parameter: boxes are found one after the other
    coef_: np.ndarray
    intercept_: float
    n_features_in_: int
    _kind: type  # of the samples it was fitted to

    __init__ = init_of(
        {
            **PARAMETERS,
            "fit_intercept": True,
            "n_words": None,
        }
    )

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoxSVM:
        """Learn from boxes.

        Parameters
        ----------
        X : list of images, each (H, W) integers >= 0, the word of each pixel, or (H, W, F) features of each; or of
            `Proposals`, with c boxes (c, 4) and their features (c, F). An array with a first axis of samples will do
        y : (n, 4) true boxes (left, top, right, bottom), right and bottom excluded; of images, whole pixels within.
            Of proposals, that with the highest IoU is learned, and the loss of others is how much lower theirs is
        sample_weight : one weight a sample; an integer weight equals repetition, 0 removal
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    def _pose(self, X: Any, y: Any, sample_weight: Any = None) -> Posed:
        samples, n_features = read_box_samples(X)
        n_features = check_n_words(self.n_words, samples, n_features)
        boxes = read_boxes(y, len(samples))
        kind = type(samples[0])
        boxes = CHECKS[kind](boxes, samples)
        weight = check_sample_weight(sample_weight, len(samples))
        kept = np.flatnonzero(weight)
        problem, scale = POSE[kind](
            [samples[i] for i in kept], boxes[kept], weight[kept], n_features, bool(self.fit_intercept)
        )
        fitted = {"n_features_in_": n_features, "_kind": kind}
        return Posed(problem, weight.sum(), fitted, partial(_unpack, n_features, scale))

    def _samples(self, X: Any) -> list[Any]:
        check_is_fitted(self)
        return read_box_samples(X, self._kind, self.n_features_in_, type(self).__name__)[0]

    def _top(self, X: Any, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return by_sample(lambda sample: sample.top(self.coef_, self.intercept_, k), self._samples(X))

    def predict(self, X: Any) -> np.ndarray:
        """The best box (left, top, right, bottom) of each sample, (n, 4)."""
        return np.stack([boxes[0] for boxes, _ in self._top(X, 1)])

    def predict_topk(self, X: Any, k: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The k best boxes of each sample, best first.

        Returns
        -------
        boxes : list of (k, 4) arrays, with fewer rows where there are no more boxes
        scores : list of (k,) arrays
        """
        found = self._top(X, check_count("k", k))
        return [boxes for boxes, _ in found], [scores for _, scores in found]

    def decision_function(self, X: Any) -> np.ndarray:
        """The score (n,) of the best box of each sample."""
        return np.array([scores[0] for _, scores in self._top(X, 1)])

    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Probabilities (c,) of the boxes proposed for each sample, ``p(y) ~ exp(score(y))``; refused for images."""
        return [sample.marginals(self.coef_) for sample in self._samples(X)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean IoU of the predicted with the true boxes, which need not be of whole pixels here."""
        predicted = self.predict(X)
        weight = check_sample_weight(sample_weight, len(predicted))
        return float(np.average(box_iou(predicted, read_boxes(y, len(predicted))), weights=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _pose_images(
    images: list[Image], boxes: np.ndarray, weight: np.ndarray, n_features: int, intercept: bool
) -> tuple[KnownProblem, float]:
    """The problem, and what its weights are to be divided by."""
    area = float(np.average((boxes[:, 2:] - boxes[:, :2]).prod(axis=1), weights=weight))
    given = ImageBoxes(images, boxes, n_features, area=area, intercept=intercept, sample_weight=weight)
    return KnownProblem(given), area


def _pose_proposals(
    samples: list[BoxCandidates], boxes: np.ndarray, weight: np.ndarray, n_features: int, intercept: bool
) -> tuple[KnownProblem, float]:
    return KnownProblem(ProposedBoxes(samples, boxes, sample_weight=weight)), 1.0


CHECKS: dict[type, Callable[..., np.ndarray]] = {
    WordImage: check_inside,
    DenseImage: check_inside,
    BoxCandidates: check_overlap,
}
POSE: dict[type, Callable[..., tuple[KnownProblem, float]]] = {
    WordImage: _pose_images,
    DenseImage: _pose_images,
    BoxCandidates: _pose_proposals,
}


def _unpack(n_features: int, scale: float, w: np.ndarray) -> dict[str, Any]:
    return {"coef_": w[:n_features] / scale, "intercept_": float(w[n_features:].sum() / scale)}  # 0 if there is none
