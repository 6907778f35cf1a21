"""Box constraints on the weights against the constrained QP."""

from functools import cache

import clarabel
import numpy as np
import pytest
from scipy import sparse

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe
from maxmargin.solvers.box import Box, NoBox, clip, cut_off, make_box, release, same_bounds, truncate
from reference.enumeration import _clarabel

from .conftest import LAM, named_pair, optimum

pytestmark = pytest.mark.usefixtures("no_compilation")

EXACT = 1e-8  # of the QP solver
INFINITE = {"lower": -np.inf, "upper": np.inf}


def bounds_of(box, d):
    """Lower and upper bounds on every weight that a solver's parameters ask for."""
    lower, upper = (np.array(np.broadcast_to(box.get(name, inf), d), float) for name, inf in INFINITE.items())
    lower[box.get("positive", [])] = np.maximum(lower[box.get("positive", [])], 0.0)
    return lower, upper


def boxed_optimum(pair, lam, lower, upper):
    """The optimum with ``lower <= w <= upper`` (in the library's order of weights), exact to 1e-8.

    The epigraph QP is solved; its w, truncated, bounds the optimum from above, and its multipliers bound it from below:
    ``min_w lam/2 |w|^2 + b'alpha - lam <w, A alpha>`` over the box, at the truncated ``A alpha``.
    """
    reference, d = pair.reference, pair.reference.d
    lower, upper = pair.to_reference(lower), pair.to_reference(upper)
    kept = np.flatnonzero(reference.weights > 0)
    losses = np.concatenate([reference.losses[i] for i in kept])
    member = sparse.block_diag([np.ones((len(reference.losses[i]), 1)) for i in kept])
    unit, slack = sparse.identity(d, format="csr"), sparse.csr_matrix((d, len(kept)))
    low, high = np.isfinite(lower), np.isfinite(upper)
    constraints = sparse.vstack(
        [
            sparse.hstack([-np.vstack([reference.psi[i] for i in kept]), -member]),
            sparse.hstack([-unit[low], slack[low]]),
            sparse.hstack([unit[high], slack[high]]),
        ]
    )
    limits = np.concatenate([-losses, -lower[low], upper[high]])
    quadratic = sparse.diags(np.concatenate([np.full(d, lam), np.zeros(len(kept))]))
    linear = np.concatenate([np.zeros(d), reference.shares[kept]])
    x, z = _clarabel(quadratic, linear, constraints, limits, [clarabel.NonnegativeConeT(len(limits))])
    above = reference.primal(np.clip(x[:d], lower, upper), lam)
    alpha = reference._on_simplices(z[: len(losses)], kept)
    v = reference.weights_of(alpha, lam)
    w = np.clip(v, lower, upper)
    below = reference.ell_of(alpha) + lam * (0.5 * w @ w - w @ v)
    assert abs(above - below) <= EXACT * max(1.0, abs(above))
    return (above + below) / 2


BOXES = {
    "positive": {"positive": slice(None, None, 2)},
    "mask": {"positive": lambda d: np.arange(d) % 3 == 0},
    "numbers": {"lower": -0.15, "upper": 0.2},
    "arrays": {"lower": lambda d: np.linspace(-1.0, 0.0, d), "upper": lambda d: np.linspace(0.1, 2.0, d)},
    "away from 0": {"lower": 0.05, "upper": 0.3},
    "below 0": {"upper": -0.02, "lower": -0.5},
    "fixed": {"lower": 0.1, "upper": 0.1},
    "all": {"lower": -0.3, "upper": 0.4, "positive": [0, 1]},
    "one side": {"upper": 0.1},
}


def box_of(kind, d):
    return {name: bound(d) if callable(bound) else bound for name, bound in BOXES[kind].items()}


@cache
def solution(name, kind, lam=LAM):
    pair = named_pair(name)
    return boxed_optimum(pair, lam, *bounds_of(box_of(kind, pair.reference.d), pair.reference.d))


def check_history(pair, box, result, best):
    """Every row certifies; the weights lie in the box and have the value they are said to have."""
    history, (lower, upper) = result.history, bounds_of(box, pair.reference.d)
    assert np.all(history["dual"] <= best + EXACT)
    assert np.all(history["primal"] >= best - EXACT)
    assert np.all(history["primal"] - best <= history["gap"] + EXACT)
    assert np.all(lower <= result.w) and np.all(result.w <= upper)
    assert pair.reference.primal(pair.to_reference(result.w), LAM) == pytest.approx(result.primal, abs=1e-10)


@pytest.mark.parametrize("kind", BOXES)
@pytest.mark.parametrize("name", ["chain weighted", "multiclass", "custom"])
@pytest.mark.parametrize(
    "make",
    [
        lambda **box: FrankWolfe(gap_every=2, **box),
        lambda **box: FrankWolfe(line_search=False, gap_every=2, **box),
        lambda **box: BlockFrankWolfe("permutation", "weighted", gap_every=2, **box),
        lambda **box: BlockFrankWolfe("gap", step="pairwise", safeguard=True, gap_every=2, **box),
    ],
    ids=["batch", "batch fixed", "block averaged", "block pairwise"],
)
def test_certificates_are_those_of_the_constrained_problem(make, name, kind):
    pair = named_pair(name)
    box, best = box_of(kind, pair.reference.d), solution(name, kind)
    result = make(**box).solve(pair.problem, LAM, tol=0, max_passes=12, random_state=0)
    check_history(pair, box, result, best)
    assert result.gap < result.history["gap"][0] or result.history["gap"][0] < 1e-6
    assert best >= optimum(name) - EXACT


