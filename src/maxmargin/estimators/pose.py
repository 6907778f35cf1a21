"""Positions of the parts of a figure in an image: `PoseSVM`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count
from ..inference.pose import Springs, best_pose, make_part_tree
from ..structures.known import KnownProblem
from ..structures.pose import PoseModel, Poses, make_pose_model, truncated_distances
from ..structures.relations import steadiest_tree
from ._base import PARAMETERS, MaxMarginEstimator, Posed, by_sample, init_of
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
    lam : float or None
        Regularisation; None means 1 / (sum of sample weights).
    solver, tol, max_passes, max_seconds, random_state, verbose, warm_start : as in `ChainSVM`
        A solver must leave `lower`, `upper` and `positive` to the estimator.
    parents : (P,) integers or None
        The part that each part hangs on, -1 for a root. There may be several roots; where all are roots, each part is
        found by itself. None takes the tree whose displacements vary least in the true poses, with part 0 as its root.
    n_types : int
        Types of relation between a part and its parent, such as an arm that is raised or lowered.
    radius : float or pair of parts
        Where the loss of a part reaches 1, in pixels; or the distance of two parts in the true pose.

    Attributes
    ----------
    coef_ : (P, F)    parents_ : (P,)    n_features_in_ : int
    springs_ : bias (P, R), stiffness, pull and anchor (P, R, 2) in pixels along columns and rows; 0 for roots
    primal_, dual_, gap_, status_, solver_, n_passes_, n_oracle_calls_, history_
    """

    parents: Any
    n_types: int
    radius: Any
    n_jobs = None  # no parameter: poses are found one after the other
    coef_: np.ndarray
    springs_: Springs
    parents_: np.ndarray
    n_features_in_: int

    __init__ = init_of(
        {
            **PARAMETERS,
            "parents": None,
            "n_types": 1,
            "radius": 10.0,
        }
    )

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PoseSVM:
        """Learn from poses.

        Parameters
        ----------
        X : list of (H, W, F) arrays, features of every position of an image; sizes may differ
        y : (n, P, 2) or list of (P, 2), column and row of every part
        sample_weight : one weight a sample; an integer weight equals repetition, 0 removal
        """
        self._fit(X, y, sample_weight=sample_weight)
        return self

    def _pose(self, X: Any, y: Any, sample_weight: Any = None) -> Posed:
        n_types = check_count("n_types", self.n_types)
        grids = read_grids(X)
        positions = read_positions(y, grids)
        weight = check_sample_weight(sample_weight, len(grids))
        kept = np.flatnonzero(weight)
        grids, positions = [grids[i] for i in kept], positions[kept]
        radius = read_radius(self.radius, positions, kept)
        if self.parents is None:
            parents = steadiest_tree(positions, weight[kept])
        else:
            parents = check_parents(self.parents, positions.shape[1])
        n_features = grids[0].features.shape[1]
        model = make_pose_model(positions, parents, n_types, n_features, weight[kept])
        poses = Poses(grids, positions, model, radius, weight[kept])
        fitted = {"n_features_in_": n_features, "parents_": parents}
        positive = model.stiffness_places() if len(model.edges) else None
        return Posed(KnownProblem(poses), weight.sum(), fitted, partial(_unpack, model), positive)

    def predict(self, X: Any) -> np.ndarray:
        """(n, P, 2): column and row of every part in the best pose of each image."""
        check_is_fitted(self)
        tree = make_part_tree(self.parents_)
        grids = read_grids(X, self.n_features_in_, type(self).__name__)
        return np.stack(
            by_sample(lambda grid: best_pose(grid.scores(self.coef_), tree, self.springs_)[0].positions, grids)
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 less the mean loss: of a part at its place 1, of one `radius` or more from it 0."""
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


def _unpack(model: PoseModel, w: np.ndarray) -> dict[str, Any]:
    coef, springs = model.unpack(w)
    return {"coef_": coef, "springs_": springs}
