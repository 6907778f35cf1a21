"""Progress in a pipe: a line now and then."""

import os
import subprocess
import sys

import pytest

from maxmargin.solvers import BlockFrankWolfe, progress
from structures.pairs import Subsets

from .conftest import LAM

pytestmark = pytest.mark.usefixtures("no_compilation")

PROGRAM = """
from maxmargin.solvers import BlockFrankWolfe
from structures.pairs import Subsets
BlockFrankWolfe().solve(Subsets(), 0.1, tol=0, max_passes=200, random_state=0, verbose=1)
"""


def test_a_pipe_gets_whole_lines():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True)
    lines = [line for line in done.stderr.splitlines() if "passes" in line]
    assert "\r" not in done.stderr
    assert 1 <= len(lines) <= 20  # one every ten seconds, and the last one
    assert lines[-1].startswith("200 of 200 passes [")
    assert "with certificates, gap " in lines[-1]
    assert "(goal 0e+00)" in lines[-1]


def test_lines_come_as_time_goes_by(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    BlockFrankWolfe(gap_every=1).solve(Subsets(), LAM, tol=0, max_passes=3, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 4
    assert lines[-1].startswith("3 of 3 passes")


def test_no_limit_is_named_where_there_is_none(capsys):
    BlockFrankWolfe().solve(Subsets(), LAM, tol=0.5, max_passes=float("inf"), verbose=1)
    assert " of " not in capsys.readouterr().err


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    BlockFrankWolfe().solve(Subsets(), LAM, tol=0, max_passes=3, verbose=1)
    assert "\r" in capsys.readouterr().err
