"""Estimators that choose lam by cross-validation along regularization paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing as take
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from .._parameters import check_limits
from ..solvers import Status
from ..structures import TransitionMask
from ._base import MaxMarginEstimator, defaults_of, init_of
from ._kernels import PRECOMPUTED
from .chain import ChainSVM
from .inputs.labels import stack_labels, unstack
from .inputs.sequences import needs_vectorizer, split_chains, stack_sequences
from .inputs.weights import check_sample_weight
from .multiclass import MulticlassSVM
from .path import EstimatorPath, regularization_path, scores_along

NOT_THEIRS = ("lam", "warm_start")  # parameters of the single estimator that mean nothing here

PARAMETERS = {"eps": 0.1, "kappa": None, "lam_min": None, "heuristic": False, "cv": None, "scoring": None}


def cross_validated(base: type[MaxMarginEstimator]) -> Callable[..., None]:
    """An ``__init__`` that takes what that of `base` takes, without lam, and the parameters of the cross-validation."""
    return init_of(
        {**PARAMETERS, **{name: value for name, value in defaults_of(base).items() if name not in NOT_THEIRS}}
    )


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

    def _regularization(self, total_weight: float) -> float:
        return self._chosen

    def _fit_chosen(self, X: Any, y: Any, sample_weight: Any, fit: Callable[[], Any]) -> None:
        """Choose lam by X and y, whose samples indices choose, and fit to all; sets all attributes in the end."""
        found = self._choose(X, y, sample_weight)
        self._chosen = found["lam_"]
        try:
            fit()
        finally:
            del self._chosen
        self.__dict__.update(found)

    def _choose(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        from sklearn.model_selection import check_cv  # heavy, and needed here only

        if isinstance(self.kernel, str) and self.kernel == PRECOMPUTED:
            raise ValueError('cross-validation cannot take kernel="precomputed" apart: give the function instead')
        check_limits(self.tol, self.max_passes, self.max_seconds)
        weight = check_sample_weight(sample_weight, len(y))
        names = defaults_of(self.single).keys() - set(NOT_THEIRS)
        single = self.single(**{name: getattr(self, name) for name in names})
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


class ChainSVMCV(PathCV, ChainSVM):
    """`ChainSVM` with lam chosen by cross-validation along regularization paths.

    For each fold, models for every lam come from one eps-approximate path, so there is no grid to guess. The lam with
    the best mean score is then fitted to all data.

    Parameters
    ----------
    eps, kappa, lam_min, heuristic : as in `regularization_path`, for the paths
    cv : number of folds (None: 5), a splitter of sequences, or an iterable of (train, test) indices
    scoring : name of a scorer or a function (estimator, X, y); None: the share of labels that are right
    others : as in `ChainSVM`; tol and lam_ are those of the final fit

    Attributes
    ----------
    lam_ : chosen
    lams_ : (L,) breakpoints of all paths, descending    scores_ : (folds, L) scores there
    path_passes_, path_oracle_calls_ : effort of all paths
    others : as in `ChainSVM`, of the final fit
    """

    single = ChainSVM
    __init__ = cross_validated(ChainSVM)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, lengths: Any = None) -> ChainSVMCV:
        """Choose lam and learn from sequences, as ``ChainSVM.fit`` takes them."""
        if needs_vectorizer(X) or split_chains(X)[1] is not None:  # features of each fold's own; tuples stay tuples
            samples, labels = list(X), list(y)
            if len(labels) != len(samples):
                raise ValueError(f"y has {len(labels)} label sequences, but X has {len(samples)} sequences")
        else:
            rows, offsets, _ = stack_sequences(X, lengths, estimator=type(self).__name__)
            labels = unstack(stack_labels(y, offsets), offsets)
            samples = [rows[a:b] for a, b in pairwise(offsets)]
        self._fit_chosen(samples, labels, sample_weight, lambda: ChainSVM.fit(self, X, y, sample_weight, lengths))
        return self


class MulticlassSVMCV(PathCV, MulticlassSVM):
    """`MulticlassSVM` with lam chosen by cross-validation along regularization paths.

    For each fold, models for every lam come from one eps-approximate path, so there is no grid to guess. The lam with
    the best mean score is then fitted to all data.

    Parameters
    ----------
    eps, kappa, lam_min, heuristic : as in `regularization_path`, for the paths
    cv : number of folds (None: 5, stratified), a splitter, or an iterable of (train, test) indices
    scoring : name of a scorer or a function (estimator, X, y); None: accuracy
    others : as in `MulticlassSVM`; tol is that of the final fit

    Attributes
    ----------
    lam_ : chosen
    lams_ : (L,) breakpoints of all paths, descending    scores_ : (folds, L) scores there
    path_passes_, path_oracle_calls_ : effort of all paths
    others : as in `MulticlassSVM`, of the final fit
    """

    single = MulticlassSVM
    __init__ = cross_validated(MulticlassSVM)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MulticlassSVMCV:
        """Choose lam and learn from samples X (n, F), dense or sparse, and classes y (n,)."""
        samples, labels = check_X_y(X, y, accept_sparse="csr")
        check_classification_targets(labels)
        self._fit_chosen(samples, labels, sample_weight, lambda: MulticlassSVM.fit(self, X, y, sample_weight))
        return self
