"""Scores of labelled sequences beyond label accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class ChunkScores(NamedTuple):
    """Fractions of chunks found, in [0, 1]."""

    precision: float
    recall: float
    f1: float


Chunk = tuple[int, int, str]


def chunk_scores(y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]]) -> ChunkScores:
    """Precision, recall and F1 of whole chunks, as the CoNLL script `conlleval` counts them.

    A chunk counts as found if its first token, last token and type all agree. Labels are ``B-type``, ``I-type`` and
    ``O``. As in `conlleval`, an ``I-type`` that follows ``O`` or another type starts a chunk, so both IOB schemes
    can be read. A score without chunks to divide by is 0.

    Parameters
    ----------
    y_true, y_pred : sequence of sequences of str
        Labels of each sentence, gold and predicted. Chunks end with their sentence.

    Returns
    -------
    ChunkScores
        `precision`, `recall`, `f1`, as fractions.

    Examples
    --------
    >>> chunk_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    ChunkScores(precision=0.5, recall=0.5, f1=0.5)
    """
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} sequences, y_pred has {len(y_pred)}")
    n_true = n_pred = n_both = 0
    for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True)):
        labels_true, labels_pred = list(true), list(pred)
        if len(labels_true) != len(labels_pred):
            raise ValueError(f"sequence {i}: y_true has {len(labels_true)} labels, y_pred has {len(labels_pred)}")
        chunks_true, chunks_pred = _chunks(labels_true, i), _chunks(labels_pred, i)
        n_true += len(chunks_true)
        n_pred += len(chunks_pred)
        n_both += len(chunks_true & chunks_pred)
    return ChunkScores(
        precision=n_both / n_pred if n_pred else 0.0,
        recall=n_both / n_true if n_true else 0.0,
        f1=2 * n_both / (n_true + n_pred) if n_true + n_pred else 0.0,
    )


def chunk_f1(y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]]) -> float:
    """F1 of whole chunks, as a fraction; see :func:`chunk_scores`."""
    return chunk_scores(y_true, y_pred).f1


def _chunks(labels: list[str], i: int) -> set[Chunk]:
    """Chunks ``(first, last + 1, type)`` of one sentence, number `i`."""
    chunks: set[Chunk] = set()
    start, open_kind = 0, ""
    for t, label in enumerate([*labels, "O"]):
        tag, kind = _split_label(label, i)
        if open_kind and (tag != "I" or kind != open_kind):
            chunks.add((start, t, open_kind))
            open_kind = ""
        if kind and not open_kind:
            start, open_kind = t, kind
    return chunks


def _split_label(label: str, i: int) -> tuple[str, str]:
    tag, _, kind = str(label).partition("-")
    if (tag == "O" and not kind) or (tag in ("B", "I") and kind):
        return tag, kind
    raise ValueError(f"sequence {i}: label {label!r} is none of 'O', 'B-type', 'I-type'")
