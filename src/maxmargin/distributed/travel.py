"""What goes from worker to worker in one piece."""

from __future__ import annotations

import pickle
from typing import Any


class Whole:
    """A value whose arrays, wherever it arrives, lie as they lay: aligned, and to be written to.

    Dask sends arrays as they are and hands out views of what was received. Kernels refuse those that are not aligned.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: Any):
        self.value = value

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _unpacked, (pickle.dumps(self.value, protocol=5),)


def _unpacked(packed: bytes) -> Whole:
    return Whole(pickle.loads(packed))
