"""CoNLL-2000 from the shell: text files to a model, tags and scores, beside CRFsuite from the same files.

`maxmargin fit`, `predict` and `evaluate` are a process each; CRFsuite is two: a script that makes attributes as its
tutorial does (chunking.py) and trains with what `crfsuite learn` comes with, and one that tags. All of it is timed:
starting, reading, features, training, writing, tagging. Cold is a first run, which compiles; the others are warm.

CRFsuite twice: with the attributes of its tutorial, and with those that maxmargin makes by default. maxmargin twice: by
default, and with the window of CRFsuite's tutorial. CPU seconds. Needs python-crfsuite (``pip install
"maxmargin[bench]"``). Run: python -m benchmarks.command_line [--quick]
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from maxmargin.datasets._conll2000 import TEST, TRAIN
from maxmargin.datasets._fetch import load_file

from ._before import SOURCE, environment
from ._report import Bar, arguments, finish

FEW = {"train": 1200, "test": 300}  # sentences of the quick version


class Ran(NamedTuple):
    """A command: CPU and wall seconds of its process, and what it printed."""

    cpu: float
    wall: float
    out: str


class Row(NamedTuple):
    """One way to go from texts to scores."""

    name: str
    fit: Ran
    predict: Ran
    f1: float
    note: str = ""

    @property
    def cpu(self) -> float:
        return self.fit.cpu + self.predict.cpu

    @property
    def wall(self) -> float:
        return self.fit.wall + self.predict.wall


def run(folder: Path, kernels: Path, *words: str) -> Ran:
    """Run a module of Python in a process of its own."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, cwd=folder, env=environment(SOURCE, kernels)
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(cpu, wall, done.stdout)


def scored(folder: Path, kernels: Path, tagged: str) -> tuple[float, Ran]:
    """F1 of entities, as `maxmargin evaluate` prints it."""
    ran = run(folder, kernels, "maxmargin", "evaluate", tagged)
    found = re.search(r"all entities +\S+ +\S+ +(\S+)", ran.out)
    assert found is not None
    return float(found[1]), ran


def ours(name: str, folder: Path, kernels: Path, *options: str) -> Row:
    fit = run(folder, kernels, "maxmargin", "fit", "train.txt", "-o", "ours.model", "--quiet", *options)
    predict = run(folder, kernels, "maxmargin", "predict", "ours.model", "test.txt", "-o", "ours.tagged")
    f1, evaluate = scored(folder, kernels, "ours.tagged")
    predict = Ran(predict.cpu + evaluate.cpu, predict.wall + evaluate.wall, "")
    gap = re.match(r"gap (\S+):", fit.out)
    return Row(name, fit, predict, f1, f"gap {gap[1]}" if gap else "")


def theirs(name: str, folder: Path, kernels: Path, attributes: str) -> Row:
    module = "benchmarks._crfsuite_chunking"
    fit = run(folder, kernels, module, "learn", attributes, "train.txt", "theirs.model")
    predict = run(folder, kernels, module, "tag", attributes, "theirs.model", "test.txt", "theirs.tagged")
    return Row(name, fit, predict, scored(folder, kernels, "theirs.tagged")[0], "no certificate")


def write_texts(folder: Path, quick: bool) -> None:
    for name, file in {"train": TRAIN, "test": TEST}.items():
        sentences = load_file(file).split(b"\n\n")
        some = sentences[: FEW[name]] if quick else sentences
        (folder / f"{name}.txt").write_bytes(b"\n\n".join(some) + b"\n\n")


def main() -> None:
    quick = arguments(__doc__).quick
    with tempfile.TemporaryDirectory() as name:
        folder, kernels = Path(name), Path(name) / "kernels"
        kernels.mkdir()
        write_texts(folder, quick)
        rows = [
            ours("maxmargin, cold", folder, kernels),
            ours("maxmargin", folder, kernels),
            ours("maxmargin, window", folder, kernels, "--features", "window"),
            theirs("CRFsuite, its tutorial", folder, kernels, "window"),
            theirs("CRFsuite, ours", folder, kernels, "full"),
        ]
    print(f"{'':26}{'fit':>10}{'predict':>10}{'all CPU s':>11}{'all wall s':>12}{'F1':>8}")
    for row in rows:
        times = f"{row.fit.cpu:>10.1f}{row.predict.cpu:>10.1f}{row.cpu:>11.1f}{row.wall:>12.1f}"
        print(f"{row.name:26}{times}{row.f1:>8.2f}  {row.note}")
    # a few sentences tell nothing about these: what counts there is how long Python takes to start
    finish([bar._replace(value=None) if quick else bar for bar in bars_of(rows)])


def bars_of(rows: list[Row]) -> list[Bar]:
    cold, warm, window, tutorial, same = rows
    return [
        Bar("F1 above CRFsuite with its tutorial's attributes", warm.f1 - tutorial.f1, 0.0, at_least=True),
        Bar("F1 above CRFsuite with the same attributes", warm.f1 - same.f1, 0.0, at_least=True),
        Bar("F1 above CRFsuite, both with the tutorial's window", window.f1 - tutorial.f1, 0.0, at_least=True),
        Bar("CPU seconds over CRFsuite with its tutorial's attributes", warm.cpu / tutorial.cpu, 1.0),
        Bar("CPU seconds over CRFsuite with the same attributes", warm.cpu / same.cpu, 1.0),
        Bar("CPU seconds over CRFsuite, both with the tutorial's window", window.cpu / tutorial.cpu, 1.0),
        Bar("CPU seconds of the first run, over CRFsuite with the same attributes", cold.cpu / same.cpu, 1.0),
    ]


if __name__ == "__main__":
    main()
