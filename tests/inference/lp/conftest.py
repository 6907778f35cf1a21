"""What the tests of relaxations share."""

import pytest


@pytest.fixture
def no_compilation(monkeypatch):
    monkeypatch.setattr("maxmargin._compile.runs_compiled", lambda *parts: False)
