"""What all tests share; where the real data is, the conftest beside pyproject.toml says."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with the real data sets, or skip."""
    folder = Path(os.environ.get("MAXMARGIN_DATA", "no such folder"))
    if not folder.is_dir():
        pytest.skip("needs the data sets: set MAXMARGIN_DATA to a folder that holds them")
    return folder
