"""Choosing lam by cross-validation: the folds' models side by side, from large lam to small."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing as take
from sklearn.utils import get_tags

from .._compile import runs_compiled
from .._parameters import check_limits, check_positive, count_threads
from .._threads import one_by_one, sweeping_on
from ..solvers import Path, Status
from ..solvers.interrupt import Interrupt
from ..solvers.keeping import EVERY
from ..solvers.path.follow import on_grid
from ..solvers.path.rules import Grid
from ..solvers.path.runs import Effort, certified
from ..solvers.progress import progress
from ..solvers.tolerance import Relative
from ..structures import TransitionMask
from ._base import MaxMarginEstimator, parameters_of
from ._kernels import PRECOMPUTED
from .inputs.labels import stack_labels, unstack
from .inputs.sequences import stack_sequences
from .inputs.weights import check_sample_weight
from .path import scorer_for

# Parameters of the single estimator that mean nothing here.
NOT_THEIRS = {"lam", "warm_start", "checkpoint", "checkpoint_every"}

# Measured on three sets and shown on others: docs/path.md.
FOLDS, EPS = 3, 0.5
FACTOR, ABOVE, MOST = 3.0, 1, 25  # values of lam: a factor apart, from FACTOR**ABOVE times that of lam=None, at most
LEVEL = 4  # so many values of lam that change no score are enough


def choose_lam(
    estimator: MaxMarginEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    lengths: Any = None,
    lams: Iterable[float] | None = None,
    eps: float = EPS,
    cv: Any = None,
    scoring: Any = None,
    **given: Any,
) -> dict[str, Any]:
    """Choose lam by cross-validation.

    All folds go down side by side, each solved to a gap of `eps` times its objective from where the larger lam left
    off, until the mean score falls. Of the values that cannot be told from the best, the one nearest to the default is
    chosen; of those given, the best, of several the largest. Every lam is that of all data: with the fewer samples of a
    fold it is larger in proportion, so that ``C = 1/(lam n)`` is compared.

    Parameters
    ----------
    estimator : estimator
        A single one that `regularization_path` takes, with a ``lam``, which does not matter; its ``tol`` is the least
        gap asked for, ``max_passes`` holds for each lam, ``max_seconds`` for the search.
    X, y
        As its fit takes them.
    sample_weight : array of shape (n,) or None, default=None
        Weights of the samples; scores do not use them.
    lengths : array of int or None, default=None
        Of the sequences of a stacked X.
    lams : iterable of float or None, default=None
        The values to compare; None finds them.
    eps : float, default=0.5
        Relative gap of the folds' models.
    cv : int, splitter, iterable or None, default=None
        Folds; None: 3, of shuffled samples.
    scoring : str, function or None, default=None
        See ``metrics.get_scorer``; None: "chunk_f1" where labels name chunks, else the estimator's own score.
    **given
        What else fit and score take, one a sample, such as ``ignored``.

    Returns
    -------
    found : dict
        Attributes: lam_, lams_, scores_, path_passes_, path_oracle_calls_.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM
    >>> from maxmargin.estimators._path_cv import choose_lam
    >>> found = choose_lam(MulticlassSVM(random_state=0), *load_iris(return_X_y=True))
    >>> found["lam_"] in found["lams_"], found["scores_"].shape[0]
    (True, 3)
    """
    single = clone(estimator).set_params(lam=None)  # so that features are scaled, unless it says otherwise
    if getattr(single, "kernel", None) is not None and isinstance(single.kernel, str) and single.kernel == PRECOMPUTED:
        raise ValueError('cross-validation cannot take kernel="precomputed" apart: give the function instead')
    check_limits(single.max_passes, single.max_seconds)
    tol = single._goal().at(0.0)  # the least that it may be
    check_positive("eps", eps)
    values = None if lams is None else on_grid(lams, tol).lams
    if lengths is not None:
        rows, offsets, _ = stack_sequences(X, lengths, estimator=type(single).__name__)
        X, y = [rows[a:b] for a, b in pairwise(offsets)], unstack(stack_labels(y, offsets), offsets)
    folds = _make_folds(single, X, y, check_sample_weight(sample_weight, len(y)), cv, given)
    search = _Search(folds, Relative(float(eps), tol), scoring, y, single)
    usual = single._regularization(folds[0].encoded) / folds[0].times
    if values is None:
        search.go_down(usual)
    else:
        search.compare(values)
    return search.found(usual)


class _Fold(NamedTuple):
    """The problem of the training samples, and the others."""

    encoded: Any
    times: float  # as large as for all data is lam here
    X: Any
    y: Any
    given: dict[str, Any]


def _make_folds(single: Any, X: Any, y: Any, weight: np.ndarray, cv: Any, given: dict[str, Any]) -> list[_Fold]:
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv  # heavy, and needed here only

    one_class = is_classifier(single) and get_tags(single).target_tags.single_output  # a sample
    if cv is None:  # samples that lie together are often alike, and would be missing together
        cv = (StratifiedKFold if one_class else KFold)(FOLDS, shuffle=True, random_state=0)
    labels, folds = y if one_class else None, list[_Fold]()
    for train, test in check_cv(cv, labels, classifier=one_class).split(X, labels):
        train, test = np.asarray(train), np.asarray(test)
        own, other = ({name: take(value, rows) for name, value in given.items()} for rows in (train, test))
        with sweeping_on(count_threads(single.n_jobs)):
            encoded = _for_labels_of(single, y, weight, train).encode(
                take(X, train), take(y, train), sample_weight=weight[train], **own
            )
        folds.append(_Fold(encoded, weight.sum() / weight[train].sum(), take(X, test), take(y, test), other))
    if not folds:
        raise ValueError("cv has no folds: give one (training, test) pair of indices at least")
    return folds


class _Search:
    """What is known of some values of lam, and how to learn more."""

    def __init__(self, folds: list[_Fold], allowed: Relative, scoring: Any, y: Any, single: Any):
        self.folds, self.allowed, self.scorer, self.single = folds, allowed, scorer_for(scoring, y), single
        self.scores: dict[float, list[float]] = {}  # by lam: of all folds
        self.paths: list[Path] = []
        self.began, self.stopped, self.searched = time.perf_counter(), False, False
        self.n_threads = count_threads(single.n_jobs)
        n, compiled = len(folds), all(runs_compiled(fold.encoded.problem) for fold in folds)
        # threads that work on a fold each do not wait for each other; Python makes threads wait
        self.side_by_side = (n if self.n_threads >= n else n - n % self.n_threads) if compiled else 0
        # those of a user's own may mind which thread asks them, and Ctrl-C waits for threads
        self.n_scorers = 1 if callable(scoring) or not compiled else self.n_threads

    def go_down(self, usual: float) -> None:
        """From a lam that is large until scores fall; and up, if that was not large enough."""
        first, self.searched = usual * FACTOR**ABOVE, True
        self.compare(tuple(first / FACTOR**k for k in range(MOST)), patient=False)
        while not self.stopped and self.scores and max(self.scores, key=self._mean) == max(self.scores):
            if len(self.scores) > 2 * MOST:
                return
            self.compare((FACTOR * max(self.scores),))

    def _mean(self, lam: float) -> float:
        return float(np.mean(self.scores[lam]))

    def compare(self, lams: tuple[float, ...], patient: bool = True) -> None:
        """Score the models of all folds under each lam, from the largest on; as long as it pays, unless `patient`."""
        paths, walked = [self._path(fold, lams, k) for k, fold in enumerate(self.folds)], list[list[float]]()
        self.paths += paths
        with progress("values of lam", len(lams) if patient else np.inf, int(self.single.verbose)) as bar:
            for lam in lams:
                if not self._advance_all(paths):
                    self.stopped = True
                    return
                before = walked[-1] if walked else [None] * len(paths)
                each = zip(self.folds, paths, before, strict=True)
                self.scores[lam] = one_by_one([partial(self._score, *one) for one in each], self.n_scorers)
                walked.append(self.scores[lam])
                bar.update(1)
                bar.set_postfix_str(f"lam {lam:.2e}: {self._mean(lam):.4f}")
                if not patient and is_past_best(np.array(walked)):
                    return

    def _path(self, fold: _Fold, lams: tuple[float, ...], k: int) -> Path:
        """Folds that others do not stand beside have all threads."""
        n_jobs = self.n_threads if k >= self.side_by_side else max(1, self.n_threads // len(self.folds))
        own, solver = self.single, fold.encoded.solver(self.single.solver)
        lams = tuple(fold.times * lam for lam in lams)
        effort = Effort(own.max_passes, own.max_seconds, own.random_state, n_jobs)
        return Path(fold.encoded.problem, solver, Grid(lams, self.allowed), certified, effort)

    def _advance_all(self, paths: list[Path]) -> bool:
        """Solve for the next lam in all folds; whether that was done before a limit was reached."""
        with warnings.catch_warnings(), Interrupt():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what it says is for those who hold the path
            done = one_by_one([partial(self._advance, path) for path in paths[: self.side_by_side]], self.n_threads)
            return all(done) and all(self._advance(path) for path in paths[self.side_by_side :])

    def _advance(self, path: Path) -> bool:
        """Solve for the next lam; whether that was done before a limit was reached."""
        limit, known = self.single.max_seconds, len(path)
        left = None if limit is None else limit - (time.perf_counter() - self.began)
        if left is not None and left <= 0.0:  # though the weights there are may serve
            return False
        path.resume(max_seconds=left, callbacks=[lambda breakpoint: True])
        if path.ended == Status.INTERRUPTED:
            raise KeyboardInterrupt
        return len(path) > known

    def _score(self, fold: _Fold, path: Path, before: float | None) -> float:
        """The score under the last lam; `before`: that under the lam before."""
        lam = float(path.breakpoints[-1])
        if before is not None and np.array_equal(path.weights(-1), path.weights(-2)):
            return before
        model = fold.encoded.model(path.weights(-1), lam_=lam).set_params(lam=lam)
        score = float(self.scorer(model, fold.X, fold.y, **fold.given))
        if np.isnan(score):
            raise ValueError(f"scoring gave NaN at lam = {lam:g}")
        return score

    def choice(self, usual: float) -> float:
        """The value of the best mean; where the search found values itself, that nearest to the usual one among those
        that the folds cannot tell from the best: what each loses by it is less than the standard error."""
        best = max(sorted(self.scores, reverse=True), key=self._mean, default=usual)
        if not self.searched or not self.scores:
            return best
        lost = {lam: np.subtract(self.scores[best], scores) for lam, scores in self.scores.items()}
        alike = [lam for lam, loss in lost.items() if loss.mean() <= standard_error(loss)]
        return float(min(alike, key=lambda lam: abs(np.log(lam / usual))))

    def found(self, usual: float) -> dict[str, Any]:
        """The attributes; `usual` is what lam is where no value could be judged."""
        lams = sorted(self.scores, reverse=True)
        if self.stopped:
            judged = (
                f"it went below {lams[-1]:.3g}" if lams else f"any lam was judged; lam = {usual:.3g}, as for lam=None"
            )
            warnings.warn(
                f"choosing lam ended by max_passes or max_seconds before {judged}", ConvergenceWarning, stacklevel=4
            )
        return {
            "lam_": self.choice(usual),
            "lams_": np.array(lams),
            "scores_": np.array([self.scores[lam] for lam in lams]).reshape(len(lams), len(self.folds)).T,
            "path_passes_": sum(float(path.passes.sum()) for path in self.paths),
            "path_oracle_calls_": sum(int(path.oracle_calls.sum()) for path in self.paths),
        }


def standard_error(values: np.ndarray) -> float:
    """Of their mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def is_past_best(scores: np.ndarray) -> bool:
    """Whether to look no further: the last of the scores, of shape (values of lam, folds), are no better in the mean.

    They may be worse by chance. But small lam cost most, and of values that folds cannot tell apart the one nearest to
    the default is chosen, which the search begins with. Weights that serve the next lam, too, say nothing new.
    """
    best = int(np.argmax(scores.mean(axis=1)))
    return len(scores) - 1 - best >= LEVEL or bool(np.any(np.diff(scores[best:], axis=0) != 0.0))


