"""Oracles asked ahead by processes and threads: the same bits, errors as in one process, and nobody left behind."""

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, CuttingPlane, FrankWolfe, lam_grid
from maxmargin.solvers.passes import Passes
from maxmargin.structures import CustomProblem
from maxmargin.structures.boxes import ImageBoxes, WordImage
from maxmargin.structures.crew import _HELD, ask_ahead, crew_for, processes
from maxmargin.structures.known import KnownProblem
from maxmargin.structures.verbs import new_blocks

from .pairs import Subsets

W = np.linspace(-0.5, 0.5, Subsets.n_features)


class Bounded(Subsets):
    """Its oracle may miss the maximum, and knows a bound."""

    exact_oracle = False

    def upper_bound(self, w, i):
        return 0.25 + max(self.loss(i, y) + w @ self.joint_feature(i, y) for y in self.outputs)


class ByThreads(Subsets):
    releases_lock = True

    def max_oracle(self, w, i):
        self.seen = {*getattr(self, "seen", ()), threading.get_ident()}
        return super().max_oracle(w, i)


class Locked(Subsets):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


class Failing(Subsets):
    """From sample 3 on, everywhere or in other processes only."""

    home = -1  # the process that is spared

    def max_oracle(self, w, i):
        if i >= 3 and w[0] != 0.0 and os.getpid() != self.home:
            raise KeyError("verb")
        return super().max_oracle(w, i)


class Dying(Failing):
    def max_oracle(self, w, i):
        if os.getpid() != self.home:
            os._exit(7)
        return super().max_oracle(w, i)


class Breaking(Failing):
    """Ends in the midst of an answer, as one that is short of memory may be made to."""

    def max_oracle(self, w, i):
        if os.getpid() != self.home:
            answer = pickle.dumps(np.zeros(99))
            for file in range(3, 9):
                with suppress(OSError):
                    os.write(file, answer[:-9])
            os._exit(7)
        return super().max_oracle(w, i)


