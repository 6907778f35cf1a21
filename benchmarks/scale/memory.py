"""Chains of three times the memory that they may take: how much a fit takes, how long a pass, and how many passes.

Synthetic chains of 8 positions and 26 labels, dense (128 features) and sparse (20 of 4,000 features a position), are
written to disk batch by batch, and learned from there and from memory by the same accelerated pairwise steps at
lam = 1e-3, each in a process of its own. Memory is what the process has at most (RssAnon + RssFile, as the kernel
counts its peak, which nothing hides) beyond what it has after imports and a tiny fit, which loads all kernels. Seconds
are wall-clock, from the first certificate to the one after the last pass, that included.

What windows cost in passes: OCR and CoNLL-2000 learned from disk, in a dozen windows or more, against new orders of all
samples in each pass.
--quick takes dense chains and OCR-small only. Run: python -m benchmarks.scale memory
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin import ChainSVM, datasets
from maxmargin.solvers import BlockFrankWolfe
from maxmargin.storage import SequenceWriter, open_samples, write_samples

from .._report import Bar, effort_to

LENGTH, LABELS, FEATURES = 8, 26, 128
NAMES, ACTIVE = 4_000, 20  # of sparse features, and how many of them a position has
BATCH, TIMES = 500, 3.2  # sequences written at a time; size of the data over the limit
GOAL, MOST_PASSES = 1e-3, 200
FETCHERS: dict[str, Callable[[], Any]] = {
    "OCR-small": lambda: datasets.fetch_ocr("small"),
    "OCR-large": lambda: datasets.fetch_ocr("large"),
    "CoNLL-2000": datasets.fetch_conll2000,
}

Batch = tuple[list[Any], list[np.ndarray]]


def dense_batch(rng: np.random.Generator, n: int) -> Batch:
    centres = np.random.default_rng(1).normal(size=(LABELS, FEATURES))
    y = rng.integers(LABELS, size=(n, LENGTH))
    return list(centres[y] + 2.0 * rng.normal(size=(n, LENGTH, FEATURES))), list(y)


def sparse_batch(rng: np.random.Generator, n: int) -> Batch:
    y = rng.integers(LABELS, size=(n, LENGTH))
    telling = y[..., None] * 100 + rng.integers(100, size=(n, LENGTH, ACTIVE))
    columns = np.where(rng.random(telling.shape) < 0.3, telling, rng.integers(NAMES, size=telling.shape))
    rows, ones = np.repeat(np.arange(LENGTH), ACTIVE), np.ones(LENGTH * ACTIVE)
    return [sp.csr_matrix((ones, (rows, own.ravel())), (LENGTH, NAMES)) for own in columns], list(y)


KINDS: dict[str, Callable[[np.random.Generator, int], Batch]] = {"dense": dense_batch, "sparse": sparse_batch}


def write(folder: str, kind: str, n_bytes: float) -> None:
    """Write so many bytes of samples."""
    rng, path = np.random.default_rng(0), Path(folder)
    with SequenceWriter(folder) as out:
        while sum(file.stat().st_size for file in out.folder.iterdir()) < n_bytes:
            out.add(*KINDS[kind](rng, BATCH))
    assert path.is_dir()


def fit(X: Any, y: Any, sampling: str, passes: float) -> Any:
    solver = BlockFrankWolfe(sampling, "weighted", gap_every=passes, step="pairwise", acceleration="catalyst")
    with warnings.catch_warnings(action="ignore"):
        return ChainSVM(lam=1e-3, solver=solver, tol=1e-9, max_passes=passes, random_state=0).fit(X, y)


def resident(name: str) -> float:
    """Bytes of this process, as its status has them."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024.0 * int(found[1])