def _labels_in(y: Any) -> np.ndarray:
    """The distinct labels of samples, sorted."""
    return np.unique(np.concatenate([np.ravel(labels) for labels in y]))


def _for_labels_of(single: Any, y: Any, weight: np.ndarray, train: np.ndarray) -> Any:
    """The estimator for these samples, which may lack labels that something is given for."""
    params = single.get_params(deep=False)
    if all(params.get(name) is None for name in ("cost_matrix", "transition_mask", "class_weight")):
        return single
    every, present = (_labels_in(take(y, rows[weight[rows] > 0])) for rows in (np.arange(len(weight)), train))
    return cut_to_labels(single, every, present)


def cut_to_labels(single: Any, every: np.ndarray, present: np.ndarray) -> Any:
    """The estimator for data that lack some labels: without them in what is given for all labels."""
    kept = np.isin(every, present)
    if kept.all():
        return single
    params = single.get_params(deep=False)
    changed = {name: _cut(params[name], kept) for name in ("cost_matrix", "transition_mask") if name in params}
    if isinstance(params.get("class_weight"), Mapping):
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
    """What cross-validated estimators share. Stands before the single estimator among the bases of a class."""

    single: type[MaxMarginEstimator]  # what is fitted to a fold
    lam, warm_start, checkpoint, checkpoint_every = None, False, None, EVERY
    _chooses_lam = True
    lams: Any
    eps: float
    cv: Any
    scoring: Any

    def _choose(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Choose lam by X and y, whose samples indices choose; what is found becomes attributes."""
        names = set(parameters_of(self.single)) - NOT_THEIRS
        single = self.single(**{name: getattr(self, name) for name in names})
        search = {"lams": self.lams, "eps": self.eps, "cv": self.cv, "scoring": self.scoring}
        return choose_lam(single, X, y, sample_weight, **search)
