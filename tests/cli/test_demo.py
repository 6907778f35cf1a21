"""The command `maxmargin`: what it prints, what it writes, how it fails."""

import contextlib
import io
import re
import subprocess
import sys

import pytest

import maxmargin
from maxmargin import cli
from maxmargin.cli import demo as demo_command
from maxmargin.cli.writing import cannot_draw

SMALL = ["--n-train", "9", "--n-test", "7", "--tol", "0.1"]


def demo(*options):
    """Exit code, standard output and standard error of a small demo."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = cli.main(["demo", *SMALL, *map(str, options)])
    return code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    picture = tmp_path_factory.mktemp("demo") / "dates.png"
    return demo("--output", picture), picture


def test_demo_draws_a_picture_and_says_where(ran):
    (code, out, _), picture = ran
    assert code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"read differently: {picture}" in out


def test_demo_first_says_that_kernels_are_compiled(ran):
    (_, out, _), _ = ran
    assert "compiles" in out.splitlines()[0]


def test_demo_prints_accuracies_of_both_models_and_the_certificate(ran):
    (_, out, _), _ = ran
    row = r"\s+[\d.]+%\s+([\d.]+%|none)\s+[\d.]+%\s+[\d.]+\s+[\d.]+ s"
    assert re.search("digits one by one" + row, out)
    assert re.search("digits as a chain" + row, out)
    dual, primal, gap = map(
        float, re.search(r"([\d.]+) \(dual\) and ([\d.]+) \(primal.*?gap of (\S+)", out, re.S).groups()
    )
    assert primal - dual == pytest.approx(gap, rel=0.1)
    assert gap <= 0.1
    assert "(converged)" in out


def test_demo_shows_progress_with_the_gap(ran):
    (_, _, err), _ = ran
    assert re.search(r"passes .*gap \d", err)


def test_demo_without_matplotlib_prints_all_the_same(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, _ = demo("--output", tmp_path / "dates.png")
    assert code == 0
    assert "digits as a chain" in out
    assert 'pip install "maxmargin[plot]"' in out
    assert not list(tmp_path.iterdir())


def test_a_name_without_suffix_becomes_a_png(tmp_path):
    code, out, _ = demo("--output", tmp_path / "dates")
    assert code == 0
    assert str(tmp_path / "dates.png") in out
    assert [path.name for path in tmp_path.iterdir()] == ["dates.png"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("missing/dates.png", "No such file"), (".", "directory"), ("dates.docx", "no picture format")],
)
def test_a_picture_that_cannot_be_written_stops_before_training(tmp_path, monkeypatch, name, why):
    monkeypatch.setattr(demo_command, "_readers", lambda: pytest.fail("trains first"))
    code, out, err = demo("--output", tmp_path / name)
    assert code == 2
    assert out == ""
    assert why in err
    assert err.count("\n") == 1 and err.startswith("maxmargin demo: error: cannot write ")
    assert not list(tmp_path.iterdir())


def test_the_check_leaves_an_older_picture_alone(tmp_path):
    picture = tmp_path / "dates.png"
    picture.write_bytes(b"older")
    assert cannot_draw(picture) is None
    assert picture.read_bytes() == b"older"


def test_interrupted_while_choosing_lam(monkeypatch, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_command, "_choose_lam", interrupt)
    code, _, err = demo("--output", tmp_path / "dates.png")
    assert code == 130
    assert err == "interrupted\n"


@pytest.mark.parametrize(
    "arguments", [[], ["demo", "--seed", "-1"], ["demo", "--n-train", "2"], ["demo", "--tol", "x"], ["demo", "--tol=0"]]
)
def test_bad_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_as_a_module_with_a_light_import():
    code = "import sys, runpy; sys.argv[1:] = ['--version']\ntry: runpy.run_module('maxmargin', run_name='__main__')\n"
    code += "finally: assert not {'matplotlib', 'maxmargin.plotting', 'sklearn.model_selection'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"maxmargin {maxmargin.__version__}\n"), done.stderr
