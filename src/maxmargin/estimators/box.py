"""One box in an image: `BoxSVM`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if
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
from ._base import MaxMarginEstimator, by_sample
from ._encoded import Encoded
from ._scaling import LAM_OF_ONE, settle_units
from ._weights import as_attributes
from .inputs.arrays import take
from .inputs.boxes import check_inside, check_n_words, check_overlap, read_box_samples, read_boxes
from .inputs.weights import check_sample_weight


def _are_proposed(model: Any) -> bool:
    return vars(model).get("_kind", BoxCandidates) is BoxCandidates


class BoxSVM(MaxMarginEstimator):
    """Structured SVM for object localization: the box of an image that the object is in.

    A box scores the sum of ``<coef_, x> + intercept_`` over its pixels x; a proposed box, ``<coef_, x>`` of its own
    features. The loss of a box is 1 - IoU with the true one, its intersection over union. Learns by minimising
    ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss (blaschko08), and certifies how far
    from the optimum it stopped (``gap_``). There, w is `coef_` times the mean area of the true boxes, so that the same
    `lam` fits boxes of any size.

    Parameters
    ----------
    lam : float, "cv" or None, default=None
        Regularisation, > 0. None leaves it to a rule that suits features and losses of any scale, see
        ``docs/regularization.md``; "cv" chooses it by cross-validation. A number is that of the plain objective,
        ``C = 1 / (lam n)`` in the terms of other SVMs.
    solver : str or solver object, default="auto"
        How the objective is minimised: "auto", "bcfw", "bcpfw", "bcafw", "fw", "cutting_plane",
        "exponentiated_gradient", "partial_linearization", "svrg", "casimir", "subgradient" or "perceptron", see
        ``docs/solvers.md``; or an object of `maxmargin.solvers`. "auto" takes accelerated pairwise steps on blocks
        drawn by their gaps, with a cache where the oracle is expensive.
    tol : float or None, default=None
        Stop when the certified duality gap is at most this. None: 0.01, or a twentieth of the objective where that is
        less, but not below 0.001.
    max_passes : float, default=1000
        Stop after so many passes over the data, with a warning.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    random_state : int, RandomState, Generator or None, default=None
        Seed of what the solver draws.
    verbose : int, default=0
        1 shows a progress bar with the gap.
    warm_start : bool, default=False
        Whether a second `fit` on the same data goes on where the first one stopped.
    checkpoint : str, path or None, default=None
        A file that keeps the run of `fit`, so that one that was cut off goes on from there; one file a fit. See
        ``docs/continued_training.md``.
    checkpoint_every : float, default=60.0
        Seconds between two writes of it, at least.
    scale : bool or None, default=None
        Whether to learn from features divided by their spread and losses divided by the largest ones (``scaling_``);
        fitted weights are for features as they came. None: where lam is left to the rule or to cross-validation.
    fit_intercept : bool, default=True
        Whether a pixel has a bias, regularised like the other weights: what a box costs or gains by its size.
        Proposed boxes have none, as it would be the same for all.
    n_words : int or None, default=None
        How many words there are, where pixels are words; None means up to the largest of X.

    Attributes
    ----------
    lam_ : float
        The regularisation learned with, that of the scaled objective where ``scaling_`` is not 1.
    scaling_ : Scaling
        What features and losses were divided by.
    lams_ : array of shape (L,)
        With ``lam="cv"``: the values that were compared, descending.
    scores_ : array of shape (folds, L)
        With ``lam="cv"``: scores of the folds there.
    path_passes_ : float
        With ``lam="cv"``: passes over the folds' data.
    path_oracle_calls_ : int
        With ``lam="cv"``: oracle calls for the folds.
    coef_ : array of shape (F,)
        Weights of the features of a pixel, or of a proposed box.
    intercept_ : float
        The bias of a pixel; 0 if there is none.
    n_features_in_ : int
        F, the number of features.
    primal_ : float
        The training objective of the weights.
    dual_ : float
        A lower bound on its optimum.
    gap_ : float
        ``primal_ - dual_``: at most so far above the optimum is the objective.
    status_ : str
        Why the solver stopped: "converged", "max_passes", "max_seconds", "callback", "interrupted" or "uncertified".
    solver_ : Solver
        The solver that did it.
    n_passes_ : float
        Passes over the data.
    n_oracle_calls_ : int
        Calls of the oracle, those of certificates included.
    history_ : dict of arrays
        One entry a certificate: passes, oracle_calls, seconds, primal, dual, gap, and what else the solver reports.

    See Also
    --------
    Proposals : A sample with few boxes to choose from.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import BoxSVM
    >>> boxes = np.array([[1, 1, 4, 3], [0, 2, 2, 5], [3, 0, 6, 4]])
    >>> images = np.zeros((3, 6, 6), int)  # of words: 1 on the object, 0 around it
    >>> for image, (left, top, right, bottom) in zip(images, boxes):
    ...     image[top:bottom, left:right] = 1
    >>> model = BoxSVM(lam=0.01, random_state=0).fit(images, boxes)
    >>> model.predict(images).tolist()
    [[1, 1, 4, 3], [0, 2, 2, 5], [3, 0, 6, 4]]
    """

    fit_intercept: bool
    n_words: int | None
    coef_: np.ndarray
    intercept_: float
    n_features_in_: int
    _kind: type  # of the samples it was fitted to

    def __init__(
        self,
        lam: float | str | None = None,
        *,
        solver: Any = "auto",
        tol: float | None = None,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
        scale: bool | None = None,
        fit_intercept: bool = True,
        n_words: int | None = None,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BoxSVM:
        """Learn from boxes.

        Parameters
        ----------
        X : list of images or of Proposals
            An image holds (H, W) integers >= 0, the word of each pixel, or (H, W, F) features of each; `Proposals` hold
            c boxes (c, 4) and their features (c, F). An array with a first axis of samples will do.
        y : array of shape (n, 4)
            True boxes (left, top, right, bottom), right and bottom excluded; of images, whole pixels within. Of
            proposals, that with the highest IoU is learned, and the loss of others is how much lower theirs is.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.

        Returns
        -------
        self : BoxSVM
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    def encode(self, X: Any, y: Any, sample_weight: Any = None) -> Encoded:
        samples, n_features = read_box_samples(X)
        n_features = check_n_words(self.n_words, samples, n_features)
        boxes = read_boxes(y, len(samples))
        kind = type(samples[0])
        boxes = CHECKS[kind](boxes, samples)
        weight = check_sample_weight(sample_weight, len(samples))
        kept = np.flatnonzero(weight)
        samples, boxes, weight = take(samples, kept), take(boxes, kept), take(weight, kept)
        matrices = [sample.rows(n_features) for sample in samples]
        units = settle_units(
            self,
            matrices,
            [np.full(matrix.shape[0], one) for matrix, one in zip(matrices, weight, strict=True)],
            LAM_OF_ONE,
            weight,
            center=bool(self.fit_intercept) and kind.has_intercept,
        )
        samples = [s.with_rows(units.scaling.apply(x)) for s, x in zip(samples, matrices, strict=True)]
        structure = STRUCTURES[kind](samples, boxes, weight, n_features, bool(self.fit_intercept))
        fitted = {"n_features_in_": n_features, "_kind": kind}
        unpack = partial(as_attributes, structure.unpack, units.scaling)
        return Encoded(self, KnownProblem(structure), units, fitted, unpack)

    def _samples(self, X: Any) -> list[Any]:
        check_is_fitted(self)
        return read_box_samples(X, self._kind, self.n_features_in_, type(self).__name__)[0]

    def _top(self, X: Any, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        return by_sample(lambda sample: sample.top(self.coef_, self.intercept_, k), self._samples(X))

    def predict(self, X: Any) -> np.ndarray:
        """Find the best box of each sample.

        Parameters
        ----------
        X : list of images or of Proposals
            As in `fit`.

        Returns
        -------
        boxes : array of shape (n, 4)
            (left, top, right, bottom) of each.
        """
        return np.array([boxes[0] for boxes, _ in self._top(X, 1)]).reshape(-1, 4)

    def predict_topk(self, X: Any, k: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Find the k best boxes of each sample, best first.

        Parameters
        ----------
        X : list of images or of Proposals
            As in `fit`.
        k : int
            How many, at least 1.

        Returns
        -------
        boxes : list of arrays of shape (k, 4)
            With fewer rows where there are no more boxes.
        scores : list of arrays of shape (k,)
        """
        found = self._top(X, check_count("k", k))
        return [boxes for boxes, _ in found], [scores for _, scores in found]

    def decision_function(self, X: Any) -> np.ndarray:
        """Score the best box of each sample.

        Parameters
        ----------
        X : list of images or of Proposals
            As in `fit`.

        Returns
        -------
        scores : array of shape (n,)
        """
        return np.array([scores[0] for _, scores in self._top(X, 1)])

    @available_if(_are_proposed)
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Find probabilities of proposed boxes, ``p(y) ~ exp(score(y))``.

        A model of images has no such method: there are as many boxes as pixels squared, and no sum over them is known
        to be cheap.

        Parameters
        ----------
        X : list of Proposals
            As in `fit`.

        Returns
        -------
        probabilities : list of arrays of shape (c,)
        """
        return [sample.marginals(self.coef_) for sample in self._samples(X)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Measure the mean IoU of the predicted with the true boxes.

        Parameters
        ----------
        X : list of images or of Proposals
            As in `fit`.
        y : array of shape (n, 4)
            True boxes, which need not be of whole pixels here.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.

        Returns
        -------
        score : float
            From 0 to 1.
        """
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


def _in_images(
    images: list[Image], boxes: np.ndarray, weight: np.ndarray, n_features: int, intercept: bool
) -> ImageBoxes:
    area = float(np.average((boxes[:, 2:] - boxes[:, :2]).prod(axis=1), weights=weight))
    return ImageBoxes(images, boxes, n_features, area=area, intercept=intercept, sample_weight=weight)


def _proposed(
    samples: list[BoxCandidates], boxes: np.ndarray, weight: np.ndarray, n_features: int, intercept: bool
) -> ProposedBoxes:
    return ProposedBoxes(samples, boxes, sample_weight=weight)


CHECKS: dict[type, Callable[..., np.ndarray]] = {
    WordImage: check_inside,
    DenseImage: check_inside,
    BoxCandidates: check_overlap,
}
STRUCTURES: dict[type, Callable[..., Any]] = {
    WordImage: _in_images,
    DenseImage: _in_images,
    BoxCandidates: _proposed,
}
