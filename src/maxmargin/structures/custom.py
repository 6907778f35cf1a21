"""A user's own structure, in plain Python, through the same loops as the built-in ones.

The user writes ``n_samples``, ``n_features``, ``y`` (the true outputs; or a method ``truth(i)``) and three methods:
``max_oracle(w, i)``, ``joint_feature(i, y)`` and ``loss(i, y)``. Here that becomes the verbs of a problem. The dual
state of a block is the expected joint feature, kept sparse.

Some solvers ask for more: ``decode(w, i)``, the output that maximises ``<w, joint_feature(i, y)>`` with no loss, and
``exp_oracle(v, i, emphasis)``, the expected joint feature and the expected loss where outputs have probabilities in
proportion to ``exp(emphasis loss(i, y) + <v, joint_feature(i, y)>)``; and, if it is known, the log of their sum. And
``topk_oracle(w, i, k)``, the k outputs of highest ``loss(i, y) + <w, joint_feature(i, y)>``, best first.

An oracle that may miss the maximum says so with ``exact_oracle = False``. With a method ``upper_bound(w, i)`` on
``max_y loss(i, y) + <w, joint_feature(i, y)>`` the certificate uses the bound; without, there is no certificate.
"""

from __future__ import annotations

import sys
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .._compile import implements, verb
from ..inference.smoothing import smooth_max
from .asked import ROUGHLY, Asked
from .directions import BetweenCorners, ToCorner, ToExpectation
from .needs import Need, offered_if
from .smoothing import EntropySmoothing, L2Smoothing, Smoothed, Untilted, by_entropy
from .sparse_vector import SparseVector, combine, mixture


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


class Answer(NamedTuple):
    """What an oracle found for a sample, and a bound on the values of all outputs."""

    corner: Output
    upper: float


class Corners:
    """Scratch: the corner and the away corner."""

    emphasis: float = 1.0  # of the losses
    corner: Output
    away: Output

    def __init__(self) -> None:
        self.ahead: dict[int, Answer] = {}  # for samples that are about to be asked for, at the weights at hand


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

    weights: Any  # of the features
    emphasis: float


NO_TILT = Tilt(0.0, 0.0)


@verb
def tilt_of(base, i):
    """The tilt of a block."""


@implements(tilt_of, list)
def _(base, i):
    return base[i]


@implements(tilt_of, Untilted)
def _(base, i):
    return NO_TILT


class Expected:
    """Scratch: an expectation, the tilt it is under, and the log of the sum over outputs, NaN where it is not told."""

    tilt: Tilt
    output: Output

    def __init__(self) -> None:
        self.log_sum = np.full(1, np.nan)


@verb
def ask_smoothed(smoothing, problem, room, work, w, i):
    """As ``find_smoothed``, of a user's structure."""


@implements(ask_smoothed, EntropySmoothing)
def _(smoothing, problem, room, work, w, i):
    mean = problem.find_expectation(Untilted(), room, work, w, i, 1.0 / smoothing.mu)
    return by_entropy(smoothing, mean, room.log_sum[0])


@implements(ask_smoothed, L2Smoothing)
def _(smoothing, problem, room, work, w, i):
    asked = problem.best_few(w, i, smoothing.top_k + 1)
    outputs = [Output(problem.feature(i, y), problem.loss(i, y)) for y in asked]
    values = np.array([one.value(w) for one in outputs])
    problem.check_order(values, i)
    shares = np.empty(len(values))
    value, size, exact = smooth_max(values, len(values), smoothing.top_k, smoothing.mu, shares)
    problem.check_corner(values[0], w, i)
    room.output = Output(
        mixture([one.feature for one in outputs[:size]], shares[:size]),
        float(shares[:size] @ [one.loss for one in outputs[:size]]),
    )
    work.corner = outputs[0]
    largest = problem.upper_value(work, w, i, values[0])
    return Smoothed(value, float(shares[:size] @ values[:size]), largest, exact)