def test_the_boxes_bind():
    for name in ("chain weighted", "multiclass", "custom"):
        for kind in ("positive", "numbers", "away from 0", "below 0", "fixed", "all"):
            assert solution(name, kind) > optimum(name) + 1e-4, (name, kind)


@pytest.mark.parametrize("kind", BOXES)
@pytest.mark.parametrize("name", ["multiclass", "custom"])
@pytest.mark.parametrize("step", ["away", "pairwise"])
def test_converges_to_the_constrained_optimum(step, name, kind):
    pair = named_pair(name)
    box = box_of(kind, pair.reference.d)
    solver = BlockFrankWolfe("permutation", step=step, gap_every=20, **box)
    result = solver.solve(pair.problem, LAM, tol=1e-6, max_passes=2000, random_state=0)
    assert result.status == "converged"
    assert result.primal == pytest.approx(solution(name, kind), abs=1e-6 + EXACT)


@pytest.mark.parametrize("kind", BOXES)
def test_dual_values_of_the_iterates_never_fall(kind):
    # with the multipliers kept, the line search maximises a lower bound of the dual; their own step adds to it
    pair = named_pair("chain")
    for step in ("fw", "away", "pairwise"):
        solver = BlockFrankWolfe(step=step, **box_of(kind, pair.reference.d))
        engine = solver.start(pair.problem, LAM, None, 0, None)
        duals = []
        for _ in range(60):
            duals.append(engine.certify()[0].dual)
            engine.advance(1)
        assert np.all(np.diff(duals) >= -1e-13)


def test_a_box_that_does_not_bind_changes_nothing():
    problem = named_pair("multiclass").problem
    plain, wide = (
        BlockFrankWolfe("permutation", "weighted", **box).solve(problem, LAM, tol=0, max_passes=30, random_state=0)
        for box in ({}, {"lower": -100.0, "upper": 100.0})
    )
    assert np.array_equal(plain.w, wide.w)
    assert np.array_equal(plain.history["dual"], wide.history["dual"])


def test_released_weights_are_those_of_the_dual_state():
    rng = np.random.default_rng(0)
    box = make_box(-0.5, 0.5, [3], 8)
    v = rng.normal(size=8)
    w, own = truncate(box, v)
    lower, upper = bounds_of({"lower": -0.5, "upper": 0.5, "positive": [3]}, 8)
    assert np.array_equal(w, np.clip(v, lower, upper))
    assert cut_off(own, w) == pytest.approx((v - w) @ w)
    assert cut_off(own, w) == pytest.approx(np.maximum(v - upper, 0) @ upper - np.maximum(lower - v, 0) @ lower)
    for _ in range(100):
        release(own, w)
        assert w == pytest.approx(v, abs=1e-13)
        step = rng.normal(size=8)
        w += step
        v += step
        clip(own, w)
        assert w == pytest.approx(np.clip(v, lower, upper), abs=1e-13)
    assert not box.cut.any()  # the solver's own


def test_only_bounded_weights_are_listed():
    box = make_box(None, np.array([np.inf, 1.0, np.inf, np.inf]), [2], 4)
    assert isinstance(box, Box)
    assert box.indices.tolist() == [1, 2]
    assert (box.lower.tolist(), box.upper.tolist()) == ([-np.inf, 0.0], [1.0, np.inf])
    for nothing in (make_box(None, None, None, 4), make_box(-np.inf, np.inf, [], 4)):
        assert isinstance(nothing, NoBox)
    assert make_box(0.5, None, [0], 2).lower.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("positive", [[0, 2], np.array([0, 2]), [True, False, True, False], slice(0, 3, 2), [-4, -2]])
def test_ways_to_say_positive(positive):
    assert same_bounds(make_box(None, None, positive, 4), make_box(None, None, [0, 2], 4))


BAD = {
    "positive out of range": ({"positive": [99]}, "positive"),
    "positive mask too short": ({"positive": [True, False]}, "positive"),
    "positive not indices": ({"positive": ["first"]}, "positive"),
    "positive fractional": ({"positive": [0.5]}, "positive"),
    "lower too short": ({"lower": [0.0, 1.0]}, "lower"),
    "upper in two dimensions": ({"upper": np.zeros((2, 2))}, "upper"),
    "lower NaN": ({"lower": np.nan}, "lower"),
    "lower above upper": ({"lower": 1.0, "upper": 0.5}, "bounds"),
    "upper below a positive weight": ({"upper": -1.0, "positive": [3]}, "weight 3"),
    "lower infinite": ({"lower": np.inf}, "bounds"),
    "upper infinitely low": ({"upper": -np.inf}, "bounds"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("solver", [BlockFrankWolfe, FrankWolfe])
def test_bad_bounds_are_named(solver, kind):
    box, named = BAD[kind]
    with pytest.raises(ValueError, match=named):
        solver(**box).solve(named_pair("multiclass").problem, LAM)


@pytest.mark.parametrize("name", ["lower", "upper"])
def test_bounds_that_are_no_numbers_are_named(name):
    with pytest.raises(ValueError, match=name):
        BlockFrankWolfe(**{name: "much"}).solve(named_pair("multiclass").problem, LAM)
