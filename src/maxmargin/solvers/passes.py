"""Exact passes over all blocks: hinges, gaps, sums of corners, weights from marginals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._compile import Reference, helper, kernel, runs_compiled
from .._parameters import count_threads
from .._prefetch import BEYOND_A_CACHE
from .._sums import RunningSum, ShareSums, dot
from .._threads import at_once, equal_shares, on_ranges, sweeping_on
from ..structures.changes import sizes_of_blocks
from ..structures.crew import ask_ahead
from ..structures.directions import ToCorner
from ..structures.needs import Need
from ..structures.verbs import (
    add_block,
    add_corner,
    block_value,
    corner_loss,
    dimension,
    find_corner,
    find_potentials_before,
    forget_weights,
    inner,
    keep_corner,
    measure,
    n_blocks,
    new_labelings,
    new_work,
    offers,
    take_corner,
    truth_value,
    unit_of_curvature,
    upper_value,
)
from ..structures.weight_ranges import add_corner_within, ranges_of_rows
from .objective import DualPoint
from .parts.memory import NoMemory, Oracle, find_in

ORACLE, NOTHING, TO_CORNER = Oracle(), NoMemory(), ToCorner()

# Sums over all samples are those of shares, added up in their order: the same bits for any number of threads, since
# shares depend on the problem alone. Each costs some 30 microseconds and a sweep over all d weights, of half a
# nanosecond a weight where caches hold them and some two where not. A site takes half a microsecond and more, so that
# with so many sites to a share, that is a tenth of a pass at most, and a fiftieth as a rule. Four threads have work
# with any data: who asks for a pass sweeps over all weights several times himself. Their number is a multiple of four:
# of seven shares, two threads would take three and four.
SITES, WEIGHTS_A_SITE, FEWEST_SHARES, MOST_SHARES = 4096, 64, 4, 64


@helper
def next_of(i, last):
    """The sample that a pass comes to after this one, or -1."""
    return i + 1 if i + 1 < last else -1


@kernel
def hinge_pass(problem, work, w, first, last, hinges):
    """``hinges[i] = max_y H_i(y; w)``."""
    for i in range(first, last):
        find_potentials_before(problem, work, w, i, next_of(i, last))
        value = find_corner(problem, work, w, i)
        hinges[i] = upper_value(problem, work, w, i, value) - truth_value(problem, work, w, i)


@kernel
def gap_pass(problem, blocks, work, direction, w, order, first, last, hinges, gaps, norms):
    """Hinges, and the block gaps of the dual state at w; where there is room, ``|phi_i(corner) - E phi_i|^2``, too."""
    for position in range(first, last):
        i = order[position]
        find_potentials_before(problem, work, w, i, order[position + 1] if position + 1 < last else -1)
        value = find_corner(problem, work, w, i)
        hinges[i] = upper_value(problem, work, w, i, value) - truth_value(problem, work, w, i)
        gaps[i] = problem.weight[i] * (value - block_value(problem, blocks, work, w, i))
        if norms.shape[0] > 0:
            norms[i] = measure(problem, direction, blocks, work, i).norm


@kernel
def corner_pass(problem, work, source, memory, w, k, first, last, hinges, losses, corners):
    """Hinges and the losses of corners, as the source finds them; corners are kept for `add_corners`."""
    for i in range(first, last):
        find_potentials_before(problem, work, w, i, next_of(i, last))
        value = find_in(source, memory, problem, work, w, i, k)
        hinges[i] = value - truth_value(problem, work, w, i)
        losses[i] = corner_loss(problem, work, i)
        keep_corner(problem, corners, work, i, 0)


@kernel
def add_corners(problem, work, corners, first, last, vector):
    """Add ``lam A s`` of the corners s that were kept."""
    for i in range(first, last):
        take_corner(problem, corners, work, i, 0)
        add_corner(problem, work, i, problem.weight[i], vector)


@kernel
def add_within(problem, work, corners, n, first, last, vector):
    """The same of all corners, within a range of weight rows."""
    for i in range(n):
        take_corner(problem, corners, work, i, 0)
        add_corner_within(problem, work, i, problem.weight[i], vector, first, last)


@kernel
def gradient_pass(problem, work, w, first, last, hinges, losses, vector):
    """Hinges and the losses of corners s, which need not have a name; ``lam A s`` is added to `vector`."""
    for i in range(first, last):
        find_potentials_before(problem, work, w, i, next_of(i, last))
        value = find_corner(problem, work, w, i)
        hinges[i] = upper_value(problem, work, w, i, value) - truth_value(problem, work, w, i)
        losses[i] = corner_loss(problem, work, i)
        add_corner(problem, work, i, problem.weight[i], vector)


@kernel
def weights_pass(problem, blocks, work, n, lam, mass, w):
    """Add ``A alpha`` to w, where the blocks' marginals sum to `mass`."""
    for i in range(n):
        add_block(problem, blocks, work, i, problem.weight[i] / (lam * mass), mass, w)


class Share(NamedTuple):
    """A range of samples, and how to begin the vector of what these add to a sum."""

    first: int
    last: int
    new_vector: Callable[[], np.ndarray]


