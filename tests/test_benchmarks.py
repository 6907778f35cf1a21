"""Benchmarks run on slices of their data, so that they cannot rot; what they measure is not judged here."""

import importlib
import re
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from cli import runs as commands
from maxmargin import TemplateEncoder, datasets

ROOT = Path(__file__).resolve().parents[1]
BAR = re.compile(r"^.+: ([-+.\w]+ \((<=|>=) [-+.\w]+\) (ok|SHORT)|not measured \((<=|>=) [-+.\w]+\))$")


def sliced(fetch, n):
    """The fetcher, cut down to its first `n` samples."""

    def fetch_few(*args, **options):
        data = fetch(*args, **options)
        splits = ("_train", "_test")
        return Bunch(**{key: value[:n] if key.endswith(splits) else value for key, value in data.items()})

    return fetch_few


needs_data = pytest.mark.skipif(
    not (ROOT.parent / "shared" / "data").is_dir(),
    reason="needs the data sets that lie beside the checkout in development",
)


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        "iteration",
        "multiclass",
        "multilabel",
        "ocr",
        "conll2000",
        "cross_validation",
        "kernels",
        "slow_oracle",
        "path",
        "inference",
        "boxes",
        "poses",
        "partial_linearization",
        "auto",
    ],
)
def test_benchmark_runs(name, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT)
    for fetcher in ("fetch_ocr", "fetch_conll2000", "fetch_usps", "fetch_multilabel"):
        monkeypatch.setattr(datasets, fetcher, sliced(getattr(datasets, fetcher), 120))
    module = importlib.import_module(f"benchmarks.{name}")
    if name == "path":
        monkeypatch.setattr(module, "TASKS", (module.letters,))  # cuts run below, interpreted
    if name == "auto":
        monkeypatch.setattr(module, "DATA", [one for one in module.DATA if one.name in ("dates", "word alignment")])
    if name == "multiclass":
        monkeypatch.setattr(module, "N_SAMPLES", 300)
    if name == "partial_linearization":  # others have kernels of their own, and tests elsewhere
        few = ("bcfw, uniform", *module.PARTIAL, module.OURS)
        monkeypatch.setattr(module, "SOLVERS", {one: module.SOLVERS[one] for one in few})
    assert_runs(name, module, monkeypatch, capsys)


