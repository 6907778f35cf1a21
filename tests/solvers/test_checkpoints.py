"""Runs that were cut off anywhere go on from their checkpoints, step by step as if they had not been."""

import contextlib
import errno
import os
import shutil
import signal

import numpy as np
import pytest

from maxmargin.solvers import (
    GDMM,
    LBFGS,
    SVRG,
    BlockFrankWolfe,
    Casimir,
    Catalyst,
    CheckpointError,
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
from .test_driver import Watched

pytestmark = pytest.mark.usefixtures("no_compilation", "compiled_mixtures")

BY_GAPS = BlockFrankWolfe("gap", "weighted", gap_every=3, step="pairwise", cache=True)

# solver, problem, passes
RUNS = {
    "uniform": (BlockFrankWolfe(), "chain", 4),
    "averaged": (BlockFrankWolfe("permutation", "weighted", gap_every=2), "chain masked", 5),
    "pairwise by gaps": (
        BY_GAPS,
        "chain weighted",
        7,
    ),
    "away": (BlockFrankWolfe("permutation", step="away", gap_every=3), "tree featured", 4),
    "active": (BlockFrankWolfe("active", gap_every=3, step="optimal"), "multiclass", 10),
    "accelerated": (
        BlockFrankWolfe("gap", "weighted", gap_every=2, step="pairwise", acceleration=Catalyst(kappa=0.3)),
        "chain",
        7,
    ),
    "accelerated, active": (
        BlockFrankWolfe("active", "weighted", gap_every=3, step="optimal", acceleration=Catalyst(kappa=0.3)),
        "multiclass weighted",
        9,
    ),
    "bounded": (BlockFrankWolfe("permutation", step="pairwise", lower=-0.1, upper=0.2, gap_every=3), "chain", 5),
    "own structure": (
        BY_GAPS,
        "custom weighted",
        6,
    ),
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
        keep(self, contents)
        found.append(tmp_path / f"copy{len(found)}.npz")
        shutil.copy(self.path, found[-1])

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


CLOCKED = ["pairwise by gaps", "accelerated, active", "working set", "svrg", "subgradient", "gdmm"]


@pytest.mark.parametrize("run", CLOCKED)
def test_chunks_do_not_change_iterates(run, monkeypatch):
    """How many steps there are between two looks at the clock depends on the clock, and nothing else does."""
    solver, name, passes = RUNS[run]
    found = []
    for seconds, least in ((0.0, 1), (1e-3, 3), (1e9, 3)):
        monkeypatch.setattr(driver, "CHUNK_SECONDS", seconds)
        monkeypatch.setattr(engine, "COMPILED_CHUNK", least)
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
        BlockFrankWolfe("gap", "weighted", gap_every=2, step="pairwise", acceleration=Catalyst(kappa=0.3)),
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


def solve(path, solver=None, problem="chain", lam=LAM, **options):
    solver = RUNS["accelerated"][0] if solver is None else solver
    options = {"tol": 0, "max_passes": 6, "random_state": 0} | options
    return solver.solve(named_pair(problem).problem, lam, checkpoint=path, checkpoint_every=0, **options)


OTHERS = {
    "data": {"problem": "chain weighted"},
    "solver": {"solver": BlockFrankWolfe(), "problem": "chain"},
    "lam": {"lam": 0.2},
    "random_state": {"random_state": 1},
}


@pytest.mark.parametrize("what", OTHERS)
def test_the_checkpoint_of_another_run_is_refused_and_stays(what, tmp_path):
    path = tmp_path / "run.npz"
    solve(path)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=rf"checkpoint of another run: delete it .*{what}: "):
        solve(path, **OTHERS[what])
    with pytest.raises(CheckpointError, match="checkpoint of another run"):
        regularization_path(named_pair("chain").problem, "bcpfw", checkpoint=path)
    assert path.read_bytes() == before


def test_limits_may_change(tmp_path):
    path = tmp_path / "run.npz"
    solve(path, max_passes=3)
    assert_same(solve(path, max_passes=8), solve(None, max_passes=8))
    solve(path, tol=10.0)
    assert solve(path, tol=10.0).status == "converged"


@pytest.mark.parametrize("cut", [0, 1, 100, -1, -100])
def test_a_damaged_file_is_refused(cut, tmp_path):
    path = tmp_path / "run.npz"
    solve(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(CheckpointError, match="is no checkpoint, or damaged: delete it to begin anew"):
        solve(path)


def test_every_flipped_bit_is_seen_or_does_not_matter(tmp_path):
    path, rng = tmp_path / "run.npz", np.random.default_rng(0)
    expected, whole = solve(path), path.read_bytes()
    for at in rng.integers(len(whole), size=150):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        with contextlib.suppress(CheckpointError):
            assert np.array_equal(solve(path).w, expected.w)


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "run.npz"
    np.savez(path, w=np.zeros(3))
    with pytest.raises(CheckpointError, match="no checkpoint"):
        solve(path)
    np.save(tmp_path / "run.npy", np.array([print], object))  # code in a pickle, which nobody reads
    with pytest.raises(CheckpointError, match="no checkpoint"):
        solve(tmp_path / "run.npy")


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(OSError, match=r"cannot be written to .*missing'?: give another path"):
        solve(tmp_path / "missing" / "run.npz")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        solve(tmp_path)
    with pytest.raises(TypeError, match="checkpoint must be the path of a file or None"):
        solve(3)
    with pytest.raises(ValueError, match="checkpoint_every must"):
        RUNS["uniform"][0].solve(named_pair("chain").problem, LAM, checkpoint=tmp_path / "a", checkpoint_every=-1)


class Full:
    """A disk that is full from some write on."""

    def __init__(self, after):
        self.left, self.write = after, keeping.write_state

    def __call__(self, file, *args):
        self.left -= 1
        self.write(file, *args)
        if self.left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_costs_checkpoints_and_no_training(tmp_path, at_every_chance, monkeypatch):
    path, plain = tmp_path / "run.npz", solve(None)
    with monkeypatch.context() as patched:
        patched.setattr(keeping, "write_state", Full(after=3))
        with pytest.warns(RuntimeWarning, match="No space left on device") as told:
            assert_same(solve(path), plain)
    assert [str(one.message).rpartition("; ")[2] for one in told] == [
        "training goes on, and the next one is tried in time",
        "the run is over, and what it returns is in memory only",
    ]
    assert [one.name for one in tmp_path.iterdir()] == ["run.npz"]  # the old one, and nothing unfinished
    assert_same(solve(path), plain)


def test_what_a_killed_run_left_unfinished_is_cleared_up(tmp_path):
    unfinished = tmp_path / f".run.npz.{'0' * 32}"
    unfinished.write_bytes(b"half")
    mine = tmp_path / ".run.npz.of my own"
    mine.write_bytes(b"")
    solve(tmp_path / "run.npz")
    assert mine.exists() and not unfinished.exists()


@pytest.mark.parametrize("call", [13, 18, 23, 28])  # of steps and of certificates
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_a_last_checkpoint(number, call, tmp_path):
    path, seen = tmp_path / "run.npz", []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(path.exists()))
    solver, options = BlockFrankWolfe("gap", "weighted", gap_every=2, step="pairwise"), {"tol": 0, "max_passes": 8}
    try:
        structure = Watched(lambda now: os.kill(os.getpid(), number) if now == call else None)
        result = solver.solve(structure, LAM, checkpoint=path, random_state=0, **options)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert result.status == "interrupted" and result.n_passes < 8
    assert seen == ([True] if number == signal.SIGTERM else [])  # who sent it gets it, when all is saved
    plain = solver.solve(Watched(lambda now: None), LAM, random_state=0, **options)
    again = solver.solve(Watched(lambda now: None), LAM, checkpoint=path, random_state=0, **options)
    assert_same(again, plain)


def test_runs_side_by_side_do_not_share_a_file(tmp_path):
    path, others = tmp_path / "run.npz", tmp_path / "other.npz"
    solve(others, random_state=1)

    def another_run_writes(record):
        if not path.exists():
            path.write_bytes(others.read_bytes())

    with pytest.warns(RuntimeWarning, match=r"another run writes to '.*run.npz': give each its own path"):
        found = solve(path, callbacks=another_run_writes)
    assert path.read_bytes() == others.read_bytes()
    assert np.array_equal(found.w, solve(None).w)


def test_a_file_with_another_time_is_still_its_own(tmp_path):
    path = tmp_path / "run.npz"
    solve(path, max_passes=2)
    result = solve(path, callbacks=lambda record: os.utime(path, (0, 0)))  # a warning would fail the test
    assert_same(result, solve(None))
