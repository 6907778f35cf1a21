"""Verbs called from Python are plain functions; the few kernels around them are kept so too."""

import pytest

from .pairs import interpreted


@pytest.fixture(autouse=True)
def no_compilation():
    with interpreted():
        yield