@needs_data
def test_clusters_find_the_same_optimum(monkeypatch, tmp_path, capsys, no_compilation):
    """Within this process; what becomes of processes that are killed, tests of clusters show."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.syspath_prepend(ROOT)
    cluster = importlib.import_module("benchmarks.scale.cluster")
    here = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**here) as made, distributed.Client(made):
        bars = cluster.optima(made, cluster.Task(12, 0.2), tmp_path, (1, 2))
    assert all(BAR.match(str(bar)) and not bar.short for bar in bars)
    assert "adaptive" in capsys.readouterr().out


@needs_data
def test_serving_runs(monkeypatch, capsys):
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(datasets, "fetch_conll2000", sliced(datasets.fetch_conll2000, 40))
    assert_runs("serving", importlib.import_module("benchmarks.serving"), monkeypatch, capsys)


@needs_data
def test_model_files_run(monkeypatch, capsys):
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(datasets, "fetch_conll2000", sliced(datasets.fetch_conll2000, 40))
    module = importlib.import_module("benchmarks.model_files")
    monkeypatch.setattr(module, "FEW_FILES", 10)
    monkeypatch.setattr(module, "STEPS", dict.fromkeys(module.STEPS, ("", "", "")))  # of processes that do nothing
    assert_runs("model_files", module, monkeypatch, capsys)


@needs_data
def test_file_formats_run(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("benchmarks.file_formats")
    monkeypatch.setattr(module, "FEW_FILES", 20)
    few = b"\n\n".join(module.load_file(module.TRAIN).split(b"\n\n")[:50])
    monkeypatch.setattr(module, "load_file", lambda file: few)
    assert_runs("file_formats", module, monkeypatch, capsys)


@needs_data
def test_command_line_runs(monkeypatch, capsys, no_compilation):
    """Within this process, so that nothing has to be compiled."""
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("benchmarks.command_line")
    theirs = importlib.import_module("benchmarks._crfsuite_chunking")

    def run_here(folder, kernels, name, *words):
        monkeypatch.chdir(folder)
        ran = commands.run(*words) if name == "maxmargin" else getattr(theirs, words[0])(*words[1:])
        return module.Ran(1.0, 1.0, "" if ran is None else ran.out)

    monkeypatch.setattr(module, "run", run_here)
    monkeypatch.setattr(module, "FEW", {"train": 12, "test": 6})
    assert_runs("command_line", module, monkeypatch, capsys)


@needs_data
def test_crfsuite_gets_the_same_attributes(monkeypatch):
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(ROOT)
    theirs = importlib.import_module("benchmarks._crfsuite_chunking")
    data = datasets.fetch_conll2000()
    sentences = [list(zip(w, p, strict=True)) for w, p in zip(data.words_train[:80], data.pos_train[:80], strict=True)]
    ours = TemplateEncoder(min_count=1).fit_transform(sentences)
    made = [list(theirs.full(sentence)) for sentence in sentences]
    assert len({one for sentence in made for token in sentence for one in token}) == ours[0].shape[1]
    for rows, tokens in zip(ours, made, strict=True):
        assert [len(token) for token in tokens] == np.diff(rows.indptr).tolist()


@needs_data
def test_crf_runs(monkeypatch, capsys):
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(ROOT)
    for fetcher in ("fetch_conll2000", "fetch_wnut17"):
        monkeypatch.setattr(datasets, fetcher, sliced(getattr(datasets, fetcher), 40))
    assert_runs("crf", importlib.import_module("benchmarks.crf"), monkeypatch, capsys)


@needs_data
def test_defaults_run(monkeypatch, capsys):
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("benchmarks.defaults.__main__")
    monkeypatch.setattr(module, "QUICK", {"dates": 20, "English-French": 10})
    assert_runs("defaults", module, monkeypatch, capsys)


@needs_data
def test_crf_defaults_run(monkeypatch, capsys):
    pytest.importorskip("pycrfsuite")
    monkeypatch.syspath_prepend(ROOT)
    module = importlib.import_module("benchmarks.crf_defaults")
    monkeypatch.setattr(module, "QUICK", {"dates": 20})
    assert_runs("crf_defaults", module, monkeypatch, capsys)


def assert_runs(name, module, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "--quick"])
    with pytest.raises(SystemExit) as stop, threadpool_limits(1):  # as a benchmark run from the shell: few data
        module.main()
    bars = capsys.readouterr().out.rstrip().split("\n\n")[-1].splitlines()
    assert bars
    assert all(BAR.match(line) for line in bars)
    assert stop.value.code == int(any(line.endswith("SHORT") for line in bars))


def test_startup_runs(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT)
    startup = importlib.import_module("benchmarks.startup")
    fit = '__name__; import os; open(os.path.join(os.environ["NUMBA_CACHE_DIR"], "kernel"), "w").close()'
    for name, value in {"IMPORTS": "pass", "START": "pass", "FITS": {"ChainSVM": fit}}.items():
        monkeypatch.setattr(startup, name, value)
    assert_runs("startup", startup, monkeypatch, capsys)
    monkeypatch.setattr(startup, "FITS", {"ChainSVM": "__name__"})
    with pytest.raises(RuntimeError, match="not cold"):
        startup.first_fit("ChainSVM", startup.SOURCE)


class TestBefore:
    """The tree of an earlier commit beside this one."""

    @pytest.fixture
    def before(self, monkeypatch, tmp_path):
        monkeypatch.syspath_prepend(ROOT)
        module = importlib.import_module("benchmarks._before")
        monkeypatch.setattr(module, "KERNELS", tmp_path)
        return module

    def test_it_answers_from_its_own_source_and_is_gone_afterwards(self, before):
        with before.source_before() as source:
            if source is None:
                pytest.skip("needs a clone that has the earlier commit")
            with before.Servant("_passes", source) as servant:
                assert Path(servant.ask("source")) == source.resolve() != before.SOURCE
        assert not source.exists()

    def test_a_clone_without_it_leaves_bars_unmeasured(self, before, monkeypatch, capsys):
        monkeypatch.setattr(before, "COMMIT", "0" * 40)
        with before.source_before() as source:
            assert source is None
        assert "not measured" in capsys.readouterr().out

    def test_a_process_that_dies_is_reported(self, before):
        servant = before.Servant("_passes", before.SOURCE)
        with servant, pytest.raises(RuntimeError, match="ended with"):
            servant.ask("no such data", "no such variant")


def test_bars_that_were_not_measured_are_neither_met_nor_short(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    Bar = importlib.import_module("benchmarks._report").Bar
    bar = Bar("ours / theirs", None, 0.35)
    assert str(bar) == "ours / theirs: not measured (<= 0.35)" and not bar.short
    assert Bar("ours / theirs", float("nan"), 0.35).short  # a figure gone wrong is no figure left out


@pytest.fixture
def interpreted(no_compilation, monkeypatch):
    """Structures with few samples: to compile them would take minutes."""
    monkeypatch.syspath_prepend(ROOT)


@needs_data
def test_large_output_runs(interpreted, monkeypatch, capsys):
    tasks, main = (importlib.import_module(f"benchmarks.large_output.{name}") for name in ("tasks", "__main__"))
    monkeypatch.setattr(tasks, "N", 4)
    monkeypatch.setattr(tasks, "LENGTH", 3)
    monkeypatch.setattr(main, "optimum", lambda task: 0.3)
    found, best = main.table("Cantonese", tasks.real(tasks.REAL["Cantonese"], 5, 3), 1.0, 2)
    main.dense_ratio(found, best)
    main.growth(tasks.synthetic, (20, 30), "synthetic chains", 0.2)
    assert tasks.commonest(20, 3).n_labels == 20
    few, many = tasks.stretches(50, 7), tasks.stretches(200, 7)
    assert len(few.problem.labels) == len(many.problem.labels) == 7 * tasks.WINDOW
    assert few.problem.labels.max() < 50 <= many.problem.labels.max()
    main.set_table("medical", main.label_sets("medical", 4, 3), 0.2, 2)
    shown = capsys.readouterr().out
    assert all(solver in shown for solver in found) and "slopes: " in shown


@needs_data
def test_wordalign_runs(interpreted, monkeypatch, capsys):
    monkeypatch.setattr(datasets, "fetch_wordalign", sliced(datasets.fetch_wordalign, 8))
    assert_runs("wordalign", importlib.import_module("benchmarks.wordalign"), monkeypatch, capsys)


@needs_data
def test_smoothing_runs(interpreted, monkeypatch, capsys):
    for fetcher in ("fetch_wnut17", "fetch_conll2000", "fetch_bccd"):
        monkeypatch.setattr(datasets, fetcher, sliced(getattr(datasets, fetcher), 3))
    smoothing = importlib.import_module("benchmarks.smoothing")
    few = {"PASSES": 2, "FEW": 3, "LIPSCHITZ": (16.0,), "EFFECTS": dict(list(smoothing.EFFECTS.items())[5:7])}
    for name, value in few.items():
        monkeypatch.setattr(smoothing, name, value)
    assert_runs("smoothing", smoothing, monkeypatch, capsys)


@needs_data
def test_horses_run(interpreted, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(datasets, "fetch_horses", sliced(datasets.fetch_horses, 3))
    horses = importlib.import_module("benchmarks.horses")
    for name, value in {"N_FIT": 2, "TOL": 0.5, "LAM_MIN": 1e4, "OUTPUT": tmp_path}.items():
        monkeypatch.setattr(horses, name, value)
    assert_runs("horses", horses, monkeypatch, capsys)
    assert (tmp_path / "horses.png").exists()


def test_superpixels_are_drawn_at_their_places_and_sizes(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    drawing = importlib.import_module("benchmarks._superpixels")
    x, y = (sides.ravel() for sides in np.meshgrid([-0.6, 0.0, 0.6], [-0.5, 0.5]))
    edges = np.array([(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)])
    cells = drawing.Superpixels(np.stack([x, y], axis=1), np.array([900, 700, 800, 800, 1000, 600]), edges)
    found = drawing.cell_map(cells, coarse=1)
    assert abs(found.size - cells.pixels.sum()) < 100
    assert_allclose(np.bincount(found.ravel()), cells.pixels, rtol=0.1)
    assert found[0, 0] == 0 and found[-1, -1] == 5
    colors = drawing.rgb_of_lab(np.array([[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20]]))  # white, black, red
    assert_allclose(colors, [[1, 1, 1], [0, 0, 0], [1, 0, 0]], atol=0.02)


@needs_data
def test_path_of_cuts_runs(interpreted, monkeypatch):
    monkeypatch.setattr(datasets, "fetch_horses", sliced(datasets.fetch_horses, 1))
    path = importlib.import_module("benchmarks.path")
    monkeypatch.setattr(path, "horses", path.horses.__wrapped__)  # nothing of this stays
    task = path.cuts(quick=True)
    bars = path.bars_of(task.name, path.compare_all(task._replace(grid=(2.0**15, 2.0**14))))
    assert len(bars) == 3 and all(BAR.match(str(bar)) for bar in bars)


@needs_data
@pytest.mark.parametrize(("name", "n"), [("treebank", 3), ("snakes", 1), ("relaxed_snakes", 1), ("dates", 3)])
def test_graphs_run(name, n, interpreted):
    graphs = importlib.import_module("benchmarks.graphs")
    task = getattr(graphs, name)(n)
    X, y = task.test
    bars = graphs.run(task._replace(test=(X[:n], y[:n]), lams=(10.0,)))
    assert len(bars) >= 2 and all(BAR.match(str(bar)) for bar in bars)


@pytest.mark.parametrize("kind", ["acceleration", "path", "SVRG"])
def test_killed_runs_go_on(kind, interpreted, tmp_path):
    interruptions = importlib.import_module("benchmarks.interruptions")
    solve = interruptions.solves(interruptions.make_problem(5, 3, 4), passes=60, eps=0.5)[kind]
    assert interruptions.kill_often(solve, tmp_path, 4, np.random.default_rng(0)) == (0, 0, 0)


@needs_data
def test_threads_are_compared(interpreted, monkeypatch, capsys):
    threads = importlib.import_module("benchmarks.scale.threads")
    problems = importlib.import_module("benchmarks._problems")
    few = sliced(datasets.fetch_ocr, 6)
    problem = problems.chains_of(few("small"))
    monkeypatch.setattr(threads, "load", lambda name: (problem, 6))
    monkeypatch.setattr(threads, "TOL", 0.3)
    monkeypatch.setattr(datasets, "fetch_ocr", few)
    bars = threads.measure(True)
    assert len(bars) == 5 and all(BAR.match(str(bar)) for bar in bars)
    assert "passes" in capsys.readouterr().out


@needs_data
def test_processes_are_compared(interpreted, monkeypatch, capsys):
    oracles = importlib.import_module("benchmarks.scale.oracles")
    tags = oracles.Tags
    monkeypatch.setattr(oracles, "Tags", lambda n: tags(6, length=4, n_tags=3, n_inputs=2))
    monkeypatch.setattr(oracles, "full_pass", lambda *args: 1.0)
    (bar,) = oracles.measure(True)
    assert BAR.match(str(bar))
    assert "calls to" in capsys.readouterr().out


def test_data_larger_than_memory(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT)
    memory = importlib.import_module("benchmarks.scale.memory")
    folder = str(tmp_path / "samples")
    memory.write(folder, "sparse", 3e5)
    for task, limit in {"disk": 2.5e7, "memory": 1e9}.items():
        memory.child(task, folder, "sparse", limit, 1.0)
    assert capsys.readouterr().out.count('"peak"') == 2


@needs_data
def test_passes_of_windows(monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT)
    memory = importlib.import_module("benchmarks.scale.memory")
    monkeypatch.setitem(memory.FETCHERS, "OCR-small", lambda: sliced(datasets.fetch_ocr, 30)("small"))
    monkeypatch.setattr(memory, "GOAL", 0.05)
    bars = list(memory.passes_of_windows("OCR-small", 2e6, (100.0,)))
    assert all(BAR.match(str(bar)) for bar in bars) and "from disk" in capsys.readouterr().out


@needs_data
def test_deep_runs(interpreted, request, monkeypatch, capsys):
    torch = pytest.importorskip("torch")
    request.addfinalizer(partial(torch.set_num_threads, torch.get_num_threads()))
    torch.set_num_threads(1)
    for fetcher in ("fetch_wnut17", "fetch_bccd"):
        monkeypatch.setattr(datasets, fetcher, sliced(getattr(datasets, fetcher), 4))
    main, speed, convex, runs, boxes = (
        importlib.import_module(f"benchmarks.deep.{name}") for name in ("__main__", "speed", "convex", "runs", "boxes")
    )
    monkeypatch.setattr(speed, "QUICK", ((2, 3, 4), (2, 3, 30)))
    monkeypatch.setattr(convex, "METHOD", convex.ProxLinear(budget=1))
    monkeypatch.setattr(runs, "RATES", (0.1,))
    monkeypatch.setattr(runs, "ETAS", (1.0,))
    monkeypatch.setattr(boxes, "EFFECTS", {"budget": {"budget 1": {"budget": 1}}})
    assert_runs("deep", main, monkeypatch, capsys)
