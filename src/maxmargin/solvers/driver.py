"""The outer loop all solvers share: certificates, history, stopping, callbacks, Ctrl-C, checkpoints, progress.

A solver's run is an *engine* (:mod:`.engine`): it takes oracle calls in small chunks and, when asked, gives exact
primal and dual values.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._threads import sweeping_on
from .ending import (
    ALL,
    HURRIED,
    MOMENT,
    NEAR,
    PATIENT,
    SHARE,
    WIDE,
    best_scaled,
    instead_of_nothing,
)
from .engine import Engine, State
from .forecast import in_words, seconds_left
from .interrupt import Interrupt
from .keeping import NOT_KEPT
from .kept import Kept, Whole, kept
from .objective import Certified
from .progress import progress
from .result import Record, Result, Status, history_of, row_of
from .tolerance import Goal

# A chunk of steps between two looks at the clock and at Ctrl-C aims at this long.
CHUNK_SECONDS = 0.2

# A dual value may lie above the primal one by rounding, relative to the objective, and by nothing else.
ROUNDING = 1e-6


class Limits(NamedTuple):
    goal: Goal
    max_passes: float
    max_seconds: float | None
    gap_every: float


class Snapshot(NamedTuple):
    """A run between two steps: all that it takes to go on as if nothing had been."""

    state: State
    counts: dict[str, Any]  # of the engine
    start: int  # steps that were taken before the run
    certified: int  # steps after which the last certificate was
    looked: int  # and the last look at an estimate
    seconds: float
    certificate_seconds: float
    rows: list[dict[str, float]]
    record: Record | None  # the last one


Callback = Callable[[Record], Any]


def as_callbacks(callbacks: Callable[..., Any] | Iterable[Callable[..., Any]]) -> tuple[Callable[..., Any], ...]:
    """One function or several."""
    try:
        found = (callbacks,) if callable(callbacks) else tuple(callbacks)
    except TypeError as error:
        raise TypeError(f"callbacks must be a function of a record or a list of these, got {callbacks!r}") from error
    for callback in found:
        if not callable(callback):
            raise TypeError(f"callbacks must be functions of a record, got {callback!r}")
    return found


def drive(
    engine: Engine,
    limits: Limits,
    callbacks: tuple[Callback, ...] = (),
    verbose: int = 0,
    state: State | None = None,
    keeper: Any = NOT_KEPT,
    found: Snapshot | None = None,
) -> Result:
    """Run an engine until the gap meets the goal, or something else stops it; `state` is what it started from.

    Snapshots go to the `keeper`, now and then and at the end. A run that was `found` goes on: the engine started from
    its state.
    """
    engine.prepare()
    run = _Run(engine, limits, callbacks, state, keeper, found)
    shown = progress("passes", limits.max_passes, verbose)
    with Interrupt(keeper.keeps) as interrupt, shown as bar, sweeping_on(engine.passes.n_threads):
        status = run.until_stopped(interrupt, bar)
    last = run.last_record
    assert run.best is not None and last is not None
    if not engine.certifiable and status == Status.MAX_PASSES:
        status = Status.UNCERTIFIED
    return Result(
        w=run.last_weights.own() if run.told is None else run.told,
        primal=last.primal,
        dual=last.dual,
        gap=last.gap,
        dual_loss=run.best.loss,
        dual_square=run.best.dual_square,
        status=status,
        n_passes=last.passes,
        n_oracle_calls=last.oracle_calls,
        history=history_of(run.rows),
        state=run.state(),
    )


def drive_unchecked(
    engine: Engine, limits: Limits, state: State | None, keeper: Any = NOT_KEPT, found: Snapshot | None = None
) -> tuple[Status, float, State]:
    """Run an engine until its own estimate of the gap meets the goal: why it stopped, the passes it took, its state.

    The rest is as in `drive`.
    """
    engine.prepare()
    run = _Run(engine, limits, (), state, keeper, found)
    with Interrupt(keeper.keeps) as interrupt, progress("passes", limits.max_passes, 0) as bar:
        with sweeping_on(engine.passes.n_threads):
            run.work(run.last, interrupt, bar)
        run.keep_where_it_ends(interrupt)
    estimate = engine.estimate()
    status = Status.UNCERTIFIED if run.is_reached(estimate.primal, estimate.dual) else Status.MAX_PASSES
    if interrupt.seen:
        status = Status.INTERRUPTED
    elif run.out_of_time():
        status = Status.MAX_SECONDS
    return status, run.passes, run.state()


class _Run:
    def __init__(
        self,
        engine: Engine,
        limits: Limits,
        callbacks: tuple[Callback, ...],
        state: State | None,
        keeper: Any,
        found: Snapshot | None,
    ):
        self.engine, self.limits, self.callbacks, self.keeper = engine, limits, callbacks, keeper
        # the lowest primal with its weights, which are `kept`, and the highest dual so far, warm starts included
        self.best = _kept(engine.carried(state))
        # how much rarer estimates are asked for, after those that a certificate did not confirm
        self.doubt = state.doubt if state is not None and engine.continues(state) else 1
        self.began = time.perf_counter()
        self.start = self.certified = self.looked = engine.steps
        self.certificate_seconds = 0.0
        self.candidates: list[Certified] = []  # of the last certificate
        self.earlier: Certified | None = None  # what was best before it
        self.rows: list[dict[str, float]] = []  # of the history; weights of every record would fill the memory
        self.last_record: Record | None = None  # its weights, which may be millions, are kept beside it
        self.last_weights: Kept = Whole(np.empty(0))
        self.told: np.ndarray | None = None  # the same, where callbacks were given them
        if found is not None:
            self.go_on(found)
        self.last = self.start + self.engine.steps_in(limits.max_passes)

    def state(self) -> State:
        return replace(self.engine.state(), best=_whole(self.best), doubt=self.doubt)

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self.state(),
            self.engine.counts(),
            self.start,
            self.certified,
            self.looked,
            self.seconds,
            self.certificate_seconds,
            self.rows,
            None if self.last_record is None else replace(self.last_record, w=self.last_weights.weights()),
        )

    def go_on(self, found: Snapshot) -> None:
        """With the run that was found; what is known of it is taken as it was."""
        self.best, self.doubt = _kept(found.state.best), found.state.doubt
        self.engine.count_on(found.counts)
        self.start, self.certified, self.looked = found.start, found.certified, found.looked
        self.began -= found.seconds
        self.certificate_seconds = found.certificate_seconds
        self.rows = found.rows
        if found.record is not None:
            self.last_record, self.last_weights = replace(found.record, w=np.empty(0)), kept(found.record.w)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def passes(self) -> float:
        return (self.engine.steps - self.start) / self.engine.n

    def until_stopped(self, interrupt: Interrupt, bar: Any) -> Status:
        status, is_kept = self.stand(interrupt, bar), False
        while status is None:
            self.show(bar, self.forecast())
            self.work(min(self.next_certificate, self.last), interrupt, bar)
            is_kept = self.keep_where_it_ends(interrupt)
            status = self.look_back(interrupt, bar)
        if status in (Status.CONVERGED, Status.CALLBACK):
            self.keeper.finish(self.snapshot())
        elif not is_kept:  # what stops it came with a certificate that was due anyway
            self.keeper.keep(self.snapshot())
        interrupt.deliver()
        return status

    def show(self, bar: Any, more: str = "") -> None:
        """Where the run is, for who waits."""
        last = self.last_record
        assert last is not None
        goal = self.limits.goal.at(last.primal)
        words = f"{last.effective_passes:.0f} with certificates, gap {last.gap:.2e} (goal {goal:.0e})"
        bar.set_postfix_str(words + more)

    def forecast(self) -> str:
        """How long it will still take."""
        assert self.last_record is not None
        return in_words(seconds_left(self.rows, self.limits.goal.at(self.last_record.primal)))

    def stand(self, interrupt: Interrupt, bar: Any) -> Status | None:
        """Where the run begins, or where it was found; why to stop there, if so."""
        steps = self.engine.steps
        if self.last_record is None or self.certified < steps >= min(self.next_certificate, self.last):
            return self.look_back(interrupt, bar)
        reached = self.last_record.gap <= self.limits.goal.at(self.last_record.primal)
        return Status.CONVERGED if reached else None

    def look_back(self, interrupt: Interrupt, bar: Any) -> Status | None:
        """Certify what was reached; why to stop here, if so."""
        try:
            known = self.best is not None and not self.rows  # from an earlier run
            wants_stop = self.record_best(interrupt) if known else self.certify(interrupt)
        except KeyboardInterrupt:  # a second Ctrl-C: what is certified already has to do
            if not self.rows:
                raise
            return Status.INTERRUPTED
        last = self.last_record
        assert last is not None
        goal = self.limits.goal.at(last.primal)
        self.show(bar)
        if last.gap <= goal:
            return Status.CONVERGED
        if interrupt.seen:
            return Status.INTERRUPTED
        if wants_stop:
            self.end_by_callback()
            return Status.CALLBACK
        if self.engine.steps >= self.last:
            return Status.MAX_PASSES
        return Status.MAX_SECONDS if self.out_of_time() else None

    def keep_where_it_ends(self, interrupt: Interrupt) -> bool:
        """Before a closing certificate, which a run that goes on would not have made here; whether this is one."""
        ends = interrupt.seen or self.engine.steps >= self.last or self.out_of_time()
        if ends:
            self.keeper.keep(self.snapshot())
            interrupt.deliver()
        return ends

    @property
    def next_certificate(self) -> float:
        """Steps are counted over all runs, so that it does not matter where one ended."""
        return _next_multiple(self.engine.steps_in(self.limits.gap_every), self.certified)

    def work(self, goal: float, interrupt: Interrupt, bar: Any) -> None:
        engine, self.candidates, self.earlier = self.engine, [], None  # who goes on does not ask for them any more
        # where to stop must not depend on the clock: the same seed, the same run
        chunk = engine.chunk
        while engine.steps < goal and not interrupt.seen and not self.out_of_time():
            if engine.steps >= self.next_look:
                self.looked = engine.steps
                estimate = engine.estimate()
                if self.is_reached(estimate.primal, estimate.dual):
                    self.doubt *= 2  # each certificate costs passes of oracle calls
                    return
            before, steps = time.perf_counter(), engine.steps
            engine.advance(int(min(chunk, goal - steps, self.next_look - steps)))
            taken = engine.steps - steps
            bar.update(taken / engine.n)
            pace = (time.perf_counter() - before) / taken
            chunk = max(engine.chunk, min(2 * taken, int(CHUNK_SECONDS / max(pace, 1e-9))))
            if self.keeper.is_due():
                self.keeper.keep(self.snapshot())

    @property
    def next_look(self) -> float:
        """Whether the goal may be reached is asked after passes."""
        beat = self.engine.n * -(-self.engine.chunk // self.engine.n)
        return _next_multiple(beat * self.doubt, self.looked)

    def is_reached(self, primal: float, dual: float) -> bool:
        return primal - dual <= self.limits.goal.at(primal)

    def out_of_time(self) -> bool:
        """Whether the time left is only enough for the closing certificate."""
        limit = self.limits.max_seconds
        return limit is not None and self.seconds + self.certificate_seconds >= limit

    def certify(self, interrupt: Interrupt) -> bool:
        """Append the record of the best weights and the best dual value; whether a callback wants to stop."""
        before = time.perf_counter()
        candidates: list[Any] = [_kept(one) for one in self.engine.certify()]
        values = [one.primal for one in candidates]
        if self.engine.certifiable:
            values += [one.dual for one in candidates]
        if not np.all(np.isfinite(values)):
            raise FloatingPointError(
                f"the objective is not a finite number: with lam={self.engine.lam:g}, features, costs or 1/lam are too "
                "large; rescale them (a small lam is 1/n)"
            )
        if any(one.primal == 0.0 and one.w.is_nothing() for one in candidates):
            self.engine.nothing_to_learn()
        self.certificate_seconds = max(self.certificate_seconds, time.perf_counter() - before)
        self.candidates, self.earlier = candidates, self.best if self.engine.keeps_best else None
        all_known = candidates if self.earlier is None else [*candidates, self.earlier]
        lowest = min(all_known, key=lambda one: one.primal)
        self.best = max(all_known, key=lambda one: one.dual)._replace(w=lowest.w, primal=lowest.primal)
        return self.record_best(interrupt)

    def record_best(self, interrupt: Interrupt) -> bool:
        assert self.best is not None
        self.certified = self.looked = self.engine.steps
        self.set_record(self.best)
        assert self.last_record is not None
        gap, primal = self.last_record.gap, self.last_record.primal
        self.engine.reconsider(gap, self.best.w)  # as it came along: a run goes on the same way wherever it was stopped
        if self.engine.steps >= self.last:
            self.improve(SHARE * self.engine.steps / self.engine.n)  # over all runs
        elif gap <= self.limits.goal.at(primal):
            self.improve(HURRIED)
        elif interrupt.seen or self.out_of_time():
            self.improve(0 if self.is_slow() else HURRIED)
        self.rows.append(row_of(self.last_record))
        if not self.callbacks:
            return False
        self.told = self.last_weights.own()  # the user may write to them
        record = replace(self.last_record, w=self.told)
        answers = [callback(record) for callback in self.callbacks]
        return any(answers)

    def set_record(self, best: Any) -> None:
        self.last_record, self.last_weights, self.told = self.record_of(best), best.w, None

    def end_by_callback(self) -> None:
        """What the callback was told last is what it gets, unless these weights are 0."""
        assert self.last_record is not None
        self.improve(HURRIED)
        self.rows[-1] = row_of(self.last_record)

    def is_slow(self) -> bool:
        """Whether who waits for the end would notice a search."""
        return ALL * self.certificate_seconds > MOMENT * self.seconds + 1.0

    def improve(self, spare: float) -> None:
        """Where a run ends: the last record becomes one of better weights than the best that came along, if there are.

        Weights that are 0 are given up for others that are nearly as good. A run that has only so few passes to
        `spare` looks for nothing else.
        """
        assert self.best is not None and self.last_record is not None
        record, engine, best = self.last_record, self.engine, self.best
        tol = self.limits.goal.at(record.primal)
        matters = spare > HURRIED and record.gap > WIDE * best.primal
        if not engine.keeps_best or not (best.w.is_nothing() or matters):
            return
        n_passes = int(min(max(spare, HURRIED), PATIENT)) if spare > 0 else 0
        candidates = self.candidates if self.earlier is None else [*self.candidates, self.earlier]
        try:
            if record.gap > tol and n_passes > 0:
                best = best_scaled(engine, best, candidates, n_passes)
            if best.w.is_nothing():
                rise = NEAR * (best.primal if record.gap == np.inf else max(record.gap, tol))
                if record.gap <= tol:
                    rise = min(rise, tol - record.gap)
                best = instead_of_nothing(engine, best, candidates, rise, n_passes)
        except KeyboardInterrupt:  # a second Ctrl-C: what is certified already has to do
            pass
        self.set_record(best)

    def record_of(self, best: Any) -> Record:
        """Without weights, which may be millions."""
        _, primal, dual, *_ = best
        if self.engine.certifiable and dual > primal + ROUNDING * max(1.0, abs(primal)):
            raise RuntimeError(
                f"the dual value {dual:.6g} is above the primal value {primal:.6g}, so neither can be trusted: the max "
                "oracle does not return maximisers, or the state belongs to another problem; compare the oracle with "
                "trying out all outputs of a small sample, and start without the state"
            )
        calls = self.engine.oracle_calls
        return Record(
            passes=self.passes,
            oracle_calls=calls,
            seconds=self.seconds,
            primal=primal,
            dual=dual,
            gap=max(primal - dual, 0.0) if self.engine.certifiable else np.inf,
            w=np.empty(0),
            extras=self.engine.extras(),
            effective_passes=calls / self.engine.n,
        )


def _kept(found: Any) -> Any:
    """What was found, with weights as a run keeps them."""
    return None if found is None else found._replace(w=kept(found.w))


def _whole(found: Any) -> Any:
    """The same with weights as they are."""
    return None if found is None else found._replace(w=found.w.weights())


def _next_multiple(stride: float, after: int) -> float:
    return (after // stride + 1) * stride
