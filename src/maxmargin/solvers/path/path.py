"""Weights for every lam, each with a certificate."""  # osokin16, Section 4

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._parameters import check_limits, check_positive
from ...structures import as_problem
from ...structures.crew import crew_for
from ..box import is_cone
from ..driver import Snapshot, as_callbacks
from ..interrupt import Interrupt
from ..keeping import NOT_KEPT
from ..objective import Bracket, Certified, Objective
from ..passes import Passes
from ..presets import get_solver
from ..progress import progress
from ..result import Status
from ..tolerance import LEAST
from .rules import PathEnd, Step
from .runs import Effort, Run, Solved, is_done
from .start import largest_losses
from .store import WeightStore

ENDINGS: dict[str, str] = {
    PathEnd.HINGE: "the training hinge loss is small enough: the last weights serve every smaller lam",
    PathEnd.LAM_MIN: "the smallest lam asked for is reached",
}


@dataclass
class Breakpoint:
    """One more piece of a path. Callbacks receive it; a true answer stops the path.

    Parameters
    ----------
    lam : float
        Regularisation at which it was solved.
    primal : float
        Objective at `w`; on a heuristic path an estimate.
    dual : float
        A lower bound on the optimum.
    gap : float
        Certified suboptimality of `w`; infinite where it is not certified.
    passes : float
        Passes over the data since the breakpoint before.
    oracle_calls : int
        Calls of the oracle since then.
    seconds : float
        Time since then.
    w : array of shape (d,)
        The weights.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import lam_grid
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> def good_enough(point):
    ...     return point.primal < 0.2
    >>> path = lam_grid(problem, "bcpfw", lams=[1.0, 0.1, 0.01], tol=1e-3, callbacks=[good_enough], random_state=0)
    >>> path.ended, path.breakpoints.tolist()
    ('callback', [1.0, 0.1])
    """

    lam: float
    primal: float
    dual: float
    gap: float
    passes: float
    oracle_calls: int
    seconds: float
    w: np.ndarray = field(repr=False)


class Cost(NamedTuple):
    passes: float
    oracle_calls: int
    seconds: float


NO_COST = Cost(0.0, 0, 0.0)


class Piece(NamedTuple):
    lam: float
    bracket: Bracket
    is_certified: bool
    cost: Cost


class Walk(NamedTuple):
    """A path on its way: all that it takes to go on as if nothing had been."""

    pieces: list[Piece]
    weights: WeightStore
    hinge_at_zero: float
    start: Bracket
    rule: Any
    next: Step
    spent: Cost
    seconds: float
    state: Any  # where the next run begins
    first: Solved | None  # of two runs at a breakpoint, where the second is on its way
    run: Snapshot | None  # the run that is


Callback = Callable[[Breakpoint], Any]


