"""What all tests share: where the real data is."""

import os
from pathlib import Path

import pytest

BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"

if BESIDE_CHECKOUT.is_dir():
    os.environ.setdefault("MAXMARGIN_DATA", str(BESIDE_CHECKOUT))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real data sets, or skip."""
    folder = Path(os.environ.get("MAXMARGIN_DATA", BESIDE_CHECKOUT))
    if not folder.is_dir():
        pytest.skip("needs the data sets: set MAXMARGIN_DATA to a folder that holds them")
    return folder
