"""Weights for every lam, at most eps above the optimum: against the optimum under many lam."""

import numpy as np
import pytest

from maxmargin.solvers import regularization_path
from structures.pairs import Subsets

from ..path.checks import BOXES, LAMS, PAIRWISE, SOLVERS, check_path, pair_of

pytestmark = pytest.mark.usefixtures("no_compilation")

FEW = LAMS[:40]


def follow(name, solver=PAIRWISE, **options):
    options = {"eps": 0.1, "relative": False, "lam_min": 0.01, "random_state": 0} | options
    return regularization_path(pair_of(name).problem, solver, **options)


@pytest.mark.parametrize("kind", SOLVERS)
@pytest.mark.parametrize("name", ["chain", "multiclass", "custom"])
def test_eps_approximate(name, kind):
    check_path(follow(name, SOLVERS[kind]()), name, 0.1)


@pytest.mark.parametrize("kind", ["batch", "pairwise", "averaged", "catalyst"])
@pytest.mark.parametrize("box", ["positive", "negative"])
@pytest.mark.parametrize("name", ["chain masked", "multiclass weighted", "custom"])
def test_eps_approximate_with_signs(name, box, kind):
    check_path(follow(name, SOLVERS[kind](**BOXES[box])), name, 0.1, FEW, box)


@pytest.mark.parametrize("name", ["chain weighted", "multiclass weighted", "custom weighted"])
def test_eps_approximate_with_sample_weights(name):
    check_path(follow(name, "auto"), name, 0.1, FEW)


@pytest.mark.parametrize(("eps", "kappa"), [(1.0, 0.9), (0.3, 0.05), (0.1, 0.5), (0.02, 0.98), (1e-3, 0.3)])
def test_every_eps_and_kappa(eps, kappa):
    path = follow("multiclass", eps=eps, kappa=kappa)
    check_path(path, "multiclass", eps, FEW)
    assert np.all(path.gaps <= kappa * eps + 1e-12)


def test_breakpoints_are_solved_to_nine_tenths_of_eps():
    paths = [follow("chain", **options) for options in ({}, {"kappa": 0.9}, {"kappa": 0.7})]
    assert np.array_equal(paths[0].breakpoints, paths[1].breakpoints)
    assert not np.array_equal(paths[0].breakpoints, paths[2].breakpoints)


def test_the_bound_is_used_up_at_the_next_breakpoint():
    # or else more of them than needed were solved
    path = follow("chain")
    for j, lam in enumerate(path.breakpoints[1:]):
        assert path._pieces[j].bracket.gap(lam) == pytest.approx(0.1, rel=1e-6)


def test_fewer_breakpoints_than_with_the_papers_step():
    # osokin16, (12): the gap grows by (1 - rho)(H - l) with l of the same dual point, while rho = lam'/lam
    path = follow("chain")
    for j, lam in enumerate(path.breakpoints[1:]):
        piece = path._pieces[j]
        left = 0.1 - piece.bracket.gap(piece.lam)
        spread = piece.bracket.hinge - 0.5 * piece.lam * piece.bracket.square
        if spread > left:
            assert lam <= piece.lam * (1 - left / spread) + 1e-9


def test_attributes_agree():
    path = follow("chain")
    pair = pair_of("chain")
    assert len(path) == len(path.breakpoints) == len(path.gaps) == len(path.hinges) == len(path.norms)
    for j, lam in enumerate(path.breakpoints):
        w = pair.to_reference(path.weights(j))
        assert np.array_equal(path.coef_at(lam), path.weights(j))
        assert path.norms[j] == pytest.approx(np.linalg.norm(w), abs=1e-12)
        hinge = pair.reference.primal(w, lam) - lam / 2 * w @ w
        assert path.hinges[j] == pytest.approx(hinge, abs=1e-10)
    assert np.array_equal(path.weights(-1), path.weights(len(path) - 1))
    with pytest.raises(IndexError):
        path.weights(len(path))


def test_oracle_calls_are_counted():
    structure = Subsets()
    path = regularization_path(structure, PAIRWISE, lam_min=0.01, random_state=0)
    # outside are those that time the oracle, where a solver is to be chosen: here none
    assert path.oracle_calls.sum() == structure.calls
    assert path.oracle_calls.sum() >= 5 * path.passes.sum()
    assert np.all(path.seconds >= 0)


class TestEnds:
    def test_hinge(self):
        path = follow("multiclass", lam_min=None)
        assert (path.ended, path.lam_end) == ("hinge", 0.0)
        assert path.hinges[-1] <= 0.1 < path.hinges[-2]
        for lam in (1e-4, 1e-12, 1e-300):
            # no optimum is below 0, and this one goes to 0 with lam
            w = path.coef_at(lam)
            assert pair_of("multiclass").reference.primal(w, lam) <= path.gap_at(lam) + path.dual_at(lam) + 1e-12
            assert 0 <= path.gap_at(lam) <= 0.1
            assert np.array_equal(w, path.weights(-1))

    def test_hinge_under_a_large_eps(self):
        path = follow("chain", eps=100.0, lam_min=None)
        assert (path.ended, path.lam_end, len(path)) == ("hinge", 0.0, 1)
        check_path(path, "chain", 100.0, FEW)

    def test_default_lam_min(self):
        path = follow("custom", eps=0.3, lam_min=None)
        assert path.ended == "lam_min"
        assert path.lam_end < 1e-6 * path.breakpoints[0] <= path.breakpoints[-1]

    def test_given_lam_min(self):
        path = follow("chain", lam_min=0.5)
        assert path.ended == "lam_min"
        assert path.lam_end < 0.5 <= path.breakpoints[-1]

    def test_lam_min_above_the_first_breakpoint(self):
        path = follow("chain", lam_min=1e6)
        assert (path.ended, len(path)) == ("lam_min", 1)
        check_path(path, "chain", 0.1, FEW)

    @pytest.mark.parametrize("lam_min", [0.01, 0.5])
    def test_below_the_end_there_are_no_weights(self, lam_min):
        path = follow("chain", lam_min=lam_min)
        below = path.lam_end * (1 - 1e-9)
        for method in (path.coef_at, path.gap_at, path.primal_at, path.dual_at):
            with pytest.raises(ValueError, match=r"ends at lam = .*\(lam_min\).*resume"):
                method(below)
        path.coef_at(path.lam_end)

    @pytest.mark.parametrize("lam", [0, -1.0, np.nan, True, "1", None])
    def test_lam_must_be_positive(self, lam):
        with pytest.raises(ValueError, match="lam must be a number > 0"):
            follow("multiclass", lam_min=1.0).coef_at(lam)

    def test_no_weights_for_infinite_lam(self):
        path = follow("multiclass")
        assert not path.coef_at(np.inf).any()
        assert path.gap_at(np.inf) == pytest.approx(0.0, abs=1e-12)

    def test_repr_says_how(self):
        assert "hinge" in repr(follow("multiclass"))
        assert "smallest lam" in repr(follow("chain", lam_min=1.0))
