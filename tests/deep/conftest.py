"""Tiny batches: threads would wait for each other longer than they compute."""

import importlib.util

import pytest

HAS_TORCH = importlib.util.find_spec("torch") is not None
# which are searched for examples, too
collect_ignore = [] if HAS_TORCH else ["enumerated.py", "tasks.py", "gpu/emulated.py"]


@pytest.fixture(autouse=True)
def _one_thread():
    if not HAS_TORCH:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
