"""Choosing lam by cross-validation along regularization paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing as take

from .._parameters import check_limits
from ..solvers import Status
from ..structures import TransitionMask
from ._base import MaxMarginEstimator, parameters_of
from ._kernels import PRECOMPUTED
from ._scaling import wants_scaling
from .inputs.weights import check_sample_weight
from .path import EstimatorPath, regularization_path, scores_along

NOT_THEIRS = {"lam", "warm_start"}  # parameters of the single estimator that mean nothing here


def _labels_in(y: Any) -> np.ndarray:
    """The distinct labels of samples, sorted."""
    return np.unique(np.concatenate([np.ravel(labels) for labels in y]))


def cut_to_labels(single: Any, every: np.ndarray, present: np.ndarray) -> Any:
    """The estimator for data that lack some labels: without them in what is given for all labels."""
    kept = np.isin(every, present)
    if kept.all():
        return single
    params = single.get_params(deep=False)
    changed = {name: _cut(params[name], kept) for name in ("cost_matrix", "transition_mask") if name in params}
    if isinstance(single.class_weight, Mapping):
        here = set(present.tolist())
        changed["class_weight"] = {label: one for label, one in single.class_weight.items() if label in here}
    return clone(single).set_params(**changed)


def _cut(table: Any, kept: np.ndarray) -> Any:
    if isinstance(table, TransitionMask):
        return TransitionMask(*(_cut(part, kept) for part in table))
    if table is None or isinstance(table, str) or np.shape(table) not in ((len(kept), len(kept)), (len(kept),)):
        return table  # which fit will say
    table = np.asarray(table)
    return table[np.ix_(*[kept] * table.ndim)]


class PathCV(MaxMarginEstimator):
    """What cross-validated estimators share. Stands before the single estimator among the bases of a class.

    max_passes holds for each breakpoint, max_seconds for each path and for the final fit. The smallest lam compared is
    that which the paths of all folds reach.
    """

    single: type[MaxMarginEstimator]  # what is fitted to a fold
    lam, warm_start = None, False
    eps: float
    kappa: float | None
    lam_min: float | None
    heuristic: bool
    cv: Any
    scoring: Any
    kernel: Any

    def _choose(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Choose lam by X and y, whose samples indices choose; what is found becomes attributes."""
        from sklearn.model_selection import check_cv  # heavy, and needed here only

        if isinstance(self.kernel, str) and self.kernel == PRECOMPUTED:
            raise ValueError('cross-validation cannot take kernel="precomputed" apart: give the function instead')
        check_limits(self.tol, self.max_passes, self.max_seconds)
        weight = check_sample_weight(sample_weight, len(y))
        names = set(parameters_of(self.single)) - NOT_THEIRS
        single = self.single(**{name: getattr(self, name) for name in names}).set_params(scale=wants_scaling(self))
        from sklearn.metrics import check_scoring  # imports half of scikit-learn

        scorer = check_scoring(single, self.scoring)
        labels, every = y if is_classifier(self) else None, _labels_in(take(y, np.flatnonzero(weight)))
        paths, scores = list[EstimatorPath](), list[np.ndarray]()
        for train, test in check_cv(self.cv, labels, classifier=is_classifier(self)).split(X, labels):
            train, rule = np.asarray(train), (self.eps, self.kappa, self.lam_min, bool(self.heuristic))
            X_train, y_train = take(X, train), take(y, train)
            fold = cut_to_labels(single, every, _labels_in(take(y, train[weight[train] > 0])))
            path = regularization_path(fold, X_train, y_train, *rule, sample_weight=weight[train])
            if path.ended == Status.INTERRUPTED:
                raise KeyboardInterrupt
            scores.append(scores_along(path, scorer, take(X, test), take(y, test)))
            paths.append(path)
        # scores are constant between breakpoints, so at those of all folds they are known for every lam
        lams = np.unique(np.concatenate([path.breakpoints for path in paths]))[::-1]
        lams = lams[lams >= max(path.lam_end for path in paths)]
        by_fold = np.array([found[path.pieces_of(lams)] for path, found in zip(paths, scores, strict=True)])
        return {
            "lam_": float(lams[int(np.argmax(by_fold.mean(axis=0)))]),
            "lams_": lams,
            "scores_": by_fold,
            "path_passes_": sum(float(path.passes.sum()) for path in paths),
            "path_oracle_calls_": sum(int(path.oracle_calls.sum()) for path in paths),
        }
