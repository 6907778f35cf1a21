"""Scores beyond label accuracy: of chunks, word alignments and boxes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ._boxes import box_iou

__all__ = ["ChunkScores", "alignment_error_rate", "box_iou", "chunk_f1", "chunk_scores", "corloc"]


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


Chunk = tuple[int, int, str]
Link = tuple[int, int]


def chunk_scores(y_true: Sequence[Iterable[str]], y_pred: Sequence[Iterable[str]]) -> ChunkScores:
    """Precision, recall and F1 of whole chunks, as the CoNLL script `conlleval` counts them.

    A chunk counts as found if its first token, last token and type all agree. Labels are ``B-type``, ``I-type`` and
    ``O``. As in `conlleval`, an ``I-type`` that follows ``O`` or another type starts a chunk, so both IOB schemes
    can be read. A score without chunks to divide by is 0.

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


def alignment_error_rate(
    predicted: Sequence[Iterable[Sequence[int]]],
    sure: Sequence[Iterable[Sequence[int]]],
    possible: Sequence[Iterable[Sequence[int]]],
) -> float:
    """Error rate of word alignments, ``1 - (|A & S| + |A & P|) / (|A| + |S|)``, counted over all sentence pairs.

    A are the predicted links, S the sure ones and P the possible ones. To miss a sure link is an error, and so is to
    predict one that is not possible; a link that is possible but not sure may be predicted or not.

    Parameters
    ----------
    predicted : sequence of collections of links
        For each sentence pair, pairs of positions ``(source, target)``, e.g. an array (n_links, 2). Links given twice
        count once.
    sure : sequence of collections of links
        Those that must be found.
    possible : sequence of collections of links
        Those that may be. Sure links are possible, whether they are repeated here or not.

    Returns
    -------
    float
        The rate in [0, 1]; 0 if there are neither predicted nor sure links.

    Examples
    --------
    >>> from maxmargin.metrics import alignment_error_rate
    >>> alignment_error_rate([[(0, 0), (1, 1), (1, 2)]], [[(0, 0), (2, 2)]], [[(1, 1)]])
    0.4
    """
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            f"predicted has {len(predicted)} sentence pairs, sure has {len(sure)}, possible has {len(possible)}"
        )
    n_right = n_links = 0
    for i, kinds in enumerate(zip(predicted, sure, possible, strict=True)):
        links, needed, allowed = (_links(kind, i) for kind in kinds)
        n_right += len(links & needed) + len(links & (needed | allowed))
        n_links += len(links) + len(needed)
    return (n_links - n_right) / n_links if n_links else 0.0


def _links(links: Iterable[Sequence[int]], i: int) -> set[Link]:
    """Links of one sentence pair, number `i`."""
    found: set[Link] = set()
    for link in links:
        if len(link) != 2:
            raise ValueError(f"sentence pair {i}: a link is a pair (source, target), got {link!r}")
        found.add((int(link[0]), int(link[1])))
    return found


def corloc(a: ArrayLike, b: ArrayLike, threshold: float = 0.5) -> float:
    """Share of boxes correctly localized: of all pairs of boxes, those with an IoU of `threshold` at least.

    Parameters
    ----------
    a : array_like of shape (n, 4)
        Boxes (left, top, right, bottom).
    b : array_like of shape (n, 4)
        What each is compared with.
    threshold : float
        The least IoU that counts.

    Returns
    -------
    float
        The share in [0, 1].

    Examples
    --------
    >>> from maxmargin.metrics import corloc
    >>> corloc([[0, 0, 2, 2], [0, 0, 1, 1]], [[0, 0, 2, 1], [1, 0, 3, 2]])
    0.5
    """
    return float(np.mean(box_iou(a, b) >= threshold))
