"""L-BFGS for log-losses, and OWL-QN where weights have an L1 penalty, too."""  # nocedal06, Alg. 7.5; andrew07

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._parameters import check_count, check_not_negative
from .._sums import mixed
from ..structures.needs import Need
from .base import Solver
from .engine import Engine, State
from .objective import Certified, DualValue

# Of the decrease that the slope promises, a step must show so much; and at its end the slope must be so much less.
DECREASE, FLATTER = 1e-4, 0.9

# So many lengths are tried along a direction. Values that differ by less, relative to them, are the same.
TRIES, ROUNDING = 30, 1e-15


class Place(NamedTuple):
    """Weights, the value of the objective there, and what is known of its slope."""

    w: np.ndarray
    value: float
    gradient: np.ndarray  # without the L1 penalty


class Search(NamedTuple):
    """A search along a direction: steps of length `low` are too short, of length `high` too long."""

    direction: np.ndarray
    slope: float  # along the direction, < 0
    length: float  # to try next
    low: float = 0.0
    high: float = np.inf
    tried: int = 0


class QuasiNewtonEngine(Engine):
    """A pass of oracle calls is one look at the objective; a step takes one, most of the time."""

    family = "LBFGS"
    kept = ("place", "search", "pairs", "bound", "stalled", "l1")
    keeps_best = False  # values never rise

    def __init__(self, problem: Any, lam: float, box: Any, n_jobs: int | None, l1: float, memory: int):
        super().__init__(problem, lam, box, n_jobs)
        self.l1, self.memory = l1, memory
        self.certifiable = self.certifiable and lam > 0.0

    @property
    def chunk(self) -> int:
        return self.n

    def begin(self) -> None:
        self.begin_at(np.zeros(self.passes.dimension))

    def begin_at(self, w: np.ndarray) -> None:
        self.search: Search | None = None
        self.pairs: list[tuple[np.ndarray, np.ndarray, float]] = []  # steps, changes of the gradient, their product
        self.bound = DualValue(-np.inf if self.certifiable else np.nan, np.nan, np.nan)  # the best so far
        self.stalled = False  # no direction leads down
        self.place = self.look(w)

    def continues(self, state: State) -> bool:
        return super().continues(state) and state.l1 == self.l1

    def resume(self, state: State) -> None:
        if self.continues(state):
            super().resume(state)
        else:
            self.begin_at(state.place.w)

    def carried(self, state: State | None) -> Certified | None:
        return state.best if state is not None and self.continues(state) else None

    def prepare(self) -> None:
        self.passes.prepare_gradient()

    def look(self, w: np.ndarray) -> Place:
        """Ask all samples; their Gibbs distributions are a dual point."""
        hinges, (vector, entropy) = self.passes.gradient(w)
        self.oracle_calls += self.n
        value = self.passes.primal(w, self.lam, hinges) + self.l1 * float(np.sum(np.abs(w)) if self.l1 else 0.0)
        if self.certifiable:
            # the dual of the elastic net: of the vector only what the penalty does not take up counts
            short = shrunk(vector, self.l1) if self.l1 > 0.0 else vector
            square = self.objective.inner(short, short)
            dual = entropy - 0.5 * square / self.lam
            if dual > self.bound.dual:
                self.bound = DualValue(dual, entropy, square)
        return Place(w, value, mixed(self.lam, w, -1.0, vector))

    def advance(self, n_steps: int) -> None:
        self.steps += self.n
        if self.stalled:
            return
        search = self.new_search() if self.search is None else self.search
        if not search.slope < 0.0:
            self.stalled = True
            return
        found = self.look(self.moved(search))
        step = mixed(1.0, found.w, -1.0, self.place.w)
        if self.is_too_high(search, found, step):
            self.search = shorter(search)
        elif self.l1 == 0.0 and self.objective.inner(found.gradient, search.direction) < FLATTER * search.slope:
            self.search = longer(search)
        else:
            self.accept(found, step)
        if self.search is not None and self.search.tried >= TRIES:
            self.stalled, self.pairs, self.search = not self.pairs, [], None

    def is_too_high(self, search: Search, found: Place, step: np.ndarray) -> bool:
        slope = search.length * search.slope
        if self.l1 > 0.0:  # what the orthant cut off does not count
            slope = self.objective.inner(self.steepest(), step)
        return not found.value <= self.place.value + DECREASE * slope + ROUNDING * abs(self.place.value)

    def accept(self, found: Place, step: np.ndarray) -> None:
        change = mixed(1.0, found.gradient, -1.0, self.place.gradient)
        product = self.objective.inner(step, change)
        if product > 0.0:
            self.pairs = [*self.pairs, (step, change, product)][-self.memory :]
        self.place, self.search = found, None

    def new_search(self) -> Search:
        steepest = self.steepest()
        direction = self.newton(steepest)
        if self.l1 > 0.0:
            direction[direction * steepest >= 0.0] = 0.0  # andrew07, Eq. 8
        slope = self.objective.inner(direction, steepest)
        length = 1.0 if self.pairs else 1.0 / max(np.sqrt(-slope), np.finfo(float).tiny)
        return Search(direction, slope, length)

    def steepest(self) -> np.ndarray:
        """The gradient; with a penalty, of the one-sided ones that which leads down most steeply, or 0."""
        gradient, l1 = self.place.gradient, self.l1
        if l1 == 0.0:
            return gradient
        return np.where(self.place.w == 0.0, shrunk(gradient, l1), gradient + l1 * np.sign(self.place.w))

    def newton(self, gradient: np.ndarray) -> np.ndarray:
        """Less the gradient, times what the pairs know of the inverse of the Hessian."""  # nocedal06, Alg. 7.4
        inner, direction, shares = self.objective.inner, -gradient, []
        for step, change, product in reversed(self.pairs):
            shares.append(inner(step, direction) / product)
            direction = mixed(1.0, direction, -shares[-1], change)
        if self.pairs:
            _, change, product = self.pairs[-1]
            direction = direction * (product / inner(change, change))
        for step, change, product in self.pairs:
            share = shares.pop() - inner(change, direction) / product
            direction = mixed(1.0, direction, share, step)
        return direction

    def moved(self, search: Search) -> np.ndarray:
        """Weights that far along the direction; with a penalty, without leaving the orthant."""
        w = mixed(1.0, self.place.w, search.length, search.direction)
        if self.l1 > 0.0:
            signs = np.where(self.place.w == 0.0, -np.sign(self.steepest()), np.sign(self.place.w))
            w[w * signs <= 0.0] = 0.0
        return w

    def estimate(self) -> Certified:
        return Certified(self.place.w, self.place.value, *self.bound)

    def certify(self) -> list[Certified]:
        return [self.estimate()]  # every look is exact

    def extras(self) -> dict[str, float]:
        return {"nonzeros": int(np.count_nonzero(self.place.w))} if self.l1 > 0.0 else {}


