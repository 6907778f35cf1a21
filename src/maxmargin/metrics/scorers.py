"""Scorers by name, for cross-validation here and in scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from .chunks import check_same_lengths, chunk_f1, names_chunks

Pair = tuple[list[Any], list[Any]]


@dataclass(frozen=True)
class Scorer:
    """Compares what an estimator predicts with the truth; a function (estimator, X, y), as scikit-learn's are.

    Parameters
    ----------
    name : str
        One of `scorer_names`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import MulticlassSVM
    >>> from maxmargin.metrics import Scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVM(random_state=0).fit(X, y)
    >>> bool(Scorer("accuracy")(model, X, y) == model.score(X, y))
    True
    """

    name: str

    def __post_init__(self) -> None:
        if self.name not in SCORES:
            raise ValueError(f"scoring must be one of {', '.join(map(repr, SCORES))}, got {self.name!r}")

    def __call__(self, estimator: Any, X: Any, y: Any, **given: Any) -> float:
        return self.compare(y, estimator.predict(X, **given))

    def compare(self, y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
        """Compare outputs.

        Parameters
        ----------
        y_true : sequence
            True labels, or sequences of such.
        y_pred : sequence
            Predicted ones.

        Returns
        -------
        score : float
            In [0, 1], larger is better.
        """
        return float(SCORES[self.name](y_true, y_pred))


def get_scorer(scoring: Any) -> Any:
    """Make a scorer of a name, one of ours or of scikit-learn.

    Parameters
    ----------
    scoring : str or function
        "accuracy" (or "label_accuracy"): the share of labels right; "sequence_accuracy": the share of samples with all
        labels right; "macro_f1": the mean over labels of their F1; "chunk_f1": F1 of whole chunks, as `conlleval`
        counts them; or a name that ``sklearn.metrics.get_scorer`` knows. A function (estimator, X, y) is left as it is.

    Returns
    -------
    scorer : function
        Of an estimator, X and y; ``GridSearchCV(scoring=...)`` takes it, too.

    Examples
    --------
    >>> from maxmargin.metrics import get_scorer
    >>> get_scorer("chunk_f1")
    Scorer(name='chunk_f1')
    """
    if not isinstance(scoring, str):
        if not callable(scoring):
            raise TypeError(f"scoring must be a name or a function (estimator, X, y), got {scoring!r}")
        return scoring
    if scoring in SCORES:
        return Scorer(scoring)
    from sklearn.metrics import get_scorer as get_other  # imports half of scikit-learn
    from sklearn.metrics import get_scorer_names

    if scoring not in get_scorer_names():
        raise ValueError(
            f"scoring must be one of {', '.join(map(repr, SCORES))}, a name that sklearn.metrics.get_scorer knows or a "
            f"function (estimator, X, y), got {scoring!r}"
        )
    return get_other(scoring)


def scorer_names() -> list[str]:
    """The names of the scorers here; `get_scorer` takes those of scikit-learn, too.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from maxmargin.metrics import scorer_names
    >>> "chunk_f1" in scorer_names()
    True
    """
    return list(SCORES)


def default_scoring(y: Sequence[Any]) -> str | None:
    """The name of the scorer that suits labels, where that is not the estimator's own score.

    Parameters
    ----------
    y : sequence
        True outputs.

    Returns
    -------
    scoring : str or None
        "chunk_f1" where they are sequences of labels that name chunks, see `names_chunks`; else None.

    Examples
    --------
    >>> from maxmargin.metrics import default_scoring
    >>> default_scoring([["O", "B-NP"], ["I-NP", "O"]]), default_scoring([["DT", "NN"]])
    ('chunk_f1', None)
    """
    sequences = [labels.tolist() if isinstance(labels, np.ndarray) else labels for labels in y]
    if not all(isinstance(labels, list | tuple) for labels in sequences):
        return None
    try:
        distinct = set(chain.from_iterable(sequences))
    except TypeError:  # no labels: links, boxes
        return None
    return "chunk_f1" if names_chunks(distinct) else None


def _flat(y_true: Sequence[Any], y_pred: Sequence[Any]) -> Pair:
    """Labels one after the other, of samples with one or with many."""
    if all(np.ndim(label) == 0 for label in y_true):
        check_number(y_true, y_pred)
        return np.asarray(y_true).tolist(), np.asarray(y_pred).tolist()
    check_same_lengths(y_true, y_pred)
    true, pred = (list(chain.from_iterable(np.asarray(labels).tolist() for labels in y)) for y in (y_true, y_pred))
    return true, pred


def check_number(y_true: Sequence[Any], y_pred: Sequence[Any]) -> None:
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} labels, y_pred has {len(y_pred)}")


def _label_accuracy(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    true, pred = _flat(y_true, y_pred)
    return sum(a == b for a, b in zip(true, pred, strict=True)) / max(len(true), 1)


def _sequence_accuracy(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    check_number(y_true, y_pred)
    return sum(np.array_equal(a, b) for a, b in zip(y_true, y_pred, strict=True)) / max(len(y_true), 1)


def _macro_f1(y_true: Sequence[Any], y_pred: Sequence[Any]) -> float:
    true, pred = _flat(y_true, y_pred)
    names: dict[Any, int] = {}
    a, b = (np.array([names.setdefault(label, len(names)) for label in labels], np.int64) for labels in (true, pred))
    both, of_a, of_b = (np.bincount(codes, minlength=len(names)) for codes in (a[a == b], a, b))
    return float(np.mean(2 * both / (of_a + of_b))) if names else 0.0


SCORES: dict[str, Callable[[Sequence[Any], Sequence[Any]], float]] = {
    "accuracy": _label_accuracy,
    "label_accuracy": _label_accuracy,
    "sequence_accuracy": _sequence_accuracy,
    "macro_f1": _macro_f1,
    "chunk_f1": chunk_f1,
}