def child(task: str, folder: str, kind: str, amount: float, passes: float) -> None:
    """What a process of its own does: `amount` is the limit, or the bytes to write; prints what it took."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as small:
        with SequenceWriter(f"{small}/samples") as out:
            out.add(*KINDS[kind](rng, 20))
        if task == "disk":
            fit(open_samples(f"{small}/samples"), None, "ranges", 1)
        if task == "memory":
            fit(*KINDS[kind](rng, 20), "permutation", 1)
    before = resident("RssAnon") + resident("RssFile")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    seconds = gap = 0.0
    if task == "write":
        write(folder, kind, amount)
    else:
        samples = open_samples(folder, memory_limit=amount)
        model = (
            fit(samples, None, "ranges", passes) if task == "disk" else fit(*in_memory(samples), "permutation", passes)
        )
        seconds, gap = float(np.ptp(model.history_["seconds"])) / passes, model.gap_
    print(json.dumps({"peak": resident("VmHWM") - before, "before": before, "seconds": seconds, "gap": gap}))


def in_memory(samples: Any) -> Batch:
    batches = list(samples.batches())
    return [x for X, _ in batches for x in X], [labels for _, y in batches for labels in y]


def run(task: str, folder: str, kind: str, amount: float, passes: float) -> dict[str, float]:
    """The same in a new process."""
    code = f"from {__name__} import child; child({task!r}, {folder!r}, {kind!r}, {amount!r}, {passes!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def larger_than_memory(kind: str, limit: float, passes: float) -> Iterator[Bar]:
    with tempfile.TemporaryDirectory() as parent:
        folder = f"{parent}/samples"
        written = run("write", folder, kind, TIMES * limit, passes)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        samples = open_samples(folder)
        whole = float(samples.row_bytes.sum())
        print(f"{samples!r}: {size / 1e6:.0f} MB on disk, {whole / 1e6:.0f} MB of rows, limit {limit / 1e6:.0f} MB")
        found = {task: run(task, folder, kind, limit, passes) for task in ("disk", "memory")}
    print(f"  {'':18s} peak MB beyond {written['before'] / 1e6:.0f} of the program   seconds a pass        gap")
    print(f"  {'to write them':18s} {written['peak'] / 1e6:10.0f}")
    for task, words in {"disk": "learned from disk", "memory": "from memory"}.items():
        one = found[task]
        print(f"  {words:18s} {one['peak'] / 1e6:10.0f} {one['seconds']:38.3f} {one['gap']:10.2e}", flush=True)
    disk, memory = found["disk"], found["memory"]
    yield Bar(f"{kind} chains: samples / limit", size / limit, 3.0, at_least=True)
    yield Bar(f"{kind} chains: peak of a fit / limit", disk["peak"] / limit, 1.0)
    yield Bar(f"{kind} chains: peak of writing them / limit", written["peak"] / limit, 1.0)
    yield Bar(f"{kind} chains: seconds of a pass / in memory", disk["seconds"] / memory["seconds"], 2.0)


def passes_of_windows(name: str, limit: float, multiples: tuple[float, ...]) -> Iterator[Bar]:
    data = FETCHERS[name]()
    X, y, n = data.X_train, data.y_train, len(data.y_train)
    with tempfile.TemporaryDirectory() as parent:
        write_samples(f"{parent}/samples", [(X, y)])
        samples = open_samples(f"{parent}/samples", memory_limit=limit)
        for multiple in multiples:
            passes = {}
            for sampling, given in {"permutation": (X, y), "ranges": (samples, None)}.items():
                solver = BlockFrankWolfe(sampling, "weighted", gap_every=2, step="pairwise", acceleration="catalyst")
                model = ChainSVM(lam=multiple / n, solver=solver, tol=GOAL, max_passes=MOST_PASSES, random_state=0)
                with warnings.catch_warnings(action="ignore"):
                    history = model.fit(*given).history_
                passes[sampling] = effort_to(GOAL, history["gap"], history["passes"])
            told = f"{passes['permutation']:.1f} in memory, {passes['ranges']:.1f} from disk"
            print(f"{name}, lam = {multiple:g}/n, {limit / 1e6:g} MB: passes to a gap of {GOAL:g}: {told}", flush=True)
            share = passes["ranges"] / passes["permutation"]
            yield Bar(f"{name}, {multiple:g}/n: passes from disk / in memory", share, 1.15)


def measure(quick: bool) -> list[Bar]:
    """All tables, and the bars."""
    limit, passes = (60e6, 3.0) if quick else (500e6, 5.0)
    kinds = ("dense",) if quick else tuple(KINDS)
    bars = [bar for kind in kinds for bar in larger_than_memory(kind, limit, passes)]
    sets = {"OCR-small": (3e6, (100.0,))}
    if not quick:
        sets = {"OCR-large": (20e6, (100.0, 10.0)), "CoNLL-2000": (330e6, (100.0,))}
    return bars + [bar for name, how in sets.items() for bar in passes_of_windows(name, *how)]
