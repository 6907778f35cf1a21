"""Chains of more labels: products with the table, tile by tile, all positions in one launch. Sums are exponentials."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .. import products
from ..forests import Forest
from .asked import Asked, ask
from .sources import Machine
from .traces import trace_best, trace_top

CHUNK, STAGES = 8, 3  # as in the source
PARTS = ((8, 8), (4, 8), (4, 4))  # rows and columns that a thread may have, the most for its reads first
BUSY = 0.7  # of the processors, that should have a block


class Tile(NamedTuple):
    """How the work is shared out."""

    rows: int  # sequences of a block
    columns: int  # labels of a block
    warps: int
    filled: int  # labels before, filled up so that every warp has whole chunks

    @property
    def shared_bytes(self) -> int:
        parts = self.warps * self.rows * max(self.columns, STAGES * CHUNK)
        return 4 * (self.filled * self.columns + self.rows * (self.columns + 4) + self.rows + parts)


class Summed(NamedTuple):
    """What a pass forward leaves for one backward."""

    values: Tensor  # (B,) log-partition functions
    asked: Asked
    peaks: Tensor  # (B, T) the largest scores of labels
    widest: float  # that of the table
    inside: Tensor  # (B, T, K) exponentials, each position's divided
    exponents: Tensor  # (B, T) by these powers of two


class ManyLabels:
    """What `dispatch` asks of a batch.

    Parameters
    ----------
    machine : Machine
        Where kernels run.
    part : (int, int)
        Rows and columns of a thread, one of `PARTS`.
    warps : int, default=8
        Of a block.
    """

    def __init__(self, machine: Machine, part: tuple[int, int], warps: int = 8):
        self.machine, self.part, self.warps = machine, part, warps

    def fits(self, forest: Forest) -> bool:
        """Whether there is room for the table, and for all blocks of a sequence at once."""
        n_labels = forest.node.shape[2]
        tile = self.tile(n_labels)
        fits = tile.shared_bytes <= self.machine.shared_bytes
        return fits and blocks(n_labels, tile.columns) <= self.machine.n_processors

    def sums_fit(self, forest: Forest) -> bool:
        """Whether exponentials of the table lose nothing."""
        return products.is_moderate(forest)

    def keeps_busy(self, forest: Forest) -> bool:
        """Whether most processors have a block."""
        n_samples, _, n_labels = forest.node.shape
        tile = self.tile(n_labels)
        n_blocks = blocks(n_labels, tile.columns) * blocks(n_samples, tile.rows)
        return n_blocks >= BUSY * self.machine.n_processors

    def program(self, forest: Forest) -> tuple[int, int]:
        """What is compiled by itself."""
        return self.part

    def probe_size(self, forest: Forest) -> tuple[int, int]:
        """Samples and labels of a batch that has several blocks either way, none of them full at the end."""
        return 67, 150

    def tile(self, n_labels: int) -> Tile:
        rows, columns = self.part
        step = self.warps * CHUNK
        return Tile(8 * rows, 4 * columns, self.warps, blocks(n_labels, step) * step)

    def find_best(self, forest: Forest) -> Tensor:
        asked = ask(forest)
        return trace_best(self.machine, asked, self._best_inside(asked))

    def find_top(self, forest: Forest, k: int) -> tuple[Tensor, Tensor]:
        asked = ask(forest)
        return trace_top(self.machine, asked, self._best_inside(asked), k)

    def sum_up(self, forest: Forest) -> Summed:
        asked = ask(forest)
        n_samples, length, n_labels = asked.sizes
        _, widest = forest.table_range
        peaks = torch.empty_like(asked.node[:, :, 0])
        defines = defines_of(self.tile(n_labels), sums=True)
        own = (asked.node, peaks, n_labels)
        self.machine.launch("many_labels", "peak", defines, (n_samples * length, 1), 32, 0, own)
        inside, exponents = self._climb(asked, True, peaks, widest)
        values = torch.empty_like(peaks[:, 0])
        args = (inside, peaks, exponents, asked.lengths, values, widest, length, n_labels)
        self.machine.launch("many_labels", "total", defines, (n_samples, 1), 32, 0, args)
        return Summed(values, asked, peaks, widest, inside, exponents)

    def spread_down(self, forest: Forest, summed: Summed, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Gradients of the weighted sum of log-partition functions by the scores of labels and of edges."""
        asked, peaks, inside = summed.asked, summed.peaks, summed.inside
        n_samples, length, n_labels = asked.sizes
        outside, _ = self._climb(asked, True, peaks, summed.widest, backwards=True)
        shares = torch.empty_like(asked.node)
        tile = self.tile(n_labels)
        args = (asked.node, peaks, inside, summed.exponents, asked.lengths, weight.contiguous(), outside, shares)
        defines = defines_of(tile, sums=True)
        self.machine.launch("many_labels", "share", defines, (n_samples * length, 1), 32, 0, (*args, length, n_labels))
        table = (asked.table - summed.widest).exp()
        if len(forest.edge) > 1:
            pairs = inside[:, :-1].transpose(1, 2) @ outside[:, 1:]
            return shares, pairs.mul_(table)[:, None]
        # shares of pairs of one sequence's end and the next one's beginning are 0
        pairs = inside.reshape(-1, n_labels)[:-1].T @ outside.reshape(-1, n_labels)[1:]
        return shares, (pairs * table)[None, None]

    def _best_inside(self, asked: Asked) -> Tensor:
        nothing = asked.node  # not looked at
        return self._climb(asked, False, nothing, 0.0)[0]

    def _climb(
        self, asked: Asked, sums: bool, peaks: Tensor, widest: float, backwards: bool = False
    ) -> tuple[Tensor, Tensor]:
        n_samples, length, n_labels = asked.sizes
        tile = self.tile(n_labels)
        n_blocks = blocks(n_labels, tile.columns)
        n_groups = min(self.machine.n_processors // n_blocks, blocks(n_samples, tile.rows))
        device, defines = asked.node.device, defines_of(tile, sums)
        inside = torch.empty_like(asked.node)
        exponents = torch.zeros(n_samples, length, dtype=torch.int32, device=device)
        neutral = 0.0 if sums else -torch.inf
        for first in range(0, n_samples, n_groups * tile.rows):  # as many at once as have room
            own = slice(first, first + n_groups * tile.rows)
            count = len(asked.lengths[own])
            groups = blocks(count, tile.rows)
            front = torch.full((2, groups, tile.filled, tile.rows), neutral, device=device)
            front_peaks = torch.empty(2, groups, n_blocks, tile.rows, device=device)
            arrived = torch.zeros(groups, dtype=torch.int32, device=device)
            args = (asked.node[own], asked.table, asked.lengths[own], peaks[own], inside[own], exponents[own])
            rest = (front, front_peaks, arrived, widest, count, length, n_labels, tile.filled, int(backwards))
            grid, threads = (n_blocks, groups), 32 * tile.warps
            self.machine.launch(
                "many_labels", "climb", defines, grid, threads, tile.shared_bytes, (*args, *rest), together=True
            )
        return inside, exponents


def blocks(count: int, size: int) -> int:
    """How many of a size are enough."""
    return -(-count // size)


def defines_of(tile: Tile, sums: bool) -> dict[str, int]:
    return {"PART_ROWS": tile.rows // 8, "PART_COLUMNS": tile.columns // 4, "WARPS": tile.warps, "SUMS": int(sums)}