class Passes:
    """Exact passes over all blocks of a problem, on several threads where the kernels are compiled."""

    def __init__(self, problem: Any, n_jobs: int | None):
        self.take_up(problem)
        self.n, self.dimension = n_blocks(problem), dimension(problem)
        self.n_threads = count_threads(n_jobs) if self.compiled else 1
        self.sizes = sizes_of_blocks(problem)  # ranges that take as long; in sites, where there are any
        self.certifiable = getattr(problem, "certifiable", True)  # built-in oracles are exact

    def __reduce__(self) -> Any:
        return Passes, (self.problem, self.n_threads)  # the rest is scratch, or of this process

    def take_up(self, problem: Any) -> None:
        """These samples, which may have more outputs than before."""
        self.compiled = runs_compiled(problem)
        self.problem, self.given = problem, self.for_kernels(problem)
        self.scratch = new_work(problem)
        self.spare: list[tuple[Any, Any]] = []  # of further threads, with what kernels are given
        self.followed: np.ndarray | None = None  # weights that the scratch knows

    def for_kernels(self, part: Any) -> Any:
        """The same as kernels may be given it many times."""
        return Reference(part) if self.compiled and isinstance(part, tuple) else part

    @property
    def work(self) -> Any:
        """Scratch for one call of a kernel: it knows nothing of any weights."""
        forget_weights(self.problem, self.scratch)
        self.followed = None
        return self.scratch

    def work_on(self, w: np.ndarray) -> Any:
        """Scratch that goes on knowing w from one call to the next, where nothing but kernels with it changes w.

        Whoever else changes it says so by `let_go`.
        """
        if self.followed is not w:
            forget_weights(self.problem, self.scratch)
            self.followed = w  # which keeps its address
        return self.scratch

    def let_go(self) -> None:
        """The weights that the scratch knows are others now."""
        self.followed = None

    @contextmanager
    def own_work(self) -> Iterator[tuple[Any, Any]]:
        """Scratch for the thread at work in this block, and the same for kernels; it knows nothing of any weights."""
        if self.n_threads == 1:  # needs no second scratch, which is K^2 numbers where there are many labels
            yield self.work, self.for_kernels(self.scratch)
            return
        try:
            own = self.spare.pop()
            forget_weights(self.problem, own[0])
        except IndexError:
            work = new_work(self.problem)
            own = work, self.for_kernels(work)
        try:
            yield own
        finally:
            self.spare.append(own)  # to make one takes as long as thousands of samples

    def run(self, on_range: Callable[[Any, int, int], Any], asked_at: np.ndarray | None = None) -> None:
        """Call ``on_range(work, first, last)`` for ranges that cover all blocks, one thread each: work for kernels.

        Oracles in plain Python that will be asked at these weights may be asked ahead.
        """

        def with_work(first: int, last: int) -> None:
            with self.own_work() as (work, given):
                if asked_at is not None:
                    ask_ahead(self.problem, work, asked_at, np.arange(first, last))
                on_range(given, first, last)

        on_ranges(self.n, self.n_threads, with_work, self.sizes)

    @cached_property
    def shares(self) -> np.ndarray:
        """Bounds of the shares of samples whose sums are added up."""
        wanted = np.sum(self.sizes) // (SITES + self.dimension / WEIGHTS_A_SITE)
        n_shares = int(np.clip(wanted // FEWEST_SHARES * FEWEST_SHARES, FEWEST_SHARES, MOST_SHARES))
        return equal_shares(self.sizes, min(n_shares, self.n))

    @cached_property
    def sums(self) -> ShareSums | RunningSum:
        n_shares = len(self.shares) - 1
        return RunningSum(self.dimension) if self.n_threads == 1 else ShareSums(n_shares, self.dimension)

    def summed(
        self, on_shares: Callable[[Any, Iterator[Share]], Any], asked_at: np.ndarray | None = None
    ) -> np.ndarray:
        """Call ``on_shares(work, shares)`` with shares that cover all blocks; the sum of what it adds to their vectors.

        It has the same bits, however many threads there are.
        """
        bounds, sums = self.shares.tolist(), self.sums
        # whatever thread is free takes the next one
        shares = iter([Share(*ends, partial(sums.begin, k)) for k, ends in enumerate(pairwise(bounds))])
        self.run(lambda work, *_: on_shares(work, shares), asked_at)
        with sweeping_on(self.n_threads):
            return sums.total()

    def hinges(self, w: np.ndarray) -> np.ndarray:
        found = np.empty(self.n)
        self.run(lambda work, first, last: hinge_pass(self.given, work, w, first, last, found), w)
        return found

    def gaps(self, blocks: Any, w: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """Hinges at w; the gaps of the blocks there are written to `gaps`."""
        hinges, no_norms, order = np.empty(self.n), np.empty(0), np.arange(self.n)
        self.run(
            lambda work, first, last: gap_pass(
                self.given, blocks, work, TO_CORNER, w, order, first, last, hinges, gaps, no_norms
            ),
            w,
        )
        return hinges

    def prepare_gaps(self, blocks: Any, w: np.ndarray) -> None:
        """Compile or load what `gaps` and `norms` need."""
        nothing, nobody = np.empty(0), np.empty(0, np.int64)
        gap_pass(self.problem, blocks, self.work, TO_CORNER, w, nobody, 0, 0, nothing, nothing, nothing)

    def prepare_hinges(self) -> None:
        """Compile or load what `hinges` needs."""
        hinge_pass(self.problem, self.work, np.zeros(self.dimension), 0, 0, np.empty(0))

    def corners(
        self, w: np.ndarray, source: Any = ORACLE, memory: Any = NOTHING, k: int = 0
    ) -> tuple[np.ndarray, DualPoint]:
        """Hinges at w, and the dual point with all mass on the corners.

        A thread adds up its corners when it has found them, which takes less than in between, where w and the sum share
        caches.
        """
        if Need.LOG_LOSS in offers(self.problem):  # expectations, which have no name to be kept by
            return self.gradient(w)
        hinges, losses, corners = np.empty(self.n), np.empty(self.n), new_labelings(self.problem, 1)
        problem, kept, asked_at = self.given, self.for_kernels(corners), w if source is ORACLE else None

        def find(work: Any, first: int, last: int) -> None:
            corner_pass(problem, work, source, memory, w, k, first, last, hinges, losses, kept)

        def on_shares(work: Any, shares: Iterator[Share]) -> None:
            taken = []
            for share in shares:
                find(work, share.first, share.last)
                taken.append(share)
            for share in taken:
                add_corners(problem, work, kept, share.first, share.last, share.new_vector())

        if self.weight_ranges is None:
            vector = self.summed(on_shares, asked_at)
        else:
            self.run(find, asked_at)
            vector = self.added_within(self.weight_ranges, kept)
        return hinges, DualPoint(vector, dot(self.problem.weight, losses))

    @cached_property
    def weight_ranges(self) -> np.ndarray | None:
        """Bounds of the ranges of weight rows that threads add corners within, where weights are many.

        They share one vector then. Each has a range, and adds what all samples have there in their order, so that bits
        are the same for any number of threads here, too.
        """
        return None if self.dimension < BEYOND_A_CACHE else ranges_of_rows(self.problem, self.n_threads)

    def added_within(self, ranges: np.ndarray, corners: Any) -> np.ndarray:
        """The sum of corners, one range of weight rows a thread."""
        vector = np.zeros(self.dimension)

        def add(first: int, last: int) -> None:
            with self.own_work() as (_, given):
                add_within(self.given, given, corners, self.n, first, last, vector)

        at_once([partial(add, first, last) for first, last in pairwise(ranges.tolist())])
        return vector

    def prepare_corners(self) -> None:
        """Compile or load what `corners` from the oracle needs."""
        if Need.LOG_LOSS in offers(self.problem):
            return self.prepare_gradient()
        nothing, zero, corners = np.empty(0), np.zeros(self.dimension), new_labelings(self.problem, 1)
        corner_pass(self.problem, self.work, ORACLE, NOTHING, zero, 0, 0, 0, nothing, nothing, corners)
        if self.weight_ranges is None:
            add_corners(self.problem, self.work, corners, 0, 0, zero)
        else:
            add_within(self.problem, self.work, corners, 0, 0, 0, zero)

    def gradient(self, w: np.ndarray) -> tuple[np.ndarray, DualPoint]:
        """The same where corners are expectations, which take long to add, or more to keep."""
        hinges, losses = np.empty(self.n), np.empty(self.n)

        def on_shares(work: Any, shares: Iterator[Share]) -> None:
            for share in shares:
                gradient_pass(self.given, work, w, share.first, share.last, hinges, losses, share.new_vector())

        vector = self.summed(on_shares)
        return hinges, DualPoint(vector, dot(self.problem.weight, losses))

    def prepare_gradient(self) -> None:
        """Compile or load what `gradient` needs."""
        nothing, zero = np.empty(0), np.zeros(self.dimension)
        gradient_pass(self.problem, self.work, zero, 0, 0, nothing, nothing, zero)

    def norms(self, blocks: Any, w: np.ndarray, some: np.ndarray) -> np.ndarray:
        """``|phi_i(corner) - E phi_i|^2`` of some blocks i, for a gain of 1; see `unit_of_curvature`."""
        (hinges, gaps, norms), work = np.empty((3, self.n)), self.work
        ask_ahead(self.problem, work, w, some)
        gap_pass(self.problem, blocks, work, TO_CORNER, w, some, 0, len(some), hinges, gaps, norms)
        return norms[some] / unit_of_curvature(self.problem, hinges[some])

    def primal(self, w: np.ndarray, lam: float, hinges: np.ndarray | None = None) -> float:
        """Exact primal value; hinges known already are taken as they are."""
        hinges = self.hinges(w) if hinges is None else hinges
        # hinges are >= 0 by definition (the truth competes); rounding may leave -1e-17
        return 0.5 * lam * inner(self.problem, w, w) + dot(self.problem.weight, np.maximum(hinges, 0.0))
