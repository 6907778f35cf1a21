"""What the solvers have in common: one ``solve``, parameters checked once, threaded passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._compile import runs_compiled
from .._parameters import check_limits, check_positive, count_threads
from .._sums import dot
from .._threads import on_ranges
from ..structures import as_problem
from ..structures.fingerprint import fingerprint
from ..structures.verbs import dimension, inner, n_blocks, new_work
from .box import box_for
from .driver import Callback, Engine, Limits, drive
from .passes import hinge_pass
from .result import Result


class Solver(BaseEstimator):
    """Base of all solvers. A subclass holds its parameters and starts an :class:`~.driver.Engine`."""

    certifies = True  # whether there are dual values, where the oracle is exact
    gap_every: float
    lower: Any
    upper: Any
    positive: Any

    def solve(
        self,
        problem: Any,
        lam: float,
        *,
        tol: float = 1e-2,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        callbacks: Iterable[Callback] = (),
        state: Any = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Result:
        """Minimise ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)``.

        Parameters
        ----------
        problem : a structure over data, built in or of your own (see ``docs/own_structure.md``)
        lam : regularisation, > 0
        tol : stop when the certified duality gap is at most this
        max_passes, max_seconds : stop after this much effort
        callbacks : called with each :class:`~.result.Record`; a true answer stops
        state : ``Result.state`` of an earlier call, to go on from there
        random_state : seed; None goes on with the state's own randomness where there is one
        n_jobs : threads for exact passes; -1 for all cores
        verbose : 1 shows a progress bar
        """
        check_positive("lam", lam)
        if lam == np.inf:
            raise ValueError("lam must be finite")
        check_positive("gap_every", self.gap_every)
        check_limits(tol, max_passes, max_seconds)
        engine = self.start(as_problem(problem), float(lam), state, random_state, n_jobs)
        return drive(engine, Limits(float(tol), max_passes, max_seconds, self.gap_every), callbacks, verbose)

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> Engine:
        """An engine at its starting point."""
        raise NotImplementedError

    def box(self, problem: Any) -> Any:
        """The bounds on the weights of a problem."""
        return box_for(problem, self.lower, self.upper, self.positive)


def check_state(state: Any, kind: type, problem: Any) -> None:
    """Refuse to go on from a state of another solver or other data: its certificate would be wrong."""
    if not isinstance(state, kind):
        raise TypeError(f"state must be the {kind.__name__} of an earlier Result, got {type(state).__name__}")
    if state.fingerprint != fingerprint(problem):  # type: ignore[attr-defined]
        raise ValueError("state belongs to other data (or costs, or weights) than this problem; start without it")


class Passes:
    """Exact passes over all blocks of a problem, on several threads where the kernels are compiled."""

    def __init__(self, problem: Any, n_jobs: int | None):
        self.problem = problem
        self.n, self.dimension = n_blocks(problem), dimension(problem)
        self.n_threads = count_threads(n_jobs) if runs_compiled(problem) else 1
        self.work = new_work(problem)
        self.certifiable = getattr(problem, "certifiable", True)  # built-in oracles are exact

    def run(self, on_range: Callable[[Any, int, int], Any]) -> None:
        """Call ``on_range(work, first, last)`` for ranges that cover all blocks, one thread each."""
        on_ranges(self.n, self.n_threads, lambda first, last: on_range(new_work(self.problem), first, last))

    def primal(self, w: np.ndarray, lam: float, hinges: np.ndarray | None = None) -> float:
        """Exact primal value; hinges known already are taken as they are."""
        if hinges is None:
            found = np.empty(self.n)
            self.run(lambda work, first, last: hinge_pass(self.problem, work, w, first, last, found))
            hinges = found
        # hinges are >= 0 by definition (the truth competes); rounding may leave -1e-17
        return 0.5 * lam * inner(self.problem, w, w) + dot(self.problem.weight, np.maximum(hinges, 0.0))
