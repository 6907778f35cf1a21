"""Samples as networks take them: padded batches, and hinges of what networks give for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..batches import Batch, Candidates, Chains
from ..smoothing import smoothed_max


def padded(arrays: list[np.ndarray], indices: np.ndarray, device: Any, dtype: torch.dtype | None) -> Tensor:
    """Some arrays below each other, filled up with 0."""
    chosen = [arrays[i] for i in indices]
    longest = max(len(one) for one in chosen)
    out = np.zeros((len(chosen), longest, *chosen[0].shape[1:]), chosen[0].dtype)
    for row, one in zip(out, chosen, strict=True):
        row[: len(one)] = one
    made = torch.from_numpy(out)
    return made.to(device) if dtype is None else made.to(device, dtype)


def hinges_of(batch: Batch, y: Tensor, costs: Tensor, smoothing: Any) -> Tensor:
    return smoothed_max(batch.plus(costs), smoothing).values - batch.score(y)


class ChainSamples:
    """Sequences, with labels or without.

    Parameters
    ----------
    features : list of arrays
        (T, F) of numbers or (T,) of whole numbers each.
    codes : list of arrays or None
        (T,) numbers of labels.
    weight : array of shape (n,)
        Of samples.
    device : torch.device
    dtype : torch.dtype
        Of features that are no whole numbers.
    normalize : bool, default=True
        Whether losses are shares of wrong labels, or their numbers.
    """

    def __init__(
        self,
        features: list[np.ndarray],
        codes: list[np.ndarray] | None,
        weight: np.ndarray,
        device: Any,
        dtype: torch.dtype,
        normalize: bool = True,
    ):
        self.features, self.codes, self.normalize = features, codes, normalize
        self.device, self.dtype = device, dtype if features and features[0].ndim > 1 else None
        self.weight = torch.from_numpy(weight / weight.sum())
        self.sizes = np.array([len(one) for one in features], np.int64)

    def inputs(self, indices: np.ndarray) -> tuple[Tensor, Tensor]:
        return padded(self.features, indices, self.device, self.dtype), torch.from_numpy(self.sizes[indices])

    def hinges(self, outputs: tuple[Tensor, ...], indices: np.ndarray, smoothing: Any) -> Tensor:
        assert self.codes is not None
        node, edge = outputs
        batch = Chains(node, edge, torch.from_numpy(self.sizes[indices]))
        y = padded(self.codes, indices, self.device, None)
        return hinges_of(batch, y, batch.wrong_labels(y, self.normalize), smoothing)


class CandidateSamples:
    """Candidates with features, and what they cost.

    Parameters
    ----------
    features : list of arrays
        (c, F) each.
    costs : list of arrays or None
        (c,) each, 0 for the true one.
    weight : array of shape (n,)
        Of samples.
    device : torch.device
    dtype : torch.dtype
    """

    def __init__(
        self,
        features: list[np.ndarray],
        costs: list[np.ndarray] | None,
        weight: np.ndarray,
        device: Any,
        dtype: torch.dtype,
    ):
        self.features, self.costs, self.device, self.dtype = features, costs, device, dtype
        self.weight = torch.from_numpy(weight / weight.sum())
        self.sizes = np.array([len(one) for one in features], np.int64)
        self.truth = None if costs is None else np.array([int(np.argmin(one)) for one in costs])

    def inputs(self, indices: np.ndarray) -> tuple[Tensor]:
        return (padded(self.features, indices, self.device, self.dtype),)

    def hinges(self, outputs: tuple[Tensor, ...], indices: np.ndarray, smoothing: Any) -> Tensor:
        assert self.costs is not None and self.truth is not None
        (scores,) = outputs
        batch = Candidates(scores, torch.from_numpy(self.sizes[indices]))
        y = torch.from_numpy(self.truth[indices]).to(self.device)
        return hinges_of(batch, y, padded(self.costs, indices, self.device, self.dtype), smoothing)
