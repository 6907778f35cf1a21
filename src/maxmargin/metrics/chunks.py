"""Chunks that labels spell out: entities, phrases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

BEGINS, ENDS = "BSU", "ESLU"  # tags of a chunk's first and of its last token, in IOB, BIOES and BILOU
TAGS = "BIESLU"


class ChunkScores(NamedTuple):
    """Fractions of chunks found, in [0, 1].

    Attributes
    ----------
    precision : float
        Of the chunks predicted, those that are right.
    recall : float
        Of the true chunks, those that were predicted.
    f1 : float
        The harmonic mean of both.

    Examples
    --------
    >>> from maxmargin.metrics import chunk_scores
    >>> chunk_scores([["B-NP", "O"]], [["B-NP", "B-NP"]]).recall
    1.0
    """

    precision: float
    recall: float
    f1: float


def chunk_scores(y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]]) -> ChunkScores:
    """Precision, recall and F1 of whole chunks, as the CoNLL script `conlleval` counts them.

    A chunk counts as found if its first token, last token and type all agree. Labels are ``O`` or a tag and a type:
    ``B-type`` and ``I-type``; in BIOES and BILOU also ``E-`` or ``L-`` for last tokens, ``S-`` or ``U-`` for single
    ones. As in `conlleval`, an ``I-type`` that follows ``O`` or another type starts a chunk, so both IOB schemes can be
    read. A score without chunks to divide by is 0.

    Parameters
    ----------
    y_true : sequence of sequences of str
        The true labels of each sentence. Chunks end with their sentence.
    y_pred : sequence of sequences of str
        The predicted ones.

    Returns
    -------
    ChunkScores
        `precision`, `recall`, `f1`, as fractions.

    Examples
    --------
    >>> from maxmargin.metrics import chunk_scores
    >>> chunk_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    ChunkScores(precision=0.5, recall=0.5, f1=0.5)
    """
    return _scores_of(*chunk_counts(y_true, y_pred).sum(axis=0).tolist())


def _scores_of(n_both: int, n_true: int, n_pred: int) -> ChunkScores:
    return ChunkScores(
        precision=n_both / n_pred if n_pred else 0.0,
        recall=n_both / n_true if n_true else 0.0,
        f1=2 * n_both / (n_true + n_pred) if n_true + n_pred else 0.0,
    )


class TypeScores(NamedTuple):
    """The chunks of one type.

    Attributes
    ----------
    scores : ChunkScores
        Precision, recall and F1.
    n_true : int
        How many there are.
    n_pred : int
        How many were predicted.
    n_both : int
        How many were found.

    Examples
    --------
    >>> from maxmargin.metrics import chunk_scores_by_type
    >>> chunk_scores_by_type([["B-NP", "O"]], [["B-NP", "B-VP"]])["VP"].n_pred
    1
    """

    scores: ChunkScores
    n_true: int
    n_pred: int
    n_both: int


def chunk_scores_by_type(y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]]) -> dict[str, TypeScores]:
    """Precision, recall and F1 of the chunks of each type; see :func:`chunk_scores`.

    Parameters
    ----------
    y_true : sequence of sequences of str
        The true labels of each sentence.
    y_pred : sequence of sequences of str
        The predicted ones.

    Returns
    -------
    dict of TypeScores
        By type, sorted.

    Examples
    --------
    >>> from maxmargin.metrics import chunk_scores_by_type
    >>> found = chunk_scores_by_type([["B-NP", "O", "B-VP"]], [["B-NP", "B-NP", "B-VP"]])
    >>> {kind: round(one.scores.precision, 2) for kind, one in found.items()}
    {'NP': 0.5, 'VP': 1.0}
    """
    kinds, both, true, pred = _compared(y_true, y_pred, check_same_lengths(y_true, y_pred))
    counts = [np.bincount(some.kind, minlength=len(kinds)).tolist() for some in (both, true, pred)]
    return {
        name: TypeScores(_scores_of(n_both, n_true, n_pred), n_true, n_pred, n_both)
        for name, n_both, n_true, n_pred in sorted(zip(kinds, *counts, strict=True))
    }


def chunk_f1(y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]]) -> float:
    """F1 of whole chunks; see :func:`chunk_scores`.

    Parameters
    ----------
    y_true : sequence of sequences of str
        The true labels of each sentence.
    y_pred : sequence of sequences of str
        The predicted ones.

    Returns
    -------
    float
        A fraction in [0, 1].

    Examples
    --------
    >>> from maxmargin.metrics import chunk_f1
    >>> chunk_f1([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    0.5
    """
    return chunk_scores(y_true, y_pred).f1


def chunk_counts(y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]]) -> np.ndarray:
    """Count the chunks of each sequence, what :func:`chunk_scores` sums up; for a bootstrap, say.

    Parameters
    ----------
    y_true : sequence of sequences of str
        The true labels of each sentence.
    y_pred : sequence of sequences of str
        The predicted ones.

    Returns
    -------
    counts : array of int of shape (n, 3)
        Chunks that are found, that are there, and that are predicted.

    Examples
    --------
    >>> from maxmargin.metrics import chunk_counts
    >>> chunk_counts([["B-NP", "O"], ["B-NP"]], [["B-NP", "B-NP"], ["O"]]).tolist()
    [[1, 1, 2], [0, 1, 0]]
    """
    offsets = check_same_lengths(y_true, y_pred)
    _, *compared = _compared(y_true, y_pred, offsets)
    owners = [np.searchsorted(offsets, some.first, side="right") - 1 for some in compared]
    return np.stack([np.bincount(owner, minlength=len(y_true)) for owner in owners], axis=1)


def names_chunks(labels: Iterable[Any]) -> bool:
    """Whether labels name chunks: all are ``O`` or a tag of IOB, BIOES or BILOU with a type, and some begin a chunk.

    Parameters
    ----------
    labels : iterable
        Distinct labels, of any type.

    Returns
    -------
    bool

    Examples
    --------
    >>> from maxmargin.metrics import names_chunks
    >>> names_chunks(["O", "B-NP", "I-NP"]), names_chunks(["O", "NP"])
    (True, False)
    """
    parts = [_parts(label) if isinstance(label, str) else None for label in labels]
    tags = {part[0] for part in parts if part is not None}
    return None not in parts and bool(tags & set("BI"))


def check_same_lengths(y_true: Sequence[Any], y_pred: Sequence[Any]) -> np.ndarray:
    """Where each sequence starts if all are laid end to end (and the last one ends), or what is not alike."""
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} sequences, y_pred has {len(y_pred)}")
    lengths, others = ([len(labels) for labels in of] for of in (y_true, y_pred))
    for i, (length, other) in enumerate(zip(lengths, others, strict=True)):
        if length != other:
            raise ValueError(f"sequence {i}: y_true has {length} labels, y_pred has {other}")
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


class _Chunks(NamedTuple):
    """First and last token, counted over all sequences, and the number of the type."""

    first: np.ndarray
    last: np.ndarray
    kind: np.ndarray


def _compared(
    y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]], offsets: np.ndarray
) -> tuple[dict[str, int], _Chunks, _Chunks, _Chunks]:
    """Numbers of types, and the chunks that are found, that are there, and that are predicted."""
    kinds: dict[str, int] = {}
    true, pred = (_chunks(labels, offsets, kinds) for labels in (y_true, y_pred))
    # those of either are disjoint, so a chunk is known by its first token
    last, kind = np.full(offsets[-1], -1), np.full(offsets[-1], -1)
    last[true.first], kind[true.first] = true.last, true.kind
    found = (last[pred.first] == pred.last) & (kind[pred.first] == pred.kind)
    return kinds, _Chunks(*(values[found] for values in pred)), true, pred


def _chunks(y: Sequence[Iterable[str]], offsets: np.ndarray, kinds: dict[str, int]) -> _Chunks:
    """All chunks; types that are new get the next number in `kinds`."""
    # one look-up a token: what a label means is worked out once for each
    known: dict[str, int] = {}
    flat = chain.from_iterable(labels.tolist() if isinstance(labels, np.ndarray) else labels for labels in y)
    codes = np.fromiter((known.setdefault(label, len(known)) for label in flat), np.int64, count=offsets[-1])
    parts = [_parts(str(label)) for label in known]
    if None in parts:
        _refuse(parts.index(None), list(known), codes, offsets)
    tags, types = zip(*(part for part in parts if part is not None), strict=True) if parts else ((), ())
    kind = np.array([kinds.setdefault(name, len(kinds)) if name else -1 for name in types], np.int64)[codes]
    begins, ends = (np.array([tag in those for tag in tags], bool)[codes] for those in (BEGINS, ENDS))
    inside, new = kind >= 0, np.ones(len(codes) + 1, bool)  # new: whether none that was open goes on
    new[1:-1] = begins[1:] | ends[:-1] | (kind[1:] != kind[:-1])
    new[offsets] = True
    first = np.flatnonzero(inside & new[:-1])
    return _Chunks(first, np.flatnonzero(inside & new[1:]), kind[first])


def _parts(label: str) -> tuple[str, str] | None:
    """Tag and type of a label, or None where it names no chunk."""
    tag, _, kind = label.partition("-")
    if label == "O":
        return "O", ""
    return (tag, kind) if len(tag) == 1 and tag in TAGS and kind else None


def _refuse(code: int, labels: list[Any], codes: np.ndarray, offsets: np.ndarray) -> None:
    i = int(np.searchsorted(offsets, np.argmax(codes == code), side="right")) - 1
    raise ValueError(
        f"sequence {i}: label {labels[code]!r} names no chunk: expected 'O', 'B-type', 'I-type', or 'E-', 'L-', 'S-', "
        "'U-' and a type"
    )
