"""Runs with checkpoints that are killed at random moments, on disks that are full and in folders that are read-only.

Children that were forked off a warm process run block steps, accelerated ones, a path and SVRG on chains, and write as
often as they can. They get SIGKILL after a random time, and the next child goes on from the file: none may be torn, and
the weights at the end must be those of the run that nobody disturbed, bit for bit. 200 kills in all. Then: a disk that
is full (a small tmpfs where that may be mounted, else a limit on file sizes), a read-only folder, and what checkpoints
cost a run of accelerated steps, by default every 60 seconds. --quick kills 24 times.
Run: python -m benchmarks.interruptions [--quick]
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from maxmargin.solvers import SVRG, BlockFrankWolfe, keeping, regularization_path
from maxmargin.structures import make_chain_problem

from ._report import Bar, arguments, finish

KILLS, QUICK_KILLS = 200, 24
ACCELERATED = BlockFrankWolfe("gap", "weighted", gap_every=5, step="pairwise", acceleration="catalyst", cache=True)
Solve = Callable[..., np.ndarray]


def make_problem(n: int, n_labels: int = 6, n_features: int = 20) -> Any:
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 12, size=n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    labels = rng.integers(n_labels, size=offsets[-1])
    X = rng.standard_normal((offsets[-1], n_features)) + 2.0 * np.eye(n_labels, n_features)[labels]
    return make_chain_problem(X, offsets, labels, n_labels)


def solves(problem: Any, passes: float = 500, eps: float = 0.01) -> dict[str, Solve]:
    """Runs of a second or so, by name."""

    def by(solver: Any) -> Solve:
        return lambda **kept: solver.solve(problem, 1e-3, tol=0, max_passes=passes, random_state=0, **kept).w

    def path(**kept: Any) -> np.ndarray:
        walked = regularization_path(problem, "bcpfw", eps=eps, lam_min=1e-5, random_state=0, **kept)
        return np.concatenate([walked.breakpoints, *map(walked.weights, range(len(walked)))])

    return {
        "block steps": by(BlockFrankWolfe("gap", "weighted", step="pairwise")),
        "acceleration": by(ACCELERATED),
        "path": path,
        "SVRG": by(SVRG(mu=0.1)),
    }


class Child:
    """A process that calls a function, and ends."""

    def __init__(self, function: Callable[[], Any]):
        self.pid = os.fork()
        if self.pid == 0:
            # progress bars share a lock with all processes that were forked: a child that was killed may hold it
            tqdm.set_lock(threading.RLock())
            try:
                function()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)

    def wait(self, seconds: float) -> int | None:
        """Its exit status, or None if it still runs after so long."""
        end = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return status
            if time.monotonic() >= end:
                return None
            time.sleep(0.002)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def kill_often(solve: Solve, folder: Path, kills: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """Kill so many children: those that could not go on, files left torn, and ends with other weights."""
    before = time.monotonic()
    expected = solve()
    seconds = time.monotonic() - before
    failed, torn, other, killed, ends = 0, 0, 0, 0, 0
    path, answer = folder / "run.npz", folder / "answer.npy"

    def work() -> None:
        keeping.SHARE = 0.5  # as much writing as steps
        np.save(answer, solve(checkpoint=path, checkpoint_every=0.0))

    while killed < kills or path.exists() or ends == 0:
        child = Child(work)
        status = child.wait(rng.uniform(0.0, 0.7 * seconds) if killed < kills else np.inf)
        if status is None:
            child.kill()
            killed += 1
            torn += path.exists() and not is_whole(path)
            continue
        failed += status != 0
        other += status == 0 and not np.array_equal(np.load(answer), expected)
        ends += 1
        for file in folder.iterdir():
            file.unlink()
    print(f"  {seconds:.2f} s undisturbed, {killed} kills, {ends} ends")
    return failed, torn, other


def is_whole(path: Path) -> bool:
    from maxmargin.persistence.archive import Archive

    try:
        archive = Archive(path)
        for name in archive.entries:
            archive.verify(name)
    except ValueError:
        return False
    return True


@contextmanager
def tiny_disk(folder: Path, options: str) -> Iterator[bool]:
    """A tmpfs there, if that may be mounted; whether it was."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=False)


