"""Block steps on samples that are on disk, of which a few windows are in memory at a time.

A window is a problem of its own, with the dual variables, the outputs remembered and the sums of its blocks. These go
to a file when other windows need the room, and come back with it. What all steps share stays in memory: the weights,
and a few numbers a sample. On which window a step is, is all that differs from a run in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._compile import runs_compiled
from ..._sums import dot
from ...structures.on_disk.sequences import even_ranges
from ...structures.verbs import bytes_of, new_blocks
from ..box import clip_all, released
from ..engine import COMPILED_CHUNK, State
from ..objective import Certified, DualPoint
from ..parts.averaging import NoAveraging, WeightedAveraging, settle, settle_pass, with_room_for_sums
from ..parts.cache import Cache, memory_for
from ..parts.samplers import Order, Ranges
from ..parts.steps import traits
from ..passes import Passes, weights_pass
from .engine import CURVATURE_BLOCKS, BlockEngine, Parts
from .scratch import Scratch

VECTORS = 20  # of weights that a run has at a time, at most: its own, averages, candidates, copies for callbacks
SAMPLE_BYTES = 120  # of a sample that are always in memory: offsets, weights, gaps, losses, orders
OUTPUTS, FEWEST = 0.25, 8  # share of a window for outputs that are remembered, and how many a block has at least
SPARE = 1.3  # for what is made while a window is read, or grows, or is written


@dataclass
class Window:
    """Samples in memory, and what the steps know of them."""

    number: int
    part: slice  # which samples
    problem: Any
    blocks: Any
    memory: Any
    averaging: Any
    changed: bool = False  # since it was read

    @property
    def n_bytes(self) -> int:
        return bytes_of((self.problem, self.blocks, self.memory, self.averaging))


class WindowsEngine(BlockEngine):
    """Steps on blocks of windows; see :class:`.BlockEngine`."""

    kept = ("w", "box", "gaps", "total_gap", "outer", "known_curvature", "losses", "sums", "cuts", "files")
    window: Window  # that the steps are on

    def __init__(
        self,
        problem: Any,
        lam: float,
        box: Any,
        n_jobs: int | None,
        parts: Parts,
        cache: Cache | None,
    ):
        super().__init__(problem, lam, box, n_jobs, parts)
        assert isinstance(parts.sampling, Ranges)  # else the solver would have asked for samples in memory
        self.n_jobs, self.cache = n_jobs, cache
        self.ranges, self.opened = parts.sampling, dict[int, Window]()  # the one used last comes last
        self.sizes: dict[int, int] = {}  # bytes of windows that were in memory

    @property
    def chunk(self) -> int:
        return COMPILED_CHUNK if runs_compiled(self.problem.cost) else 1

    @property
    def visited(self) -> tuple[Any, np.ndarray]:
        return self.window.problem, self.gaps[self.window.part]

    def begin(self) -> None:
        self.losses = np.zeros(self.n)
        self.new_outer(DualPoint(np.zeros(self.passes.dimension), 0.0))
        self.sums = self.parts.averages and not self.outer.averages_itself and self.known_curvature != 0.0
        self.cuts = self.new_cuts()
        self.open_scratch(None)
        self.forget_gaps()

    def resume(self, state: State) -> None:
        self.check_keepable()
        if not self.continues(state) or "files" not in state.kept:
            raise ValueError("runs on samples on disk go on under the same lam and bounds: start without the state")
        vars(self).update({name: state.kept[name] for name in self.kept if name != "files"})
        if not np.array_equal(self.cuts, self.new_cuts()):
            raise ValueError("that run had other windows: open the samples with the memory_limit that it had")
        self.open_scratch(state.files)

    def open_scratch(self, files: Any) -> None:
        samples = self.problem.samples
        self.scratch = Scratch(samples.scratch or samples.folder, samples.scratch is not None, files)
        self.sampling = self.ranges.between(self.cuts)

    def check_keepable(self) -> None:
        if self.problem.samples.scratch is None:
            raise ValueError(
                "dual variables of samples on disk are deleted when a run ends: for checkpoints, warm starts and "
                "states give open_samples a scratch folder, where they stay"
            )

    @property
    def files(self) -> Any:
        """Which files a later run needs: they are there when it is asked for."""
        if not self.scratch.stays:
            return None
        self.put_back()
        for window in self.opened.values():
            self.write(window)
        return self.scratch.pinned_files()

    def new_cuts(self) -> np.ndarray:
        """Where windows begin, and the last one ends: `together` of them fit into memory."""
        problem, limit = self.problem, self.problem.samples.limit
        fixed = 8.0 * VECTORS * self.passes.dimension + SAMPLE_BYTES * self.n
        sizes = SPARE * problem.sample_bytes(1 + self.sums)
        if self.remembers:
            sizes = np.maximum(sizes / (1.0 - OUTPUTS), sizes + FEWEST * problem.output_bytes())
        together = self.ranges.together
        least = fixed + together * float(sizes.max())
        if limit < least:
            raise MemoryError(
                f"memory_limit={limit / 1e6:.3g} MB is too little: {self.passes.dimension} weights and {self.n} "
                f"samples take {fixed / 1e6:.3g} MB, and {together} windows of one sample up to "
                f"{(least - fixed) / 1e6:.3g} MB; {least / 1e6:.3g} MB would just do, and several times that is faster"
            )
        self.room = (limit - fixed) / together  # of a window
        return np.array([0, *(last for _, last in even_ranges(sizes, self.room))])

    def new_window(self, number: int) -> Window:
        """Read a window, and what is known of it."""
        part = slice(*self.cuts[number : number + 2].tolist())
        known = self.scratch.gram(number)
        problem = self.problem.window(part.start, part.stop, known)
        if known is None:
            self.scratch.keep_gram(number, problem.gram)
        found = self.scratch.read(number)
        if found is None:
            averaging = WeightedAveraging.begin(problem, 0) if self.sums else NoAveraging()
            memory = memory_for(problem, self.parts.step, self.cache_of_window())
            found = {"blocks": new_blocks(problem), "memory": memory, "averaging": averaging}
        found["blocks"] = found["blocks"]._replace(loss=self.losses[part])
        return Window(number, part, problem, **found)

    @property
    def remembers(self) -> bool:
        return traits(self.parts.step).remembers or self.cache is not None

    def cache_of_window(self) -> Cache | None:
        """How many outputs blocks may remember."""
        most = OUTPUTS * self.room
        if not self.remembers:
            return None
        if self.cache is None:
            return Cache(capacity=FEWEST, max_bytes=most)
        given = self.cache.max_bytes
        return replace(self.cache, max_bytes=most if given is None else min(given / len(self.cuts), most))

    def enter(self, number: int) -> None:
        """The steps go on to a window."""
        self.put_back()
        window = self.opened.pop(number, None)
        self.make_way(self.sizes.get(number, self.room / SPARE) if window is None else window.n_bytes)
        self.window = self.opened[number] = self.new_window(number) if window is None else window
        self.blocks, self.memory, self.averaging = self.window.blocks, self.window.memory, self.window.averaging

    def make_way(self, wanted: float) -> None:
        """Windows that were not used for longest leave, until there is room for one of so many bytes.

        Windows grow with the outputs and the pairs of labels that get mass: then fewer are in memory at a time.
        """
        room = self.ranges.together * self.room / SPARE - wanted
        sizes = {number: window.n_bytes for number, window in self.opened.items()}
        while self.opened and (len(self.opened) >= self.ranges.together or sum(sizes.values()) > room):
            window = self.opened.pop(next(iter(self.opened)))
            self.sizes[window.number] = sizes.pop(window.number)
            self.write(window)

    def put_back(self) -> None:
        """What the steps changed belongs to the window that they were on."""
        if self.opened:
            window = self.window
            window.blocks, window.memory, window.averaging = self.blocks, self.memory, self.averaging

    def write(self, window: Window) -> None:
        if window.changed:
            contents = {"blocks": window.blocks, "memory": window.memory, "averaging": window.averaging}
            self.scratch.write(window.number, contents)
            window.changed = False

    def take_steps(self, n_steps: int, unseen: int) -> None:
        order = self.draws.take(self.sampling, n_steps)
        numbers = np.searchsorted(self.cuts, order, side="right") - 1
        inside = order - self.cuts[numbers]
        ends = np.append(np.flatnonzero(np.diff(numbers)) + 1, n_steps)
        at = 0
        for end in ends.tolist():
            self.enter(int(numbers[at]))
            self.window.changed = True
            self.follow(Order(inside[:end]), at, end)
            at = end

    def curvature(self) -> float:
        if self.known_curvature is None:
            some = np.unique(np.linspace(0, self.n - 1, CURVATURE_BLOCKS).astype(np.int64)).tolist()
            zero, only = np.zeros(self.passes.dimension), np.zeros(1, np.int64)
            found = []
            for i in some:
                one = self.problem.window(i, i + 1)
                found.append(self.problem.weight[i] ** 2 * Passes(one, None).norms(new_blocks(one), zero, only)[0])
            self.oracle_calls += len(some)
            self.known_curvature = self.n * float(np.mean(found))
        return self.known_curvature

    def prepare(self) -> None:
        self.enter(0)
        problem, nothing = self.window.problem, np.empty(0)
        self.run_loop(Order(np.empty(0, np.int64)), 0, 0)
        passes = Passes(problem, self.n_jobs)
        passes.prepare_gaps(self.blocks, self.w)
        if self.sums:
            weights_pass(problem, self.blocks, passes.work_on(self.w), 0, self.lam, 1.0, self.w)
            settle_pass(problem, self.averaging.totals, self.blocks, nothing, 0.0)

    def dual_point(self) -> DualPoint:
        return self.outer.point(released(self.box, self.w), dot(self.problem.weight, self.losses))

    def certify(self) -> list[Certified]:
        average, mean, loss, mass = self.outer.average, np.zeros_like(self.w), 0.0, 0.0
        if average is not None:
            clip_all(self.objective.box, average)  # rounding may lead it out of the box
        hinges, of_average = np.empty(self.n), np.empty(self.n)
        for window in self.each_window():
            problem, part, passes = window.problem, window.part, Passes(window.problem, self.n_jobs)
            hinges[part] = passes.gaps(self.blocks, self.w, self.gaps[part])
            if average is not None:
                of_average[part] = passes.gaps(self.blocks, average, np.empty(passes.n))
            if self.sums:
                window.changed = True  # in all windows alike: sums are rounded when they are settled
                self.averaging = with_room_for_sums(self.averaging, problem, self.blocks)
                sums = settle(self.averaging, problem, self.blocks, self.steps)
                if sums is not None:
                    totals, mass = sums
                    weights_pass(problem, totals, passes.work, passes.n, self.lam, mass, mean)
                    loss += dot(problem.weight, totals.loss)
        self.total_gap, self.draws.tree = float(np.sum(self.gaps)), None
        value = self.outer.best_value(self.objective, self.dual_point())
        found = [self.value_at(self.w.copy(), value, hinges)]
        if average is not None:
            found.append(self.value_at(average, value, of_average))
        if mass > 0.0:
            point = DualPoint(self.lam * mean, loss / mass)
            found.append(self.value_of_average(self.objective.weights(point)[0], self.objective.value(point)))
        return found

    def hinges(self, w: np.ndarray) -> np.ndarray:
        found = np.empty(self.n)
        for window in self.each_window():
            passes = Passes(window.problem, self.n_jobs)
            found[window.part] = passes.gaps(self.blocks, w, np.empty(passes.n))
        return found

    def each_window(self) -> Iterator[Window]:
        """All windows, one after the other: first those that are in memory, and last those that come next."""
        coming = self.draws.left[:1]
        soon = [] if len(coming) == 0 else [int(np.searchsorted(self.cuts, coming[0], side="right")) - 1]
        first = [number for number in self.opened if number not in soon]
        others = [number for number in range(len(self.cuts) - 1) if number not in (*first, *soon)]
        for number in [*first, *others, *soon]:
            self.enter(number)
            yield self.window
