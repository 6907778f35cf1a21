"""A user's own structure, in plain Python, through the same loops as the built-in ones.

The user writes ``n_samples``, ``n_features``, ``y`` (the true outputs; or a method ``truth(i)``) and three methods:
``max_oracle(w, i)``, ``joint_feature(i, y)`` and ``loss(i, y)``. Here that becomes the verbs of a problem. The dual
state of a block is the expected joint feature, kept sparse.

Some solvers ask for more: ``decode(w, i)``, the output that maximises ``<w, joint_feature(i, y)>`` with no loss, and
``exp_oracle(v, i, emphasis)``, the expected joint feature and the expected loss where outputs have probabilities in
proportion to ``exp(emphasis loss(i, y) + <v, joint_feature(i, y)>)``.

An oracle that may miss the maximum says so with ``exact_oracle = False``. With a method ``upper_bound(w, i)`` on
``max_y loss(i, y) + <w, joint_feature(i, y)>`` the certificate uses the bound; without, there is no certificate.
"""

from __future__ import annotations

import math
import numbers
import sys
import time
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .._compile import implements, verb
from .directions import BetweenCorners, ToCorner, ToExpectation
from .needs import Need, offered_if
from .sparse_vector import SparseVector, as_sparse_vector, combine

REQUIRED = {
    "n_samples": "the number of samples",
    "n_features": "the length of joint_feature's vector",
    "max_oracle": "max_oracle(w, i) -> y, the output that maximises loss(i, y) + <w, joint_feature(i, y)>",
    "joint_feature": "joint_feature(i, y) -> vector: dense, sparse, or a pair (indices, values)",
    "loss": "loss(i, y) -> float, 0 for the true output",
}


# What a step over a user's structure costs apart from its oracle, about.
STEP_SECONDS = 1e-4


class CustomBlocks(NamedTuple):
    feature: list[SparseVector]  # expected joint feature of each block
    loss: np.ndarray


class Output(NamedTuple):
    """An output as learning sees it. The user's object is not kept: an oracle may reuse it for its next answer."""

    feature: SparseVector
    loss: float

    def equals(self, other: Output) -> bool:
        return self.loss == other.loss and all(map(np.array_equal, self.feature, other.feature))

    def value(self, w: np.ndarray) -> float:
        return self.loss + self.feature.dot(w)


class Corners:
    """Scratch: the corner and the away corner."""

    emphasis: float = 1.0  # of the losses
    corner: Output
    away: Output


class Change(NamedTuple):
    """A direction as it was measured."""

    norm: float
    feature: SparseVector  # between what a step goes from and to
    loss: float


@verb
def goal_of(direction, work):
    """The output a direction leads to."""


@implements(goal_of, ToCorner, BetweenCorners)
def _(direction, work):
    return work.corner


@implements(goal_of, ToExpectation)
def _(direction, work):
    return direction.expectation.output


@verb
def source_of(direction, work, block):
    """The output it starts from; `block` is the mean output of the block."""


@implements(source_of, ToCorner, ToExpectation)
def _(direction, work, block):
    return block


@implements(source_of, BetweenCorners)
def _(direction, work, block):
    return work.away


class Tilt(NamedTuple):
    """Outputs have probabilities in proportion to ``exp(emphasis loss + <weights, feature>)``."""

    weights: np.ndarray
    emphasis: float


class Expected:
    """Scratch: an expectation, and the tilt it is under."""

    tilt: Tilt
    output: Output