def shrunk(vector: np.ndarray, by: float) -> np.ndarray:
    """Every entry nearer to 0, or 0."""
    return np.sign(vector) * np.maximum(np.abs(vector) - by, 0.0)


def shorter(search: Search) -> Search:
    return search._replace(length=0.5 * (search.low + search.length), high=search.length, tried=search.tried + 1)


def longer(search: Search) -> Search:
    length = 2.0 * search.length if search.high == np.inf else 0.5 * (search.length + search.high)
    return search._replace(length=length, low=search.length, tried=search.tried + 1)


class LBFGS(Solver):
    """L-BFGS, for log-losses: conditional random fields and logistic regression. With `l1` it is OWL-QN.

    Every look at the objective is a pass over the data, and certifies: the Gibbs distributions of the weights are a
    dual point, whose gap is ``|gradient|^2 / (2 lam)``. Without an L2 penalty, ``lam=0``, there is none, and the result
    is uncertified.

    Parameters
    ----------
    l1 : float, default=0.0
        Weight of ``|w|_1`` in the objective, beside ``lam/2 |w|^2``: most weights become exactly 0.
    memory : int, default=10
        Steps that the inverse of the Hessian is made of.
    gap_every : float, default=1
        Passes between two records of the history.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import LBFGS
    >>> from maxmargin.structures import LogLoss, make_multiclass_problem
    >>> problem = LogLoss(make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3))
    >>> result = LBFGS().solve(problem, 0.1, tol=1e-6)
    >>> print(result.status, result.gap <= 1e-6)
    converged True
    >>> sparse = LBFGS(l1=0.1).solve(problem, 0.1, tol=1e-6)
    >>> print(sparse.status, np.count_nonzero(sparse.w), "of", len(sparse.w))
    converged 5 of 15
    """

    family = QuasiNewtonEngine.family
    kind = Need.LOG_LOSS
    allows_zero = True

    def __init__(self, l1: float = 0.0, memory: int = 10, gap_every: float = 1):
        self.l1 = l1
        self.memory = memory
        self.gap_every = gap_every

    def requires(self) -> set[Need]:
        return super().requires() | ({Need.WEIGHTS} if self.l1 else set())

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> QuasiNewtonEngine:
        check_not_negative("l1", self.l1)
        memory = check_count("memory", self.memory)
        return QuasiNewtonEngine(problem, lam, self.box(problem), n_jobs, float(self.l1), memory)
