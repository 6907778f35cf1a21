"""SVRG on the prox-linear model, on proximal problems with extrapolated centres or on the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...solvers.catalyst import Extrapolation
from ...solvers.smoothing.loop import LESS, TRIES
from ...solvers.smoothing.pace import Pace
from ...solvers.smoothing.sequences import WARM_STARTS
from ...solvers.smoothing.solver import best_kappa
from .linearized import LinearModel, Snapshot, square

LOOKED_AT = 4  # blocks whose gradients are followed to know how fast they change


class Centres(Extrapolation):
    """The sequence of proximal centres, which are tensors."""

    previous: Any
    centre: Any

    def __init__(self, lam: float, kappa: float, w: Any):
        super().__init__(lam, kappa, w)

    def restart(self, w: Any) -> None:
        self.alpha = np.sqrt(self.lam / (self.lam + self.kappa))  # the model is always strongly convex
        self.previous = self.centre = w

    def advance(self, w: Any, kappa: float) -> None:
        beta = self.next_momentum(kappa)
        self.previous, self.centre = w, w + beta * (w - self.previous)


@dataclass(frozen=True)
class SVRGEpochs:
    """Epochs on the model itself.

    Parameters
    ----------
    budget : int
        Epochs: each a full gradient, and a step on each block of samples.
    lipschitz : float or None
        How fast gradients of blocks change, at the first mu; None: looked for.
    """

    budget: int
    lipschitz: float | None

    def kappa(self, model: LinearModel, n_blocks: int, steepness: float) -> float:
        return 0.0

    def next_start(self, sequence: Centres, v: Tensor, kappa: float) -> Tensor:
        """Where the epoch after one that ended at v begins."""
        return v

    def solve(
        self, model: LinearModel, parts: list[np.ndarray], mu: float, pace: Pace, rng: np.random.Generator
    ) -> Tensor:
        """A v that makes the model small."""
        v = torch.zeros_like(model.w)
        pace.value, sequence = np.inf, None
        for _ in range(self.budget):
            snapshot = model.snapshot(v, parts)
            if sequence is None:
                self.find_pace(model, snapshot, v, mu, pace)
                kappa = self.kappa(model, len(parts), pace.effective(mu))
                sequence = Centres(model.stiff, kappa, v)
            if pace.rises(snapshot.value):
                sequence.restart(v)
            length = pace.length(mu, model.stiff + sequence.kappa, len(parts))
            v = epoch(model, snapshot, v, sequence.centre, sequence.kappa, length, rng)
            v = self.next_start(sequence, v, self.kappa(model, len(parts), pace.effective(mu)))
        return sequence.previous if sequence is not None and sequence.kappa > 0.0 else v

    def find_pace(self, model: LinearModel, snapshot: Snapshot, v: Tensor, mu: float, pace: Pace) -> None:
        if self.lipschitz is not None:
            pace.found(self.lipschitz, pace.mu)
            return
        some = np.unique(np.linspace(0, len(snapshot.blocks) - 1, LOOKED_AT).astype(int))
        found = [steepness(model, snapshot, v, j, pace.steepness or 1.0) for j in some]
        moving = [one for one in found if one > 0.0]
        if moving:
            pace.found(float(np.mean(moving)), mu)


@dataclass(frozen=True)
class CasimirEpochs(SVRGEpochs):
    """Each on a proximal problem of its own, whose centre is extrapolated.

    Parameters
    ----------
    budget : int
        As of :class:`SVRGEpochs`.
    lipschitz : float or None
        As of :class:`SVRGEpochs`.
    warm_start : {"prox-center", "extrapolation", "previous"}
        Where a problem is begun.
    """  # pillutla18, Alg. 4 with constant smoothing

    warm_start: str

    def kappa(self, model: LinearModel, n_blocks: int, steepness: float) -> float:
        return best_kappa(model.stiff, n_blocks, steepness)

    def next_start(self, sequence: Centres, v: Tensor, kappa: float) -> Tensor:
        before, start_of = sequence.centre, WARM_STARTS[self.warm_start]
        sequence.advance(v, kappa)
        start: Any = start_of(before, sequence)
        return start


def epoch(
    model: LinearModel,
    snapshot: Snapshot,
    v: Tensor,
    centre: Tensor,
    kappa: float,
    length: float,
    rng: np.random.Generator,
) -> Tensor:
    """A step on each block from v, where the snapshot is; the mean of the iterates."""
    count, w, total = len(snapshot.blocks), v.clone(), torch.zeros_like(v)
    for step, j in enumerate(rng.permutation(count)):
        gradient = snapshot.gradient + model.pull(w) + kappa * (w - centre)
        if step > 0:  # the first one is at the snapshot
            gradient += count * model.change(snapshot.blocks[j], w)
        w = w - length * gradient
        total += w
    return total / count


def steepness(model: LinearModel, snapshot: Snapshot, v: Tensor, j: int, guess: float) -> float:
    """How fast the gradient of block j changes at the snapshot, within a power of 2; 0 where there is none."""
    block, count = snapshot.blocks[j], len(snapshot.blocks)
    gradient = count * model.by_weights(block.indices, block.gradients)
    size = square(gradient)
    if size == 0.0:
        return 0.0

    def leaves_a_good_part(rate: float) -> bool:
        return count**2 * square(model.change(block, v - gradient / rate)) <= LESS * size

    rate, holds = guess, leaves_a_good_part(guess)
    factor = 0.5 if holds else 2.0
    for _ in range(TRIES):
        if leaves_a_good_part(factor * rate) != holds:
            break
        rate *= factor
    return rate if holds else factor * rate
