"""Clusters: the same certified optimum from any number of workers, what it takes to get there, and what kills survive.

Words of OCR-large in as many partitions as there are workers, processes of a LocalCluster on this machine; accelerated
pairwise steps, one pass a round. Passes, rounds and bytes to the goal for sigma = 1, the number of workers, and as the
changes tell (Rounds' default). Then workers die (SIGKILL) at random moments, the scheduler dies and the client dies;
the last two go on from their checkpoints. With few processors nothing is said of seconds. --quick kills a worker and
the client, once each. Run: python -m benchmarks.scale cluster
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin import ChainSVM, datasets

from .._report import Bar, effort_to
from .cluster_run import fit, write

KILLS_OF_A_CLUSTER = 4
SIGMAS = (1, "partitions", None)


class Task(NamedTuple):
    """What is learned: the first words, to a gap, in partitions."""

    words: int
    tol: float

    @property
    def lam(self) -> float:
        return 100.0 / self.words

    def samples(self) -> tuple[Any, Any]:
        data = datasets.fetch_ocr("large")
        return data.X_train[: self.words], data.y_train[: self.words]

    def alone(self) -> ChainSVM:
        """The model of one machine."""
        return ChainSVM(lam=self.lam, tol=self.tol, random_state=0).fit(*self.samples())

    def files(self, folder: Path, n_partitions: int) -> list[str]:
        return write(made(folder / f"{self.words}_{n_partitions}"), *self.samples(), n_partitions)


def measure(quick: bool) -> list[Bar]:
    task, few = Task(300, 2e-2) if quick else Task(2000, 1e-3), Task(300, 1e-2)
    numbers, kills = ((2,), 1) if quick else ((1, 2, 4, 8), 20)
    killed = ("client",) if quick else ("client", "scheduler")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with local_cluster(numbers[0]) as cluster:
            bars = optima(cluster, task, folder, numbers)
        bars.append(killed_workers(few, folder, 2 if quick else 3, kills))
        bars += killed_processes(few, folder, killed)
    return [*bars, Bar("modules of dask imported by maxmargin", imported(), 0)]


def made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Any]:
    """Processes here, and a client that is the one to be found."""
    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster):
        yield cluster


def optima(cluster: Any, task: Task, folder: Path, numbers: tuple[int, ...]) -> list[Bar]:
    """Fits with more and more workers: do all brackets hold the same optimum?"""
    alone = task.alone()
    print(f"{task.words} words, lam = 100/n, gap {task.tol:g}; one machine: {alone.n_passes_:g} passes")
    print(f"{'workers':>8}{'sigma':>12}{'passes':>8}{'rounds':>8}{'MB sent':>9}{'MB received':>12}{'gap':>10}")
    models, reached = [alone], 0
    for k in numbers:
        cluster.scale(k)
        wait_for(cluster, k)
        for sigma in SIGMAS if k > 1 else (None,):
            model = fit(task.files(folder, k), task.lam, task.tol, sigma=sigma)
            history = model.history_
            passes = effort_to(task.tol, history["gap"], history["passes"])
            # every worker gets the weights, and all but one of the changes go to another one, or to the client
            sent, received = k * history["sent"][-1] / 1e6, k * history["received"][-1] / 1e6
            rounds = int(history["rounds"][-1])
            print(
                f"{k:8d}{sigma or 'adaptive':>12}{passes:8.1f}{rounds:8d}{sent:9.2f}{received:12.2f}{model.gap_:10.1e}"
            )
            models.append(model)
            reached += sigma is None and model.status_ == "converged"
    apart = max(model.dual_ for model in models) - min(model.primal_ for model in models)
    return [
        Bar("clusters, highest dual value minus lowest primal value of all runs", apart, 0),
        Bar("clusters, numbers of workers that reach the goal", reached, len(numbers), at_least=True),
    ]


def wait_for(cluster: Any, n_workers: int) -> None:
    from distributed import get_client

    get_client().wait_for_workers(n_workers)


def killed_workers(task: Task, folder: Path, n_workers: int, kills: int) -> Bar:
    """A worker dies at a random moment of each run, and another is started in its place."""
    alone, paths = task.alone(), task.files(folder, n_workers)
    chance, found, same = random.Random(0), list[ChainSVM](), 0
    while len(found) < kills:
        with local_cluster(n_workers) as cluster:
            wait_for(cluster, n_workers)
            calm = fit(paths, task.lam, task.tol)  # and all is loaded
            began = time.perf_counter()
            fit(paths, task.lam, task.tol)
            seconds = time.perf_counter() - began
            for _ in range(min(KILLS_OF_A_CLUSTER, kills - len(found))):
                model = fit_while(cluster, chance, seconds, lambda: fit(paths, task.lam, task.tol))
                if model is not None:
                    found.append(model)
                    same += np.array_equal(model.coef_, calm.coef_)
    right = sum(is_right(model, alone, task.tol) for model in found)
    print(
        f"{kills} runs of {seconds:.1f} s, a worker of {n_workers} killed: {right} right, {same} the same, bit by bit"
    )
    return Bar("clusters, runs with a killed worker that end with the right certificate", right, kills, True)


def fit_while(cluster: Any, chance: random.Random, seconds: float, fit_once: Callable[[], ChainSVM]) -> ChainSVM | None:
    """The model of a run in which a worker was killed; None where that came too late."""
    victims = list[int]()
    killer = threading.Timer(chance.uniform(0.05, 0.9) * seconds, kill_one, (cluster, chance, victims))
    killer.start()
    model = fit_once()
    killer.cancel()
    return model if victims else None


def kill_one(cluster: Any, chance: random.Random, victims: list[int]) -> None:
    alive = [worker.pid for worker in cluster.workers.values() if worker.pid]
    victims.append(chance.choice(alive))
    os.kill(victims[0], signal.SIGKILL)


def is_right(model: ChainSVM, alone: ChainSVM, tol: float) -> bool:
    """Whether a certificate is true as far as that of one machine tells."""
    apart = max(model.dual_, alone.dual_) - min(model.primal_, alone.primal_)
    return model.status_ == "converged" and model.gap_ <= tol and apart <= 0.0


class Processes:
    """A scheduler and two workers, each of which can be killed."""

    def __init__(self, folder: Path):
        self.file = folder / "scheduler.json"
        self.file.unlink(missing_ok=True)
        of_file = ["--scheduler-file", str(self.file)]
        self.scheduler = started("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", *of_file)
        two = ["--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
        self.workers = started("distributed.cli.dask_worker", *of_file, *two)

    def end(self) -> None:
        for process in (self.workers, self.scheduler):
            process.terminate()
            process.wait()


def started(module: str, *arguments: str, **options: Any) -> subprocess.Popen:
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    soon = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}  # a scheduler is given up after that
    return subprocess.Popen([sys.executable, "-m", module, *arguments], env=soon, **{**quiet, **options})


def killed_processes(task: Task, folder: Path, killed: tuple[str, ...]) -> list[Bar]:
    """The client or the scheduler dies in the middle of a run; the next client goes on from the checkpoint."""
    bars, parts = [], Path(task.files(folder, 2)[0]).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        processes = Processes(folder)
        calm = run_client(processes, parts, task, folder / "calm.npz")
        for who in killed:
            checkpoint = folder / f"{who}.npz"
            cut = client(processes, parts, task, checkpoint)
            while not checkpoint.exists() and cut.poll() is None:
                time.sleep(0.05)
            (cut if who == "client" else processes.scheduler).kill()
            cut.communicate()
            if who == "scheduler":
                processes.end()
                processes = Processes(folder)
            gone_on = run_client(processes, parts, task, checkpoint)
            print(f"{who} killed, client's exit {cut.returncode}; then {gone_on}; undisturbed {calm}")
            apart = abs(gone_on["weights"] - calm["weights"])
            bars.append(Bar(f"clusters, how far weights are from others after the {who} was killed", apart, 1e-9))
        processes.end()
    return bars


def client(processes: Processes, parts: Path, task: Task, checkpoint: Path) -> subprocess.Popen:
    arguments = processes.file, parts, task.lam, task.tol, checkpoint
    return started("benchmarks.scale.cluster_run", *map(str, arguments), stdout=subprocess.PIPE, text=True)


def run_client(processes: Processes, parts: Path, task: Task, checkpoint: Path) -> dict[str, float]:
    done = client(processes, parts, task, checkpoint)
    found = json.loads(done.communicate()[0] or "{}")
    return found or {"weights": np.inf}


def imported() -> int:
    seen = "sum(name.split('.')[0] in ('dask', 'distributed') for name in sys.modules)"
    code = f"import sys, maxmargin, maxmargin.distributed; print({seen})"
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
