"""The examples of the page on callbacks run."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "callbacks.md"


def test_examples_of_the_page():
    pytest.importorskip("matplotlib")
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried > 20
    assert failed == 0
