"""Runs that were cut off anywhere go on from their checkpoints, step by step as if they had not been."""

import shutil

import numpy as np
import pytest

from maxmargin.solvers import (
    GDMM,
    LBFGS,
    SVRG,
    BlockFrankWolfe,
    Casimir,
    Catalyst,
    CuttingPlane,
    ExponentiatedGradient,
    FrankWolfe,
    PartialLinearization,
    Perceptron,
    SoftBCFW,
    Subgradient,
    driver,
    engine,
    keeping,
    lam_grid,
    regularization_path,
)
from maxmargin.structures import LogLoss

from .conftest import LAM, named_pair

pytestmark = pytest.mark.usefixtures("no_compilation", "compiled_mixtures")

# solver, problem, passes
RUNS = {
    "uniform": (BlockFrankWolfe(), "chain", 4),
    "averaged": (BlockFrankWolfe("permutation", "weighted", gap_every=2), "chain masked", 5),
    "pairwise by gaps": (BlockFrankWolfe("gap", "weighted", 3, step="pairwise", cache=True), "chain weighted", 7),
    "away": (BlockFrankWolfe("permutation", step="away", gap_every=3), "tree featured", 4),
    "active": (BlockFrankWolfe("active", gap_every=3, step="optimal"), "multiclass", 10),
    "accelerated": (
        BlockFrankWolfe("gap", "weighted", 2, step="pairwise", acceleration=Catalyst(kappa=0.3)),
        "chain",
        7,
    ),
    "accelerated, active": (
        BlockFrankWolfe("active", "weighted", 3, step="optimal", acceleration=Catalyst(kappa=0.3)),
        "multiclass weighted",
        9,
    ),
    "bounded": (BlockFrankWolfe("permutation", step="pairwise", lower=-0.1, upper=0.2, gap_every=3), "chain", 5),
    "own structure": (BlockFrankWolfe("gap", "weighted", 3, step="pairwise", cache=True), "custom weighted", 6),
    "working set": (
        BlockFrankWolfe("permutation", step="pairwise", working_set=True, gap_every=2, acceleration="catalyst"),
        "custom",
        6,
    ),
    "pieces": (BlockFrankWolfe("permutation", step="pairwise", pieces=2, gap_every=5), "chain", 26),
    "expectations": (PartialLinearization(), "chain", 4),
    "exponentiated": (ExponentiatedGradient(), "tree featured", 4),
    "batch": (FrankWolfe(gap_every=2), "cycle", 6),
    "one slack": (CuttingPlane(gap_every=2), "multiclass", 6),
    "n slacks": (CuttingPlane("n", gap_every=2), "chain", 6),
    "subgradient": (Subgradient(gap_every=2), "chain", 5),
    "batch subgradient": (Subgradient(batch=True, gap_every=2), "chain", 5),
    "perceptron": (Perceptron(gap_every=2), "chain", 5),
    "gdmm": (GDMM(nu=2, gap_every=2), "chain", 6),
    "soft": (SoftBCFW(gap_every=2), "chain", 6),
    "svrg": (SVRG(mu=0.1, gap_every=3), "chain", 7),
    "casimir": (Casimir(gap_every=3), "multiclass", 9),
    "casimir by gradient": (Casimir(smoothing="entropy", stop="gradient", gap_every=3), "chain", 9),
}
LOG_RUNS = {
    "gibbs": (BlockFrankWolfe("gap", gap_every=3, step="gibbs", acceleration=Catalyst(kappa=0.3)), 5),
    "lbfgs": (LBFGS(gap_every=2), 6),
    "owl-qn": (LBFGS(l1=0.01), 6),
    "svrg": (SVRG(None, gap_every=3), 6),
}


class Cut(Exception):
    """A run is cut off."""


