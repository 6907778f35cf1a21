"""Diagnostics of a run against hand-made cases and against problems with every labeling written out."""

from dataclasses import replace

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe
from maxmargin.solvers.diagnostics import (
    block_gaps,
    cache_hit_rate,
    curvature_bounds,
    nonuniformity,
    predicted_speedup,
    staleness,
)
from structures.pairs import interpreted

from .conftest import LAM, PROBLEMS, named_pair


def started(name, passes=3, **options):
    """An engine some passes after its start, without a certificate since."""
    engine = BlockFrankWolfe(**options).start(named_pair(name).problem, LAM, None, 0, None)
    while engine.steps < passes * engine.n:
        engine.advance(engine.n)
    return engine


def true_curvatures(pair):
    """``c_i^2 / lam`` times the squared diameter of each block's features."""
    diameters = [max(float(np.sum((y - z) ** 2)) for y in phi for z in phi) for phi in pair.phi]
    return pair.reference.shares**2 / LAM * np.array(diameters)


def largest_norms(pair):
    return np.array([np.max(np.sum(psi**2, axis=1)) for psi in pair.reference.psi])


class TestNonuniformity:
    def test_range(self):
        assert nonuniformity([2.0, 2.0, 2.0]) == pytest.approx(1.0)
        assert nonuniformity([0.0, 0.0, 7.0, 0.0]) == pytest.approx(2.0)
        assert nonuniformity([0.0, 0.0]) == 1.0

    def test_definition(self):
        x = np.random.default_rng(0).exponential(size=50)
        p = x / x.sum()
        assert nonuniformity(x) == pytest.approx(np.sqrt(1 + 50**2 * np.var(p)))
        assert nonuniformity(1e-200 * x) == pytest.approx(nonuniformity(x))

    @pytest.mark.parametrize("bad", [[], [1.0, -1.0], [np.nan], [np.inf, 1.0], [[1.0]]])
    def test_refuses(self, bad):
        with pytest.raises(ValueError, match="numbers >= 0"):
            nonuniformity(bad)


def test_predicted_speedup():
    one, flat = [0.0, 0.0, 0.0, 1.0], [3.0, 3.0, 3.0, 3.0]
    assert predicted_speedup(one, flat) == pytest.approx(8.0)  # chi(gaps) = 2
    assert predicted_speedup(flat, one) == pytest.approx(0.5)
    assert predicted_speedup(flat, flat) == pytest.approx(1.0)


@pytest.mark.usefixtures("no_compilation")
class TestOfARun:
    @pytest.mark.parametrize("name", PROBLEMS)
    def test_gaps_are_those_of_the_certificate(self, name):
        engine = started(name, sampling="gap")
        before = engine.gaps.copy()
        gaps = block_gaps(engine.problem, engine.state())
        assert np.array_equal(engine.gaps, before)  # a look changes nothing
        (certified,) = engine.certify()
        assert gaps.sum() == pytest.approx(certified.primal - certified.dual, abs=1e-12)
        assert gaps == pytest.approx(engine.gaps, abs=1e-12)

    def test_gaps_of_a_result(self):
        problem = named_pair("chain").problem
        result = BlockFrankWolfe().solve(problem, LAM, tol=0, max_passes=5, random_state=0)
        assert block_gaps(problem, result.state) == pytest.approx(np.maximum(result.state.gaps, 0.0), abs=1e-12)
        assert staleness(problem, result.state) == pytest.approx(1.0)

    def test_staleness(self):
        engine = started("chain")
        state = engine.state()
        exact = block_gaps(engine.problem, state).sum()
        assert staleness(engine.problem, state) == pytest.approx(state.gaps.sum() / exact)
        assert staleness(engine.problem, replace(state, kept=state.kept | {"gaps": 0.5 * state.gaps})) == pytest.approx(
            0.5 * state.gaps.sum() / exact
        )

    def test_staleness_before_the_first_visit(self):
        engine = started("chain", passes=0)
        assert staleness(engine.problem, engine.state()) == np.inf

    @pytest.mark.parametrize("options", [{}, {"step": "pairwise"}, {"cache": True}], ids=["plain", "pairwise", "cache"])
    @pytest.mark.parametrize("name", PROBLEMS)
    def test_curvatures(self, name, options):
        pair, engine = named_pair(name), started(name, passes=4, sampling="permutation", **options)
        w = engine.w.copy()
        lower, upper = curvature_bounds(engine.problem, engine.state())
        true = true_curvatures(pair)
        assert np.all(lower <= true * (1 + 1e-12))
        assert np.all(lower <= upper * (1 + 1e-12))
        assert np.all(upper <= 4 * pair.reference.shares**2 / LAM * largest_norms(pair) * (1 + 1e-12))
        assert np.all((lower > 0) == (true > 0))
        assert np.array_equal(engine.w, w)

    def test_curvatures_from_all_outputs(self):
        # three classes: a memory that has seen both wrong ones knows the constants
        pair, engine = named_pair("multiclass"), started("multiclass", passes=30, step="pairwise")
        seen = engine.memory.filled == 3
        lower, upper = curvature_bounds(engine.problem, engine.state())
        assert seen.any()
        assert lower[seen] == pytest.approx(true_curvatures(pair)[seen])
        assert upper == pytest.approx(4 * pair.reference.shares**2 / LAM * largest_norms(pair))

    def test_nothing_seen(self):
        engine = started("chain", passes=0, step="pairwise")
        assert not np.any(curvature_bounds(engine.problem, engine.state()).upper)

    def test_refuses_other_states(self):
        problem, other = named_pair("chain").problem, named_pair("multiclass").problem
        with pytest.raises(ValueError, match="other data"):
            block_gaps(other, started("chain").state())
        batch = FrankWolfe().solve(problem, LAM, max_passes=2)
        with pytest.raises(TypeError, match="BlockFrankWolfe"):
            staleness(problem, batch.state)

    def test_hit_rate(self):
        solver = BlockFrankWolfe(cache=True, gap_every=2)
        history = solver.solve(named_pair("chain").problem, LAM, tol=0, max_passes=20, random_state=0).history
        rates = cache_hit_rate(history)
        assert rates[0] == 0.0
        assert np.all((rates >= 0) & (rates <= 1))
        steps = np.diff(history["passes"], prepend=0.0) * 4
        assert np.sum(rates * steps) == pytest.approx(history["cache_hits"][-1])


def test_hit_rate_by_hand():
    history = {"cache_hits": [0, 3, 3, 4], "cache_misses": [0, 1, 1, 4]}
    assert cache_hit_rate(history) == pytest.approx([0.0, 0.75, 0.0, 0.25])
    with pytest.raises(ValueError, match="without cache"):
        cache_hit_rate({"gap": [1.0]})


@pytest.mark.parametrize("step", ["fw", "pairwise"])
@pytest.mark.parametrize("name", ["chain", "multiclass"])
def test_compiled_like_interpreted(name, step):
    problem = named_pair(name).problem
    with interpreted():
        state = started(name, step=step).state()
        slow = block_gaps(problem, state), *curvature_bounds(problem, state)
    fast = block_gaps(problem, state), *curvature_bounds(problem, state)
    for one, other in zip(slow, fast, strict=True):
        assert one == pytest.approx(other, abs=1e-12)