def survives_full_disk(solve: Solve, folder: Path) -> bool:
    """Training goes on with a warning, the old checkpoint stays whole, and a later run ends there, too."""
    expected, path = solve(), folder / "run.npz"

    def run(full: Callable[[], Any]) -> None:
        keeping.SHARE = 0.5
        keep, count = keeping.Keeper.keep, [0]

        def keep_until_full(self: Any, contents: Any) -> None:
            count[0] += 1
            if count[0] == 4:
                full()
            keep(self, contents)

        keeping.Keeper.keep = keep_until_full  # type: ignore[method-assign]
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert np.array_equal(solve(checkpoint=path, checkpoint_every=0.0), expected)
        assert any("could not be written" in str(one.message) for one in told), "nothing was said"
        assert is_whole(path)

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    with tiny_disk(folder, "size=4m") as mounted:
        print(f"  a full disk: {'tmpfs of 4 MB' if mounted else 'by RLIMIT_FSIZE'}")
        fill = (lambda: _fill(folder)) if mounted else limit
        done = Child(lambda: run(fill)).wait(np.inf) == 0
        (folder / "filling").unlink(missing_ok=True)

        def go_on() -> None:
            assert np.array_equal(solve(checkpoint=path), expected)

        return done and Child(go_on).wait(np.inf) == 0


def _fill(folder: Path) -> None:
    handle = os.open(folder / "filling", os.O_CREAT | os.O_WRONLY)
    with suppress(OSError):  # there is no more space
        while True:
            os.write(handle, bytes(4096))
    os.close(handle)


def refuses_read_only(solve: Solve, folder: Path) -> bool | None:
    """At once, with an error that says so; None where nobody is refused here."""
    with tiny_disk(folder, "size=4m,ro") as mounted:
        if not mounted:
            folder.chmod(0o500)
            if os.access(folder, os.W_OK):
                return None
        try:
            solve(checkpoint=folder / "run.npz")
        except OSError as error:
            print(f"  a read-only folder: {error.strerror}")
            return "give another path" in str(error)
        finally:
            if not mounted:
                folder.chmod(0o700)
    return False


def cost(n: int, folder: Path) -> float:
    """The share of its time that a run writes by default."""
    problem, path = make_problem(n, 20, 200), folder / "cost.npz"
    ACCELERATED.solve(problem, 1e-3, tol=0, max_passes=10, random_state=0, checkpoint=path)
    state = ACCELERATED.solve(problem, 1e-3, tol=0, max_passes=10, random_state=0).state
    keeper = keeping.Keeper(folder / "again.npz", 0.0, {})
    before = time.monotonic()
    keeper.keep(state)
    seconds = time.monotonic() - before
    sites, size = len(problem.labels), path.stat().st_size
    print(f"  {n} chains, {sites} positions of 20 labels: {size / 1e6:.1f} MB in {seconds:.3f} s")
    return seconds / keeping.EVERY


def main() -> None:
    quick, rng = arguments(__doc__).quick, np.random.default_rng(0)
    kills = QUICK_KILLS if quick else KILLS
    runs = solves(make_problem(40 if quick else 120))
    found = np.zeros(3, int)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for solve in runs.values():
            solve()  # compile, before anybody is forked
        for kind, solve in runs.items():
            print(kind)
            found += kill_often(solve, folder, kills // len(runs), rng)
        full, read_only = folder / "full", folder / "read_only"
        full.mkdir()
        read_only.mkdir()
        survives, refuses = survives_full_disk(runs["acceleration"], full), refuses_read_only(runs["SVRG"], read_only)
        share = cost(500 if quick else 8000, folder)
    finish(
        [
            Bar(f"runs that did not go on after a kill, of {kills}", found[0], 0),
            Bar("torn files", found[1], 0),
            Bar("ends with other weights", found[2], 0),
            Bar("a full disk costs checkpoints alone", float(survives), 1, at_least=True),
            Bar("a read-only folder is refused at once", None if refuses is None else float(refuses), 1, at_least=True),
            Bar("share of the time that is spent writing", share, 0.01),
        ]
    )


if __name__ == "__main__":
    main()
