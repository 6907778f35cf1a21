"""Model files: size and time beside pickle; a new process that loads a tagger and tags one sentence, beside CRFsuite's
tagger; and files that are damaged or forged.

The tagger is that of the benchmark `serving`: CoNLL-2000, 75,000 features, 22 labels, 1.6 million weights, trained for
a moment. CRFsuite twice: as it comes, with weights for pairs of feature and label that were seen together, and with all
states, as many weights as ours. CPU time, medians; new processes take turns, and their memory is the peak of
what was resident. Kernels are on disk, as after `maxmargin compile`.

Needs python-crfsuite (``pip install "maxmargin[bench]"``). Run: python -m benchmarks.model_files [--quick]
"""

from __future__ import annotations

import json
import pickle
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import maxmargin
from maxmargin import ChainSVM

from ._before import ROOT, SOURCE, environment
from ._report import Bar, arguments, finish, time_in_turn
from .serving import Texts, crfsuite_trainer, load

OURS, UNPICKLED, PLAIN, ALL_STATES = "maxmargin", "maxmargin, pickle", "CRFsuite", "CRFsuite, all states"
BARE = "bare imports"
FILES, FEW_FILES = 10_000, 200  # that are mutated

# What new processes run: {path} is the model, {sentence} a file with one sentence of dicts.
TIMED = """
import json, time
from benchmarks._memory import peak_bytes
sentence = json.load(open({sentence!r}))
at = [time.process_time()]
{imports}
at.append(time.process_time())
{load}
at.append(time.process_time())
{tag}
at.append(time.process_time())
print(json.dumps([at[1] - at[0], at[2] - at[1], at[3] - at[2], peak_bytes()]))
"""
STEPS = {
    BARE: ("import numba, sklearn", "", ""),
    OURS: ("import maxmargin", "model = maxmargin.load({path!r})", "model.predict([sentence])"),
    UNPICKLED: (
        "import maxmargin, pickle",
        "model = pickle.load(open({path!r}, 'rb'))",
        "model.predict([sentence])",
    ),
    PLAIN: ("import pycrfsuite", "model = pycrfsuite.Tagger(); model.open({path!r})", "model.tag(sentence)"),
}
STEPS[ALL_STATES] = STEPS[PLAIN]


class Started(NamedTuple):
    """A new process: CPU seconds of its own steps and of all of it, and memory at most."""

    imports: float
    load: float
    tag: float
    n_bytes: float
    whole: float


def start(side: str, path: Path, sentence: Path, kernels: Path) -> Started:
    imports, load_model, tag = STEPS[side]
    code = TIMED.format(imports=imports, load=load_model.format(path=str(path)), tag=tag, sentence=str(sentence))
    before = seconds_of_children()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        check=True,
        env=environment(SOURCE, kernels),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return Started(*json.loads(done.stdout), seconds_of_children() - before)


def seconds_of_children() -> float:
    """CPU time of all processes that were started here and are over."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def starts(paths: dict[str, Path], sentence: Path, kernels: Path, rounds: int) -> dict[str, Started]:
    """Medians of new processes that take turns, after one each that warms up."""
    found: dict[str, list[Started]] = {side: [] for side in paths}
    for turn in range(rounds + 1):
        for side, path in paths.items():
            one = start(side, path, sentence, kernels)
            if turn:
                found[side].append(one)
    return {side: Started(*np.median(many, axis=0)) for side, many in found.items()}


def beside_pickle(model: ChainSVM, ours: Path, theirs: Path) -> list[Bar]:
    """Sizes, and CPU times of both in this process."""
    calls: dict[str, Callable[[int], Any]] = {
        "save": lambda turn: model.save(ours),
        "pickle": lambda turn: pickle.dump(model, theirs.open("wb")),
        "load": lambda turn: maxmargin.load(ours),
        "unpickle": lambda turn: pickle.load(theirs.open("rb")),
        "load, not verified": lambda turn: maxmargin.load(ours, verify=False),
    }
    took = {name: float(np.median(values)) for name, values in time_in_turn(calls, 15).items()}
    sizes, weights = (ours.stat().st_size, theirs.stat().st_size), model._weights.flat
    print(f"{weights.size} weights, {np.count_nonzero(weights) / weights.size:.0%} not 0")
    print(f"model file {sizes[0] / 1e6:.2f} MB, pickle {sizes[1] / 1e6:.2f} MB")
    print("CPU ms: " + ", ".join(f"{name} {1e3 * seconds:.1f}" for name, seconds in took.items()) + "\n")
    return [
        Bar("bytes of a model file over those of a pickle", sizes[0] / sizes[1], 0.6),
        Bar("loading a model file over unpickling, time", took["load"] / took["unpickle"], 2.0),
        Bar("loading with checksums over without, time", took["load"] / took["load, not verified"], 2.0),
    ]


def new_processes(paths: dict[str, Path], sentence: Path, rounds: int) -> list[Bar]:
    with tempfile.TemporaryDirectory() as kernels:
        found = starts(paths, sentence, Path(kernels), rounds)
    names = ("imports", "load", "one sentence", "whole process", "memory, MB")
    print("a new process, CPU ms\n" + f"{'':24}" + "".join(f"{name:>20}" for name in names))
    for side, one in found.items():
        times = [1e3 * one.imports, 1e3 * one.load, 1e3 * one.tag, 1e3 * one.whole, one.n_bytes / 1e6]
        print(f"{side:24}" + "".join(f"{value:20.1f}" for value in times))
    ours, bare, theirs = (found[side] for side in (OURS, BARE, ALL_STATES))
    return [
        Bar("a new process that tags, time over bare imports", ours.whole / bare.whole, 2.0),
        Bar("a new process that tags, time over CRFsuite's tagger", ours.whole / theirs.whole, 1.0),
        Bar("a new process that tags, memory over CRFsuite's tagger", ours.n_bytes / theirs.n_bytes, 1.0),
        Bar("loading, time over CRFsuite's", ours.load / theirs.load, 1.0),
    ]


def hostile(n: int) -> list[Bar]:
    """Mutations of both kinds; none may end in anything but a refusal or a model that is as it should be."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks._fuzz", str(n)],
        env=environment(SOURCE, ""),
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    if done.returncode:
        print(f"\nthe process that read them ended with {done.returncode}")
        return [Bar("mutated files that ended a process", 1, 0)]
    found = json.loads(done.stdout)
    n_bytes = found.pop("bytes")
    print(f"\nmutated files, with {n_bytes / 1e6:.0f} MB more than before at most")
    for how, counts in found.items():
        print(f"{how}: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return [
        Bar(f"{how} files of {n} with another outcome", sum(k for what, k in counts.items() if what[:5] == "WRONG"), 0)
        for how, counts in found.items()
    ]


def trained(texts: Texts) -> ChainSVM:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few passes do not converge
        return ChainSVM(max_passes=5, random_state=0).fit(texts.X_train, texts.y_train)


def main() -> None:
    quick = arguments(__doc__).quick
    texts = load(1500 if quick else None, 50)
    with tempfile.TemporaryDirectory() as folder:
        names = {OURS: "model.npz", UNPICKLED: "model.pickle", PLAIN: "plain.crfsuite", ALL_STATES: "all.crfsuite"}
        paths = {side: Path(folder, name) for side, name in names.items()}
        bars = beside_pickle(trained(texts), paths[OURS], paths[UNPICKLED])
        for side in (PLAIN, ALL_STATES):
            crfsuite_trainer(texts, side == ALL_STATES).train(str(paths[side]))
            print(f"{side}: {paths[side].stat().st_size / 1e6:.2f} MB")
        sentence = Path(folder, "sentence.json")
        sentence.write_text(json.dumps(texts.X_test[0]))
        bars += new_processes({BARE: Path(), **paths}, sentence, 2 if quick else 9)
    finish([*bars, *hostile(FEW_FILES if quick else FILES)])


if __name__ == "__main__":
    main()
