"""SVRG on smoothed objectives: certificates, optima, its floor, going on, structures of users, what is refused."""

import itertools
import math

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import ChainSVM, GraphSVM
from maxmargin.datasets import load_dates
from maxmargin.solvers import SVRG, BlockFrankWolfe, get_solver
from maxmargin.structures import EntropySmoothing, L2Smoothing, make_multiclass_problem
from maxmargin.structures.rows import KernelRows
from reference.smoothing import Entropy, Squares, floor_of, gap_at, hinge_optimum
from structures.pairs import COST, K, Subsets, chain_pair, interpreted, multiclass_pair

from .conftest import check_uncertified
from .smoothing_cases import Complete, Ranked, case, check_certificates, flat, solution
from .test_approximate import Bounded, Greedy
from .test_two_speeds import assert_close, assert_equal

plain_python = pytest.mark.usefixtures("no_compilation")
LAM = 0.3
BUILT_IN = ["chain", "chain weighted", "chain masked", "multiclass weighted", "tree featured", "cycle"]
BOTH = [(name, kind) for name in [*BUILT_IN, "ranked", "ranked weighted"] for kind in ("l2", "entropy")]
LISTED = [(name, "l2") for name in ("matching weighted", "box", "proposals")]
each_run = pytest.mark.parametrize(("name", "kind"), [*BOTH, *LISTED])
FEW = [("chain weighted", "l2"), ("chain masked", "entropy"), ("multiclass weighted", "l2"), ("ranked", "entropy")]
each_of_few = pytest.mark.parametrize(("name", "kind"), FEW)


def run(name, solver, passes, lam=LAM, **options):
    options = {"tol": 0, "random_state": 0} | options
    return solver.solve(case(name).problem, lam, max_passes=passes, **options)


def theirs(kind, mu, top_k=None):
    return Entropy(mu) if kind == "entropy" else Squares(mu, top_k)


# what it is


def test_presets_and_parameters():
    assert type(get_solver("svrg")) is SVRG
    solver = SVRG()
    assert (solver.smoothing, solver.mu, solver.top_k, solver.lipschitz, solver.gap_every) == ("l2", None, 5, None, 10)
    assert set(solver.get_params()) == {"smoothing", "mu", "top_k", "lipschitz", "gap_every"}
    given = SVRG(EntropySmoothing(0.3), gap_every=2)
    assert clone(given).get_params() == given.get_params()
    assert SVRG("entropy", 0.1, 3, lipschitz=2.0).get_params()["mu"] == 0.1
    assert SVRG.certifies


@pytest.mark.parametrize("bound", [{"positive": [0]}, {"lower": 0.0}, {"upper": 1.0}], ids=str)
def test_bounds_are_no_parameters(bound):
    with pytest.raises(TypeError, match=next(iter(bound))):
        SVRG(**bound)


@plain_python
def test_weights_that_must_be_positive_are_refused():
    X = [(np.eye(3), [(0, 1), (1, 2)])]
    with pytest.raises(ValueError, match="no bounds"):
        GraphSVM(inference="cut", solver="svrg", lam=0.1).fit(X, [np.array([0, 1, 1])])


# certificates


@plain_python
@each_run
def test_every_record_encloses_the_optimum(name, kind):
    records = []
    result = run(name, SVRG(kind, gap_every=4), 24, callbacks=[records.append])
    check_certificates(result, name, LAM)
    assert result.status == "max_passes"
    reference = case(name).reference
    for record in records:
        found = reference.primal(case(name).to_reference(record.w), LAM)
        assert record.primal == pytest.approx(found, abs=1e-10)
    assert result.history["primal"][-1] < result.history["primal"][0]
    assert result.gap < result.history["gap"][0]
    assert 24 <= result.n_passes < 26


@plain_python
@each_of_few
@pytest.mark.parametrize("top_k", [1, 2])
def test_certificates_stand_where_top_k_is_not_enough(name, kind, top_k):
    solver = SVRG("l2", 1.0, top_k, gap_every=3)
    result = run(name, solver, 15)
    check_certificates(result, name, LAM)
    assert np.all((result.history["inexact"] >= 0) & (result.history["inexact"] <= 1))
    assert top_k > 1 or result.history["inexact"][0] > 0


@plain_python
@pytest.mark.parametrize("name", ["chain masked", "multiclass weighted", "tree featured", "ranked weighted"])
@pytest.mark.parametrize("kind", ["l2", "entropy"])
def test_gaps_are_at_most_those_of_the_smoothed_distributions(name, kind):
    records = []
    result = run(name, SVRG(kind, 0.5, 100, gap_every=2), 12, callbacks=[records.append])
    assert np.all(result.history["mu"] == 0.5)
    reference, smoother = case(name).reference, theirs(kind, 0.5)
    first = gap_at(reference, np.zeros(reference.d), LAM, smoother)
    assert records[0].gap <= first + 1e-9
    for record in records[:-1]:  # the last one may have weights of another scale
        assert record.gap <= gap_at(reference, case(name).to_reference(record.w), LAM, smoother) + 1e-9


@plain_python
@each_of_few
def test_columns_of_the_history(name, kind):
    history = run(name, SVRG(kind, 0.4, 2, gap_every=2), 8).history
    assert {"mu", "lipschitz", "inexact"} <= set(history)
    assert len({len(column) for column in history.values()}) == 1
    assert np.all(history["mu"] == 0.4)
    assert np.all((history["lipschitz"] > 0) & (history["lipschitz"] < np.inf))
    assert np.all((history["inexact"] >= 0) & (history["inexact"] <= 1))
    assert kind == "l2" or np.all(history["inexact"] == 0)
    calls = np.diff(history["oracle_calls"])
    assert np.all(calls >= 2 * case(name).reference.n)


# optima


OPTIMA = [("multiclass weighted", "l2", 0.02), ("ranked", "l2", 0.05), ("multiclass weighted", "entropy", 0.005)]


@plain_python
@pytest.mark.parametrize(("name", "kind", "mu"), OPTIMA)
def test_a_small_mu_reaches_the_optimum_of_the_qp(name, kind, mu):
    # where the optimum is not at a kink of a sample's hinge, a small mu is as good as none
    lam = 2.0
    result = run(name, SVRG(kind, mu, 10, gap_every=200), 4000, lam, tol=1e-5)
    check_certificates(result, name, lam)
    assert result.status == "converged"
    assert result.primal - solution(name, lam)[1] <= 1e-5


@plain_python
@pytest.mark.parametrize(
    ("name", "kind"), [*itertools.product(["multiclass", "ranked", "chain masked"], ["l2", "entropy"])]
)
def test_a_constant_mu_leaves_a_floor_of_mu_d(name, kind):
    reference, lam, mu = case(name).reference, 1.0, 0.2
    result = run(name, SVRG(kind, mu, 100, gap_every=100), 300, lam)
    check_certificates(result, name, lam)
    assert result.gap <= floor_of(reference, theirs(kind, mu)) + 1e-3


@plain_python
@each_run
def test_the_default_gets_near_the_optimum(name, kind):
    result, best = run(name, SVRG(kind, gap_every=50), 100, 1.0), solution(name, 1.0)[1]
    check_certificates(result, name, 1.0)
    assert result.primal - best <= 0.8 * (result.history["primal"][0] - best)


@plain_python
@pytest.mark.parametrize("kind", ["l2", "entropy"])
def test_a_lipschitz_constant_that_is_too_small_falsifies_nothing(kind):
    for lipschitz in (1e-6, 1e-2):
        solver = SVRG(kind, 0.1, lipschitz=lipschitz, gap_every=5)
        try:
            result = run("multiclass weighted", solver, 20)
        except FloatingPointError:
            continue
        check_certificates(result, "multiclass weighted", LAM)


@plain_python
@pytest.mark.parametrize("kind", ["l2", "entropy"])
def test_tol_stops_with_a_certificate(kind):
    result = run("multiclass weighted", SVRG(kind, 0.01, gap_every=5), 2000, 1.0, tol=0.05)
    assert result.status == "converged"
    assert result.gap <= 0.05 < result.history["gap"][-2]


@plain_python
@pytest.mark.parametrize("kind", ["l2", "entropy"])
def test_an_integer_weight_is_repetition_at_the_optimum(kind):
    weights, repeats = [1, 2, 0, 1, 3, 1], [0, 1, 1, 3, 4, 4, 4, 5]
    pairs = multiclass_pair(1, cost=COST, sample_weight=weights), multiclass_pair(1, cost=COST, repeats=repeats)
    one, other = (
        SVRG(kind, 0.02, gap_every=100).solve(pair.problem, 2.0, tol=1e-4, max_passes=3000, random_state=0)
        for pair in pairs
    )
    best = pairs[0].reference.solve(2.0)[1]
    assert best == pytest.approx(pairs[1].reference.solve(2.0)[1], abs=1e-7)
    for result in (one, other):
        assert result.primal - best <= result.gap + 1e-9
        assert result.gap <= 0.02 * math.log(K) + 1e-3
    assert abs(one.primal - other.primal) <= max(one.gap, other.gap) + 1e-9


@plain_python
def test_a_single_sample_and_a_single_output():
    for repeats in ([0], [1, 1]):
        pair = multiclass_pair(cost=COST, repeats=repeats)
        result = SVRG("entropy", 0.01).solve(pair.problem, 1.0, tol=0, max_passes=50, random_state=0)
        assert result.dual <= pair.reference.solve(1.0)[1] + 1e-8 <= result.primal + 2e-8


# lam = 0


@plain_python
@pytest.mark.parametrize(("name", "kind"), [*FEW, ("matching", "l2")])
def test_without_regularisation_nothing_is_certified(name, kind):
    result = run(name, SVRG(kind, 0.1, gap_every=20), 100, 0.0)
    check_uncertified(result)
    reference = case(name).reference
    w = case(name).to_reference(result.w)
    best = hinge_optimum(reference)[1]
    assert result.primal == pytest.approx(reference.primal(w, 0.0), abs=1e-10)
    start = reference.primal(np.zeros(reference.d), 0.0)
    assert best - 1e-9 <= result.primal < 0.9 * start + 0.1 * best
    assert np.all(np.diff(result.history["primal"]) <= 1e-12)


@plain_python
@pytest.mark.parametrize("lam", [-1e-3, np.nan, np.inf], ids=str)
def test_bad_lam_is_named(lam):
    with pytest.raises(ValueError, match="lam"):
        run("multiclass", SVRG(), 5, lam)


@plain_python
def test_others_still_need_regularisation():
    with pytest.raises(ValueError, match="lam"):
        BlockFrankWolfe().solve(case("multiclass").problem, 0.0)


# seeds, going on, two speeds


@plain_python
@each_of_few
def test_the_same_seed_is_the_same_run(name, kind):
    # where hardly any output has a share but the best, gradients do not change, nor does an order matter
    one, same, other = (run(name, SVRG(kind, 2.0, gap_every=2), 12, random_state=seed) for seed in (7, 7, 8))
    assert_equal(one, same)
    assert not np.array_equal(one.w, other.w)


@plain_python
@pytest.mark.parametrize(("name", "kind"), [*FEW, ("box", "l2")])
@pytest.mark.parametrize(("one", "other", "gap_every"), [(10, 10, 10), (7, 6, 1)])
@pytest.mark.parametrize("lam", [LAM, 0.0])
def test_parts_of_a_run_are_the_whole(name, kind, one, other, gap_every, lam):
    solver = SVRG(kind, 0.3, gap_every=gap_every)
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
@each_of_few
def test_where_certificates_are_asked_for_changes_no_step(name, kind):
    often, rarely = (run(name, SVRG(kind, 0.3, gap_every=every), 12) for every in (1, 12))
    assert often.state.steps == rarely.state.steps
    assert flat(often.state.draws) == flat(rarely.state.draws)


@plain_python
@each_of_few
def test_an_earlier_result_stays_as_it_was(name, kind):
    first = run(name, SVRG(kind), 4)
    before = flat(first.state)
    once, twice = (run(name, SVRG(kind), 4, state=first.state, random_state=None) for _ in range(2))
    assert flat(first.state) == before
    assert flat(once.state) == flat(twice.state)


@plain_python
@each_of_few
@pytest.mark.parametrize(("before", "after"), [(0.3, 0.03), (0.3, 3.0), (0.0, 0.3), (0.3, 0.0)])
def test_going_on_under_another_lam(name, kind, before, after):
    state = run(name, SVRG(kind, 0.5), 10, before).state
    result = run(name, SVRG(kind, 0.5, gap_every=3), 9, after, state=state)
    if after > 0:
        check_certificates(result, name, after)
    else:
        check_uncertified(result)


@plain_python
def test_going_on_with_another_smoothing():
    state = run("chain masked", SVRG("entropy", 1.0), 10).state
    for solver in (SVRG("entropy", 0.1, gap_every=3), SVRG("l2", 0.1, gap_every=3)):
        check_certificates(run("chain masked", solver, 9, state=state), "chain masked", LAM)


@plain_python
def test_states_of_others_are_refused():
    state = run("multiclass", SVRG(), 3).state
    with pytest.raises(ValueError, match="state belongs to other data"):
        run("multiclass weighted", SVRG(), 3, state=state)
    with pytest.raises(TypeError, match="state"):
        run("multiclass", SVRG(), 3, state=run("multiclass", BlockFrankWolfe(), 3).state)


@plain_python
@each_of_few
def test_a_callback_stops_with_a_valid_certificate(name, kind):
    result = run(name, SVRG(kind, gap_every=1), 50, callbacks=[lambda record: record.passes >= 5])
    assert result.status == "callback"
    assert 5 <= result.n_passes < 7
    check_certificates(result, name, LAM)


SPEEDS = [("chain", SVRG("l2", 0.5, 4)), ("multiclass", SVRG("entropy", 0.5))]


@pytest.mark.parametrize(("name", "solver"), SPEEDS, ids=str)
def test_compiled_agrees_with_interpreted(name, solver):
    with interpreted():
        problem = {"chain": chain_pair, "multiclass": multiclass_pair}[name](cost=COST).problem
        plain = solver.solve(problem, LAM, tol=0, max_passes=12, random_state=0)
    assert_close(solver.solve(problem, LAM, tol=0, max_passes=12, random_state=0), plain)


# structures of users


@plain_python
@pytest.mark.parametrize("kind", ["l2", "entropy"])
@pytest.mark.parametrize("gap_every", [1, 3])
def test_every_oracle_call_is_counted(kind, gap_every):
    structure = Ranked(1)
    result = SVRG(kind, 0.5, gap_every=gap_every).solve(structure, LAM, tol=0, max_passes=8, random_state=0)
    assert result.n_oracle_calls == structure.asked.total()
    used, unused = ("topk_oracle", "exp_oracle") if kind == "l2" else ("exp_oracle", "topk_oracle")
    assert structure.asked[used] >= 8 * 5
    assert structure.asked[unused] == structure.asked["decode"] == 0


@plain_python
def test_a_structure_that_tells_no_sum_is_certified_all_the_same():
    solver = SVRG("entropy", 0.3, gap_every=3)
    told, untold = (solver.solve(kind(1), LAM, tol=0, max_passes=12, random_state=0) for kind in (Ranked, Complete))
    assert untold.w == pytest.approx(told.w, abs=1e-9)
    assert untold.gap == pytest.approx(told.gap, abs=1e-9)
    check_certificates(untold, "ranked", LAM)


@plain_python
def test_structures_without_the_oracle_are_told_its_name():
    with pytest.raises(TypeError, match="topk_oracle"):
        SVRG("l2").solve(Subsets(), LAM)
    with pytest.raises(TypeError, match="exp_oracle"):
        SVRG("entropy").solve(Subsets(), LAM)
    with pytest.raises(TypeError, match="topk_oracle"):
        SVRG(L2Smoothing(0.1, 3)).solve(Complete(), LAM)


class Approximate(Ranked, Greedy):
    """A max oracle that may miss, and a list that misses as much; expectations do not."""

    exact_oracle = False

    def max_oracle(self, w, i):
        return Greedy.max_oracle(self, w, i)

    def topk_oracle(self, w, i, k):
        return sorted(self.outputs[::2], key=lambda y: -self.value(w, i, y))[:k]


class Enclosed(Approximate, Bounded):
    """With a bound on what it misses."""


@plain_python
@pytest.mark.parametrize("kind", ["l2", "entropy"])
def test_approximate_oracles_certify_nothing_without_a_bound(kind):
    result = SVRG(kind, 0.3, gap_every=5).solve(Approximate(1), LAM, tol=1.0, max_passes=10, random_state=0)
    assert (result.status, result.gap) == ("uncertified", np.inf)
    assert result.dual <= solution("ranked", LAM)[1] + 1e-8
    bounded = SVRG(kind, 0.3, gap_every=5).solve(Enclosed(1), LAM, tol=0, max_passes=10, random_state=0)
    reference = case("ranked").reference
    assert np.isfinite(bounded.gap)
    assert bounded.primal >= reference.primal(bounded.w, LAM) - 1e-9
    assert bounded.dual <= solution("ranked", LAM)[1] + 1e-8


# what is refused


BAD = {
    "smoothing": [{"smoothing": "l1"}, {"smoothing": 3}, {"smoothing": EntropySmoothing}],
    "mu": [{"mu": value} for value in (0, -1.0, np.nan, np.inf, "small", True)],
    "top_k": [{"top_k": value} for value in (0, -2, 2.5, "all", True, None)],
    "lipschitz": [{"lipschitz": value} for value in (0, -1.0, np.nan, np.inf, "auto", True)],
    "gap_every": [{"gap_every": value} for value in (0, -1, np.nan)],
}
BAD["mu"] += [{"smoothing": EntropySmoothing(-1.0)}, {"smoothing": L2Smoothing(np.nan, 3)}]
BAD["top_k"] += [{"smoothing": L2Smoothing(0.1, 0)}]


@plain_python
@pytest.mark.parametrize(("name", "options"), [(n, o) for n, many in BAD.items() for o in many], ids=str)
def test_bad_parameters_are_named(name, options):
    with pytest.raises(ValueError, match=name):
        run("multiclass", SVRG(**options), 3)


@plain_python
@pytest.mark.parametrize("kind", ["l2", "entropy"])
def test_kernels_are_refused(kind):
    problem = make_multiclass_problem(KernelRows(np.eye(4)), np.arange(4) % K, K)
    with pytest.raises((TypeError, ValueError), match="kernel"):
        SVRG(kind).solve(problem, LAM)


@plain_python
def test_structures_without_expectations_have_no_entropy():
    for name in ("cut", "matching", "box"):
        with pytest.raises(TypeError, match=r"expectation|exp_oracle"):
            SVRG("entropy").solve(case(name).problem, LAM)


# through an estimator


def test_a_chain_model_learns():
    dates = load_dates(n_train=12, n_test=30)
    model = ChainSVM(lam=0.05, solver="svrg", tol=0.2, max_passes=200, random_state=0)
    model.fit(dates.X_train, dates.y_train)
    assert model.gap_ >= 0 and np.isfinite(model.gap_)
    assert model.score(dates.X_train, dates.y_train) > 0.7
    assert model.score(dates.X_test, dates.y_test) > 0.4
    best = ChainSVM(lam=0.05, solver="bcfw", tol=0.02, random_state=0).fit(dates.X_train, dates.y_train)
    assert model.dual_ <= best.primal_ + 1e-9 and model.primal_ >= best.dual_ - 1e-9


@pytest.mark.parametrize("kind", ["l2", "entropy"])
def test_plain_python_beside_compiled_kernels(kind):
    """Nothing that is compiled is handed objects of a structure that cannot be."""
    result = SVRG(kind, 0.1).solve(Ranked(1), LAM, tol=0, max_passes=4, random_state=0)
    assert result.dual <= result.primal
