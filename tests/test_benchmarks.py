"""Benchmarks run on slices of their data, so that they cannot rot; what they measure is not judged here."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from sklearn.utils import Bunch

from maxmargin import datasets

ROOT = Path(__file__).resolve().parents[1]
BAR = re.compile(r"^.+: [-+.\w]+ \((<=|>=) [-+.\w]+\) (ok|SHORT)$")


def sliced(fetch, n):
    """The fetcher, cut down to its first `n` samples."""

    def fetch_few(*args, **options):
        data = fetch(*args, **options)
        return Bunch(**{key: value[:n] if key[:2] in ("X_", "y_") else value for key, value in data.items()})

    return fetch_few


needs_data = pytest.mark.skipif(
    not (ROOT.parent / "shared" / "data").is_dir(),
    reason="needs the data sets that lie beside the checkout in development",
)


@needs_data
@pytest.mark.parametrize(
    "name",
    ["iteration", "multiclass", "ocr", "conll2000", "kernels", "slow_oracle", "path", "inference", "boxes", "poses"],
)
def test_benchmark_runs(name, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(sys, "argv", [name, "--quick"])
    for fetcher in ("fetch_ocr", "fetch_conll2000", "fetch_usps"):
        monkeypatch.setattr(datasets, fetcher, sliced(getattr(datasets, fetcher), 120))
    module = importlib.import_module(f"benchmarks.{name}")
    with pytest.raises(SystemExit) as stop:
        module.main()
    bars = capsys.readouterr().out.rstrip().split("\n\n")[-1].splitlines()
    assert bars
    assert all(BAR.match(line) for line in bars)
    assert stop.value.code == int(any(line.endswith("SHORT") for line in bars))


@needs_data
@pytest.mark.parametrize("name", ["treebank", "snakes", "dates"])
def test_graphs_run(name, monkeypatch):
    """Interpreted: six structures would take minutes to compile."""
    monkeypatch.setattr("maxmargin._compile.runs_compiled", lambda *parts: False)
    monkeypatch.syspath_prepend(ROOT)
    graphs = importlib.import_module("benchmarks.graphs")
    task = getattr(graphs, name)(3)
    X, y = task.test
    bars = graphs.run(task._replace(test=(X[:3], y[:3]), lams=(10.0,)))
    assert len(bars) == 2 and all(BAR.match(str(bar)) for bar in bars)
