"""Estimators that learn by steps to expectations."""

import numpy as np
import pytest
from test_graph_cut import make_graphs
from test_solver_choice import make_classes, make_sequences

from maxmargin import ChainSVM, GraphSVM, MulticlassSVM
from maxmargin.solvers import BlockFrankWolfe, ExpectationStep, PartialLinearization
from structures.pairs import interpreted

SOLVERS = {
    "by name": "partial_linearization",
    "warm": PartialLinearization(1.0),
    "cold": PartialLinearization(1e-6, "gap", averaging="weighted"),
    "safeguard": PartialLinearization(None, safeguard=True),
    "part": BlockFrankWolfe("permutation", step=ExpectationStep(0.1)),
}
each_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=list(SOLVERS))


@pytest.fixture(autouse=True)
def no_compilation():
    with interpreted():
        yield


def fitted(kind, solver, **params):
    X, y = make_sequences() if kind is ChainSVM else make_classes()
    given = {"solver": solver, "lam": 0.1, "tol": 1e-2, "max_passes": 100, "random_state": 0}
    return kind(**given | params).fit(X, y), X, y


@each_solver
@pytest.mark.parametrize("kind", [MulticlassSVM, ChainSVM])
def test_fits_and_predicts(kind, solver):
    model, X, y = fitted(kind, solver)
    assert model.score(X, y) == 1.0
    assert (model.status_ == "converged") == (model.gap_ <= 1e-2)
    exact, *_ = fitted(kind, "bcpfw", tol=1e-8, max_passes=1000)
    assert model.dual_ <= exact.primal_ + 1e-10
    assert model.primal_ >= exact.dual_ - 1e-10
    assert model.primal_ - exact.primal_ <= model.gap_ + 1e-8


@pytest.mark.parametrize("kind", [MulticlassSVM, ChainSVM])
@pytest.mark.parametrize("tau", [None, 0.1])
@pytest.mark.filterwarnings("ignore:stopped after")
def test_linear_kernels_take_the_same_steps(kind, tau):
    plain, *_ = fitted(kind, PartialLinearization(tau), max_passes=8, tol=0)
    kernel, *_ = fitted(kind, PartialLinearization(tau), max_passes=8, tol=0, kernel="linear")
    assert kernel.primal_ == pytest.approx(plain.primal_, abs=1e-8)
    assert kernel.dual_ == pytest.approx(plain.dual_, abs=1e-8)


@pytest.mark.parametrize("inference", ["cut", "lp"])
def test_graphs_without_expectations_are_refused(inference):
    X, y, *_ = make_graphs()
    with pytest.raises(TypeError, match="expectations"):
        GraphSVM(inference=inference, solver="partial_linearization", lam=0.1).fit(X, y)


def test_graphs_by_junction_trees():
    X, y, *_ = make_graphs()
    given = {"inference": "junction", "lam": 0.1, "random_state": 0, "max_passes": 60, "tol": 1e-3}
    model, other = (GraphSVM(solver=solver, **given).fit(X, y) for solver in ("partial_linearization", "bcpfw"))
    assert model.dual_ <= other.primal_ + 1e-12 and other.dual_ <= model.primal_ + 1e-12
    assert np.isfinite(model.gap_)
