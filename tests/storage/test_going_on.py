"""Runs on samples on disk that are cut off go on from a checkpoint, or say why they cannot."""

import shutil

import numpy as np
import pytest

from maxmargin import ChainSVM
from maxmargin.solvers import BlockFrankWolfe
from maxmargin.storage import open_samples

from .cases import sequences, stored

pytestmark = pytest.mark.usefixtures("no_compilation")
SMALL = 24_000
PLAIN, AVERAGED = (
    BlockFrankWolfe("ranges", gap_every=2, step="pairwise"),
    BlockFrankWolfe("ranges", "weighted", gap_every=2),
)
ACCELERATED = BlockFrankWolfe("ranges", "weighted", gap_every=2, step="pairwise", acceleration="catalyst")


class CutError(Exception):
    pass


def problem_of(samples):
    return ChainSVM(lam=0.1).encode(samples, None).problem


def cut_after(n_records):
    seen = []

    def look(record):
        seen.append(record)
        if len(seen) > n_records:
            raise CutError

    return look


@pytest.mark.parametrize("solver", [PLAIN, AVERAGED, ACCELERATED])
@pytest.mark.parametrize("every", [0.0, 1e9])
def test_a_run_that_was_cut_off_goes_on_as_if_it_had_not_been(tmp_path, solver, every):
    X, y = sequences()
    folder = stored(tmp_path, X, y).folder
    how = {"tol": 1e-9, "max_passes": 9, "random_state": 0}
    whole = solver.solve(problem_of(open_samples(folder, memory_limit=SMALL)), 0.1, **how)
    problem = problem_of(open_samples(folder, memory_limit=SMALL, scratch=tmp_path / "scratch"))
    kept = {"checkpoint": tmp_path / "run.npz", "checkpoint_every": every}
    for n_records in (1, 0, 0):
        with pytest.raises(CutError):
            solver.solve(problem, 0.1, **how, **kept, callbacks=cut_after(n_records))
    again = solver.solve(problem, 0.1, **how, **kept)
    assert np.array_equal(again.w, whole.w)
    assert again.history["dual"] == pytest.approx(whole.history["dual"], abs=0.0)


def test_a_state_goes_on_under_the_same_windows_alone(tmp_path):
    X, y = sequences()
    folder = stored(tmp_path, X, y).folder
    problem = problem_of(open_samples(folder, memory_limit=SMALL, scratch=tmp_path / "scratch"))
    first = PLAIN.solve(problem, 0.1, tol=1e-9, max_passes=3, random_state=0)
    second = PLAIN.solve(problem, 0.1, tol=1e-9, max_passes=3, state=first.state)
    assert second.history["dual"][0] == pytest.approx(first.dual) and second.dual > first.dual
    with pytest.raises(ValueError, match="same lam"):
        PLAIN.solve(problem, 0.2, state=second.state)
    larger = problem_of(open_samples(folder, memory_limit=2 * SMALL, scratch=tmp_path / "scratch"))
    with pytest.raises(ValueError, match="memory_limit that it had"):
        PLAIN.solve(larger, 0.1, state=second.state)
    shutil.rmtree(tmp_path / "scratch")
    with pytest.raises(ValueError, match="is gone"):
        PLAIN.solve(problem, 0.1, state=second.state)


def test_without_a_scratch_folder_states_are_refused(tmp_path):
    X, y = sequences()
    problem = problem_of(stored(tmp_path, X, y, memory_limit=SMALL))
    first = PLAIN.solve(problem, 0.1, tol=1e-9, max_passes=3, random_state=0)
    with pytest.raises(ValueError, match="scratch folder"):
        PLAIN.solve(problem, 0.1, state=first.state)


def test_a_warm_start_goes_on(tmp_path):
    X, y = sequences()
    samples = stored(tmp_path, X, y, memory_limit=SMALL, scratch=tmp_path / "scratch")
    model = ChainSVM(lam=0.1, solver=PLAIN, tol=0.1, warm_start=True, random_state=0).fit(samples)
    dual = model.dual_
    model.set_params(tol=0.05).fit(samples)
    assert model.history_["dual"][0] >= dual and model.gap_ <= 0.05


def test_files_of_windows_do_not_pile_up(tmp_path):
    X, y = sequences()
    samples = stored(tmp_path, X, y, memory_limit=SMALL, scratch=tmp_path / "scratch")
    kept = {"checkpoint": tmp_path / "run.npz", "checkpoint_every": 0.0}
    result = PLAIN.solve(problem_of(samples), 0.1, tol=1e-9, max_passes=9, random_state=0, **kept)
    n_windows = len(result.state.cuts) - 1
    (run,) = (tmp_path / "scratch").iterdir()
    assert n_windows <= len(list(run.glob("window-*"))) <= 3 * n_windows
