"""Stochastic and batch subgradient descent, step by step against dense textbook versions, and at their rates."""

import numpy as np
import pytest

from maxmargin.solvers import Decay, Subgradient
from reference import subgradient_descent
from structures.pairs import COST, chain_pair, multiclass_pair

from ..conftest import (
    EXACT,
    KINDS,
    LAM,
    MORE_PROBLEMS,
    PROBLEMS,
    Complete,
    check_uncertified,
    named_pair,
    optimum,
    visits,
    walk,
)
from ..test_box import bounds_of, boxed_optimum

pytestmark = pytest.mark.usefixtures("no_compilation")

LENGTHS = {
    "pegasos": ("pegasos", lambda k, n: 1 / (LAM * (k + 1))),
    "decay": (Decay(gamma0=2.5, t0=1.5), lambda k, n: 2.5 / (1 + k / (1.5 * n))),
    "decay slow": (Decay(0.3, 50), lambda k, n: 0.3 / (1 + k / (50 * n))),
}
BOXES = {
    "free": {},
    "positive": {"positive": slice(None, None, 2)},
    "boxed": {"lower": -0.05, "upper": 0.1},
    "away from 0": {"lower": 0.05, "upper": 0.3},
}
each_kind = pytest.mark.parametrize("name", KINDS)
each_length = pytest.mark.parametrize("length", LENGTHS)


def dense(pair, asked, length, steps_in_pass, lam=LAM, box=None):
    """The textbook iterates, with weights in the library's order."""
    lower, upper = bounds_of(box or {}, pair.reference.d)
    bounds = {"lower": pair.to_reference(lower), "upper": pair.to_reference(upper)}
    rule = LENGTHS[length][1]
    found = subgradient_descent(
        pair.reference, lam, asked, lambda k: rule(k, steps_in_pass), oracle=pair.oracle, **bounds
    )
    return [[pair.from_reference(row) for row in rows] for rows in (found.w, found.average)]


def check_steps(found, pair, iterates, averages):
    for candidates, w, average in zip(found, iterates, averages, strict=True):
        for one, expected in ((candidates[0], w), (candidates[-1], average)):
            assert one.w == pytest.approx(expected, abs=1e-10)
            assert one.primal == pytest.approx(pair.reference.primal(pair.to_reference(expected), LAM), abs=1e-9)
            assert np.isnan(one.dual)


@each_length
@each_kind
@pytest.mark.parametrize("sampling", ["uniform", "permutation"])
def test_steps_are_those_of_the_textbook(name, length, sampling):
    pair = named_pair(name)
    n = pair.reference.n
    asked = visits(sampling, 0, n, 3 * n)
    found = walk(Subgradient(LENGTHS[length][0], sampling=sampling), pair, 3 * n)
    check_steps(found, pair, *dense(pair, asked, length, n))


@each_length
@each_kind
def test_batch_steps_are_those_of_the_textbook(name, length):
    pair = named_pair(name)
    n = pair.reference.n
    found = walk(Subgradient(LENGTHS[length][0], batch=True), pair, 8, stride=n)
    check_steps(found, pair, *dense(pair, [range(n)] * 8, length, 1))


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("batch", [False, True])
def test_projected_steps_are_those_of_the_textbook(box, batch):
    for name in ("chain weighted", "complete weighted"):
        pair = named_pair(name)
        n = pair.reference.n
        asked = [range(n)] * 8 if batch else visits("uniform", 0, n, 3 * n)
        # away from 0, a first step of 1/lam would forget where it starts: that is kept
        for length in ("decay",) if box == "away from 0" else ("pegasos", "decay"):
            solver = Subgradient(LENGTHS[length][0], batch=batch, **BOXES[box])
            found = walk(solver, pair, len(asked), stride=n if batch else 1)
            check_steps(found, pair, *dense(pair, asked, length, 1 if batch else n, box=BOXES[box]))


def test_long_steps_do_not_shrink_the_scale_away():
    # a factor of 0.1 a step: 1e-600 after all
    pair = named_pair("multiclass weighted")
    LENGTHS["constant"] = (Decay(0.9 / LAM, 1e12), lambda k, n: 0.9 / LAM / (1 + k / (1e12 * n)))
    try:
        iterates, averages = dense(pair, visits("uniform", 0, 6, 600), "constant", 6)
    finally:
        del LENGTHS["constant"]
    engine = Subgradient(Decay(0.9 / LAM, 1e12)).start(pair.problem, LAM, None, 0, None)
    engine.advance(600)
    last, average = engine.certify()
    assert last.w == pytest.approx(iterates[-1], abs=1e-9)
    assert average.w == pytest.approx(averages[-1], abs=1e-6)  # sums lose digits while the scale falls to 1e-9


def test_without_averaging_the_iterate_alone_is_returned():
    pair = named_pair("chain")
    for candidates in walk(Subgradient(averaging=None), pair, 6):
        assert len(candidates) == 1
    with_average = walk(Subgradient(), pair, 6)
    assert [one[0].w.tolist() for one in with_average] == [
        one[0].w.tolist() for one in walk(Subgradient(averaging=None), pair, 6)
    ]


@pytest.mark.parametrize("name", ["chain", "multiclass weighted", "tree featured", "complete weighted"])
def test_chunks_do_not_matter(name):
    pair = named_pair(name)
    ends = []
    for strides in ([12], [1] * 12, [5, 1, 6]):
        engine = Subgradient(sampling="permutation").start(pair.problem, LAM, None, 0, None)
        for stride in strides:
            engine.advance(stride)
        ends.append([one.w for one in engine.certify()])
    for end in ends[1:]:
        for one, other in zip(end, ends[0], strict=True):
            assert one == pytest.approx(other, abs=1e-12)


