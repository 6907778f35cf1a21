"""Sequences on disk as a problem: what an estimator has to know of all samples, found range by range."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..structures.masks import TransitionMask
from ..structures.on_disk import StoredChains, StoredSequences
from ..structures.on_disk import Units as RowUnits
from ..structures.pairwise import PairwiseWeights
from ._encoded import Encoded
from ._scaling import Spread, deviation, needs_spread, settled_units
from ._weights import as_weights
from .inputs.masks import read_transition_mask
from .inputs.weights import check_sample_weight


def encode_stored(
    estimator: Any, samples: StoredSequences, y: Any, sample_weight: Any = None, lengths: Any = None
) -> Encoded:
    """Make a problem of samples on disk, for an estimator of chains."""
    refuse_labels(y, lengths)
    if estimator.kernel is not None:
        raise ValueError("a kernel needs all samples in memory, and these are on disk: take kernel=None")
    if isinstance(estimator.lam, str) or estimator._chooses_lam:
        raise TypeError("cross-validation takes samples in memory, and these are on disk: find lam on some of them")
    weight = check_sample_weight(sample_weight, len(samples))
    if not weight.all():
        raise ValueError("weights of samples on disk must be > 0: leave samples out when they are written")
    classes = samples.classes
    mask = _checked_mask(estimator, samples)
    length = float(np.average(np.diff(samples.offsets), weights=weight))
    losses = estimator._losses_by_label(classes, *_label_sums(samples, weight), float(weight.sum()), length)
    spread = _spread_of(samples, weight) if needs_spread(estimator) else None
    units = settled_units(
        estimator,
        spread,
        losses.lam,
        weight,
        loss=losses.largest,
        center=bool(estimator.fit_intercept) and not samples.is_sparse,
    )
    layout = PairwiseWeights(
        samples.n_features, len(classes), bool(estimator.fit_intercept), bool(estimator.fit_boundary), 0
    )
    problem = StoredChains(
        samples,
        intercept=layout.intercept,
        boundary=layout.boundary,
        mask=mask,
        cost=losses.cost / units.scaling.loss,
        normalize=losses.normalize,
        sample_weight=weight,
        units=RowUnits(units.scaling.features, units.scaling.center),
    )
    fitted = {
        "classes_": classes,
        "n_features_in_": samples.n_features,
        "n_edge_features_in_": None,
        "vectorizer_": samples.encoder_of_dicts,
        "transition_mask_": mask,
        "_kernel": None,
    }
    return Encoded(estimator, problem, units, fitted, partial(as_weights, layout, units.scaling))


def refuse_labels(y: Any, lengths: Any) -> None:
    if y is not None or lengths is not None:
        raise ValueError("samples on disk come with their labels and lengths: leave y and lengths out")


def score_stored(score: Callable[..., float], samples: StoredSequences, sample_weight: Any = None) -> float:
    """The mean of the scores of batches, each with the weight of its positions."""
    weight, lengths = check_sample_weight(sample_weight, len(samples)), np.diff(samples.offsets)
    first, total = 0, 0.0
    for X, y in samples.batches():
        some = slice(first, first + len(X))
        if weight[some].any():
            total += score(X, y, weight[some]) * float(weight[some] @ lengths[some])
        first = some.stop
    return total / float(weight @ lengths)


def _checked_mask(estimator: Any, samples: StoredSequences) -> TransitionMask:
    for first, last in samples.parts():
        offsets, codes = samples.offsets[first : last + 1] - samples.offsets[first], samples.codes((first, last))
        mask = read_transition_mask(estimator.transition_mask, samples.classes, codes, offsets, np.arange(first, last))
    return mask


def _label_sums(samples: StoredSequences, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each label the weights of positions that have it, and their shares in the length of their sequences."""
    sums, shares, lengths = *np.zeros((2, len(samples.classes))), np.diff(samples.offsets)
    for first, last in samples.parts():
        codes, own = samples.codes((first, last)), lengths[first:last]
        sums += np.bincount(codes, np.repeat(weight[first:last], own), len(sums))
        shares += np.bincount(codes, np.repeat(weight[first:last] / own, own), len(sums))
    return sums, shares


def _spread_of(samples: StoredSequences, weight: np.ndarray) -> Spread:
    """As `spread_of` all rows at once, in two passes over the files."""
    lengths = np.diff(samples.offsets)
    total, mean, variance = float(weight @ lengths), np.zeros(samples.n_features), 0.0
    for part in samples.parts():
        mean += samples.rows(part).T @ _shares(weight, lengths, part, total)
    for part in samples.parts():
        variance += deviation(samples.rows(part), _shares(weight, lengths, part, total), mean)
    return Spread(mean, variance)


def _shares(weight: np.ndarray, lengths: np.ndarray, part: tuple[int, int], total: float) -> np.ndarray:
    some = slice(*part)
    return np.repeat(weight[some] / total, lengths[some])
