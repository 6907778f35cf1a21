"""What tests of estimators share."""

from __future__ import annotations

import pytest

from structures.pairs import interpreted


@pytest.fixture
def no_compilation():
    """Kernels run as plain Python."""
    with interpreted():
        yield
