"""Paths at the edge of sense: no losses, no features, oracles that may miss, bad parameters."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe, regularization_path
from maxmargin.structures import make_multiclass_problem
from structures.pairs import Subsets

from ..path.checks import PAIRWISE, best, check_lam, pair_of
from ..test_approximate import Bounded, Greedy

pytestmark = pytest.mark.usefixtures("no_compilation")


def follow(name, solver=PAIRWISE, **options):
    options = {"eps": 0.1, "relative": False, "lam_min": 0.01, "random_state": 0} | options
    return regularization_path(pair_of(name).problem, solver, **options)


class TestDegenerate:
    def test_no_losses(self):
        structure = Subsets()
        structure.price[:] = 0.0
        path = regularization_path(structure, PAIRWISE)
        assert (path.ended, path.lam_end, path.worst_gap) == ("hinge", 0.0, 0.0)
        for lam in (1e-300, 1.0, 1e300):
            assert not path.coef_at(lam).any()
            assert path.gap_at(lam) == path.primal_at(lam) == 0.0

    @pytest.mark.parametrize("solver", [PAIRWISE, FrankWolfe()], ids=["block", "batch"])
    @pytest.mark.parametrize("case", ["no features", "all weights fixed", "contradictory pair"])
    def test_no_weights_are_best_under_every_lam(self, case, solver):
        X, y, options = np.random.default_rng(0).normal(size=(2, 3)), np.array([0, 1]), {}
        if case == "no features":
            X, options = 0 * X, {"intercept": False}
        elif case == "all weights fixed":
            solver = type(solver)(lower=0.0, upper=0.0)
        else:
            X[1] = X[0]
        path = regularization_path(make_multiclass_problem(X, y, 2, **options), solver)
        assert (path.lam_end, path.worst_gap) == (0.0, 0.0)
        assert not path.coef_at(1e-6).any()
        assert path.primal_at(1e-6) == path.dual_at(1e-6) == 1.0

    def test_no_weights_are_best_but_not_at_once(self):
        # the same sample with every label: the outputs of the largest losses pull w away from 0
        X = np.random.default_rng(0).normal(size=(1, 3)).repeat(3, axis=0)
        path = regularization_path(make_multiclass_problem(X, np.arange(3), 3), "auto", lam_min=1e-3, random_state=0)
        for lam in np.geomspace(max(path.lam_end, 1e-9), 3 * path.breakpoints[0], 50):
            assert path.dual_at(lam) <= 1 + 1e-12
            assert path.primal_at(lam) - 1 <= path.gap_at(lam) + 1e-12 <= 0.1 * path.primal_at(lam) + 1e-9

    def test_one_sample(self):
        # two classes, psi: min over t of lam/2 t^2 |psi|^2 + max(0, 1 - t |psi|^2)
        x = np.array([[1.0, 0.3]])
        square = 2 * (1 + 0.09 + 1)
        path = regularization_path(make_multiclass_problem(x, np.array([0]), 2), PAIRWISE, eps=0.01, random_state=0)
        assert path.ended == "hinge"
        for lam in np.geomspace(1e-9, 3 * path.breakpoints[0], 200):
            share = min(1.0, lam / square)
            optimum = share - share**2 * square / (2 * lam)
            assert optimum - 1e-12 <= path.primal_at(lam)
            assert path.dual_at(lam) <= optimum + 1e-12
            w = path.coef_at(lam)
            psi = np.outer([1.0, 0.3, 1.0], [1.0, -1.0]).ravel()
            value = lam / 2 * w @ w + max(0.0, 1 - w @ psi)
            assert value - optimum <= path.gap_at(lam) + 1e-12 <= 0.01 + 1e-9

    def test_huge_features(self):
        rng = np.random.default_rng(0)
        problem = make_multiclass_problem(rng.normal(size=(6, 3)) * 1e8, np.arange(6) % 3, 3)
        path = regularization_path(problem, PAIRWISE, random_state=0)
        assert path.ended == "hinge"
        assert np.all(np.diff(path.breakpoints) < 0)
        assert path.worst_gap <= 0.1

    def test_tiny_features(self):
        X = np.random.default_rng(0).normal(size=(6, 3))

        def make(X):
            return make_multiclass_problem(X, np.arange(6) % 3, 3)

        path = regularization_path(make(1e-8 * X), PAIRWISE, random_state=0)
        # the same problem with weights 1e8 times as large and a lam 1e16 times as small
        result = PAIRWISE.solve(make_multiclass_problem(X, np.arange(6) % 3, 3, intercept=False), 1e-3, tol=1e-3)
        if path.lam_end <= 1e-19:
            assert path.dual_at(1e-19) <= result.primal + 1e-9
            assert path.hinges[-1] <= 0.1


class Careless(Bounded):
    """Takes any output that is good enough."""

    def max_oracle(self, w, i):
        highest = max(self.value(w, i, y) for y in self.outputs)
        return next(y for y in self.outputs if self.value(w, i, y) >= highest - 0.05)


class TestApproximateOracles:
    @pytest.mark.parametrize("heuristic", [False, True])
    @pytest.mark.parametrize("solver", [PAIRWISE, FrankWolfe()], ids=["block", "batch"])
    def test_with_a_bound_every_certificate_holds(self, solver, heuristic):
        path = regularization_path(
            Careless(), solver, eps=0.3, relative=False, lam_min=0.05, heuristic=heuristic, random_state=0
        )
        assert path.ended == "lam_min"
        assert path.certify() <= 0.3 or heuristic
        for lam in np.geomspace(path.lam_end, 3 * path.breakpoints[0], 40):
            assert path.gap_at(lam) <= path.worst_gap + 1e-12
            value = pair_of("custom").reference.primal(path.coef_at(lam), lam)
            assert value - best("custom", lam) <= path.gap_at(lam) + 1e-8
            assert path.dual_at(lam) <= best("custom", lam) + 1e-8

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_what_the_bound_does_not_allow_ends_early(self):
        path = regularization_path(Bounded(), PAIRWISE, eps=1.5, relative=False, max_passes=30, random_state=0)
        assert path.ended == "max_passes"
        for lam in np.geomspace(path.lam_end, 3 * path.breakpoints[0], 40):
            value = pair_of("custom").reference.primal(path.coef_at(lam), lam)
            assert value - best("custom", lam) <= path.gap_at(lam) + 1e-8 <= 1.5 + 1e-8

    def test_bounds_too_loose_for_eps(self):
        with pytest.raises(ValueError, match="raise eps"):
            regularization_path(Bounded(), PAIRWISE, eps=0.005, relative=False)

    def test_bounds_too_loose_for_an_oracle_that_finds_nothing(self):
        class Blind(Bounded):
            def max_oracle(self, w, i):
                return self.y[i]

        with pytest.raises(ValueError, match="raise eps"):
            regularization_path(Blind(), PAIRWISE, eps=0.1, relative=False)

    @pytest.mark.parametrize("heuristic", [False, True])
    def test_without_a_bound_they_are_refused(self, heuristic):
        with pytest.raises(ValueError, match="upper_bound"):
            regularization_path(Greedy(), PAIRWISE, heuristic=heuristic)


@pytest.mark.parametrize("box", [{"lower": -0.1}, {"upper": 0.2}, {"lower": 0.1, "upper": 0.1}, {"lower": [-1.0] * 15}])
def test_bounds_that_are_no_signs_are_refused(box):
    with pytest.raises(ValueError, match="bounds must be 0 or infinite"):
        follow("multiclass", BlockFrankWolfe(**box))


BAD = {
    "eps": [0, -0.1, np.nan, True, "0.1", None],
    "kappa": [0, 1, -0.1, 1.5, np.nan, True, "0.5"],
    "lam_min": [0, -1, np.nan, True, "1"],
    "max_passes": [0, -1, np.nan, True, "1", None],
    "max_seconds": [np.nan],
    "n_jobs": [0, 1.5],
    "solver": ["newton", 3],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        regularization_path(pair_of("multiclass").problem, **{name: value})


LATE = [("max_seconds", 0), ("max_seconds", -1), ("max_seconds", "1"), ("max_seconds", True)]


@pytest.mark.parametrize(("name", "value"), LATE)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bad_limits_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        regularization_path(pair_of("multiclass").problem, **{name: value})


@pytest.mark.parametrize("value", [0, -1, np.nan])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bad_limits_are_named_on_a_heuristic_path(value):
    with pytest.raises(ValueError, match="max_passes must be"):
        follow("multiclass", heuristic=True, max_passes=value)


def test_kappa_next_to_one_goes_down_or_is_refused():
    told = []
    try:
        path = follow("multiclass", kappa=1 - 1e-12, callbacks=[lambda one: told.append(one) or len(told) > 50])
    except ValueError as error:
        assert "kappa" in str(error)  # may be refused, too
    else:
        assert np.all(np.diff(path.breakpoints) < 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_eps_below_rounding_claims_nothing():
    told = []
    path = follow("multiclass", eps=1e-17, max_passes=5, callbacks=[lambda one: told.append(one) or len(told) > 5])
    check_lam(path, "multiclass", max(path.lam_end, 0.01))
    assert path.ended != "hinge"
