"""Where the real data is, for the tests that need it."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real data sets, or skip."""
    beside_checkout = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("MAXMARGIN_DATA", beside_checkout))
    if not folder.is_dir():
        pytest.skip("needs the data sets: set MAXMARGIN_DATA to a folder that holds them")
    return folder
