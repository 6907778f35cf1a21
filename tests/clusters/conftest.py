"""A small cluster in this process."""

import pytest

distributed = pytest.importorskip("distributed", reason="needs the extra `distributed`")


@pytest.fixture(scope="session")
def client():
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.Client(**options) as client:
        yield client
