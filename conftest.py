"""What tests and the examples in docstrings share: where the real data is, and what an example may need."""

import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pytest

BESIDE_CHECKOUT = Path(__file__).resolve().parents[1] / "shared" / "data"

if BESIDE_CHECKOUT.is_dir():
    os.environ.setdefault("MAXMARGIN_DATA", str(BESIDE_CHECKOUT))

os.environ.setdefault("MPLBACKEND", "agg")

INTERPRETED = ("maxmargin.deep", "maxmargin.inference", "maxmargin.plotting")

# modules that cannot even be looked at for examples, without PyTorch or what it brings with CUDA
NEEDING = {"torch": "src/maxmargin/deep", "cuda": "src/maxmargin/deep/gpu/cuda.py"}
collect_ignore = [path for package, path in NEEDING.items() if importlib.util.find_spec(package) is None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the examples of fetchers where the data is not there, and those of pictures without matplotlib."""
    has_data = Path(os.environ.get("MAXMARGIN_DATA", BESIDE_CHECKOUT)).is_dir()
    can_draw = importlib.util.find_spec("matplotlib") is not None
    for item in items:
        if not isinstance(item, pytest.DoctestItem):
            continue
        if ".fetch_" in item.name and not has_data:
            item.add_marker(pytest.mark.skip(reason="needs the data sets: set MAXMARGIN_DATA to a folder of them"))
        if item.name.startswith("maxmargin.plotting") and not can_draw:
            item.add_marker(pytest.mark.skip(reason="needs matplotlib"))


@pytest.fixture
def no_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """All kernels run interpreted: what is small takes less time so."""
    monkeypatch.setattr("maxmargin._compile.kernels.runs_compiled", lambda *parts: False)


@pytest.fixture(autouse=True)
def _interpreted_examples(request: pytest.FixtureRequest) -> None:
    """Examples of inference and pictures are so small that to compile for them would take longer."""
    if isinstance(request.node, pytest.DoctestItem) and request.node.name.startswith(INTERPRETED):
        request.getfixturevalue("no_compilation")


@pytest.fixture(autouse=True)
def _global_seeds() -> None:
    """The same from generators that nobody seeds, such as those of new layers, whatever ran before in this process."""
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
