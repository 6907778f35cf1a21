"""What benchmarks.figures is made of, and the layout that benchopt expects; all on a few samples, interpreted."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def module(no_compilation, monkeypatch):
    """A module of the benchmarks by its name; kernels run interpreted, and nothing that is loaded stays."""
    monkeypatch.syspath_prepend(ROOT)
    trials = importlib.import_module("benchmarks._trials")
    trials.load_trial.cache_clear()
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    trials.load_trial.cache_clear()


def test_a_trial_knows_primal_values_and_test_errors(module):
    trial = module("_trials").load_trial("dates", 6)
    fitted = trial.model.set_params(lam=0.1, solver="bcfw", max_passes=20, tol=1.0).fit(*trial.train)
    w = fitted._weights.flat
    primal, expected = trial.primal(w, 0.1), 1 - fitted.score(*trial.test)
    assert_allclose(primal, fitted.primal_)
    assert_allclose(trial.error(w), expected)
    assert trial.n == 6
    assert_allclose(trial.primal(np.zeros_like(w), 0.1), 1.0)  # all labels wrong


def test_runs_stay_within_their_budget_and_certificates_become_rarer(module):
    runs = module("figures.runs")
    limits = runs.Rare(most=10.0)
    planned, passes = [], 0.0
    while passes < 100:
        limits.plan(passes, passes / 100, 1.0)  # 100 passes are the budget
        passes = limits.gap_every
        planned.append(passes)
    steps = np.diff(planned)
    assert np.all(steps[:-1] >= steps[0] - 1e-9) and steps.max() <= 10.0 and planned[-1] == 100.0
    task = runs.Task("dates", 6, "0.1", "bcfw", seed=0, budget=0.05)
    one, two = runs.solve(task), runs.solve(task)
    shared, at_one, at_two = np.intersect1d(one.passes, two.passes, return_indices=True)  # others the clock chose
    assert len(shared) >= 2
    assert_allclose(one.primal[at_one], two.primal[at_two])
    assert np.all(np.diff(one.passes) > 0) and np.all(np.diff(one.seconds) > 0) and np.all(one.primal >= one.dual)


def test_runs_are_kept_and_bracket_the_optimum(module, tmp_path):
    store, Run = module("figures.store"), module("figures.runs").Run
    exact = Run(*np.array([[1.0, 2.0], [0.1, 0.2], [1.0, 0.4], [0.0, 0.3], [0.5, 0.4]]))
    blind = exact._replace(primal=np.array([0.9, 0.35]), dual=np.full(2, np.nan))
    other = blind._replace(primal=np.full(2, np.nan))
    runs = {("1/n", "bcfw"): [exact, exact], ("1/n", "ssg"): [blind], ("any", "crfsuite, ap"): [other]}
    store.save(tmp_path, "some data", runs)
    found = store.load(tmp_path, "some data")
    assert {key: len(group) for key, group in found.items()} == {key: len(group) for key, group in runs.items()}
    assert_allclose(found["1/n", "ssg"][0], blind)
    assert store.brackets(found) == {"1/n": (0.3, 0.35)}
    assert store.load(tmp_path, "other data") == {}


def test_efforts_are_medians_that_do_not_mix_in_what_never_arrives(module):
    tables, Run = module("figures.tables"), module("figures.runs").Run
    fast = Run(np.array([1.0, 2.0]), np.array([0.1, 0.2]), np.array([1.0, 1e-4]), np.zeros(2), np.zeros(2))
    never = fast._replace(primal=np.array([1.0, 1.0]))
    assert np.all(np.isfinite(tables.efforts([fast, fast, never], 0.0)))
    assert np.all(np.isinf(tables.efforts([fast, never, never], 0.0)))
    assert tables.number(np.inf) == "-" and tables.number(123.4) == "123" and tables.number(0.01234) == "0.0123"


def test_weights_of_linear_svc_are_ours(module):
    peers = module("figures.peers")
    trials = module("_trials")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
    data = {"X_train": X, "y_train": y, "X_test": X, "y_test": y}
    trial = trials.classes(data, None)
    model = peers.fitted_svc(trial, 0.1, 1e-6)
    assert isinstance(model, LinearSVC)
    assert_allclose(trial.error(peers.packed(model)), 1 - model.score(X, y))
    ours = trial.model.set_params(lam=0.1, tol=1e-5).fit(X, y)
    assert_allclose(trial.primal(peers.packed(model), 0.1), ours.primal_, atol=1e-3)


def test_crfsuite_learns_from_a_trial(module):
    pytest.importorskip("pycrfsuite")
    peers = module("figures.peers")
    suite = peers.CrfSuite(module("_trials").load_trial("dates", 10), "ap")
    suite.train(5)
    assert suite.test_error() < 0.7


def test_figures_are_drawn(module, monkeypatch, capsys, tmp_path):
    figures = module("figures.main")
    plan = figures.Plan("dates", ("1/n",), 0.02, 1.0, 3, 2)
    for name, value in {"QUICK": [plan], "OUTPUT": tmp_path}.items():
        monkeypatch.setattr(figures, name, value)
    monkeypatch.setattr(figures, "peer_tasks", lambda *task: [])
    runs = module("figures.runs")
    monkeypatch.setattr(runs, "PILOT_PASSES", 1.0)
    for name in runs.SOLVERS.keys() - {"fw", "bcfw", "auto", "subgradient, tuned"}:
        monkeypatch.delitem(runs.SOLVERS, name)
    monkeypatch.setattr(sys, "argv", ["figures", "--quick", "--redraw"])
    with pytest.raises(SystemExit, match="leave --redraw out"):
        figures.main()
    monkeypatch.setattr(sys, "argv", ["figures", "--quick"])
    with pytest.raises(SystemExit) as stop:
        figures.main()
    assert stop.value.code == 0 and "highest dual - lowest primal" in capsys.readouterr().out
    kept = {path.name for path in (tmp_path / "quick").iterdir()}
    assert kept == {"dates.npz", "dates.png", "summary.png", "summary.md", "table.md"}


def test_benchopt_runs(tmp_path):
    pytest.importorskip("benchopt")
    chosen = ["-d", "dates[n_samples=5]", "-o", "Structural SVM[lam=0.1]", "-s", "FW", "-n", "2", "-r", "1"]
    command = [
        sys.executable,
        "-m",
        "benchopt",
        "run",
        str(ROOT / "benchmarks" / "for_benchopt"),
        *chosen,
        "--no-plot",
        "--no-cache",
    ]
    command += ["--output", str(tmp_path / "found")]
    interpreted = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=interpreted)
    assert done.returncode == 0, done.stderr
    assert "FW" in done.stdout and "error" not in done.stdout.lower()


def test_bars_compare_with_peers_where_these_improve_and_leave_tuned_solvers_out(module):
    bars, Run = module("figures.bars"), module("figures.runs").Run
    ours = Run(
        np.arange(3.0), np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 0.2]), np.zeros(3), np.array([0.9, 0.3, 0.1])
    )
    peer = Run(
        np.arange(3.0), np.array([1.0, 4.0, 5.0]), np.full(3, np.nan), np.full(3, np.nan), np.array([0.4, 0.1, 0.2])
    )
    tuned = ours._replace(seconds=ours.seconds / 100)
    runs = {("1/n", "auto"): [ours], ("1/n", "ssg-wavg, tuned"): [tuned], ("any", "crfsuite, ap"): [peer]}
    best, auto = bars.peer_bars("some data", runs)
    assert best.value == auto.value == 1.0  # 0.3 after 1 s where the peer has 0.4; 0.1 after 2 s instead of 4 s
    assert "best of 1 of ours" in best.name and "lam" in auto.name
    never = {**runs, ("any", "crfsuite, ap"): [peer._replace(error=np.array([0.4, 0.05, 0.2]))]}
    assert bars.peer_bars("some data", never)[0].short
