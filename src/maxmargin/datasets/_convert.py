"""From the files of the public origins to the arrays and texts stored in a data folder."""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np

from maxmargin.datasets._fetch import Arrays

_LETTER_FIELDS = 6  # id, letter, next_id, word_id, position, fold; then 128 pixels
_IDX_HEADERS = {0x801: 1, 0x803: 3}  # magic number of an unsigned-byte IDX file -> number of dimensions


def letters(raw: list[bytes]) -> Arrays:
    """``letter.data.gz`` of the OCR page: one letter a line, tab-separated, words contiguous."""
    rows = [line.strip().split(b"\t", _LETTER_FIELDS) for line in gzip.decompress(raw[0]).splitlines()]
    # Every pixel is one digit followed by a tab, so the pixels are every second byte.
    pixels = np.frombuffer(b"\t".join(row[6] for row in rows) + b"\t", dtype=np.uint8)[::2] - ord("0")
    words = np.array([int(row[3]) for row in rows])
    starts = np.flatnonzero(np.diff(words, prepend=words[0] - 1))
    folds = np.array([int(row[5]) for row in rows], dtype=np.uint8)
    return {
        "images": np.packbits(pixels.reshape(len(rows), 128), axis=1),
        "labels": np.frombuffer(b"".join(row[1] for row in rows), dtype=np.uint8) - np.uint8(ord("a")),
        "word_offsets": np.append(starts, len(rows)).astype(np.int32),
        "folds": folds[starts],
    }


def zip_member(raw: list[bytes], member: str) -> bytes:
    """One member of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(raw[0])) as archive:
        return archive.read(member)


def usps(raw: list[bytes]) -> Arrays:
    """``zip.train.gz`` and ``zip.test.gz``: label and 256 grey values a line, with three decimals that matter."""
    arrays: Arrays = {}
    for split, packed in zip(("train", "test"), raw, strict=True):
        table = np.loadtxt(io.BytesIO(gzip.decompress(packed)), ndmin=2)
        arrays[f"X_{split}"] = np.rint(1000 * table[:, 1:]).astype(np.int16)
        arrays[f"y_{split}"] = table[:, 0].astype(np.uint8)
    return arrays


def mnist(raw: list[bytes]) -> Arrays:
    """The four IDX files: training images, training labels, test images, test labels."""
    X_train, y_train, X_test, y_test = (_idx(gzip.decompress(packed)) for packed in raw)
    return {
        "X_train": X_train.reshape(len(X_train), -1),
        "y_train": y_train,
        "X_test": X_test.reshape(len(X_test), -1),
        "y_test": y_test,
    }


def _idx(data: bytes) -> np.ndarray:
    n_dimensions = _IDX_HEADERS[int.from_bytes(data[:4], "big")]
    shape = np.frombuffer(data, dtype=">u4", count=n_dimensions, offset=4)
    return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * n_dimensions).reshape(shape.tolist())
