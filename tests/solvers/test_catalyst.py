"""Proximal problems from their definition: accounts, centres, accuracy, restarts, bad parameters."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, Catalyst
from maxmargin.solvers.catalyst import CALM, LONGEST, MANY, NOISY, SHORTEST, WASTEFUL, Extrapolation, OneProblem
from maxmargin.solvers.kept import Whole
from maxmargin.structures import CustomProblem
from structures.pairs import Subsets

from .block_coordinate.test_solver import BOXES, each_problem, pair_of, run, solver_of
from .parts.test_memory import alpha_of, started
from .test_box import bounds_of
from .test_engine import flat
from .test_objective import dual_value

LAM = 0.02  # small enough for acceleration
EASY_LAM = 10.0  # too large for it

each_box = pytest.mark.parametrize("box", BOXES)
interpreted_only = pytest.mark.usefixtures("no_compilation")


def check_accounts(pair, engine, box):
    """A proximal problem from its definition, at the distribution over outputs that the masses are."""
    reference, outer = pair.reference, engine.outer
    lower, upper = bounds_of(BOXES[box], reference.d)
    alpha, kappa, z = alpha_of(pair, engine.memory), outer.sequence.kappa, pair.to_reference(outer.sequence.centre)
    assert reference.is_feasible(alpha)
    vector, loss = reference.weights_of(alpha, 1.0), reference.ell_of(alpha)
    w = np.clip((kappa * z + vector) / (LAM + kappa), pair.to_reference(lower), pair.to_reference(upper))
    point, proximal = engine.dual_point(), 0.5 * kappa * (w - z) @ (w - z)
    assert pair.to_reference(engine.w) == pytest.approx(w, abs=1e-10)
    assert outer.weights(engine.objective, point)[0] == pytest.approx(engine.w, abs=1e-10)
    assert pair.to_reference(point.vector) == pytest.approx(vector, abs=1e-10)
    assert point.loss == pytest.approx(loss, abs=1e-12)

    found, primal = engine.certify()[0], reference.primal(w, LAM)
    dual = loss - w @ vector + 0.5 * LAM * w @ w
    assert np.sum(engine.gaps) == pytest.approx((primal + proximal) - (dual + proximal), abs=1e-9)
    assert found.primal == pytest.approx(primal, abs=1e-9)
    assert found.dual >= dual_value(point, LAM, lower, upper) - 1e-12
    assert found.dual >= dual_value(outer.mixture, LAM, lower, upper) - 1e-12
    estimate = engine.estimate()  # of exact gaps
    assert estimate.primal == pytest.approx(primal, abs=1e-9) and estimate.dual == found.dual


@interpreted_only
@each_box
@pytest.mark.parametrize("step", ["away", "pairwise"])
@each_problem
def test_accounts_of_the_proximal_problems(name, step, box):
    pair, catalyst = pair_of(name), Catalyst(inner=1.5)
    engine = started(pair, LAM, sampling="gap", step=step, acceleration=catalyst, **BOXES[box])
    for _ in range(12):
        for _ in range(7):
            engine.advance(1)
        check_accounts(pair, engine, box)
    before, centre = flat([engine.blocks, engine.memory]), engine.outer.sequence.centre
    while engine.outer.sequence.centre is centre:  # the next problem
        engine.look()
    check_accounts(pair, engine, box)
    assert flat([engine.blocks, engine.memory]) == before


@interpreted_only
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 11, 30])
@pytest.mark.parametrize("inner", [1, 2, 3.5])
def test_passes_are_passes_however_few_samples(n, inner):
    problem = CustomProblem(Subsets(n_samples=n))
    engine = BlockFrankWolfe(acceleration=Catalyst(kappa=1e3, inner=inner)).start(problem, LAM, None, 0, None)
    engine.outer.goal = lambda *found: -1.0  # never solved before its time
    begun = []
    while len(begun) < 6:
        engine.advance(1)
        begun += [engine.steps] * (engine.outer.begun == engine.steps)
    assert np.all(np.abs(np.diff([0, *begun]) - inner * n) <= max(0.5, 0.13 * inner * n))


@interpreted_only
@each_box
def test_a_gap_that_does_not_fall_restarts(box):
    pair = pair_of("multiclass")
    engine = started(pair, LAM, step="pairwise", acceleration=Catalyst(kappa=0.1), **BOXES[box])
    for _ in range(60):
        engine.advance(1)
    outer, alpha, before = engine.outer, engine.outer.sequence.alpha, flat([engine.blocks, engine.memory])
    best = Whole(np.full_like(engine.w, 0.01))
    outer.problems = MANY
    engine.reconsider(1.0, best)
    assert outer.gap == 1.0 and outer.problems == 0 and outer.restarts_at is None  # the first to be compared with
    for problems, gap in ((MANY - 1, 1.0), (MANY, 0.5)):  # too early to say; falls
        outer.problems = problems
        engine.reconsider(gap, best)
        assert outer.restarts_at is None
    outer.problems, passes = MANY, outer.passes
    engine.reconsider(0.5, best)
    assert outer.restarts == 0 and flat([engine.blocks, engine.memory]) == before
    engine.restart()
    assert outer.restarts == 1 and outer.restarts_at is None and outer.passes > passes
    assert np.array_equal(outer.sequence.centre, best.values) and outer.sequence.alpha == pytest.approx(alpha)
    assert flat([engine.blocks, engine.memory]) == before
    check_accounts(pair, engine, box)


@interpreted_only
def test_adaptation():
    def signs(newest, passes=5.0, **settings):
        """Which way kappa and the passes go."""
        solver = BlockFrankWolfe(acceleration=Catalyst(**settings))
        outer = solver.start(pair_of("multiclass").problem, LAM, None, 0, None).outer
        outer.newest, outer.passes = newest, settings.get("inner", passes)
        kappa, before = outer.sequence.kappa, outer.passes
        return np.sign(outer.adapted() - kappa), np.sign(outer.passes - before)

    noisy, steady, calm, wasteful = 0.5 * NOISY, 0.5 * (NOISY + CALM), 0.5 * (CALM + WASTEFUL), 2 * WASTEFUL
    assert signs(noisy) == (0, 1) and signs(noisy, LONGEST) == (0, 0)
    assert signs(wasteful) == (0, -1) and signs(wasteful, SHORTEST) == (1, 0)
    assert signs(calm) == (1, 0) and signs(steady) == (0, 0)
    assert signs(noisy, kappa=1.0) == (0, 1) and signs(calm, kappa=1.0) == (0, 0)
    assert signs(noisy, inner=2.0) == (-1, 0) and signs(wasteful, inner=2.0) == (0, 0)
    for newest in (noisy, steady, calm, wasteful):
        assert signs(newest, kappa=1.0, inner=2.0) == (0, 0)


LAMBDA = 0.3


@pytest.mark.parametrize("kappas", [[2.0] * 20, np.linspace(0.1, 9, 20), 0.01 * 2.0 ** np.arange(20)], ids=str)
def test_extrapolation(kappas):
    rng = np.random.default_rng(0)
    w = rng.normal(size=5)
    sequence = Extrapolation(LAMBDA, kappas[0], w)
    assert np.array_equal(sequence.centre, w)
    alpha, stiff = np.sqrt(LAMBDA / (LAMBDA + kappas[0])), LAMBDA + kappas[0]
    assert sequence.alpha == pytest.approx(alpha)
    for kappa in kappas[1:]:
        previous, w = w, rng.normal(size=5)
        sequence.advance(w, kappa)
        new, new_stiff = sequence.alpha, LAMBDA + kappa
        assert new**2 * new_stiff == pytest.approx((1 - new) * alpha**2 * stiff + new * LAMBDA)  # pillutla18, (27)
        beta = alpha * (1 - alpha) * stiff / (alpha**2 * stiff + new * new_stiff)  # (29)
        assert sequence.centre == pytest.approx(w + beta * (w - previous))
        assert 0 < new <= alpha + 1e-15 < 1 and new**2 >= LAMBDA / new_stiff - 1e-15  # Lemma 21
        if kappas[0] == kappas[-1]:
            root = np.sqrt(LAMBDA / stiff)
            assert (new, beta) == pytest.approx((root, (1 - root) / (1 + root)))
        alpha, stiff = new, new_stiff


@pytest.mark.parametrize("kappa", [0.1, 3.0, 100.0])
def test_exact_proximal_steps_have_the_accelerated_rate(kappa):
    hessian = LAMBDA + np.array([0.0, 0.1, 1.0, 50.0])
    w = np.array([3.0, -2.0, 1.0, 5.0])
    bound = 0.5 * (hessian + LAMBDA) @ w**2  # the optimum is 0, at 0
    sequence = Extrapolation(LAMBDA, kappa, w)
    for _ in range(60):
        w = kappa * sequence.centre / (hessian + kappa)
        bound *= 1 - np.sqrt(LAMBDA / (LAMBDA + kappa))
        assert 0.5 * hessian @ w**2 <= bound * (1 + 1e-9)  # pillutla18, Thm. 16, with exact solutions
        sequence.advance(w, kappa)


@interpreted_only
@each_problem
def test_easy_problems_are_not_accelerated(name):
    plain, left_alone = (
        run(name, solver_of("gap", "fw", averaged="averaged", acceleration=one), 20, EASY_LAM, random_state=0)
        for one in (None, "catalyst")
    )
    assert "kappa" not in left_alone.history and isinstance(left_alone.state.outer, OneProblem)
    for column in ("primal", "dual"):
        assert np.array_equal(left_alone.history[column], plain.history[column])
    asked = run(name, solver_of("gap", "fw", acceleration=Catalyst(kappa=1.0)), 20, EASY_LAM, random_state=0)
    assert np.all(asked.history["kappa"] == 1.0)


@interpreted_only
@pytest.mark.parametrize("lam", [LAM, EASY_LAM])
def test_oracle_calls_are_counted_with_those_that_measure_curvature(lam):
    structure = Subsets()
    solver = BlockFrankWolfe(averaging="weighted", acceleration="catalyst", gap_every=3)
    assert solver.solve(structure, lam, tol=0, max_passes=7, random_state=0).n_oracle_calls == structure.calls


BAD = {
    "acceleration": "x",
    "acceleration by a number": 3,
    "acceleration by a bool": True,
    "acceleration by a class": Catalyst,
    "kappa negative": Catalyst(kappa=-1),
    "kappa 0": Catalyst(kappa=0),
    "kappa NaN": Catalyst(kappa=np.nan),
    "kappa infinite": Catalyst(kappa=np.inf),
    "kappa a bool": Catalyst(kappa=True),
    "kappa a word": Catalyst(kappa="much"),
    "inner 0": Catalyst(inner=0),
    "inner NaN": Catalyst(inner=np.nan),
    "inner infinite": Catalyst(inner=np.inf),
    "inner a bool": Catalyst(inner=True),
}


@interpreted_only
@pytest.mark.parametrize("kind", BAD)
def test_bad_parameters_are_named(kind):
    with pytest.raises(ValueError, match=kind.split()[0]):
        BlockFrankWolfe(acceleration=BAD[kind]).solve(pair_of("chain").problem, LAM)


@interpreted_only
def test_fixed_steps_are_refused():
    with pytest.raises(ValueError, match=r"line_search=False .*acceleration"):
        BlockFrankWolfe(line_search=False, acceleration="catalyst").solve(pair_of("chain").problem, LAM)
