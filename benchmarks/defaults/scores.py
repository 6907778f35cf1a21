"""Scores as ratios of counts a sample, so that samples can be drawn again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from maxmargin.metrics import box_iou, chunk_counts

DRAWS = 1000
HALVINGS = 200

Counts = np.ndarray  # (n, 2): what is right, and of how many, of each sample; a score is the ratio of their sums
Count = Callable[[Sequence[Any], Sequence[Any]], Counts]


def labels_right(true: Sequence[Any], found: Sequence[Any]) -> Counts:
    return np.array([(np.sum(np.asarray(t) == np.asarray(f)), np.size(t)) for t, f in zip(true, found, strict=True)])


def chunks_right(true: Sequence[Any], found: Sequence[Any]) -> Counts:
    """F1 is twice the chunks of both over the sum of those of either."""
    both, of_truth, of_found = chunk_counts(true, found).T
    return np.stack([2 * both, of_truth + of_found], axis=1)


def boxes_right(true: Sequence[Any], found: Sequence[Any]) -> Counts:
    return np.stack([box_iou(np.asarray(true), np.asarray(found)), np.ones(len(true))], axis=1)


def links_right(true: Sequence[Any], found: Sequence[Any]) -> Counts:
    """One less the alignment error rate; `true` are pairs of sure and possible links."""
    rows = []
    for (sure, possible), links in zip(true, found, strict=True):
        needed, given = _as_set(sure), _as_set(links)
        rows.append((len(given & needed) + len(given & (needed | _as_set(possible))), len(given) + len(needed)))
    return np.array(rows)


def score(counts: Counts) -> float:
    """In points of a hundred."""
    right, every = counts.sum(axis=0)
    return float(100 * right / max(every, 1))


def drawn_scores(counts: Counts) -> np.ndarray:
    """Scores of samples drawn with replacement, the same draws for every model."""
    n = len(counts)
    draws = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS) @ counts
    return 100 * draws[:, 0] / np.maximum(draws[:, 1], 1e-300)


def standard_error(counts: Counts) -> float:
    return float(drawn_scores(counts).std())


def surely_behind(ours: Counts, theirs: Counts) -> float:
    """By how many points we are behind at least, the lower end of a paired bootstrap's 95 % interval; below 0: not."""
    return float(np.quantile(drawn_scores(theirs) - drawn_scores(ours), 0.025))


def behind_chosen(ours: Counts, tried: Sequence[Counts]) -> float:
    """How far we are behind the best of those tried, which one half of the samples chooses, and the other judges.

    The best of many by the very samples that judge it owes a part of its lead to chance; this is what is left of it, a
    mean over random halves.
    """
    rng, lost = np.random.default_rng(0), []
    for _ in range(HALVINGS):
        order = rng.permutation(len(ours))
        one, other = order[: len(order) // 2], order[len(order) // 2 :]
        best = max(tried, key=lambda counts: score(counts[one]))
        lost.append(score(best[other]) - score(ours[other]))
    return float(np.mean(lost))


def _as_set(links: Any) -> set[tuple[int, int]]:
    return set(map(tuple, np.asarray(links).reshape(-1, 2).tolist()))
