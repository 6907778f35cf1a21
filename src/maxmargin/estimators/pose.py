"""Positions of the parts of a figure in an image: `PoseSVM`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count
from ..structures.known import KnownProblem
from ..structures.pose import Poses, Springs, make_pose_model, truncated_distances
from ..structures.relations import steadiest_tree
from ._base import MaxMarginEstimator, by_sample
from ._encoded import Encoded
from ._scaling import LAM_OF_ONE, settle_units
from ._weights import as_attributes
from .inputs.arrays import take
from .inputs.poses import check_parents, read_grids, read_positions, read_radius
from .inputs.weights import check_sample_weight


class PoseSVM(MaxMarginEstimator):
    """Structured SVM for poses: where in an image each part of a figure is, the parts held together by springs.

    A pose scores ``<coef_[p], x[position of p]>`` over its parts, and for every part with a parent what the spring of
    the best type of relation adds: ``bias - stiffness (d - anchor)^2 + pull (d - anchor)``, d being the displacement
    from the parent. Anchors are found by k-means in the true poses, all else is learned, with stiffness >= 0, by
    minimising ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` with the margin-rescaled hinge loss; ``gap_`` certifies how far
    from the optimum it stopped. The loss is the mean over parts of ``min(1, d^2 / radius^2)``, d being the distance to
    the truth.

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
        drawn by their gaps, with a cache where the oracle is expensive. An object must leave its `lower`, `upper` and
        `positive` to the estimator.
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
    parents : array of int of shape (P,) or None, default=None
        The part that each part hangs on, -1 for a root. There may be several roots; where all are roots, each part is
        found by itself. None takes the tree whose displacements vary least in the true poses, with part 0 as its root.
    n_types : int, default=1
        Types of relation between a part and its parent, such as an arm that is raised or lowered.
    radius : float or pair of int, default=10.0
        Where the loss of a part reaches 1, in pixels; or two parts, whose distance in the true pose it is.

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
    coef_ : array of shape (P, F)
        Weights of the features of each part.
    springs_ : Springs
        bias (P, R), stiffness, pull and anchor (P, R, 2) in pixels along columns and rows; 0 for roots.
    parents_ : array of shape (P,)
        The part that each part hangs on, -1 for a root.
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

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import PoseSVM
    >>> rng = np.random.default_rng(0)
    >>> heads = rng.integers(0, 4, size=(6, 2))  # columns and rows; the second part is below the first
    >>> poses = np.stack([heads, heads + [0, 2]], axis=1)
    >>> images = np.zeros((6, 6, 6, 2))  # of two features, one a part
    >>> for image, pose in zip(images, poses):
    ...     image[pose[:, 1], pose[:, 0], [0, 1]] = 1.0
    >>> model = PoseSVM(lam=0.1, radius=2.0, random_state=0).fit(images, poses)
    >>> model.score(images, poses), model.parents_.tolist()
    (1.0, [-1, 0])
    """

    parents: Any
    n_types: int
    radius: Any
    coef_: np.ndarray
    springs_: Springs
    parents_: np.ndarray
    n_features_in_: int

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
        parents: Any = None,
        n_types: int = 1,
        radius: Any = 10.0,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PoseSVM:
        """Learn from poses.

        Parameters
        ----------
        X : list of arrays of shape (H, W, F)
            Features of every position of an image; sizes may differ.
        y : array of shape (n, P, 2)
            Column and row of every part; or a list of (P, 2).
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample; an integer weight equals repetition, 0 removal.

        Returns
        -------
        self : PoseSVM
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    def encode(self, X: Any, y: Any, sample_weight: Any = None) -> Encoded:
        n_types = check_count("n_types", self.n_types)
        grids = read_grids(X)
        positions = read_positions(y, grids)
        weight = check_sample_weight(sample_weight, len(grids))
        kept = np.flatnonzero(weight)
        grids, positions, weight = take(grids, kept), take(positions, kept), take(weight, kept)
        radius = read_radius(self.radius, positions, kept)
        if self.parents is None:
            parents = steadiest_tree(positions, weight)
        else:
            parents = check_parents(self.parents, positions.shape[1])
        n_features = grids[0].features.shape[1]
        units = settle_units(
            self,
            [grid.features for grid in grids],
            [np.full(len(grid.features), one) for grid, one in zip(grids, weight, strict=True)],
            LAM_OF_ONE * positions.shape[1],
            weight,
        )
        grids = [grid._replace(features=units.scaling.apply(grid.features)) for grid in grids]
        model = make_pose_model(positions, parents, n_types, n_features, weight)
        poses = Poses(grids, positions, model, radius, weight)
        fitted = {"n_features_in_": n_features, "parents_": parents}
        positive = model.stiffness_places() if len(model.edges) else None
        unpack = partial(as_attributes, model.unpack, units.scaling)
        return Encoded(self, KnownProblem(poses), units, fitted, unpack, positive)

    def predict(self, X: Any) -> np.ndarray:
        """Find the best pose in each image.

        Parameters
        ----------
        X : list of arrays of shape (H, W, F)
            As in `fit`.

        Returns
        -------
        poses : array of shape (n, P, 2)
            Column and row of every part.
        """
        check_is_fitted(self)
        grids = read_grids(X, self.n_features_in_, type(self).__name__)
        found = by_sample(lambda grid: grid.best(self.coef_, self.parents_, self.springs_).positions, grids)
        return np.array(found, np.int64).reshape(-1, len(self.parents_), 2)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Measure 1 less the mean loss: of a part at its place 1, of one `radius` or more from it 0.

        Parameters
        ----------
        X : list of arrays of shape (H, W, F)
            As in `fit`.
        y : array of shape (n, P, 2)
            The true poses.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        found = self.predict(X)
        true = read_positions(y, read_grids(X), len(self.parents_))
        weight = check_sample_weight(sample_weight, len(true))
        radius = read_radius(self.radius, true, np.arange(len(true)))
        losses = truncated_distances(true, found, radius[:, None]).mean(axis=1)
        return float(1.0 - weight @ losses / weight.sum())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags
