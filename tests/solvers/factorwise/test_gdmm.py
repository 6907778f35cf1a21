"""GDMM and soft constraints: by the book, against independent optima, in pieces, and what cannot be asked."""

import numpy as np
import pytest

from estimators.test_graph_lp import CLIQUE, TRIANGLE, make_graphs
from estimators.test_graph_lp import optimum as relaxed_optimum
from maxmargin import ChainSVM, GraphSVM
from maxmargin.solvers import GDMM, SoftBCFW
from maxmargin.solvers.factorwise.rounding import rounded
from maxmargin.structures.factors.oracles import pair_table
from reference.gdmm import GDMM as ByTheBook
from reference.gdmm import Chain
from structures.pairs import COST, chain_pair, graph_pair, interpreted

from ..conftest import LAM, check_bracket, named_pair, optimum, visits

INNER = ["bcfw", "afw"]


def run(name, solver=None, lam=LAM, **options):
    options = {"tol": 1e-4, "max_passes": 3000, "random_state": 0} | options
    return (solver or GDMM()).solve(named_pair(name).problem, lam, **options)


@pytest.mark.parametrize("rho", [0.3, 1.0])
def test_a_pass_is_that_of_the_book(rho, no_compilation):
    pair, lam, n = chain_pair(intercept=False, boundary=False, cost=COST), 0.1, 4
    problem = pair.problem
    x, offsets = problem.sites.rows.values, problem.sites.offsets
    chains = []
    for i in range(n):
        at = slice(offsets[i], offsets[i + 1])
        loss = problem.loss_scale[i] * problem.cost[problem.labels[at]]
        chains.append(Chain(x[at], problem.labels[at], loss, problem.weight[i]))
    book = ByTheBook(chains, lam, rho)
    engine = GDMM(rho=rho).start(problem, lam, None, 0, None)
    for order in np.reshape(visits("permutation", 0, n, 20 * n), (-1, n)):
        book.a_pass(order)
        engine.advance(n)
    assert engine.w == pytest.approx(np.concatenate([book.unary.T.ravel(), book.pairs.ravel()]), abs=1e-9)
    apart = [np.abs(chain.violation(t)).sum() for chain in chains for t in range(len(chain.y) - 1)]
    assert engine.apart == pytest.approx(sum(apart) / len(engine.factors.ends), abs=1e-9)


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("name", ["chain", "chain weighted"])
def test_the_optimum_is_that_of_the_enumerated_problem(name, inner, no_compilation):
    result = run(name, GDMM(inner))
    best = optimum(name)
    assert result.status == "converged"
    assert result.primal == pytest.approx(best, abs=1.1e-4) and result.dual == pytest.approx(best, abs=1.1e-4)
    check_bracket(result, best)
    assert result.history["violation"][-1] < 1e-2 * result.history["violation"][1]


@pytest.mark.parametrize("options", [{"nu": 3}, {"search": "exhaustive"}, {"eta": 0.5}, {"rho": 5.0}])
def test_options_lead_to_the_same_optimum(options, no_compilation):
    check_bracket(run("chain", GDMM(**options)), optimum("chain"))
    assert run("chain", GDMM(**options), tol=1e-3).status == "converged"


def test_trees_are_solved_exactly(no_compilation):
    pair = graph_pair("tree", cost=COST, is_sparse=True, sample_weight=[1, 2, 0, 3])
    result = GDMM().solve(pair.problem, LAM, tol=1e-4, max_passes=3000, random_state=0)
    best = pair.reference.solve(LAM)[1]
    assert result.status == "converged"
    check_bracket(result, best)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_cycles_are_solved_as_their_relaxation(n_labels, no_compilation):
    X, y = make_graphs([TRIANGLE, CLIQUE, TRIANGLE, []], n_labels)
    model = GraphSVM(0.1, tol=1e-4, inference="lp", solver="gdmm", random_state=0, max_passes=2000).fit(X, y)
    assert model.status_ == "converged"
    best = relaxed_optimum(X, y, n_labels, 0.1)
    assert model.dual_ - 1e-7 <= best <= model.primal_ + 1e-7


def test_soft_constraints_stop_short_of_the_optimum_the_less_the_more_they_cost(no_compilation):
    best, excess = optimum("chain"), []
    for rho in (0.1, 10.0):
        result = run("chain", SoftBCFW(rho=rho, gap_every=100), max_passes=800)
        check_bracket(result, best)
        excess.append(result.primal - best)
    assert excess[0] > 3 * excess[1] > 0


def test_rounded_links_agree_with_their_sites(no_compilation):
    pair = named_pair("chain weighted")
    engine = GDMM().start(pair.problem, LAM, None, 0, None)
    for _ in range(3):
        engine.advance(engine.n)
    point = rounded(pair.problem, engine.factors, engine.w, LAM)
    factors, labels, weight = engine.factors, pair.problem.labels, pair.problem.weight
    mass = np.zeros((len(labels), 3))
    for j in range(len(labels)):
        at = slice(factors.first[j], factors.first[j] + factors.size[j])
        mass[j, factors.label[at]] = factors.mass[at]
    # over all links, weighted: rows of `truth - pairs` are those of the tails, columns those of the heads
    tails, heads = factors.ends[::2], factors.ends[1::2]
    share = weight[factors.sample_of_link][:, None]
    table = pair_table(pair.problem, point.vector)
    assert table.sum(axis=1) == pytest.approx((share * (np.eye(3)[labels[tails]] - mass[tails])).sum(axis=0))
    assert table.sum(axis=0) == pytest.approx((share * (np.eye(3)[labels[heads]] - mass[heads])).sum(axis=0))


@pytest.mark.parametrize("solver", [GDMM(), GDMM("afw", nu=2), SoftBCFW(search="exhaustive")], ids=str)
def test_compiled_agrees_with_interpreted(solver):
    options = {"tol": 0, "max_passes": 12}
    compiled = run("chain weighted", solver, **options)
    with interpreted():
        plain = run("chain weighted", solver, **options)
    assert compiled.w == pytest.approx(plain.w, abs=1e-9)
    for column in set(plain.history) - {"seconds"}:
        assert compiled.history[column] == pytest.approx(plain.history[column], abs=1e-9), column


@pytest.mark.parametrize("nu", [1, 2])
def test_a_run_in_two_pieces_is_the_run_in_one(nu, no_compilation):
    whole = run("chain", GDMM(nu=nu), tol=0, max_passes=20)
    half = run("chain", GDMM(nu=nu), tol=0, max_passes=10)
    rest = run("chain", GDMM(nu=nu), tol=0, max_passes=10, state=half.state, random_state=None)
    assert rest.w == pytest.approx(whole.w, abs=1e-12)


def test_another_lam_goes_on_from_the_same_duals(no_compilation):
    first = run("chain", tol=1e-3)
    second = run("chain", lam=0.5, tol=1e-3, state=first.state)
    assert second.status == "converged"
    check_bracket(second, optimum("chain", 0.5))


def test_what_cannot_be_taken_apart_is_refused(no_compilation):
    for name in ("chain masked", "multiclass", "cycle", "tree featured", "custom"):
        with pytest.raises(TypeError, match="GDMM needs sites and links"):
            run(name)


@pytest.mark.parametrize(
    "solver", [GDMM("fw"), GDMM(rho=0), GDMM(eta=-1), GDMM(nu=0), GDMM(search="tree"), SoftBCFW(rho=-1.0)], ids=str
)
def test_wrong_parameters_are_refused(solver):
    with pytest.raises(ValueError, match="must be"):
        run("chain", solver)


def test_an_estimator_takes_it_by_name(no_compilation):
    rng = np.random.default_rng(0)
    y = [rng.integers(4, size=5) for _ in range(6)]
    X = [np.eye(4)[labels] + 0.3 * rng.normal(size=(5, 4)) for labels in y]
    model = ChainSVM(solver="gdmm", tol=1e-2, random_state=0).fit(X, y)
    assert model.status_ == "converged" and model.score(X, y) > 0.8