class Commanding(Subsets):
    """Runs a command that reads its standard input to the end."""

    def max_oracle(self, w, i):
        command = "import sys; print(sys.stdin.read())"
        subprocess.run([sys.executable, "-S", "-c", command], check=True, stdout=subprocess.PIPE, timeout=30)
        return super().max_oracle(w, i)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Processes start with the first question, which waits for them; none is left."""
    for name, value in {"START_AFTER": 0.0, "LEAST_SECONDS": 0.0, "WAIT": 60.0}.items():
        monkeypatch.setattr(processes, name, value)
    begun, start = [], processes.subprocess.Popen

    def popen(*args, **options):
        begun.append(start(*args, **options))
        return begun[-1]

    monkeypatch.setattr(processes.subprocess, "Popen", popen)
    yield begun
    assert all(one.poll() is not None for one in begun)
    assert not _HELD.crews and not _HELD.holders


def assert_same(one, other):
    assert np.array_equal(one.w, other.w)
    for column in set(one.history) - {"seconds"}:
        assert np.array_equal(one.history[column], other.history[column], equal_nan=True), column


def found_by(problem, n_jobs):
    """What full passes of all kinds find."""
    passes, gaps = Passes(problem, n_jobs), np.empty(problem.n)
    with crew_for(problem, n_jobs):
        hinges, point = passes.corners(W)
        found = [hinges, point.vector, np.array(point.loss), passes.hinges(W)]
        found += [passes.gaps(new_blocks(problem), W, gaps), gaps, passes.norms(new_blocks(problem), W, np.arange(3))]
    return found


def test_full_passes_find_the_same_bits(at_once):
    structure = Bounded(n_samples=11)
    two = found_by(CustomProblem(structure), 2)
    assert structure.calls == 0 and len(at_once) == 2  # all were asked elsewhere
    assert all(map(np.array_equal, two, found_by(CustomProblem(structure), 1)))


@pytest.mark.parametrize(
    "solver",
    [
        BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst", working_set=True),
        FrankWolfe(),
        CuttingPlane(),
    ],
    ids=["working set", "batch", "one slack"],
)
def test_runs_take_the_same_steps(solver):
    one, two = (solver.solve(Subsets(n_samples=9), 0.1, max_passes=6, random_state=0, n_jobs=n) for n in (None, 2))
    assert_same(one, two)


def test_runs_of_a_path_share_their_processes(at_once):
    one, two = (lam_grid(Subsets(), FrankWolfe(), lams=[1.0, 0.3, 0.1], random_state=0, n_jobs=n) for n in (1, 2))
    assert len(at_once) == 2
    assert np.array_equal(one.coef_at(0.1), two.coef_at(0.1))


def test_short_runs_start_none(at_once, monkeypatch):
    monkeypatch.setattr(processes, "START_AFTER", 60.0)
    found_by(CustomProblem(Subsets()), 2)
    assert not at_once


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_job_has_no_crew(at_once, n_jobs):
    with crew_for(CustomProblem(Subsets()), n_jobs):
        assert not _HELD.crews


def test_who_is_drawn_twice_is_asked_once():
    problem = CustomProblem(Subsets())
    work = problem.new_work()
    with crew_for(problem, 2):
        ask_ahead(problem, work, W, np.array([3, 1, 3]))
    assert list(work.ahead) == [3, 1]
    assert problem.find_corner(work, W, 3) == problem.find_corner(problem.new_work(), W, 3)


def test_bounds_are_forgotten_with_weights():
    problem = CustomProblem(Bounded())
    work = problem.new_work()
    with crew_for(problem, 2):
        ask_ahead(problem, work, W, np.arange(2))
    value = problem.find_corner(work, W, 0)
    problem.forget_weights(work)
    assert problem.upper_value(work, 2 * W, 0, 0.0) == problem.bound(2 * W, 0) != value + 0.25


def test_until_processes_are_there_this_one_asks(at_once, monkeypatch):
    monkeypatch.setattr(processes, "WAIT", 0.0)
    structure = Subsets(n_samples=11)
    two = found_by(CustomProblem(structure), 2)
    assert structure.calls > 0 and len(at_once) == 2
    assert all(map(np.array_equal, two, found_by(CustomProblem(structure), 1)))


def test_what_releases_the_lock_is_asked_by_threads(at_once):
    structure = ByThreads(n_samples=40)
    one, two = found_by(CustomProblem(Subsets(n_samples=40)), 1), found_by(CustomProblem(structure), 2)
    assert all(map(np.array_equal, one, two))
    assert not at_once and structure.seen - {threading.get_ident()}


def test_boxes_of_images_are_asked_by_threads(at_once):
    rng = np.random.default_rng(0)
    images = [WordImage(rng.integers(4, size=(9, 8))) for _ in range(12)]
    corners = np.sort(rng.integers(8, size=(12, 2, 2)), axis=1)
    boxes = np.concatenate([corners[:, 0], corners[:, 1] + 1], axis=1)
    problem = KnownProblem(ImageBoxes(images, boxes, 4))
    one, two = (FrankWolfe().solve(problem, 0.1, max_passes=5, n_jobs=n) for n in (1, 2))
    assert_same(one, two)
    assert not at_once


def test_what_cannot_be_sent_is_asked_here(at_once):
    with pytest.warns(UserWarning, match=r"Locked cannot be sent to other processes .*lock.*releases_lock") as told:
        two = found_by(CustomProblem(Locked()), 2)
    assert len(told) == 1 and not at_once
    assert all(map(np.array_equal, two, found_by(CustomProblem(Subsets()), 1)))


def test_where_no_process_starts_this_one_asks(at_once, monkeypatch):
    start = processes.subprocess.Popen

    def refused(*args, **options):
        if at_once:
            raise OSError("no more processes")
        return start(*args, **options)

    monkeypatch.setattr(processes.subprocess, "Popen", refused)
    with pytest.warns(UserWarning, match="Subsets gets no other processes .no more processes"):
        found_by(CustomProblem(Subsets()), 2)


@pytest.mark.parametrize("releases_lock", [False, True])
def test_errors_are_those_of_one_process(releases_lock):
    errors = []
    for n_jobs in (1, 2):
        structure = Failing(n_samples=12)
        structure.releases_lock = releases_lock
        with pytest.raises(KeyError, match="verb") as caught:
            FrankWolfe().solve(structure, 0.1, max_passes=5, n_jobs=n_jobs)
        errors.append(caught.value.__notes__)
    assert errors == [["sample 3: raised in Failing.max_oracle"]] * 2


@pytest.mark.parametrize(
    ("kind", "told"), [(Failing, "KeyError: 'verb'"), (Dying, "exit status 7"), (Breaking, "exit status 7")]
)
def test_what_goes_wrong_elsewhere_alone_is_told_once(kind, told):
    structure = kind(n_samples=12)
    structure.home = os.getpid()
    with pytest.warns(UserWarning, match=f"{kind.__name__} is not answered in another process .*{told}") as warned:
        two = found_by(CustomProblem(structure), 2)
    assert len(warned) == 1
    assert all(map(np.array_equal, two, found_by(CustomProblem(Subsets(n_samples=12)), 1)))


def test_commands_of_oracles_read_nothing():
    problem = CustomProblem(Commanding(n_samples=4))
    with crew_for(problem, 2):
        hinges = Passes(problem, 2).hinges(W)
    assert problem.structure.calls == 0
    assert np.array_equal(hinges, Passes(CustomProblem(Subsets(n_samples=4)), 1).hinges(W))


def test_modules_are_those_of_this_process(tmp_path, monkeypatch):
    (tmp_path / "random.py").write_text("raise ImportError('of the folder at work')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    structure = Subsets(n_samples=4)
    found_by(CustomProblem(structure), 2)
    assert structure.calls == 0


def test_an_interrupt_ends_the_processes(at_once, monkeypatch):
    problem = CustomProblem(Subsets(n_samples=12))

    def interrupted(futures, *limit):
        if not limit:  # answers are waited for
            raise KeyboardInterrupt
        return wait(futures, *limit)

    wait = processes.wait
    monkeypatch.setattr(processes, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt), crew_for(problem, 2):
        Passes(problem, 2).hinges(W)
    assert len(at_once) == 2  # and the fixture sees that none is left