RATED = [name for name in PROBLEMS | MORE_PROBLEMS if name not in ("chain halves", "custom", "custom weighted")]


@pytest.mark.parametrize("name", RATED)
@pytest.mark.parametrize("batch", [False, True])
def test_averages_come_close_to_the_optimum(name, batch):
    pair, lam = named_pair(name), 0.5
    best = optimum(name, lam)
    solver = Subgradient(batch=batch, gap_every=20)
    result = solver.solve(pair.problem, lam, max_passes=100, random_state=0, tol=10.0)
    check_uncertified(result)  # whatever the tolerance
    assert result.n_passes == 100
    primal = result.history["primal"]
    assert np.all(primal >= best - EXACT) and np.all(np.diff(primal) <= 0)
    assert result.primal == pytest.approx(pair.reference.primal(pair.to_reference(result.w), lam), abs=1e-11)
    # lacoste12, eq. (6): 2 G^2 / (lam (T + 1)), G^2 = E |n c_i psi|^2; in expectation
    spread = [np.max(np.linalg.norm(psi, axis=1)) for psi in pair.reference.psi]
    lengths = pair.reference.n * pair.reference.shares * spread
    square = np.mean(lengths) ** 2 if batch else np.mean(lengths**2)
    steps = 100 * (1 if batch else pair.reference.n)
    assert result.primal - best <= 2 * square / (lam * (steps + 1))
    assert result.primal - best <= 4e-2


@pytest.mark.parametrize("box", ["positive", "boxed", "away from 0"])
@pytest.mark.parametrize("name", ["chain weighted", "multiclass", "complete"])
def test_projected_averages_come_close_to_the_optimum_of_the_box(name, box):
    pair, lam = named_pair(name), 0.5
    lower, upper = bounds_of(BOXES[box], pair.reference.d)
    best = boxed_optimum(pair, lam, lower, upper)
    result = Subgradient(**BOXES[box]).solve(pair.problem, lam, max_passes=150, random_state=0)
    assert np.all(lower <= result.w) and np.all(result.w <= upper)
    assert -EXACT <= result.primal - best <= 2e-2


REPEATS = {
    "chain": (lambda **given: chain_pair(cost=COST, **given), [2, 0, 1, 3], [0, 0, 2, 3, 3, 3]),
    "multiclass": (lambda **given: multiclass_pair(cost=COST, **given), [1, 0, 2, 1, 0, 1], [0, 2, 2, 3, 5]),
}


@pytest.mark.parametrize("kind", REPEATS)
def test_integer_weight_is_repetition_in_a_batch(kind):
    make, weights, repeats = REPEATS[kind]
    weighted, repeated = make(sample_weight=weights), make(repeats=repeats)
    runs = [
        Subgradient(batch=True, gap_every=1).solve(pair.problem, LAM, max_passes=10).history["primal"]
        for pair in (weighted, repeated)
    ]
    assert runs[0] == pytest.approx(runs[1], abs=1e-10)


@pytest.mark.parametrize("kind", REPEATS)
def test_weights_are_those_of_the_expected_step(kind):
    # from one point, the mean over the samples of all stochastic steps is the batch step
    make, weights, _ = REPEATS[kind]
    pair, rng = make(sample_weight=weights), np.random.default_rng(0)
    w = pair.to_reference(rng.normal(size=pair.reference.d))
    options = {"length": lambda k: 0.7, "oracle": pair.oracle, "start": w}
    single = [subgradient_descent(pair.reference, LAM, [i], **options).w[1] for i in range(pair.reference.n)]
    batch = subgradient_descent(pair.reference, LAM, [range(pair.reference.n)], **options).w[1]
    assert np.mean(single, axis=0) == pytest.approx(batch, abs=1e-12)


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("averaging", [None, "weighted"])
def test_every_oracle_call_is_counted(batch, averaging):
    structure = Complete()
    result = Subgradient(averaging=averaging, batch=batch, gap_every=3).solve(structure, LAM, max_passes=8)
    assert set(structure.asked) == {"max_oracle"}
    assert result.n_oracle_calls == structure.asked["max_oracle"]
    assert result.history["passes"].tolist() == [0, 3, 6, 8]


BAD = {
    "length": {"length": "pegasus"},
    "length of another type": {"length": 0.1},
    "length None": {"length": None},
    "gamma0": {"length": Decay(0.0)},
    "gamma0 negative": {"length": Decay(-1.0)},
    "gamma0 NaN": {"length": Decay(np.nan)},
    "gamma0 as a word": {"length": Decay("small")},
    "gamma0 not below 1/lam": {"length": Decay(1 / LAM)},
    "t0": {"length": Decay(1.0, 0)},
    "t0 NaN": {"length": Decay(1.0, np.nan)},
    "averaging": {"averaging": "mean"},
    "sampling": {"sampling": "gap"},
    "sampling None": {"sampling": None},
    "gap_every": {"gap_every": 0},
    "lower": {"lower": np.nan},
    "bounds": {"lower": 1.0, "upper": 0.5},
    "positive": {"positive": [99]},
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_parameters_are_named(kind):
    with pytest.raises(ValueError, match=kind.split()[0]):
        Subgradient(**BAD[kind]).solve(named_pair("chain").problem, LAM)