@pytest.fixture
def at_every_chance(monkeypatch):
    """Chunks are as short as can be, and each is followed by a checkpoint."""
    monkeypatch.setattr(keeping, "SHARE", 1.0)
    monkeypatch.setattr(driver, "CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(engine, "COMPILED_CHUNK", 1)


@pytest.fixture
def copies(monkeypatch, at_every_chance, tmp_path):
    """Of all checkpoints."""
    found, keep = [], keeping.Keeper.keep

    def keep_copy(self, contents):
        if isinstance(self, keeping.Inner):
            return keep(self, contents)
        keep(self, contents)
        found.append(tmp_path / f"copy{len(found)}.npz")
        shutil.copy(self.path, found[-1])

    monkeypatch.setattr(keeping.Inner, "keep", keeping.Inner.keep)
    monkeypatch.setattr(keeping.Keeper, "keep", keep_copy)
    return found


def assert_same(one, other):
    assert np.array_equal(one.w, other.w)
    assert (one.primal, one.dual, one.gap) == pytest.approx((other.primal, other.dual, other.gap), rel=0, nan_ok=True)
    assert (one.status, one.n_passes, one.n_oracle_calls) == (other.status, other.n_passes, other.n_oracle_calls)
    assert list(one.history) == list(other.history)
    for name in one.history:
        if name != "seconds":
            assert np.array_equal(one.history[name], other.history[name], equal_nan=True), name


def check_run(solver, problem, passes, tmp_path, copies):
    """Cut off after any chunk, it ends as the run that was not, and as the one without checkpoints."""
    options = {"tol": 0, "max_passes": passes, "random_state": 0}
    plain = solver.solve(problem, LAM, **options)
    options |= {"checkpoint_every": 0}
    kept = solver.solve(problem, LAM, checkpoint=tmp_path / "run.npz", **options)
    assert_same(kept, plain)
    written = list(copies)
    assert len(written) > passes / 2
    for path in written[:: max(1, len(written) // 12)]:
        assert_same(solver.solve(problem, LAM, checkpoint=path, **options), plain)


@pytest.mark.parametrize("run", RUNS)
def test_a_run_cut_off_anywhere_ends_as_if_it_had_not_been(run, tmp_path, copies):
    solver, name, passes = RUNS[run]
    check_run(solver, named_pair(name).problem, passes, tmp_path, copies)


@pytest.mark.parametrize("run", LOG_RUNS)
def test_so_do_runs_of_log_losses(run, tmp_path, copies):
    solver, passes = LOG_RUNS[run]
    check_run(solver, LogLoss(named_pair("chain").problem), passes, tmp_path, copies)


@pytest.mark.parametrize(
    "run", ["pairwise by gaps", "accelerated, active", "working set", "svrg", "subgradient", "gdmm"]
)
def test_chunks_do_not_change_iterates(run, monkeypatch):
    """How many steps there are between two looks at the clock depends on the clock, and nothing else does."""
    solver, name, passes = RUNS[run]
    found = []
    for seconds in (0.0, 1e-3, 1e9):
        monkeypatch.setattr(driver, "CHUNK_SECONDS", seconds)
        monkeypatch.setattr(engine.Engine, "chunk", property(lambda self: 1 if seconds < 1e-6 else 3))
        found.append(solver.solve(named_pair(name).problem, LAM, tol=0, max_passes=passes, random_state=0))
    assert_same(found[0], found[2])
    assert_same(found[1], found[2])


def same_paths(one, other):
    for name in ("breakpoints", "gaps", "hinges", "norms", "passes", "oracle_calls"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.ended, one.lam_end) == (other.ended, other.lam_end)
    assert all(np.array_equal(one.weights(j), other.weights(j)) for j in range(len(one)))


PATHS = {
    "path": lambda problem, **kept: regularization_path(
        problem, BlockFrankWolfe("gap", step="pairwise", gap_every=2), eps=0.2, lam_min=0.02, random_state=0, **kept
    ),
    "accelerated": lambda problem, **kept: regularization_path(
        problem,
        BlockFrankWolfe("gap", "weighted", 2, step="pairwise", acceleration=Catalyst(kappa=0.3)),
        eps=0.2,
        lam_min=0.1,
        random_state=0,
        **kept,
    ),
    "heuristic": lambda problem, **kept: regularization_path(
        problem, "bcpfw", eps=0.3, lam_min=0.05, heuristic=True, random_state=0, **kept
    ),
    "grid": lambda problem, **kept: lam_grid(
        problem, FrankWolfe(gap_every=2), lams=[1.0, 0.3, 0.1], tol=0.05, random_state=0, **kept
    ),
    "cold grid": lambda problem, **kept: lam_grid(
        problem, "bcfw", lams=[1.0, 0.3], tol=0.1, warm_start=False, random_state=0, **kept
    ),
}


@pytest.mark.parametrize("way", PATHS)
def test_a_path_cut_off_anywhere_ends_as_if_it_had_not_been(way, tmp_path, copies):
    problem, walk = named_pair("chain weighted").problem, PATHS[way]
    plain = walk(problem)
    same_paths(walk(problem, checkpoint=tmp_path / "path.npz", checkpoint_every=0), plain)
    written = list(copies)
    assert len(written) > len(plain)
    for path in written[:: max(1, len(written) // 15)]:
        same_paths(walk(problem, checkpoint=path, checkpoint_every=0), plain)
    before = len(copies)
    same_paths(walk(problem, checkpoint=written[-1], checkpoint_every=0), plain)
    assert len(copies) == before  # it was at its end
