"""Chains of up to 128 labels: a block of threads a sequence. Sums are in logarithms, whatever is forbidden."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..forests import Forest
from .asked import Asked, ask
from .sources import Machine
from .traces import trace_top

MOST_LABELS = 128
LEAST_LABELS = 8
PAIR_THREADS = 128
BACK = 64  # as in the source


class Summed(NamedTuple):
    """What a pass forward leaves for one backward."""

    values: Tensor  # (B,) log-partition functions
    asked: Asked
    inside: Tensor  # (B, T, K) logarithms, each position's shifted


class FewLabels:
    """What `dispatch` asks of a batch.

    Parameters
    ----------
    machine : Machine
        Where kernels run.
    """

    def __init__(self, machine: Machine):
        self.machine = machine

    def fits(self, forest: Forest) -> bool:
        return forest.node.shape[2] <= MOST_LABELS

    def sums_fit(self, forest: Forest) -> bool:
        return True

    def keeps_busy(self, forest: Forest) -> bool:
        return True  # as well as such a batch can

    def program(self, forest: Forest) -> int:
        """What is compiled by itself: there is one for each power of two."""
        return filled(forest.node.shape[2])

    def probe_size(self, forest: Forest) -> tuple[int, int]:
        """Samples and labels of a batch that tries the same program."""
        return 9, filled(forest.node.shape[2]) - 1

    def find_best(self, forest: Forest) -> Tensor:
        asked = ask(forest)
        n_samples, length, _ = asked.sizes
        labels = torch.empty(n_samples, length, dtype=torch.int64, device=asked.node.device)
        self._climb(asked, ways=torch.empty_like(asked.node, dtype=torch.uint8), labels=labels)
        return labels

    def find_top(self, forest: Forest, k: int) -> tuple[Tensor, Tensor]:
        asked = ask(forest)
        return trace_top(self.machine, asked, self._climb(asked), k)

    def sum_up(self, forest: Forest) -> Summed:
        asked = ask(forest)
        values = torch.empty(len(asked.node), dtype=torch.float64, device=asked.node.device)
        inside = self._climb(asked, sums=True, values=values)
        return Summed(values.float(), asked, inside)

    def spread_down(self, forest: Forest, summed: Summed, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients of the weighted sum of log-partition functions by the scores of labels and of edges."""
        asked, inside = summed.asked, summed.inside
        n_samples, length, n_labels = asked.sizes
        labels = filled(n_labels)
        outside = self._climb(asked, sums=True, backwards=True)
        weight = weight.contiguous()
        defines = {"LABELS": labels, "THREADS": PAIR_THREADS, "SUMS": 1, "WAYS": 0}
        shares = torch.empty_like(asked.node)
        args = (asked.node, inside, outside, asked.lengths, weight, shares, length, n_labels)
        self.machine.launch("few_labels", "share", defines, (n_samples * length, 1), 32, 0, args)
        pairs = torch.empty(n_samples, n_labels, n_labels, device=inside.device)
        shared_bytes = 4 * (2 * labels * labels + PAIR_THREADS)
        own = (asked.table, outside, shares, asked.lengths, pairs, length, n_labels)
        self.machine.launch("few_labels", "pair", defines, (n_samples, 1), PAIR_THREADS, shared_bytes, own)
        return shares, pairs[:, None] if len(forest.edge) > 1 else pairs.sum(dim=0)[None, None]

    def _climb(
        self,
        asked: Asked,
        sums: bool = False,
        backwards: bool = False,
        *,
        values: Tensor | None = None,
        ways: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> Tensor:
        """A pass over all positions, which fills what else is given."""
        n_samples, length, n_labels = asked.sizes
        filled_up = filled(n_labels)
        threads = max(filled_up, 32)
        inside = torch.empty_like(asked.node)
        defines = {"LABELS": filled_up, "THREADS": threads, "SUMS": int(sums), "WAYS": int(ways is not None)}
        args = (asked.node, asked.table, asked.lengths, inside, values, ways, labels, length, n_labels, int(backwards))
        shared_bytes = 4 * (2 * filled_up + 2 * threads // 32 + (0 if ways is None else BACK * n_labels // 4 + 1))
        self.machine.launch("few_labels", "climb", defines, (n_samples, 1), threads, shared_bytes, args)
        return inside


def filled(n_labels: int) -> int:
    """Labels, filled up to a power of two."""
    return max(LEAST_LABELS, 1 << (n_labels - 1).bit_length())