class CustomProblem(Asked):
    """A user's structure with the verbs that solvers speak. Solvers wrap a structure by themselves.

    Parameters
    ----------
    structure : object
        With `n_samples` and `n_features`, the methods ``max_oracle(w, i)``, ``joint_feature(i, y)`` and
        ``loss(i, y)``, and the true outputs as ``y[i]`` or ``truth(i)``. Optional: `sample_weight`, ``decode(w, i)``,
        ``exp_oracle(v, i, emphasis)``, ``topk_oracle(w, i, k)``, `exact_oracle`, ``upper_bound(w, i)``,
        `fingerprint` and `releases_lock`; see ``docs/own_structure.md``.

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
        super().__init__(structure)
        self.truth = [self.true_feature(i) for i in range(self.n)]

    def nothing_to_learn(self) -> None:
        """Without weights there is no hinge loss: with losses that mean anything, the oracle cannot be right."""
        raise ValueError(
            f"without weights no sample has a loss: at w = 0, {type(self.structure).__name__}.max_oracle answers "
            "outputs of loss 0 for all samples. It must maximise loss(i, y) + <w, joint_feature(i, y)>: look whether "
            "it minimises, leaves out the loss, or answers the true output; and whether loss is 0 or negative "
            "for all outputs"
        )

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

    def forget_weights(self, work: Corners) -> None:
        work.ahead = {}

    def answer(self, w: np.ndarray, i: int) -> Answer:
        """What will be found at these weights: for others that ask ahead."""
        work = self.new_work()
        value = self.find_corner(work, w, i)
        return Answer(work.corner, self.upper_value(work, w, i, value))

    def find_corner(self, work: Corners, w: np.ndarray, i: int) -> float:
        if i in work.ahead:
            work.corner = work.ahead[i].corner
        else:
            y = self.ask(w, i, work.emphasis)
            work.corner = Output(self.feature(i, y), self.loss(i, y))
        value = work.emphasis * work.corner.loss + work.corner.feature.dot(w)
        self.check_corner(value, w, i)
        return value

    def check_corner(self, value: float, w: np.ndarray, i: int) -> None:
        """An exact oracle never answers worse than the true output: that is one of those it chooses from."""
        truth = self.truth[i].dot(w)
        if self.exact and value < truth - ROUGHLY * max(1.0, abs(truth)):
            raise ValueError(
                f"sample {i}: max_oracle answers an output of value {value:.6g}, but the true output has {truth:.6g}: "
                "it must maximise loss(i, y) + <w, joint_feature(i, y)> over outputs that include the true one; say "
                "exact_oracle = False if it may miss the maximum"
            )

    def offers(self) -> frozenset[Need]:
        has = {name: hasattr(self.structure, name) for name in ("exp_oracle", "topk_oracle", "decode")}
        return offered_if(
            bounds=True,
            weights=True,
            expectations=has["exp_oracle"],
            top_outputs=has["topk_oracle"],
            decoding=has["decode"],
        )

    def new_tilts(self) -> list[Tilt]:
        return [Tilt(np.zeros(self.d), 0.0)] * self.n

    def reweighs(self) -> bool:
        return False  # the user's oracle knows tilts, and a mixture of distributions has none

    def new_expectation(self) -> Expected:
        return Expected()

    def find_entry(
        self,
        tilts: list[Tilt],
        blocks: CustomBlocks,
        expectation: Expected,
        work: Corners,
        w: np.ndarray,
        i: int,
        odds: float,
    ) -> float:
        tilts[i] = Tilt(np.zeros(self.d), -odds)
        return self.find_expectation(tilts, expectation, work, w, i, 0.0)

    def find_expectation(
        self, base: list[Tilt] | Untilted, expectation: Expected, work: Corners, w: np.ndarray, i: int, eta: float
    ) -> float:
        before = tilt_of(base, i)
        tilt = Tilt(before.weights + eta * w, before.emphasis + eta * work.emphasis)
        return self.find_under(tilt, expectation, work, w, i)

    def find_between(
        self, tilts: list[Tilt], expectation: Expected, work: Corners, w: np.ndarray, i: int, eta: float
    ) -> float:
        before, rest = tilts[i], 1.0 - eta
        tilt = Tilt(rest * before.weights + eta * w, rest * before.emphasis + eta * work.emphasis)
        return self.find_under(tilt, expectation, work, w, i)

    def find_under(self, tilt: Tilt, expectation: Expected, work: Corners, w: np.ndarray, i: int) -> float:
        feature, loss, expectation.log_sum[0] = self.expected(tilt.weights, i, tilt.emphasis)
        expectation.tilt, expectation.output = tilt, Output(feature, loss)
        return work.emphasis * loss + feature.dot(w)

    def tilt_value(self, expectation: Expected, i: int) -> float:
        (weights, emphasis), (feature, loss) = expectation.tilt, expectation.output
        return emphasis * loss + feature.dot(weights)

    def add_expectation(self, expectation: Expected, work: Corners, i: int, scale: float, w: np.ndarray) -> None:
        self.truth[i].add_to(w, scale)
        expectation.output.feature.add_to(w, -scale)

    def keep_expectation(self, tilts: list[Tilt], expectation: Expected, i: int, gamma: float) -> None:
        tilts[i] = expectation.tilt

    def new_smoothed(self, smoothing: Any) -> Expected:
        return Expected()

    def find_smoothed(self, smoothing: Any, room: Expected, work: Corners, w: np.ndarray, i: int) -> Smoothed:
        return ask_smoothed(smoothing, self, room, work, w, i)

    def check_order(self, values: np.ndarray, i: int) -> None:
        """The best few outputs come best first."""
        if np.any(np.diff(values) > ROUGHLY * np.maximum(1.0, np.abs(values[1:]))):
            raise ValueError(
                f"sample {i}: topk_oracle must give outputs best first, by loss(i, y) + <w, joint_feature(i, y)>; these"
                f" are worth {', '.join(f'{value:.6g}' for value in values)}"
            )

    def upper_value(self, work: Corners, w: np.ndarray, i: int, value: float) -> float:
        if self.exact or not hasattr(self.structure, "upper_bound"):
            return value
        bound = work.ahead[i].upper if i in work.ahead else self.bound(w, i)
        if not bound >= value - 1e-9 * max(1.0, abs(value)):
            raise ValueError(f"sample {i}: upper_bound is {bound}, but max_oracle found an output of value {value}")
        return max(bound, value)

    def truth_value(self, work: Corners, w: np.ndarray, i: int) -> float:
        return self.truth[i].dot(w)

    def block_value(self, blocks: CustomBlocks, work: Corners, w: np.ndarray, i: int) -> float:
        return work.emphasis * float(blocks.loss[i]) + blocks.feature[i].dot(w)

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

    def add_direction(
        self, direction: Any, blocks: CustomBlocks, work: Corners, i: int, scale: float, w: np.ndarray
    ) -> None:
        self.measure(direction, blocks, work, i).feature.add_to(w, scale)

    def settle_block(self, expectation: Expected, blocks: CustomBlocks, i: int) -> None:
        blocks.feature[i], blocks.loss[i] = expectation.output

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
