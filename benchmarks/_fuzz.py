"""Damaged and forged model files by the thousand, CRFsuite's own among them, in a process of its own: whatever happens
to it is an answer.

Kernels run interpreted, so that what reads outside of an array is seen. Run: python -m benchmarks._fuzz HOW_MANY
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["NUMBA_DISABLE_JIT"] = "1"

from maxmargin import ChainCRF
from maxmargin.compilation.recipes import QUESTIONS, RECIPES
from maxmargin.persistence import ModelFileError, load

from ._forgery import damaged, forge, parts_of, told_otherwise
from ._memory import peak_bytes

KINDS = (("chain", "sparse"), ("multiclass", "kernel"), ("graph", "dense"), ("box", "all"), ("pose", "all"))
COMPLAINTS = (ValueError, TypeError, AttributeError)  # as if a user had set a parameter or an attribute to something


def fit(case: Any) -> Any:
    return case.estimator.set_params(max_passes=2, random_state=0).fit(case.X, case.y)


def answers(model: Any, X: Any) -> str:
    return repr([getattr(model, name)(X, *given) for name, given in QUESTIONS.items() if hasattr(model, name)])


def outcome(path: Path, judge: Callable[[Any], str], read: Callable[[Path], Any] = load) -> str:
    """What became of a file: refused, or what the judge says of the model in it."""
    try:
        return judge(read(path))
    except ModelFileError:
        return "refused"
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"[:200]


def answered(model: Any, X: Any) -> str:
    try:
        return "answered" if answers(model, X) else ""
    except COMPLAINTS:
        return "complained"


def fuzz(model: Any, X: Any, n: int, rng: random.Random, path: Path) -> dict[str, Counter[str]]:
    """So many files of either kind, by what became of them."""
    model.save(path)
    data, (document, arrays), right = path.read_bytes(), parts_of(path), answers(load(path), X)

    def same(loaded: Any) -> str:
        return "the same" if answers(loaded, X) == right else "WRONG: another model"

    found: dict[str, Counter[str]] = {"damaged": Counter(), "forged": Counter()}
    for _ in range(n):
        path.write_bytes(damaged(data, rng))
        found["damaged"][outcome(path, same)] += 1
        forge(path, told_otherwise(document, rng), arrays)
        found["forged"][outcome(path, lambda loaded: answered(loaded, X))] += 1
    return found


def fuzz_crfsuite(n: int, rng: random.Random, path: Path) -> Counter[str]:
    """So many damaged files of CRFsuite's, which have no checksums: some may be read as another model."""
    import pycrfsuite

    X = [[{"w": rng.choice("abcdef"), "t": str(t)} for t in range(4)] for _ in range(10)]
    trainer = pycrfsuite.Trainer(verbose=False, params={"max_iterations": 5})
    for x in X:
        trainer.append(pycrfsuite.ItemSequence(x), [token["w"].upper() for token in x])
    trainer.train(str(path))
    data, found = path.read_bytes(), Counter[str]()
    for _ in range(n):
        path.write_bytes(damaged(data, rng))
        found[outcome(path, lambda model: answered(model, X), ChainCRF.from_crfsuite)] += 1
    return found


def main() -> None:
    each, total = int(sys.argv[1]) // len(KINDS), {"damaged": Counter[str](), "forged": Counter[str]()}
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        before = peak_bytes()
        for seed, (name, kind) in enumerate(KINDS):
            cases = list(RECIPES[name][kind]())
            case = cases[-1]  # that of chains has names of features
            found = fuzz(fit(case), case.X, each, random.Random(seed), Path(folder, "model.npz"))
            for how, counts in found.items():
                total[how] += counts
        total["CRFsuite's, damaged"] = fuzz_crfsuite(each * len(KINDS), random.Random(0), Path(folder, "crfsuite"))
        print(json.dumps({**total, "bytes": peak_bytes() - before}))


if __name__ == "__main__":
    main()
