"""Large arrays take memory where they are written to, and are arrays like any others."""

import re
from pathlib import Path

import numpy as np
import pytest

from maxmargin._thin import LARGE, thin_zeros


@pytest.mark.parametrize("shape", [3, (2, 5), (LARGE // 8, 2), (0, 4)])
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_zeros_to_write_to(shape, dtype):
    found, expected = thin_zeros(shape, dtype), np.zeros(shape, dtype)
    assert found.shape == expected.shape and found.dtype == expected.dtype and found.flags.c_contiguous
    assert not found.any()
    found += 1
    assert found.all()


def test_few_numbers_here_and_there_take_few_pages():
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("how much memory is resident, only Linux tells in this way")

    def resident():
        return 1024 * int(re.search(r"VmRSS:\s+(\d+) kB", status.read_text())[1])

    before, table = resident(), thin_zeros((4000, 4000))
    table[::100, 0] = 1.0  # two megabytes apart
    assert resident() - before < 0.2 * table.nbytes
