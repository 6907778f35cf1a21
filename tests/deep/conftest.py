"""Tiny batches: threads would wait for each other longer than they compute."""

import importlib.util

import pytest

if importlib.util.find_spec("torch") is not None:
    import torch

    @pytest.fixture(autouse=True)
    def _one_thread():
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)
