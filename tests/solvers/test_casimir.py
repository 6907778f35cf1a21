"""Casimir: the sequence of its centres, its schedules, optima with and without regularisation, what is refused."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import ChainSVM
from maxmargin.datasets import load_dates
from maxmargin.solvers import SVRG, Casimir, get_solver
from maxmargin.solvers.catalyst import Extrapolation
from maxmargin.structures import EntropySmoothing, L2Smoothing, make_multiclass_problem
from maxmargin.structures.rows import KernelRows
from reference.smoothing import (
    GOLDEN,
    Entropy,
    Squares,
    first_alpha,
    floor_of,
    hinge_optimum,
    momentum,
    next_alpha,
)
from structures.pairs import COST, K, Subsets, chain_pair, interpreted, multiclass_pair

from .conftest import check_uncertified
from .smoothing_cases import Complete, Ranked, case, check_certificates, flat, solution
from .test_two_speeds import assert_close, assert_equal

plain_python = pytest.mark.usefixtures("no_compilation")
LAM = 0.3
KINDS = ["l2", "entropy"]
SCHEDULES = ["adaptive", "constant"]
WARM = ["prox-center", "extrapolation", "previous"]
BUILT_IN = ["chain", "chain weighted", "chain masked", "multiclass weighted", "tree featured", "cycle"]
BOTH = [(name, kind) for name in [*BUILT_IN, "ranked", "ranked weighted"] for kind in KINDS]
LISTED = [(name, "l2") for name in ("matching weighted", "box", "proposals")]
each_run = pytest.mark.parametrize(("name", "kind"), [*BOTH, *LISTED])
FEW = [("chain weighted", "l2"), ("chain masked", "entropy"), ("multiclass weighted", "l2"), ("ranked", "entropy")]
each_of_few = pytest.mark.parametrize(("name", "kind"), FEW)
each_schedule = pytest.mark.parametrize("schedule", SCHEDULES)


def run(name, solver, passes, lam=LAM, **options):
    options = {"tol": 0, "random_state": 0} | options
    return solver.solve(case(name).problem, lam, max_passes=passes, **options)


# the sequence of centres


KAPPAS = {
    "constant": [2.0] * 30,
    "rising": list(0.5 * np.arange(1, 31)),
    "doubling": list(0.01 * 2.0 ** np.arange(30)),
    "jumping": [0.1] * 10 + [50.0] * 20,
    "tiny": [1e-9] * 30,
    "huge": [1e9] * 30,
}


@pytest.mark.parametrize("lam", [0.0, 1e-6, 0.3, 10.0])
@pytest.mark.parametrize("kappas", KAPPAS.values(), ids=list(KAPPAS))
def test_centres_are_those_of_the_recursions(lam, kappas):
    rng = np.random.default_rng(0)
    w = rng.normal(size=4)
    sequence = Extrapolation(lam, kappas[0], w)
    alpha = first_alpha(lam, kappas[0])
    assert sequence.alpha == pytest.approx(alpha)
    assert sequence.kappa == kappas[0]
    assert np.array_equal(sequence.centre, w) and np.array_equal(sequence.previous, w)
    for kappa, following in itertools.pairwise(kappas):
        previous, w = w, rng.normal(size=4)
        sequence.advance(w, following)
        new = sequence.alpha
        stiff, next_stiff = kappa + lam, following + lam
        assert new**2 * next_stiff == pytest.approx((1 - new) * alpha**2 * stiff + new * lam)  # (27)
        assert new == pytest.approx(next_alpha(alpha, lam, kappa, following), rel=1e-9)
        beta = momentum(alpha, new, lam, kappa, following)
        assert sequence.centre == pytest.approx(w + beta * (w - previous))  # (28), (29)
        assert 0 < new <= alpha + 1e-12 < 1 and new**2 >= lam / next_stiff - 1e-12  # Lemma 21
        assert np.array_equal(sequence.previous, w) and sequence.kappa == following
        alpha = new


def test_without_regularisation_momentum_grows_to_1():
    sequence = Extrapolation(0.0, 2.0, np.zeros(1))
    assert sequence.alpha == pytest.approx(GOLDEN)
    for k in range(1, 50):
        sequence.advance(np.array([float(k)]), 2.0)
        assert sequence.alpha <= 2 / (k + 3) + 1e-12  # Lemma 52
        beta = sequence.centre[0] - k
        assert 0 < beta < 1
    assert beta > 0.9


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_the_first_centre_is_a_copy(lam):
    w = np.ones(3)
    sequence = Extrapolation(lam, 1.0, w)
    w[:] = 7.0
    assert np.array_equal(sequence.centre, np.ones(3))


# what it is


def test_presets_and_parameters():
    assert type(get_solver("casimir")) is Casimir
    solver = Casimir()
    expected = {
        "schedule": "adaptive",
        "smoothing": "l2",
        "mu": None,
        "top_k": 5,
        "kappa": None,
        "warm_start": "prox-center",
        "inner_budget": None,
        "stop": "budget",
        "lipschitz": None,
        "gap_every": 10,
    }
    assert solver.get_params() == expected
    given = Casimir("constant", "entropy", 0.5, 3, kappa=2.0, warm_start="previous", stop="gradient")
    assert clone(given).get_params() == given.get_params()
    assert Casimir.certifies


@pytest.mark.parametrize("bound", [{"positive": [0]}, {"lower": 0.0}, {"upper": 1.0}], ids=str)
def test_bounds_are_no_parameters(bound):
    with pytest.raises(TypeError, match=next(iter(bound))):
        Casimir(**bound)


# certificates


@plain_python
@each_run
@each_schedule
def test_every_record_encloses_the_optimum(name, kind, schedule):
    records = []
    result = run(name, Casimir(schedule, kind, gap_every=4), 16, callbacks=[records.append])
    check_certificates(result, name, LAM)
    assert result.status == "max_passes"
    for record in records:
        found = case(name).reference.primal(case(name).to_reference(record.w), LAM)
        assert record.primal == pytest.approx(found, abs=1e-10)
    assert result.history["primal"][-1] < result.history["primal"][0]
    assert 16 <= result.n_passes < 18


@plain_python
@each_of_few
@pytest.mark.parametrize("top_k", [1, 2])
def test_certificates_stand_where_top_k_is_not_enough(name, kind, top_k):
    result = run(name, Casimir("adaptive", "l2", 1.0, top_k, gap_every=3), 15)
    check_certificates(result, name, LAM)
    assert np.all((result.history["inexact"] >= 0) & (result.history["inexact"] <= 1))
    assert top_k > 1 or np.any(result.history["inexact"] > 0)


@plain_python
@pytest.mark.parametrize("warm_start", WARM)
@pytest.mark.parametrize("stop", ["budget", "gradient"])
@each_schedule
def test_certificates_stand_however_problems_begin_and_end(warm_start, stop, schedule):
    for name, inner_budget in (("multiclass weighted", 2), ("chain masked", 1.5)):
        solver = Casimir(schedule, warm_start=warm_start, stop=stop, inner_budget=inner_budget, gap_every=5)
        result = run(name, solver, 40)
        check_certificates(result, name, LAM)
        assert result.gap < result.history["gap"][0]


# schedules


@plain_python
@each_of_few
@pytest.mark.parametrize("lam", [LAM, 0.0])
@each_schedule
def test_columns_of_the_history(name, kind, lam, schedule):
    history = run(name, Casimir(schedule, kind, 0.8, kappa=0.6, gap_every=2), 30, lam).history
    assert {"mu", "kappa", "lipschitz", "inexact"} <= set(history)
    assert len({len(column) for column in history.values()}) == 1
    assert np.all(history["mu"] > 0) and history["mu"][0] <= 0.8 + 1e-12
    assert np.all(np.diff(history["mu"]) <= 1e-15)  # Thm. 16: never rises
    assert np.all(np.diff(history["kappa"]) >= -1e-12)  # never falls
    assert history["kappa"][0] == pytest.approx(0.6)
    assert np.all((history["lipschitz"] > 0) & (history["lipschitz"] < np.inf))
    assert np.all((history["inexact"] >= 0) & (history["inexact"] <= 1))
    if schedule == "constant":
        assert np.all(history["mu"] == 0.8) and np.all(history["kappa"] == 0.6)
    else:
        assert lam > 0 or history["mu"][-1] < history["mu"][0]  # where mu falls geometrically, it may have to wait
        assert lam == 0 or np.all(history["kappa"] == 0.6)


@plain_python
@pytest.mark.parametrize("kind", KINDS)
def test_adaptive_smoothing_is_that_of_the_corollaries(kind):
    mu, kappa = 0.8, 0.6
    solver = Casimir("adaptive", kind, mu, kappa=kappa, stop="gradient", gap_every=1)
    history = run("multiclass weighted", solver, 60).history
    root = math.sqrt(LAM / (LAM + kappa))
    problems = 2 * np.log(history["mu"] / mu) / np.log(1 - root / 2)  # Cor. 18: mu_k = mu eta^(k/2)
    assert problems == pytest.approx(np.round(problems), abs=1e-6)
    assert problems[0] <= 1.5 and problems[-1] > 2
    history = run("multiclass weighted", solver, 60, 0.0).history
    problems = mu / history["mu"]  # Cor. 20: mu_k = mu/k, kappa_k = k kappa
    assert problems == pytest.approx(np.round(problems), abs=1e-6)
    assert history["kappa"] == pytest.approx(kappa * problems)
    assert problems[0] == pytest.approx(1.0) and problems[-1] > 2


@plain_python
@pytest.mark.parametrize("kind", KINDS)
def test_a_larger_budget_of_a_problem_means_fewer_problems(kind):
    mus = [
        run("multiclass weighted", Casimir("adaptive", kind, 1.0, kappa=1.0, inner_budget=budget), 40).history["mu"][-1]
        for budget in (1, 4, 10)
    ]
    assert mus[0] < mus[1] < mus[2]


# optima


EASY = [("multiclass weighted", "l2"), ("multiclass weighted", "entropy"), ("ranked", "l2")]


@plain_python
@pytest.mark.parametrize(("name", "kind"), EASY)
def test_the_optimum_of_the_qp_is_reached(name, kind):
    lam = 2.0
    solver = Casimir("adaptive", kind, 1.0, 10, kappa=lam, stop="gradient", gap_every=100)
    result = run(name, solver, 3000, lam, tol=1e-5)
    check_certificates(result, name, lam)
    assert result.status == "converged"
    assert result.primal - solution(name, lam)[1] <= 1e-5


@plain_python
@pytest.mark.parametrize(("name", "kind"), EASY)
def test_the_optimum_of_the_qp_is_reached_by_default(name, kind):
    # one pass a problem, mu falling with every one: steps, in proportion to mu, must not add up to too little
    lam = 2.0
    result = run(name, Casimir(smoothing=kind, gap_every=100), 3000, lam, tol=1e-5)
    check_certificates(result, name, lam)
    assert result.status == "converged"
    assert result.primal - solution(name, lam)[1] <= 1e-5


@plain_python
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["multiclass", "chain masked"])
def test_an_optimum_at_kinks_is_approached(name, kind):
    # there the gap is in proportion to mu
    lam = 1.0
    result = run(name, Casimir("adaptive", kind, 1.0, 100, stop="gradient", gap_every=50), 600, lam)
    check_certificates(result, name, lam)
    assert result.primal - solution(name, lam)[1] <= 0.02
    assert result.gap <= 0.1 * result.history["gap"][0]


@plain_python
@each_run
def test_the_default_gets_near_the_optimum(name, kind):
    result, best = run(name, Casimir(smoothing=kind, gap_every=50), 100, 1.0), solution(name, 1.0)[1]
    check_certificates(result, name, 1.0)
    assert result.primal - best <= 0.8 * (result.history["primal"][0] - best)


@plain_python
@pytest.mark.parametrize(("name", "kind"), [*itertools.product(["multiclass", "ranked", "chain masked"], KINDS)])
def test_a_constant_mu_leaves_a_floor_of_mu_d(name, kind):
    reference, lam, mu = case(name).reference, 1.0, 0.2
    result = run(name, Casimir("constant", kind, mu, 100, gap_every=100), 400, lam)
    check_certificates(result, name, lam)
    smoother = Entropy(mu) if kind == "entropy" else Squares(mu)
    assert result.gap <= floor_of(reference, smoother) + 1e-3


@plain_python
@pytest.mark.parametrize("kind", KINDS)
def test_an_integer_weight_is_repetition_at_the_optimum(kind):
    weights, repeats = [1, 2, 0, 1, 3, 1], [0, 1, 1, 3, 4, 4, 4, 5]
    pairs = multiclass_pair(1, cost=COST, sample_weight=weights), multiclass_pair(1, cost=COST, repeats=repeats)
    solver = Casimir("constant", kind, 0.02, gap_every=100)
    one, other = (solver.solve(pair.problem, 2.0, tol=1e-4, max_passes=1500, random_state=0) for pair in pairs)
    best = pairs[0].reference.solve(2.0)[1]
    for result in (one, other):
        assert result.dual - 1e-8 <= best <= result.primal + 1e-8
        assert result.gap <= 0.02 * math.log(K) + 1e-3
    assert abs(one.primal - other.primal) <= max(one.gap, other.gap) + 1e-9


# lam = 0


LINEAR = [("multiclass weighted", "l2", 1.0), ("multiclass weighted", "entropy", 1.0)]


@plain_python
@pytest.mark.parametrize(("name", "kind", "mu"), LINEAR)
def test_without_regularisation_the_optimum_of_the_linear_program_is_reached(name, kind, mu):
    result = run(name, Casimir("adaptive", kind, mu, 10, kappa=0.5, gap_every=100), 1500, 0.0)
    check_uncertified(result)
    best = hinge_optimum(case(name).reference)[1]
    assert -1e-9 <= result.primal - best <= 1e-3


@plain_python
@pytest.mark.parametrize("kind", KINDS)
def test_without_regularisation_a_constant_mu_reaches_the_optimum_but_for_the_floor(kind):
    name, mu = "multiclass weighted", 2e-3
    result = run(name, Casimir("constant", kind, mu, 10, gap_every=100), 2000, 0.0)
    check_uncertified(result)
    best = hinge_optimum(case(name).reference)[1]
    assert -1e-9 <= result.primal - best <= mu * math.log(K) + 1e-3


@plain_python
@pytest.mark.parametrize(("name", "kind"), [*FEW, ("matching", "l2"), ("box", "l2"), ("chain", "entropy")])
@each_schedule
def test_without_regularisation_nothing_is_certified(name, kind, schedule):
    result = run(name, Casimir(schedule, kind, gap_every=20), 100, 0.0)
    check_uncertified(result)
    reference = case(name).reference
    w = case(name).to_reference(result.w)
    best = hinge_optimum(reference)[1]
    start = reference.primal(np.zeros(reference.d), 0.0)
    assert result.primal == pytest.approx(reference.primal(w, 0.0), abs=1e-10)
    assert best - 1e-9 <= result.primal < start
    assert np.all(np.diff(result.history["primal"]) <= 1e-12)
    assert np.all(np.isfinite(result.w))


@plain_python
@pytest.mark.parametrize("lam", [-1e-3, np.nan, np.inf], ids=str)
def test_bad_lam_is_named(lam):
    with pytest.raises(ValueError, match="lam"):
        run("multiclass", Casimir(), 5, lam)


# long runs


@plain_python
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("error")
def test_mu_may_fall_until_scores_over_mu_overflow(kind):
    # eta^(k/2) underflows after some thousand problems
    result = run("multiclass weighted", Casimir("adaptive", kind, 1e-280, kappa=0.01, gap_every=50), 200, 1.0)
    check_certificates(result, "multiclass weighted", 1.0)
    assert np.all(result.history["mu"] > 0) and np.all(np.isfinite(result.w))


# seeds, going on, two speeds


@plain_python
@each_of_few
@each_schedule
def test_the_same_seed_is_the_same_run(name, kind, schedule):
    solver = Casimir(schedule, kind, 2.0, gap_every=2)
    one, same, other = (run(name, solver, 12, random_state=seed) for seed in (7, 7, 8))
    assert_equal(one, same)
    assert not np.array_equal(one.w, other.w)


GOING_ON = {
    "adaptive": Casimir("adaptive", "l2", 0.5),
    "constant entropy": Casimir("constant", "entropy", 0.3, kappa=0.7, warm_start="previous"),
    "gradient": Casimir("adaptive", "l2", 0.5, stop="gradient", warm_start="extrapolation"),
    "budget": Casimir("adaptive", "entropy", inner_budget=3),
}


@plain_python
@pytest.mark.parametrize("kind", GOING_ON)
@pytest.mark.parametrize("name", ["chain masked", "multiclass weighted", "ranked"])
@pytest.mark.parametrize(("one", "other", "gap_every"), [(10, 10, 10), (7, 6, 1)])
@pytest.mark.parametrize("lam", [LAM, 0.0])
def test_parts_of_a_run_are_the_whole(name, kind, one, other, gap_every, lam):
    solver = clone(GOING_ON[kind]).set_params(gap_every=gap_every)
    first = run(name, solver, one, lam)
    second = run(name, solver, other, lam, state=first.state, random_state=None)
    whole = run(name, solver, one + other, lam)
    assert flat(second.state) == flat(whole.state)
    if lam > 0:  # without a certificate, what is returned at the end may be a multiple of what came along
        assert min(first.primal, second.primal) == whole.primal
    assert lam == 0 or max(first.dual, second.dual) == whole.dual
    assert np.array_equal(whole.w, second.w if second.primal <= first.primal else first.w)
    assert first.n_passes + second.n_passes == whole.n_passes


@plain_python
@pytest.mark.parametrize("kind", GOING_ON)
def test_an_earlier_result_stays_as_it_was(kind):
    first = run("chain masked", GOING_ON[kind], 5)
    before = flat(first.state)
    once, twice = (run("chain masked", GOING_ON[kind], 5, state=first.state, random_state=None) for _ in range(2))
    assert flat(first.state) == before
    assert flat(once.state) == flat(twice.state)


@plain_python
@each_of_few
@pytest.mark.parametrize(("before", "after"), [(0.3, 0.03), (0.3, 3.0), (0.0, 0.3), (0.3, 0.0)])
def test_going_on_under_another_lam(name, kind, before, after):
    state = run(name, Casimir("adaptive", kind, 0.5), 10, before).state
    result = run(name, Casimir("adaptive", kind, 0.5, gap_every=3), 9, after, state=state)
    if after > 0:
        check_certificates(result, name, after)
    else:
        check_uncertified(result)


@plain_python
def test_going_on_with_other_parameters():
    state = run("chain masked", Casimir(), 10).state
    for solver in (Casimir("constant", "entropy", 0.1), Casimir(kappa=3.0), Casimir(warm_start="previous")):
        result = run("chain masked", clone(solver).set_params(gap_every=3), 9, state=state)
        check_certificates(result, "chain masked", LAM)


@plain_python
@each_of_few
def test_a_callback_stops_with_a_valid_certificate(name, kind):
    solver = Casimir(smoothing=kind, gap_every=1)
    result = run(name, solver, 50, callbacks=[lambda record: record.passes >= 5])
    assert result.status == "callback"
    assert 5 <= result.n_passes < 7
    check_certificates(result, name, LAM)
    uncertified = run(name, solver, 50, 0.0, callbacks=[lambda record: record.passes >= 5])
    assert uncertified.status == "callback" and uncertified.gap == np.inf and np.isnan(uncertified.dual)


SPEEDS = [("chain", Casimir("adaptive", "l2", 0.5, 4)), ("multiclass", Casimir("constant", "entropy", 0.5))]


@pytest.mark.parametrize(("name", "solver"), SPEEDS, ids=str)
def test_compiled_agrees_with_interpreted(name, solver):
    with interpreted():
        problem = {"chain": chain_pair, "multiclass": multiclass_pair}[name](cost=COST).problem
        plain = solver.solve(problem, LAM, tol=0, max_passes=12, random_state=0)
    assert_close(solver.solve(problem, LAM, tol=0, max_passes=12, random_state=0), plain)


# structures of users


@plain_python
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", ["budget", "gradient"])
def test_every_oracle_call_is_counted(kind, stop):
    structure = Ranked(1)
    solver = Casimir("adaptive", kind, 0.5, stop=stop, gap_every=3)
    result = solver.solve(structure, LAM, tol=0, max_passes=8, random_state=0)
    assert result.n_oracle_calls == structure.asked.total()
    assert structure.asked["topk_oracle" if kind == "l2" else "exp_oracle"] >= 8 * 5


@plain_python
def test_structures_without_the_oracle_are_told_its_name():
    with pytest.raises(TypeError, match="topk_oracle"):
        Casimir().solve(Subsets(), LAM)
    with pytest.raises(TypeError, match="topk_oracle"):
        Casimir(smoothing=L2Smoothing(0.1, 3)).solve(Complete(), LAM)
    with pytest.raises(TypeError, match="exp_oracle"):
        Casimir(smoothing="entropy").solve(Subsets(), 0.0)
    for lam in (LAM, 0.0):  # with it, all is well
        assert Casimir(smoothing="entropy").solve(Complete(), lam, tol=0, max_passes=4).n_passes >= 4


# what is refused


BAD = {
    "schedule": [{"schedule": value} for value in ("decreasing", None, 3)],
    "smoothing": [{"smoothing": value} for value in ("l1", 3, EntropySmoothing)],
    "mu": [{"mu": value} for value in (0, -1.0, np.nan, np.inf, "small", True)],
    "top_k": [{"top_k": value} for value in (0, -2, 2.5, "all", True, None)],
    "kappa": [{"kappa": value} for value in (0, -1.0, np.nan, np.inf, "large", True)],
    "warm_start": [{"warm_start": value} for value in ("center", "prox_center", None, True)],
    "inner_budget": [{"inner_budget": value} for value in (0, -1, np.nan, np.inf, "n", True)],
    "stop": [{"stop": value} for value in ("gap", None, 1e-3)],
    "lipschitz": [{"lipschitz": value} for value in (0, -1.0, np.nan, np.inf, "auto", True)],
    "gap_every": [{"gap_every": value} for value in (0, -1, np.nan)],
}


@plain_python
@pytest.mark.parametrize(("name", "options"), [(n, o) for n, many in BAD.items() for o in many], ids=str)
def test_bad_parameters_are_named(name, options):
    for lam in (LAM, 0.0):
        with pytest.raises(ValueError, match=name):
            run("multiclass", Casimir(**options), 3, lam)


@plain_python
@pytest.mark.parametrize("kind", KINDS)
def test_kernels_are_refused(kind):
    problem = make_multiclass_problem(KernelRows(np.eye(4)), np.arange(4) % K, K)
    with pytest.raises((TypeError, ValueError), match="kernel"):
        Casimir(smoothing=kind).solve(problem, LAM)


@plain_python
def test_states_of_others_are_refused():
    state = run("multiclass", Casimir(), 3).state
    with pytest.raises(ValueError, match="state belongs to other data"):
        run("multiclass weighted", Casimir(), 3, state=state)


@plain_python
def test_going_on_from_svrg_is_refused_or_certified():
    state = run("chain masked", SVRG(), 5).state
    try:
        result = run("chain masked", Casimir(gap_every=3), 9, state=state)
    except TypeError as error:
        assert "state" in str(error)
    else:
        check_certificates(result, "chain masked", LAM)


# through an estimator


def test_a_chain_model_learns():
    dates = load_dates(n_train=12, n_test=30)
    model = ChainSVM(lam=0.05, solver="casimir", tol=0.2, max_passes=200, random_state=0)
    model.fit(dates.X_train, dates.y_train)
    assert model.gap_ >= 0 and np.isfinite(model.gap_)
    assert model.score(dates.X_train, dates.y_train) > 0.7
    assert model.score(dates.X_test, dates.y_test) > 0.4
    best = ChainSVM(lam=0.05, solver="bcfw", tol=0.02, random_state=0).fit(dates.X_train, dates.y_train)
    assert model.dual_ <= best.primal_ + 1e-9 and model.primal_ >= best.dual_ - 1e-9
