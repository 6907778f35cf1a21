"""Which kernels may be used: those that were compared with plain operations first, in this process, on this device.

Where they cannot be compiled, or give another answer, one warning says so, and plain operations do it from then on.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from .. import plain, plain_top
from ..forests import Forest
from .asked import fits
from .few import FewLabels
from .many import PARTS, ManyLabels
from .sources import Machine
from .traces import MOST_LABELINGS

SWITCH = "MAXMARGIN_GPU_KERNELS"  # 0: never
SUMS_AGREE = 1e-6  # relative, log-partition functions
SHARES_AGREE = 1e-4


class Kernels(Protocol):
    """For some numbers of labels; chains with one table."""

    def fits(self, forest: Forest) -> bool: ...

    def sums_fit(self, forest: Forest) -> bool: ...

    def keeps_busy(self, forest: Forest) -> bool: ...

    def program(self, forest: Forest) -> Any: ...

    def probe_size(self, forest: Forest) -> tuple[int, int]: ...

    def find_best(self, forest: Forest) -> Tensor: ...

    def find_top(self, forest: Forest, k: int) -> tuple[Tensor, Tensor]: ...

    def sum_up(self, forest: Forest) -> Any: ...

    def spread_down(self, forest: Forest, summed: Any, weight: Tensor) -> tuple[Tensor, Tensor]: ...


def kernels_for(forest: Forest, kind: str, k: int = 1) -> Kernels | None:
    """Kernels that are trusted with a batch on a CUDA device; None: there are none.

    Parameters
    ----------
    forest : Forest
        The batch.
    kind : str
        What they are asked: "best", "top" or "sums".
    k : int, default=1
        How many labelings.
    """
    if os.environ.get(SWITCH) == "0" or torch.version.cuda is None or not fits(forest) or k > MOST_LABELINGS:
        return None
    return trust_of(forest.node.device.index).kernels_for(forest, kind, k)


@functools.cache
def trust_of(index: int) -> Trust:
    def connect() -> Machine:
        try:
            from .cuda import machine_of
        except ImportError as error:  # PyTorch before 2.10 does not bring it
            raise ImportError(f"they are compiled through cuda-bindings, which cannot be imported ({error})") from error
        return machine_of(index)

    return Trust(connect)


class Trust:
    """What was found out about a device.

    Parameters
    ----------
    connect : callable
        Gives the machine; its exceptions are reasons not to use kernels.
    """

    def __init__(self, connect: Callable[[], Machine]):
        self.connect = connect
        self.families: list[Kernels] | None = None
        self.checked: set[tuple[object, ...]] = set()
        self.refused = False

    def kernels_for(self, forest: Forest, kind: str, k: int) -> Kernels | None:
        if self.refused:
            return None
        try:
            return self._choose(forest, kind, k)
        except Exception as error:
            self.refused = True
            warnings.warn(
                f"maxmargin.deep does not use its CUDA kernels in this process, but plain PyTorch operations: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
        return None

    def _choose(self, forest: Forest, kind: str, k: int) -> Kernels | None:
        if self.families is None:
            machine = self.connect()
            self.families = [FewLabels(machine), *(ManyLabels(machine, part) for part in PARTS)]
        own = choose(self.families, forest)
        if own is None or (kind == "sums" and not own.sums_fit(forest)):
            return None
        key = (kind, k, own.program(forest))
        if key not in self.checked:
            CHECKS[kind](own, make_probe(*own.probe_size(forest), forest.node.device, forbids=kind != "sums"), k)
            self.checked.add(key)
        return own


def choose(families: list[Kernels], forest: Forest) -> Kernels | None:
    """The first that has room and keeps the device busy, or else the last that has room."""
    last = None
    for one in families:
        if one.fits(forest):
            if one.keeps_busy(forest):
                return one
            last = one
    return last


def make_probe(n_samples: int, n_labels: int, device: torch.device, forbids: bool) -> Forest:
    """A small batch with ties, and ends; sums of its scores are exact."""
    generator = torch.Generator().manual_seed(n_labels)
    node = torch.randint(-2, 3, (n_samples, 6, n_labels), generator=generator).float()
    edge = torch.randint(-2, 3, (1, 1, n_labels, n_labels), generator=generator).float()
    node[torch.rand(node.shape, generator=generator) < 0.1] = -torch.inf
    if forbids:
        edge[torch.rand(edge.shape, generator=generator) < 0.1] = -torch.inf
    sizes = torch.randint(1, 7, (n_samples,), generator=generator)
    sizes[0] = 6
    return Forest(node.to(device), edge.to(device), sizes)


def check_best(own: Kernels, probe: Forest, k: int) -> None:
    demand(torch.equal(own.find_best(probe), plain.find_best(probe)), "the best labelings are others")


def check_top(own: Kernels, probe: Forest, k: int) -> None:
    labels, values = own.find_top(probe, k)
    _, expected = plain_top.find_top(probe, k)
    demand(torch.equal(values, expected), f"the scores of the {k} best labelings are others")
    there = values > -torch.inf
    demand(torch.equal(scores_of(probe, labels)[there], values[there]), f"the {k} best labelings do not score as said")
    same = (labels[:, :, None] == labels[:, None]).all(dim=3) & there[:, :, None] & there[:, None]
    demand(int(same.sum()) == int(there.sum()), f"some of the {k} best labelings are the same")


def check_sums(own: Kernels, probe: Forest, k: int) -> None:
    exact = Forest(probe.node.double(), probe.edge.double(), probe.sizes)
    summed, expected = own.sum_up(probe), plain.sum_up(exact)
    weight = torch.linspace(0.5, 1.5, len(probe.node), device=probe.node.device)
    apart = (summed.values - expected.values).abs() / expected.values.abs().clamp(min=1.0)
    error = torch.where(summed.values == expected.values, 0.0, apart).max()  # the same where both are -inf
    demand(float(error) <= SUMS_AGREE, f"log-partition functions are off by {float(error):.1e}")
    found, wanted = own.spread_down(probe, summed, weight), plain.spread_down(exact, expected, weight.double())
    for one, other, name in zip(found, wanted, ("labels", "pairs"), strict=True):
        error = (one - other).abs().max() / other.abs().max()
        demand(float(error) <= SHARES_AGREE, f"marginals of {name} are off by {float(error):.1e}")


def scores_of(probe: Forest, labels: Tensor) -> Tensor:
    """(B, k) scores of labelings (B, k, T)."""
    own = probe.node.gather(2, labels.transpose(1, 2)).transpose(1, 2)
    pairs = probe.edge[0, 0][labels[:, :, :-1], labels[:, :, 1:]]
    real = probe.real[:, None]
    return own.masked_fill(~real, 0.0).sum(dim=2) + pairs.masked_fill(~real[:, :, 1:], 0.0).sum(dim=2)


def demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ArithmeticError(f"on a small batch, {otherwise} than those of plain operations")


CHECKS = {"best": check_best, "top": check_top, "sums": check_sums}
