"""The examples run, and the documentation shows them as they are."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

from maxmargin.solvers import BlockFrankWolfe

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "own_structure.py"
PAGE = ROOT / "docs" / "own_structure.md"


@pytest.fixture(scope="module")
def ran():
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        names = runpy.run_path(str(EXAMPLE))
    return names, printed.getvalue()


@pytest.fixture(scope="module")
def names(ran):
    return ran[0]


def test_the_page_shows_the_example_as_it_is():
    code = EXAMPLE.read_text()
    assert re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)[0] == code
    assert len(code.splitlines()) < 40


def test_the_page_shows_what_it_prints(ran):
    assert f"```text\n{ran[1]}```" in PAGE.read_text()


def test_own_structure_learns_and_is_certified(names):
    result = names["result"]
    assert result.status == "converged"
    assert 0 <= result.primal - result.dual <= 1e-2
    assert names["error"] < 0.7 * names["guess"]


def test_own_structure_has_an_exact_oracle(names):
    train, w = names["train"], names["result"].w
    for i in range(0, train.n_samples, 25):
        values = [train.loss(i, y) + w @ train.joint_feature(i, y) for y in range(train.n_grades)]
        assert values[train.max_oracle(w, i)] == max(values)


def test_a_missing_method_is_named_with_its_meaning(names):
    class Grades:
        n_samples, n_features, y = names["train"].n_samples, names["train"].n_features, names["train"].y
        joint_feature, max_oracle = names["train"].joint_feature, names["train"].max_oracle

    with pytest.raises(TypeError) as raised:
        BlockFrankWolfe().solve(Grades(), lam=0.1)
    assert f"TypeError: {raised.value}\n" in PAGE.read_text()
