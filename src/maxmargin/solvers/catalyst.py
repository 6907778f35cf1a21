"""Acceleration by a sequence of proximal problems, each better conditioned than the one as posed.

Problem k is ``min_w F(w) + kappa/2 |w - z|^2``, whose centre z is extrapolated from the solutions before it (Lin et
al., 2018; pillutla18, Alg. 4). With ``lam' = lam + kappa`` and ``c = kappa z / lam'`` its weights are ``w = c +
V / lam'`` for the dual point V, so the steps of a solver do not change: only lam and an offset do. docs/acceleration.md
derives it, and what is our own: the dual value comes from a mixture of the dual points, and the share that the newest
one deserves in it tells whether the problems are solved well enough.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._sums import mix_into, mixed
from .box import clip_all
from .objective import DualPoint, DualValue, Objective

PARTS = 4  # of a pass, about: a problem ends after some of them
MANY_WEIGHTS = 1000  # a sample: to sweep over them takes so long that problems end with passes alone
# With no more weights a sample than that, iterates join the average after each part of a pass: it saves a fiftieth of
# the passes, and costs nothing. Else after each pass, as with several threads, which would have to meet for it.
FEW_WEIGHTS = 10
FIRST, SHORTEST, LONGEST = 1.0, 2.0, 20.0  # passes of a proximal problem
LENGTHEN, STIFFEN = 1.1, 1.05
WEAKEST = 0.1  # kappa / lam

# The newest dual point should get this many times the weight that theory gives it. Below, its noise, which grows with
# kappa/lam, hides its news: solve more accurately. Above, accuracy is wasted.
NOISY, CALM, WASTEFUL = 0.8, 1.2, 1.7

# The first alpha where lam is 0.
UNREGULARISED = 0.5 * (np.sqrt(5.0) - 1.0)

# A certified gap that is not below this share of what it was so many problems ago does not fall.
FALLS, MANY = 0.99, 4


@dataclass(frozen=True)
class Catalyst:
    """Accelerate by proximal problems, each better conditioned than the one as posed: it pays where lam is small.

    Parameters
    ----------
    kappa : float or None, default=None
        Weight of the proximal term, in the units of lam. None chooses it from lam and the curvature of the data, and
        adapts it.
    inner : float or None, default=None
        Passes over the data for each proximal problem. None adapts them to how much dual progress they make.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, Catalyst
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> solver = BlockFrankWolfe("permutation", step="pairwise", acceleration=Catalyst(kappa=0.1))
    >>> result = solver.solve(problem, 0.01, tol=1e-3, random_state=0)
    >>> print(result.status, result.gap <= 1e-3, result.history["kappa"][-1])
    converged True 0.1
    """

    kappa: float | None = None
    inner: float | None = None


def as_catalyst(acceleration: Any) -> Catalyst | None:
    if acceleration is None:
        return None
    if isinstance(acceleration, str) and acceleration == "catalyst":
        return Catalyst()
    if not isinstance(acceleration, Catalyst):
        raise ValueError(f'acceleration must be None, "catalyst" or a Catalyst, got {acceleration!r}')
    for value in (acceleration.kappa, acceleration.inner):
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        if value is not None and not (is_number and 0 < value < np.inf):
            raise ValueError(f"a Catalyst needs kappa and inner to be numbers > 0, or None, got {acceleration!r}")
    return acceleration


class OneProblem:
    """No acceleration: the problem as posed is the only one."""

    average, averages_itself = None, False
    restarts_at = None

    def __init__(self, lam: float, settings: Catalyst | None, steps: int):
        self.lam, self.settings, self.begun = lam, settings, steps

    def known(self, point: DualPoint) -> DualPoint:
        """A dual point of all weights as it is known here, which is what all others but `best_point` are."""
        return point

    def whole(self, point: DualPoint) -> DualPoint:
        """The other way round."""
        return point

    def weights(self, objective: Objective, point: DualPoint) -> tuple[np.ndarray, Any]:
        return objective.weights(point)

    def point(self, v: np.ndarray, loss: float) -> DualPoint:
        return DualPoint(self.lam * v, loss)

    def note_steps(self) -> None:
        """Weights that were seen here are others since."""

    def steps_to_look(self, steps: int) -> float:
        return np.inf

    def best_point(self, objective: Objective, point: DualPoint) -> DualPoint:
        """The best dual point known for the problem as posed, `point` being that of the steps."""
        return point

    def best_value(self, objective: Objective, point: DualPoint) -> DualValue:
        """Its value."""
        return objective.value(point)

    def primal(self, objective: Objective, w: np.ndarray, point: DualPoint, gap: float) -> float:
        """The primal value of the problem as posed, given the gap of the one the steps work on."""
        return objective.dual(point) + gap

    def goes_on(self, settings: Catalyst | None, averages: bool) -> bool:
        """Whether a run with these parameters continues this one."""
        return settings == self.settings

    def extras(self) -> dict[str, float]:
        return {}

    def go_on(self, mixture: DualPoint, w: np.ndarray | None) -> None:
        """Continue a run whose best dual point, and best weights, are these."""

    def falls_short(self, gap: float) -> bool:
        return False


class Extrapolation:
    """The sequence of proximal centres."""  # pillutla18, (27) to (29)

    def __init__(self, lam: float, kappa: float, w: np.ndarray):
        self.lam, self.kappa = lam, kappa
        self.restart(w)

    def restart(self, w: np.ndarray) -> None:
        # pillutla18, Cor. 17 to 20
        self.alpha = np.sqrt(self.lam / (self.lam + self.kappa)) if self.lam > 0.0 else UNREGULARISED
        self.previous = self.centre = w.copy()

    def advance(self, w: np.ndarray, kappa: float) -> None:
        """The solution w of this problem is there, to be kept; the next one has another kappa."""
        beta = self.next_momentum(kappa)
        self.centre = mixed(1.0 + beta, w, -beta, self.previous)
        self.previous = w

    def next_momentum(self, kappa: float) -> float:
        """By how much of its step from the last solution the next centre lies beyond this one."""
        before = self.alpha**2 * (self.lam + self.kappa)
        stiff = self.lam + kappa
        # (27): stiff a^2 + (before - lam) a - before = 0
        half = 0.5 * (before - self.lam)
        alpha = (np.sqrt(half * half + stiff * before) - half) / stiff
        beta = self.alpha * (1.0 - self.alpha) * (self.lam + self.kappa) / (before + alpha * stiff)
        self.alpha, self.kappa = alpha, kappa
        return float(beta)


class ProximalSequence:
    """Proximal problems one after the other, certified against the problem as posed."""

    averages_itself = True

    def __init__(self, settings: Catalyst, averages: bool, n: int, dimension: int, seldom: bool = False):
        self.settings, self.averages = settings, averages
        self.passes = FIRST if settings.inner is None else float(settings.inner)
        self.part = max(1, n // PARTS) if dimension <= MANY_WEIGHTS * n else n  # steps
        self.parts_of_a_pass = round(n / self.part)
        # parts between two looks, when iterates join the average and accuracy is judged
        self.between = self.parts_of_a_pass if seldom or dimension > FEW_WEIGHTS * n else 1
        self.newest = 1.0  # its weight in the mixture over the one theory gives, smoothed
        self.mass = 0.0  # of the average
        self.gap, self.problems, self.restarts = np.inf, 0, 0
        self.restarts_at: np.ndarray | None = None  # before the next step

    def begin(self, objective: Objective, kappa: float, highest: float, point: DualPoint, steps: int) -> None:
        """The first problem is posed after so many steps, centred at the weights of the dual point."""
        self.highest = highest  # that kappa may become
        self.sequence = Extrapolation(objective.lam, kappa, objective.weights(point)[0])
        self.mixture, self.total = point, np.zeros_like(point.vector)
        self.pose(steps)

    def pose(self, steps: int) -> None:
        self.begun, self.seen = steps, 0  # parts of passes, at the last look

    @property
    def lam(self) -> float:
        """Of the proximal problem."""
        return self.sequence.lam + self.sequence.kappa

    def known(self, point: DualPoint) -> DualPoint:
        return point

    def whole(self, point: DualPoint) -> DualPoint:
        return point

    def weights(self, objective: Objective, point: DualPoint) -> tuple[np.ndarray, Any]:
        """The proximal problem's weights of a dual point."""
        w = mixed(1.0 / self.lam, point.vector, self.sequence.kappa / self.lam, self.sequence.centre)
        return w, clip_all(objective.box, w)

    def weights_again(self, objective: Objective, point: DualPoint, w: np.ndarray) -> tuple[np.ndarray, Any]:
        """The same where w are the weights that steps had at the point, which nobody needs any more."""
        return self.weights(objective, point)

    def note_steps(self) -> None:
        """Weights that were seen here are others since."""

    def point(self, v: np.ndarray, loss: float) -> DualPoint:
        """The dual point whose weights, before truncation, are v."""
        return DualPoint(mixed(self.lam, v, -self.sequence.kappa, self.sequence.centre), loss)

    @property
    def wanted(self) -> int:
        """Parts of passes that the problem gets."""
        return max(1, round(self.passes * self.parts_of_a_pass))

    @property
    def next_look(self) -> int:
        """Parts of passes until then; one comes with the end of the problem."""
        return max(1, min(self.between - self.seen % self.between, self.wanted - self.seen))

    def steps_to_look(self, steps: int) -> float:
        return self.begun + (self.seen + self.next_look) * self.part - steps

    def is_solved(self, objective: Objective, w: np.ndarray, gap: float) -> bool:
        """Whether the proximal problem is, with its gap as far as it is known; and w joins the average."""
        if self.averages:
            fresh = 1.0 - (1.0 - self.sequence.alpha) ** (self.next_look / self.wanted)
            mix_into(self.total, 1.0 - fresh, self.total, fresh, w)
            self.mass = (1.0 - fresh) * self.mass + fresh
        self.seen += self.next_look
        a_pass_ends = self.seen % self.parts_of_a_pass == 0
        return self.seen >= self.wanted or (a_pass_ends and gap <= self.goal(objective, w))

    def goal(self, objective: Objective, w: np.ndarray) -> float:
        """The gap at which theory takes a proximal problem for solved."""  # pillutla18, (26) and Cor. 17
        root = np.sqrt(objective.lam / self.lam)
        *_, apart = objective.products(self.sequence.centre, w)
        return root / (2.0 - root) * 0.5 * self.sequence.kappa * apart

    def advance(self, objective: Objective, w: np.ndarray, point: DualPoint, steps: int) -> None:
        """Pose the next problem."""
        self.mixture, share = objective.best_between(self.mixture, point)
        due = max(self.sequence.alpha, np.finfo(float).tiny)
        self.newest += 0.5 * (share / due - self.newest)
        self.sequence.advance(w, self.adapted())
        self.problems += 1
        self.pose(steps)

    def adapted(self) -> float:
        """Adapt the passes a problem gets, or else kappa, which is returned."""
        kappa, lam = self.sequence.kappa, self.sequence.lam
        if self.settings.inner is None:
            self.passes = max(self.passes, SHORTEST)  # only the first problem, centred far from anywhere, gets less
            if self.newest < NOISY:
                self.passes = min(self.passes * LENGTHEN, LONGEST)
            elif self.newest > WASTEFUL and self.passes > SHORTEST:
                self.passes = max(self.passes / LENGTHEN, SHORTEST)
            elif self.newest > CALM and self.settings.kappa is None:
                return min(kappa * STIFFEN, max(self.highest, kappa))
        elif self.settings.kappa is None and self.newest < NOISY:
            return max(kappa / LENGTHEN, WEAKEST * lam)
        return kappa

    def falls_short(self, gap: float) -> bool:
        """Whether the certified gap stopped falling."""
        if self.problems < MANY:
            return False
        short = gap > FALLS * self.gap
        self.gap, self.problems = gap, 0
        return short

    def restart(self, w: np.ndarray, steps: int) -> None:
        """Forget the momentum, and go on from w."""
        self.restarts, self.restarts_at = self.restarts + 1, None
        if self.settings.inner is None:
            self.passes = min(self.passes * LENGTHEN, LONGEST)
        elif self.settings.kappa is None:
            self.sequence.kappa = max(0.5 * self.sequence.kappa, WEAKEST * self.sequence.lam)
        self.sequence.restart(w)
        self.pose(steps)

    def go_on(self, mixture: DualPoint, w: np.ndarray | None) -> None:
        """Continue a run whose best dual point, and best weights, are these."""
        self.mixture, self.restarts_at = mixture, w

    def best_point(self, objective: Objective, point: DualPoint) -> DualPoint:
        return objective.best_between(self.mixture, point)[0]

    def best_value(self, objective: Objective, point: DualPoint) -> DualValue:
        return objective.best_value(self.mixture, point)

    def primal(self, objective: Objective, w: np.ndarray, point: DualPoint, gap: float) -> float:
        return 0.5 * objective.lam * objective.inner(w, w) + gap + point.loss - objective.inner(point.vector, w)

    def goes_on(self, settings: Catalyst | None, averages: bool) -> bool:
        """Whether a run with these parameters continues this sequence."""
        return (settings, averages) == (self.settings, self.averages)

    @property
    def average(self) -> np.ndarray | None:
        """Of the iterates of the last problems, as far back as their duals count."""
        return self.total / self.mass if self.mass > 0.0 else None

    def extras(self) -> dict[str, float]:
        return {"kappa": self.sequence.kappa, "inner_passes": self.passes, "restarts": self.restarts}
