"""Arrays in ``.npy`` files that grow while they are written, and are read range by range.

They are read, not mapped: pages of a mapped file that a pass has touched count as resident until something gives them
back, where a range that was read takes what it takes, on any system.
"""

from __future__ import annotations

import io
import math
import re
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .errors import StorageError

HEADER = 128  # bytes, whatever the shape
_DICT = re.compile(rb"\{'descr': '([|<][a-z]\d)', 'fortran_order': False, 'shape': \((\d+),(?: (\d+))?\), \} *\n")


class GrowingArray:
    """Rows that are added at the end of a file.

    Parameters
    ----------
    path : path
        Of the file.
    dtype : type
        Of the numbers.
    width : int or None, default=None
        Numbers a row; None: the array has one dimension.
    """

    def __init__(self, path: Path, dtype: Any, width: int | None = None):
        self.path, self.dtype, self.width = path, np.dtype(dtype).newbyteorder("<"), width
        self.n_rows, self.checksum = 0, 0
        self.file: BinaryIO = open(path, "xb")  # noqa: SIM115 - closed by `close`
        self.file.write(bytes(HEADER))

    def add(self, rows: np.ndarray) -> None:
        plain = np.ascontiguousarray(rows, self.dtype)
        data = plain.reshape(-1).view(np.uint8).data
        self.checksum = zlib.crc32(data, self.checksum)
        self.file.write(data)
        self.n_rows += len(plain)

    def close(self) -> None:
        """Write the header, which knows the shape."""
        if not self.file.closed:
            self.file.seek(0)
            self.file.write(_header(self.dtype, (self.n_rows,) if self.width is None else (self.n_rows, self.width)))
            self.file.close()


def _header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    made = io.BytesIO()
    np.lib.format.write_array_header_1_0(made, {"descr": dtype.str, "fortran_order": False, "shape": shape})
    start, words = made.getvalue()[:8], made.getvalue()[10:].rstrip(b" \n")
    room = HEADER - 10
    return start + room.to_bytes(2, "little") + words.ljust(room - 1) + b"\n"


class StoredArray:
    """An array in a file, of which ranges of rows are read.

    Parameters
    ----------
    path : path
        Of the file.
    dtype : type
        What the numbers must be.
    shape : tuple of int
        What the shape must be.
    """

    def __init__(self, path: Path, dtype: Any, shape: tuple[int, ...]):
        self.path, self.dtype, self.shape = path, np.dtype(dtype).newbyteorder("<"), shape
        self.width = math.prod(shape[1:])
        try:
            with open(path, "rb") as file:
                start = file.read(HEADER)
            size = path.stat().st_size
        except OSError as error:
            raise StorageError(f"{path} cannot be read ({error.strerror}): convert the samples again") from error
        found = _DICT.fullmatch(start[10:])
        says = None if found is None else (found[1].decode(), tuple(int(one) for one in found.groups()[1:] if one))
        if start[:8] != b"\x93NUMPY\x01\x00" or says != (self.dtype.str, shape):
            raise StorageError(f"{path} is not an array of {shape} numbers of type {self.dtype.str}: it is damaged")
        if size != HEADER + self.width * shape[0] * self.dtype.itemsize:
            raise StorageError(f"{path} has {size} bytes, which are not those of its array: it is cut off")

    def read(self, *ranges: tuple[int, int]) -> np.ndarray:
        """Rows from a first one up to a last one, range after range."""
        n_rows = sum(last - first for first, last in ranges)
        values = np.empty(n_rows * self.width, self.dtype)
        target, row, at = values.view(np.uint8).data, self.width * self.dtype.itemsize, 0
        with open(self.path, "rb", buffering=0) as file:
            for first, last in ranges:
                file.seek(HEADER + first * row)
                end = at + (last - first) * row
                while at < end:
                    n_read = file.readinto(target[at:end])
                    if not n_read:
                        raise StorageError(f"{self.path} became shorter while it was read")
                    at += n_read
        return values.astype(self.dtype.newbyteorder("="), copy=False).reshape(n_rows, *self.shape[1:])