class Path:
    """Weights for every lam from `lam_end` on: those of breakpoint j serve ``lam_{j+1} <= lam <= lam_j``.

    Made by :func:`regularization_path` and :func:`lam_grid`, which also walk it.

    Parameters
    ----------
    problem : object
        A structure over data, built in or of your own.
    solver : str or Solver
        A solver with certificates, or the name of a preset.
    rule : ApproximatePath or Grid
        Which lam comes next, and the gap it is solved to.
    run : callable
        How the solver runs at one lam: certified, or as far as stale gaps tell.
    effort : Effort
        What may be spent, and with which seed and threads.
    warm : bool, default=True
        Whether each breakpoint begins with the dual variables of the one before.
    keeper : Keeper or NOT_KEPT, default=NOT_KEPT
        Where the path is kept on its way; one that it has found goes on.

    Attributes
    ----------
    breakpoints : array of shape (J,)
        ``lam_1 > lam_2 > ...``
    gaps : array of shape (J,)
        Certified duality gaps at the breakpoints; on a heuristic path infinite but the first, until `certify`.
    hinges : array of shape (J,)
        Training hinge losses; on a heuristic path estimates, until `certify`.
    norms : array of shape (J,)
        ``|w|``.
    passes : array of shape (J,)
        Passes over the data for each breakpoint.
    oracle_calls : array of int of shape (J,)
        Calls of the oracle for each breakpoint.
    seconds : array of shape (J,)
        Time for each breakpoint.
    lam_end : float
        How far down the last weights serve; 0 if for every lam.
    ended : str
        "hinge" (the training hinge loss is as small as a gap may be, so the last weights serve down to 0), "lam_min",
        or why it stopped early: "max_passes", "max_seconds", "callback", "interrupted" or "uncertified"; `resume` goes
        on from there.
    worst_gap : float
        The largest suboptimality certified for any lam from `lam_end` on; infinite where nothing is certified.
    worst_relative_gap : float
        The largest one as a share of the objective; one below a hundredth of that without weights counts as such.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import regularization_path
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> path = regularization_path(problem, "bcpfw", eps=0.1, lam_min=0.01, random_state=0)
    >>> len(path) == len(path.breakpoints) == len(path.gaps)
    True
    >>> path.dual_at(0.05) <= path.primal_at(0.05) and path.gap_at(0.05) <= 0.1
    True
    """

    def __init__(
        self,
        problem: Any,
        solver: Any,
        rule: Any,
        run: Run,
        effort: Effort,
        *,
        warm: bool = True,
        keeper: Any = NOT_KEPT,
    ):
        began = time.perf_counter()
        check_limits(effort.max_passes, effort.max_seconds)
        self._passes = Passes(as_problem(problem), effort.n_jobs)
        self.problem, self.solver = self._passes.problem, get_solver(solver, problem)
        self._box = self.solver.box(self.problem)
        if not self.solver.certifies:
            raise ValueError(f"a path needs certificates, and {type(self.solver).__name__} gives none; take another")
        if not self._passes.certifiable:
            raise ValueError("a path needs certificates, and this structure's oracle is approximate: add upper_bound")
        if not is_cone(self._box):
            raise ValueError("a path needs weights that can be scaled: their bounds must be 0 or infinite")
        self._run, self._effort, self._warm, self._keeper = run, effort, warm, keeper
        self._rule: Any
        self._next: Step
        self._state: Any = None
        self._stopped: Status | None = None
        self._first: Solved | None = None  # of two runs at a breakpoint
        self._begun: Snapshot | None = None  # a run that was found
        self._walked = 0.0  # seconds
        found = keeper.found()
        if found is None:
            self._begin(rule, began)
        else:
            self._go_on(found)

    def _objective(self, lam: float) -> Objective:
        return Objective(self.problem, lam, self._box)

    def __len__(self) -> int:
        return len(self._pieces)

    def __repr__(self) -> str:
        if not len(self):
            return f"<Path without breakpoints, stopped early: {self.ended}>"
        ending = ENDINGS.get(self.ended, f"stopped early: {self.ended}")
        lams, passes = f"lam {self._pieces[0].lam:.3g} to {self.lam_end:.3g}", self.passes.sum()
        return f"<Path of {len(self)} breakpoints, {lams}, {passes:.0f} passes; {ending}>"

    @property
    def breakpoints(self) -> np.ndarray:
        return np.array([piece.lam for piece in self._pieces])

    @property
    def gaps(self) -> np.ndarray:
        return np.array([self.gap_at(piece.lam) for piece in self._pieces])

    @property
    def hinges(self) -> np.ndarray:
        return np.array([piece.bracket.hinge for piece in self._pieces])

    @property
    def norms(self) -> np.ndarray:
        return np.sqrt([piece.bracket.square for piece in self._pieces])

    @property
    def passes(self) -> np.ndarray:
        return np.array([piece.cost.passes for piece in self._pieces])

    @property
    def oracle_calls(self) -> np.ndarray:
        return np.array([piece.cost.oracle_calls for piece in self._pieces], int)

    @property
    def seconds(self) -> np.ndarray:
        return np.array([piece.cost.seconds for piece in self._pieces])

    @property
    def lam_end(self) -> float:
        return self._next.lam

    @property
    def ended(self) -> str:
        return str((self._stopped or "error") if self._next.ended is None else self._next.ended)

    def weights(self, j: int) -> np.ndarray:
        """The weights of a breakpoint.

        Parameters
        ----------
        j : int
            Counted from 0, or from -1 backwards.

        Returns
        -------
        w : array of shape (d,)
        """
        return self._weights[range(len(self))[j]]

    def coef_at(self, lam: float) -> np.ndarray:
        """The weights for a lam.

        Parameters
        ----------
        lam : float
            At least `lam_end`.

        Returns
        -------
        w : array of shape (d,)
            Flat, as the solver has them.
        """
        j = self._piece_of(lam)
        return self._weights[j] if j >= 0 else self._weights[0] * (self._pieces[0].lam / lam)

    def primal_at(self, lam: float) -> float:
        """The objective at `coef_at`.

        Parameters
        ----------
        lam : float
            At least `lam_end`.

        Returns
        -------
        primal : float
            Above the first breakpoint an upper bound on it.
        """
        j = self._piece_of(lam)
        if j >= 0:
            return self._pieces[j].bracket.primal(lam)
        first = self._pieces[0]
        share = first.lam / lam  # hinge losses are convex: between those of these weights and of none
        return share * first.bracket.primal(first.lam) + (1.0 - share) * self._hinge_at_zero

    def dual_at(self, lam: float) -> float:
        """The best lower bound on the optimum that any piece gives.

        Parameters
        ----------
        lam : float
            At least `lam_end`.

        Returns
        -------
        dual : float
        """
        self._piece_of(lam)
        return max(bracket.dual(lam) for bracket in self._duals())

    def gap_at(self, lam: float) -> float:
        """The certified suboptimality of `coef_at`.

        Parameters
        ----------
        lam : float
            At least `lam_end`.

        Returns
        -------
        gap : float
            Infinite where nothing is certified.
        """
        if not self._pieces[max(self._piece_of(lam), 0)].is_certified:
            return np.inf
        return max(self.primal_at(lam) - self.dual_at(lam), 0.0)

    @property
    def worst_gap(self) -> float:
        """The largest suboptimality certified for any lam from `lam_end` on; infinite where nothing is certified."""
        if not len(self) or not all(piece.is_certified for piece in self._pieces):
            return np.inf
        ends = [*self.breakpoints[1:], self.lam_end]
        # a convex gap is below that at one of its ends
        gaps = [max(p.bracket.gap(p.lam), p.bracket.gap(end)) for p, end in zip(self._pieces, ends, strict=True)]
        return max(self._worst_above(_gap), *gaps)

    @property
    def worst_relative_gap(self) -> float:
        """The largest suboptimality certified for any lam from `lam_end` on, as a share of the objective there.

        Objectives below a hundredth of the one without weights count as that.
        """
        if not len(self) or not all(piece.is_certified for piece in self._pieces):
            return np.inf
        shares = [self._worst_above(self._share)]
        for piece, end in zip(self._pieces, [*self.breakpoints[1:], self.lam_end], strict=True):
            bracket, least = piece.bracket, LEAST * self._hinge_at_zero
            # a share of the objective is at most eps on an interval, whatever eps is, and so is one of a constant: on
            # both sides of where the objective gets as small as that, the share is largest at an end
            between = 2.0 * (least - bracket.hinge) / bracket.square if bracket.square > 0.0 else end
            for lam in (piece.lam, min(max(between, end), piece.lam), end):
                shares.append(self._share(bracket.primal(lam), bracket.dual(lam) if lam > 0.0 else 0.0))
        return max(shares)

    def _share(self, primal: float, dual: float) -> float:
        """The gap as a share of the primal value."""
        of = max(primal, LEAST * self._hinge_at_zero)
        return (primal - dual) / of if of > 0.0 else 0.0

    def _worst_above(self, gap: Callable[[float, float], float]) -> float:
        """A bound on the gaps above the first breakpoint: primal and dual value are linear in 1/lam.

        The dual value is so by all of any one dual point, and the primal value is at most what is between no weights
        and those of the breakpoint. A gap of such values, or its share in one, is largest at an end.
        """
        lam, bracket = self._pieces[0][:2]
        primal = bracket.primal(lam)
        return min(
            max(gap(self._hinge_at_zero, loss), gap(primal, loss - 0.5 * dual_square / lam))
            for _, _, loss, dual_square in self._duals()
        )

    def _duals(self) -> list[Bracket]:
        return [self._start, *(piece.bracket for piece in self._pieces)]

    def certify(self) -> float:
        """Certify what is not yet certified, with an exact pass for each breakpoint.

        Returns
        -------
        worst_gap : float
        """
        for j, (lam, bracket, is_certified, cost) in enumerate(self._pieces):
            if not is_certified:
                before = time.perf_counter()
                hinge = self._passes.primal(self._weights[j], lam) - 0.5 * lam * bracket.square
                seconds = time.perf_counter() - before
                cost = Cost(cost.passes, cost.oracle_calls + self._passes.n, cost.seconds + seconds)
                self._pieces[j] = Piece(lam, bracket._replace(hinge=max(hinge, 0.0)), True, cost)
        if self._next.ended is PathEnd.HINGE:  # an estimate may have said so
            last = self._pieces[-1]
            step = self._rule.after(last.lam, last.bracket)
            self._next, self._stopped = step, None if step.ended else Status.UNCERTIFIED
        return self.worst_gap

    def _piece_of(self, lam: float) -> int:
        """The breakpoint whose weights serve lam; -1: the first one's, scaled."""
        check_positive("lam", lam)
        if not len(self) or lam < self.lam_end:
            known = f"ends at lam = {self.lam_end:g}" if len(self) else "has no breakpoint yet"
            raise ValueError(f"lam = {lam:g}: the path {known} ({self.ended}); path.resume goes on")
        return int(self.pieces_of(lam)) if lam <= self._pieces[0].lam else -1

    def pieces_of(self, lams: Any) -> np.ndarray:
        """The breakpoints whose weights serve each lam; above the first it is that, scaled.

        Parameters
        ----------
        lams : array-like of float

        Returns
        -------
        pieces : array of int
            Counted from 0.
        """
        return np.maximum(np.searchsorted(-self.breakpoints, -np.asarray(lams), side="right") - 1, 0)

    def resume(
        self,
        lam_min: float | None = None,
        *,
        max_passes: float | None = None,
        max_seconds: float | None = None,
        callbacks: Iterable[Callback] = (),
        verbose: int = 0,
    ) -> Path:
        """Go on where the path stopped, or further down.

        Parameters
        ----------
        lam_min : float or None, default=None
            Where to end now; None leaves it as it is. A grid has none.
        max_passes : float or None, default=None
            At most so many passes for each breakpoint; None leaves it as it is.
        max_seconds : float or None, default=None
            At most so many seconds from now on.
        callbacks : iterable of callables, default=()
            Called with each new `Breakpoint`; a true answer stops.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        path : Path
            The path itself.
        """
        if lam_min is not None:
            check_positive("lam_min", lam_min)
            self._rule = self._rule.down_to(float(lam_min))
            if self._next.ended is PathEnd.LAM_MIN and self._next.lam >= lam_min:
                self._next = Step(self._next.lam, None)
        self._effort = self._effort._replace(max_seconds=max_seconds)
        if max_passes is not None:
            self._effort = self._effort._replace(max_passes=max_passes)
        return self.walk(callbacks, verbose)

    def _begin(self, rule: Any, began: float) -> None:
        point, self._hinge_at_zero = largest_losses(self._passes)
        nothing, objective = np.zeros(self._passes.dimension), self._objective(1.0)
        self._start = objective.bracket(objective.certified(nothing, self._hinge_at_zero, point))
        self._weights, self._pieces = WeightStore(), list[Piece]()
        before = time.perf_counter()
        self._spent = Cost(0.0, self._passes.n, before - began)  # since the last piece
        self._rule, start = rule.begin(self._passes, self._objective(1.0), point, self._hinge_at_zero)
        self._next = Step(start.lam, None)
        if start.found is not None:
            self._spend(0.0, start.oracle_calls, time.perf_counter() - before)
            self._append(start.lam, start.found, True)

    def _go_on(self, found: Walk) -> None:
        """With the path that was found."""
        self._pieces, self._weights, self._hinge_at_zero = found.pieces, found.weights, found.hinge_at_zero
        self._start, self._rule, self._next, self._spent = found.start, found.rule, found.next, found.spent
        self._walked, self._state, self._first, self._begun = found.seconds, found.state, found.first, found.run

    def _walk(self, run: Snapshot | None = None) -> Walk:
        """The path as it is, with the run that is on its way."""
        first = self._first if self._first is None else self._first._replace(state=None)
        state, seconds = self._state if run is None else None, time.perf_counter() - self._began
        known = self._pieces, self._weights, self._hinge_at_zero, self._start
        return Walk(*known, self._rule, self._next, self._spent, seconds, state, first, run)

    def walk(self, callbacks: Iterable[Callback] = (), verbose: int = 0) -> Path:
        """Go down until the path ends or something stops it.

        Parameters
        ----------
        callbacks : iterable of callables, default=()
            Called with each new `Breakpoint`; a true answer stops.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        path : Path
            The path itself.
        """
        callbacks, effort, self._stopped = as_callbacks(callbacks), self._effort, None
        self._began, self._walked = time.perf_counter() - self._walked, 0.0
        check_limits(effort.max_passes, effort.max_seconds)
        showing = progress("breakpoints", np.inf, verbose)
        with Interrupt(self._keeper.keeps) as interrupt, showing as bar, crew_for(self.problem, effort.n_jobs):
            while self._next.ended is None and self._stopped is None:
                left = None if effort.max_seconds is None else effort.max_seconds - (time.perf_counter() - self._began)
                if interrupt.seen:
                    self._stop_between(Status.INTERRUPTED)
                elif left is not None and left <= 0.0:
                    self._stop_between(Status.MAX_SECONDS)
                else:
                    self._stopped = self._solve(effort._replace(max_seconds=left), callbacks)
                if self._next.ended is not None or self._stopped is Status.CALLBACK:
                    self._keeper.finish(self._walk())
                elif self._stopped is None and self._keeper.is_due():
                    self._keeper.keep(self._walk())
                bar.update(len(self) - bar.n)
                bar.set_postfix_str(f"lam {self.lam_end:.2e}")
            interrupt.deliver()
        self._keeper.close()
        if self._stopped in (Status.MAX_PASSES, Status.MAX_SECONDS, Status.INTERRUPTED):
            warnings.warn(
                f"the path stopped ({self._stopped}) after {len(self)} breakpoints, at lam = {self.lam_end:.3g}; what "
                "is done is kept, and path.resume() goes on",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _solve(self, effort: Effort, callbacks: tuple[Callback, ...]) -> Status | None:
        """Solve for one more lam; why the path stops here, if it does."""
        before, lam = time.perf_counter(), self._next.lam
        if self._begun is not None:
            before -= self._begun.seconds
        if self._state is not None:
            effort = effort._replace(random_state=None)  # the state goes on with its own
        solved = self._first
        if solved is None:
            # at first nothing is known of the optimum, but that weights are for something
            least = max(bracket.dual(lam) for bracket in self._duals()) if self._pieces else self._hinge_at_zero
            tol = self._rule.tol(least)
            solved = self._solve_to(tol, self._state, effort)
            if is_done(solved) and self._rule.tol(solved.found.primal) < tol:
                self._first = solved
        if self._first is not None:
            again = self._solve_to(self._rule.tol(solved.found.dual), solved.state, effort._replace(random_state=None))
            solved = again._replace(
                passes=solved.passes + again.passes, oracle_calls=solved.oracle_calls + again.oracle_calls
            )
            self._first = None
        self._spend(solved.passes, solved.oracle_calls, time.perf_counter() - before)
        self._state = solved.state if self._warm or not is_done(solved) else None
        if not is_done(solved):
            return solved.status
        self._append(lam, solved.found, solved.status == Status.CONVERGED)
        told = Breakpoint(
            lam, solved.found.primal, solved.found.dual, self.gap_at(lam), *self._pieces[-1].cost, solved.found.w
        )
        answers = [callback(told) for callback in callbacks]
        return Status.CALLBACK if any(answers) else None

    def _stop_between(self, status: Status) -> None:
        """Where no run is on its way, which would have been kept itself."""
        self._stopped = status
        self._keeper.keep(self._walk())

    def _solve_to(self, tol: float, state: Any, effort: Effort) -> Solved:
        """One run at the next lam; one that was found goes on."""
        begun, self._begun = self._begun, None
        keeper = self._keeper.within(self._walk)
        return self._run(self.solver, self.problem, self._next.lam, tol, state, effort, keeper, begun)

    def _spend(self, passes: float, oracle_calls: int, seconds: float) -> None:
        spent = self._spent
        self._spent = Cost(spent.passes + passes, spent.oracle_calls + oracle_calls, spent.seconds + seconds)

    def _append(self, lam: float, found: Certified, is_certified: bool) -> None:
        bracket = self._objective(lam).bracket(found)
        self._weights.append(found.w)
        self._pieces.append(Piece(lam, bracket, is_certified, self._spent))
        self._spent = NO_COST
        self._next = self._rule.after(lam, bracket)


def _gap(primal: float, dual: float) -> float:
    return primal - dual
