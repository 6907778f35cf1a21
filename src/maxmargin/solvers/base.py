"""What the solvers have in common: one ``solve``, needs and parameters checked once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._parameters import check_limits, check_not_negative, check_positive
from ..structures import as_problem
from ..structures.crew import crew_for
from ..structures.fingerprint import fingerprint
from ..structures.needs import Need, check_needs
from ..structures.verbs import dimension, offers
from .box import make_box
from .driver import Callback, Limits, Snapshot, as_callbacks, drive
from .engine import Earlier, Engine
from .keeping import EVERY, NOT_KEPT, identity_of, keeper_of
from .result import Result
from .tolerance import Goal, as_goal


class Solver(BaseEstimator, ABC):
    """Base of all solvers. A subclass holds its parameters and makes an :class:`~.engine.Engine` of them.

    Attributes
    ----------
    certifies : bool
        Whether there are dual values, where the oracle is exact.
    gap_every : float
        Passes between two certificates.
    lower : float, array or None
        Lower bounds on w.
    upper : float, array or None
        Upper bounds on w.
    positive : indices, mask, slice or None
        Weights that must be >= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import Solver, get_solver
    >>> from maxmargin.structures import make_multiclass_problem
    >>> solver = get_solver("fw")
    >>> isinstance(solver, Solver) and solver.certifies
    True
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> print(solver.solve(problem, 0.1, tol=0.1).status)
    converged
    """

    certifies = True
    estimates: bool = True  # whether block gaps are known between certificates, as heuristic paths ask
    family: str  # of the engine: whose states it can go on from
    kind: Need = Need.HINGE  # of problems
    allows_zero = False  # whether lam may be 0
    gap_every: float
    lower: Any = None
    upper: Any = None
    positive: Any = None

    def solve(
        self,
        problem: Any,
        lam: float,
        *,
        tol: float | Goal | None = 1e-2,
        max_passes: float = 1000,
        max_seconds: float | None = None,
        callbacks: Callback | Iterable[Callback] = (),
        state: Any = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        checkpoint: Any = None,
        checkpoint_every: float = EVERY,
    ) -> Result:
        """Minimise ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)``.

        Parameters
        ----------
        problem : object
            A structure over data, built in or of your own (see ``docs/own_structure.md``).
        lam : float
            Regularisation, > 0; or 0, where a solver allows that.
        tol : float or None, default=1e-2
            Stop when the certified duality gap is at most this. None: 0.01, or a twentieth of the primal value
            where that is less, but not below 0.001.
        max_passes : float, default=1000
            Stop after so many passes over the data.
        max_seconds : float or None, default=None
            Stop after so many seconds.
        callbacks : function or iterable of functions, default=()
            Called with each :class:`~.result.Record`; a true answer stops. See ``docs/callbacks.md``.
        state : State, Earlier or None, default=None
            ``Result.state`` of an earlier call, to go on from there; as `Earlier`, one with the first of these samples.
        random_state : int, RandomState, Generator or None, default=None
            Seed; None goes on with the state's own randomness where there is one.
        n_jobs : int or None, default=None
            Threads, for exact passes and, where that is known, for steps; -1 for all cores. Oracles in plain Python
            are asked by so many processes once that pays, see ``docs/threads.md``.
        verbose : int, default=0
            1 shows a progress bar.
        checkpoint : str, path or None, default=None
            A file to keep the run in, now and then and at its end. Where there is one already, of the same problem,
            solver, lam and seed, the run goes on from it, step by step as if it had not stopped: `state` and
            `random_state` are those of the file, and limits count from where the run began. See
            ``docs/continued_training.md``.
        checkpoint_every : float, default=60.0
            Seconds between two writes; more where writing would take more than a twentieth of the time.

        Returns
        -------
        Result
            The weights, and the certificate of how far from optimal they are.
        """
        (check_not_negative if self.allows_zero else check_positive)("lam", lam)
        if lam == np.inf:
            raise ValueError("lam must be finite")
        check_limits(max_passes, max_seconds)
        callbacks, goal, problem = as_callbacks(callbacks), as_goal(tol), as_problem(problem)
        keeper = keeper_of(
            checkpoint,
            checkpoint_every,
            lambda: identity_of("solve", self, fingerprint(problem), random_state, lam=float(lam)),
        )
        limits = Limits(goal, max_passes, max_seconds, self.gap_every)
        result = self.run(
            problem, float(lam), limits, state, random_state, n_jobs, callbacks, verbose, keeper, keeper.found()
        )
        keeper.close()
        return result

    def run(
        self,
        problem: Any,
        lam: float,
        limits: Limits,
        state: Any,
        random_state: Any,
        n_jobs: int | None,
        callbacks: tuple[Callback, ...] = (),
        verbose: int = 0,
        keeper: Any = NOT_KEPT,
        found: Snapshot | None = None,
    ) -> Result:
        """Solve a problem whose parameters were checked; a run that was `found` goes on."""
        begun, seed = (state, random_state) if found is None else (found.state, None)
        with crew_for(problem, n_jobs):
            engine = self.start(problem, lam, begun, seed, n_jobs)
            if keeper.keeps:
                engine.check_keepable()
            known = None if isinstance(state, Earlier) else state  # what was certified there holds for other samples
            return drive(engine, limits, callbacks, verbose, known, keeper, found)

    def start(self, problem: Any, lam: float, state: Any, random_state: Any, n_jobs: int | None) -> Engine:
        """A run at its starting point, or where an earlier one stopped."""
        check_positive("gap_every", self.gap_every)
        problem = as_problem(problem)
        check_needs(type(self).__name__, self.requires(), offers(problem))
        engine = self.engine(problem, lam, n_jobs)
        engine.start(state, random_state)
        return engine

    @abstractmethod
    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> Engine:
        """A run of this solver: parameters checked, and turned into parts."""

    def requires(self) -> set[Need]:
        """What a structure must offer."""
        unbounded = self.lower is None and self.upper is None and self.positive is None
        return {Need.IN_MEMORY, self.kind} | (set() if unbounded else {Need.BOUNDS})

    def box(self, problem: Any) -> Any:
        """The bounds on the weights of a problem."""
        return make_box(self.lower, self.upper, self.positive, dimension(problem))
