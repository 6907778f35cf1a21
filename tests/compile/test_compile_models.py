"""Models compiled ahead: what is told, what is there afterwards, how it fails."""

import sys

import pytest
from numba.core import config

from maxmargin import cli, compilation, compile_models
from maxmargin._compile import folders
from maxmargin.compilation.pool import Worker, run_tasks
from maxmargin.compilation.recipes import Task


@pytest.fixture(scope="module")
def own_folder(tmp_path_factory):
    """Kernels of this module go to a folder of their own."""
    home = tmp_path_factory.mktemp("kernels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(home))
        folders.kernel_folders.cache_clear()
        yield home
    folders.kernel_folders.cache_clear()


@pytest.fixture(scope="module")
def first(own_folder):
    """What a first run found, and the lines it told."""
    told = []
    return compile_models(["pose", "matching"], solvers="auto", n_jobs=2, tell=told.append), told


def test_a_first_run_compiles_and_tells(first, own_folder):
    done, told = first
    assert done.is_complete
    assert done.n_compiled > 0 and done.seconds > 0
    assert done.folder.parent == own_folder
    assert done.n_bytes == sum(path.stat().st_size for path in done.folder.iterdir()) > 0
    # each in a file, and nothing else; two processes may compile the same one at once
    assert 0 < len(list(done.folder.iterdir())) <= done.n_compiled
    assert sorted(line.partition(":")[0] for line in told) == ["matching (all)", "pose (all)"]


def test_a_second_run_finds_all_there(first, capsys):
    done, _ = first
    assert cli.main(["compile", "pose", "matching", "--solver", "auto", "--jobs", "1"]) == 0
    *lines, summary = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all(": 0 compiled, " in line for line in lines)
    assert summary.startswith("all kernels were there already") and str(done.folder) in summary


def test_a_process_that_dies_costs_its_task_only():
    dying = "import sys; print('{}', flush=True) if 'box' in sys.stdin.readline() else sys.exit(3)"
    answers = {}
    tasks = [Task(model, "all", ()) for model in ("matching", "box", "pose")]
    run_tasks(tasks, 1, lambda task, answer: answers.update({task.model: answer}), [sys.executable, "-c", dying])
    assert answers["box"] == {}
    assert "exit status 3" in answers["matching"]["error"]
    assert "error" in answers["pose"]  # the process of the box was done


def test_an_interrupt_stops_all_processes(monkeypatch):
    started = []
    monkeypatch.setattr(
        Worker, "start", lambda worker, start=Worker.start: started.append(start(worker)) or started[-1]
    )

    def interrupt(task, answer):
        raise KeyboardInterrupt

    answer_and_wait = "import time; input(); print('{}', flush=True); time.sleep(600)"
    tasks = [Task("box", "all", ()), Task("pose", "all", ())]
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, 2, interrupt, [sys.executable, "-c", answer_and_wait])
    assert started and all(process.poll() is not None for process in started)


def test_an_error_is_an_answer():
    answers = []
    tasks = [Task("matching", "no such kind", ("auto",)), Task("matching", "all", ())]
    run_tasks(tasks, 1, lambda task, answer: answers.append(answer))
    assert answers[0]["error"] == "KeyError: 'no such kind'"
    assert answers[1]["refused"] == []


def test_failures_are_told_with_an_exit_code(monkeypatch, tmp_path, capsys):
    failed = compilation.Compilation(tmp_path, n_compiled=2, failed={"chain (dense)": "ValueError: no"})
    monkeypatch.setattr(compilation, "compile_models", lambda *args, **given: failed)
    assert cli.main(["compile"]) == 1
    out, err = capsys.readouterr()
    assert "2 kernels compiled" in out
    assert err == "maxmargin compile: error: chain (dense): ValueError: no\n"


def test_all_is_what_is_meant_by_nothing(monkeypatch, tmp_path):
    asked = []

    def note(models, **given):
        asked.append((models, given["solvers"], given["n_jobs"]))
        return compilation.Compilation(tmp_path)

    monkeypatch.setattr(compilation, "compile_models", note)
    assert (
        cli.main(["compile"]) == cli.main(["compile", "all", "--solver", "auto", "--solver", "fw", "--jobs", "3"]) == 0
    )
    assert asked == [("all", "all", -1), (["all"], ["auto", "fw"], 3)]


@pytest.mark.parametrize("arguments", [["chains"], ["--jobs", "0"], ["--solver", "best"]])
def test_bad_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["compile", *arguments])
    assert stopped.value.code == 2
    assert "maxmargin compile: error: " in capsys.readouterr().err


@pytest.mark.parametrize(("models", "solvers"), [("chains", "all"), ([], "all"), ("all", ["auto", "best"])])
def test_unknown_names_are_refused(models, solvers):
    with pytest.raises(ValueError, match=r"(models|solvers) must be 'all' or some of \w+, "):
        compile_models(models, solvers=solvers)


def test_names_are_taken_in_the_order_of_models():
    assert compilation._chosen("models", ["tree", "chain"], compilation.MODELS) == ("chain", "tree")
    assert compilation._chosen("models", {"tree", "all"}, compilation.MODELS) == compilation.MODELS


def test_where_nothing_can_be_kept_nothing_is_compiled(monkeypatch, capsys):
    monkeypatch.setattr(compilation, "kernel_folders", lambda: folders.Folders((), None))
    monkeypatch.setattr(compilation, "run_tasks", lambda *args: pytest.fail("compiles"))
    with pytest.raises(RuntimeError, match="set NUMBA_CACHE_DIR to a folder that can"):
        compile_models("chain")
    assert cli.main(["compile", "chain"]) == 2
    assert capsys.readouterr().err.startswith("maxmargin compile: error: compiled kernels cannot be kept")


def test_interpreted_nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    with pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT is set"):
        compile_models("chain")