class CustomProblem:
    """A user's structure with the verbs that solvers speak. Solvers wrap a structure by themselves.

    Parameters
    ----------
    structure : object
        With `n_samples` and `n_features`, the methods ``max_oracle(w, i)``, ``joint_feature(i, y)`` and
        ``loss(i, y)``, and the true outputs as ``y[i]`` or ``truth(i)``. Optional: `sample_weight`, ``decode(w, i)``,
        ``exp_oracle(v, i, emphasis)``, `exact_oracle`, ``upper_bound(w, i)`` and `fingerprint`; see
        ``docs/own_structure.md``.

    Attributes
    ----------
    structure : object
        As it was given.
    n : int
        Number of samples.
    d : int
        Number of features.
    weight : array of shape (n,)
        Sample weights over their sum.
    truth : list of SparseVector
        Joint features of the true outputs.
    exact : bool
        Whether `max_oracle` never misses the maximum.
    certifiable : bool
        Whether there is a bound on the optimum: the oracle is exact, or there is an `upper_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> from maxmargin.structures import CustomProblem
    >>> class Signs:  # outputs are -1 and 1
    ...     n_samples, n_features, x, y = 3, 1, [2.0, -1.0, 3.0], [1, -1, 1]
    ...     def joint_feature(self, i, y): return np.array([y * self.x[i]])
    ...     def loss(self, i, y): return float(y != self.y[i])
    ...     def max_oracle(self, w, i): return max((-1, 1), key=lambda y: self.loss(i, y) + y * self.x[i] * w[0])
    >>> problem = CustomProblem(Signs())
    >>> problem.n, problem.d, problem.certifiable
    (3, 1, True)
    >>> result = BlockFrankWolfe().solve(problem, 0.1, tol=1e-6, random_state=0)
    >>> print(result.status, result.w.round(3).tolist())
    converged [0.5]
    """

    def __init__(self, structure: Any):
        missing = [f"{name} ({meaning})" for name, meaning in REQUIRED.items() if not hasattr(structure, name)]
        if not hasattr(structure, "y") and not hasattr(structure, "truth"):
            missing.append("y (the true outputs, y[i]) or truth(i)")
        if missing:
            raise TypeError(f"{type(structure).__name__} cannot be learned; it lacks " + "; ".join(missing))
        self.structure = structure
        self.n, self.d = _count(structure, "n_samples"), _count(structure, "n_features")
        weight = np.ones(self.n) if getattr(structure, "sample_weight", None) is None else structure.sample_weight
        self.weight = np.asarray(weight, np.float64)
        if self.weight.shape != (self.n,) or not np.all(self.weight >= 0) or not 0 < self.weight.sum() < np.inf:
            raise ValueError(f"sample_weight must be {self.n} finite numbers >= 0 with a positive sum")
        self.weight = self.weight / self.weight.sum()
        self.truth = [self.true_feature(i) for i in range(self.n)]
        self.exact = bool(getattr(structure, "exact_oracle", True))
        self.certifiable = self.exact or hasattr(structure, "upper_bound")

    def true_output(self, i: int) -> Any:
        try:
            return self.structure.truth(i) if hasattr(self.structure, "truth") else self.structure.y[i]
        except IndexError as error:
            raise ValueError(f"sample {i}: there is no true output, but n_samples is {self.n}") from error

    def true_feature(self, i: int) -> SparseVector:
        y = self.true_output(i)
        if self.loss(i, y) != 0.0:
            raise ValueError(f"sample {i}: the loss of the true output must be 0, got {self.loss(i, y)}")
        return self.feature(i, y)

    def feature(self, i: int, y: Any) -> SparseVector:
        vector = self.structure.joint_feature(i, y)
        try:
            return as_sparse_vector(vector, self.d)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample {i}: joint_feature {error}") from error

    def loss(self, i: int, y: Any) -> float:
        loss = self.structure.loss(i, y)
        if not isinstance(loss, numbers.Real) or not math.isfinite(loss):
            raise ValueError(f"sample {i}: loss must be a finite number, got {loss!r}")
        return float(loss)

    def fingerprint_parts(self) -> list[np.ndarray]:
        """Arrays that tell this problem from others. Of other outputs than the true ones only the user knows."""
        kind = f"{type(self.structure).__module__}.{type(self.structure).__qualname__}"
        own = np.atleast_1d(getattr(self.structure, "fingerprint", 0))
        return [np.array([kind]), np.array([self.d]), own, self.weight, *chain.from_iterable(self.truth)]

    def dimension(self) -> int:
        return self.d

    def new_blocks(self) -> CustomBlocks:
        return CustomBlocks(list(self.truth), np.zeros(self.n))

    def new_totals(self) -> CustomBlocks:
        nothing = SparseVector(np.empty(0, np.int64), np.empty(0))
        return CustomBlocks([nothing] * self.n, np.zeros(self.n))

    def new_work(self) -> Corners:
        return Corners()

    def find_potentials_with(self, work: Corners, w: np.ndarray, i: int, emphasis: float) -> None:
        work.emphasis = emphasis  # the user's oracle makes its own potentials

    def find_corner(self, work: Corners, w: np.ndarray, i: int) -> float:
        y = self.ask(w, i, work.emphasis)
        work.corner = Output(self.feature(i, y), self.loss(i, y))
        return work.emphasis * work.corner.loss + work.corner.feature.dot(w)

    def ask(self, w: np.ndarray, i: int, emphasis: float) -> Any:
        """The output that maximises ``emphasis loss + <w, feature>``."""
        shown = read_only(w if emphasis in (0.0, 1.0) else w / emphasis)
        return self.structure.decode(shown, i) if emphasis == 0.0 else self.structure.max_oracle(shown, i)

    def offers(self) -> frozenset[Need]:
        expects, decodes = (hasattr(self.structure, name) for name in ("exp_oracle", "decode"))
        return offered_if(bounds=True, expectations=expects, decoding=decodes)

    def new_tilts(self, odds: float) -> list[Tilt]:
        return [Tilt(np.zeros(self.d), -odds)] * self.n

    def new_expectation(self) -> Expected:
        return Expected()

    def find_expectation(
        self, tilts: list[Tilt], expectation: Expected, work: Corners, w: np.ndarray, i: int, eta: float
    ) -> float:
        tilt = Tilt(tilts[i].weights + eta * w, tilts[i].emphasis + eta)
        vector, loss = self.structure.exp_oracle(tilt.weights, i, tilt.emphasis)
        if not isinstance(loss, numbers.Real) or not math.isfinite(loss):
            raise ValueError(f"sample {i}: exp_oracle must give a finite expected loss, got {loss!r}")
        try:
            feature = as_sparse_vector(vector, self.d)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample {i}: the expected joint feature of exp_oracle {error}") from error
        expectation.tilt, expectation.output = tilt, Output(feature, float(loss))
        return expectation.output.value(w)

    def keep_tilt(self, tilts: list[Tilt], expectation: Expected, i: int) -> None:
        tilts[i] = expectation.tilt

    def upper_value(self, work: Corners, w: np.ndarray, i: int, value: float) -> float:
        if self.exact or not hasattr(self.structure, "upper_bound"):
            return value
        bound = float(self.structure.upper_bound(read_only(w), i))
        if not bound >= value - 1e-9 * max(1.0, abs(value)):
            raise ValueError(f"sample {i}: upper_bound is {bound}, but max_oracle found an output of value {value}")
        return max(bound, value)

    def truth_value(self, work: Corners, w: np.ndarray, i: int) -> float:
        return self.truth[i].dot(w)

    def block_value(self, blocks: CustomBlocks, work: Corners, w: np.ndarray, i: int) -> float:
        return float(blocks.loss[i]) + blocks.feature[i].dot(w)

    def measure(self, direction: Any, blocks: CustomBlocks, work: Corners, i: int) -> Change:
        goal = goal_of(direction, work)
        source = source_of(direction, work, Output(blocks.feature[i], float(blocks.loss[i])))
        feature = combine(1.0, goal.feature, -1.0, source.feature)
        return Change(feature.squared_norm(), feature, goal.loss - source.loss)

    def move(
        self,
        direction: Any,
        measured: Change,
        blocks: CustomBlocks,
        work: Corners,
        w: np.ndarray,
        i: int,
        gamma: float,
        scale: float,
    ) -> None:
        measured.feature.add_to(w, -scale * gamma)
        blocks.feature[i] = combine(1.0, blocks.feature[i], gamma, measured.feature)
        blocks.loss[i] += gamma * measured.loss

    def argmax_cost(self) -> float:
        """By timing: what a step costs without the oracle is known of this class, the oracle's cost is not."""
        w, work, calls = np.zeros(self.d), self.new_work(), min(self.n, 5)
        before = time.perf_counter()
        for i in range(calls):
            self.find_corner(work, w, i)
        return (time.perf_counter() - before) / calls / STEP_SECONDS

    def output_bound(self) -> int:
        return sys.maxsize

    def output_bytes(self) -> int:
        """What the features of the true outputs take: a guess at the others'."""
        return sum(feature.indices.nbytes + feature.values.nbytes for feature in self.truth)

    def new_labelings(self, capacity: int) -> list[list[Output]]:
        return [[Output(self.truth[i], 0.0)] * capacity for i in range(self.n)]

    def enlarged(self, labelings: list[list[Output]], filled: np.ndarray, capacity: int) -> list[list[Output]]:
        return [slots + [slots[0]] * (capacity - len(slots)) for slots in labelings]

    def keep_corner(self, labelings: list[list[Output]], work: Corners, i: int, j: int) -> None:
        labelings[i][j] = work.corner

    def take_corner(self, labelings: list[list[Output]], work: Corners, i: int, j: int) -> None:
        work.corner = labelings[i][j]

    def take_away(self, labelings: list[list[Output]], work: Corners, i: int, j: int) -> None:
        work.away = labelings[i][j]

    def is_corner(self, labelings: list[list[Output]], work: Corners, i: int, j: int) -> bool:
        return labelings[i][j].equals(work.corner)

    def slot_value(self, labelings: list[list[Output]], work: Corners, w: np.ndarray, i: int, j: int) -> float:
        return labelings[i][j].value(w)

    def accumulate(self, totals: CustomBlocks, blocks: CustomBlocks, i: int, amount: float) -> None:
        totals.feature[i] = combine(1.0, totals.feature[i], amount, blocks.feature[i])
        totals.loss[i] += amount * blocks.loss[i]

    def corner_loss(self, work: Corners, i: int) -> float:
        return work.corner.loss

    def add_block(self, blocks: CustomBlocks, work: Corners, i: int, scale: float, mass: float, w: np.ndarray) -> None:
        self.truth[i].add_to(w, scale * mass)
        blocks.feature[i].add_to(w, -scale)

    def add_corner(self, work: Corners, i: int, scale: float, w: np.ndarray) -> None:
        self.truth[i].add_to(w, scale)
        work.corner.feature.add_to(w, -scale)


def read_only(w: np.ndarray) -> np.ndarray:
    """The loop's own w for a user's method: one that wrote into it would falsify the certificate."""
    shown = w.view()
    shown.flags.writeable = False
    return shown


def _count(structure: Any, name: str) -> int:
    count = getattr(structure, name)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ValueError(f"{type(structure).__name__}.{name} must be a positive integer, got {count!r}")
    return int(count)
