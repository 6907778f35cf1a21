"""Model files of CRFsuite 0.12: labels, attributes and weights of a linear chain.

The layout is that of ``crf1d_model.c`` and ``cqdb.c`` in CRFsuite's sources, little-endian: a header of 48 bytes, a
list of features (kind, source, target, weight), and two databases of strings, those of labels and of attributes, whose
backward links say where the string of each number is.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .errors import ModelFileError

HEADER, LIST, DATABASE, RECORD = (struct.Struct(layout) for layout in ("<4sI4s9I", "<4s2I", "<4s5I", "<2I"))
VERSION, BYTE_ORDER = 100, 0x62445371
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
OF_ATTRIBUTE, OF_LABEL = 0, 1  # kinds of features: what their source is


class CRFsuiteModel(NamedTuple):
    """What a file holds: names by number, and weights of (attribute, label) and (label, next label)."""

    labels: list[str]
    attributes: list[str]
    states: np.ndarray  # of FEATURE
    transitions: np.ndarray  # of FEATURE


def read_crfsuite(path: str | os.PathLike) -> CRFsuiteModel:
    """Read a file, whatever is in it."""
    data = Path(path).read_bytes()
    try:
        return _read(data)
    except (struct.error, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)}: no model file of CRFsuite that can be read: {error}") from error


def _read(data: bytes) -> CRFsuiteModel:
    magic, size, kind, version, _, n_labels, n_attributes, features, labels, attributes, *_ = HEADER.unpack_from(data)
    if (magic, kind) != (b"lCRF", b"FOMC"):
        raise ValueError("it does not begin as one")
    if version != VERSION:
        raise ValueError(f"it is of version {version}, and {VERSION} is known")
    if size != len(data):
        raise ValueError(f"it should have {size} bytes, and has {len(data)}")
    found = _features(data, features)
    of_labels, of_attributes = found["kind"] == OF_LABEL, found["kind"] == OF_ATTRIBUTE
    if not np.all(of_labels | of_attributes):
        raise ValueError("there is a feature of an unknown kind")
    bounds = np.where(of_labels, n_labels, n_attributes)
    if np.any(found["target"] >= n_labels) or np.any(found["source"] >= bounds):
        raise ValueError("the number of a label or an attribute is out of range")
    if not np.all(np.isfinite(found["weight"])):
        raise ValueError("weights are not finite numbers")
    names = _strings(data, labels, n_labels), _strings(data, attributes, n_attributes)
    return CRFsuiteModel(*names, found[of_attributes], found[of_labels])


def _features(data: bytes, at: int) -> np.ndarray:
    chunk, _, n = LIST.unpack_from(data, at)
    begin = at + LIST.size
    if chunk != b"FEAT" or begin + n * FEATURE.itemsize > len(data):
        raise ValueError("its list of features is damaged")
    return np.frombuffer(data, FEATURE, n, begin)


def _strings(data: bytes, at: int, n: int) -> list[str]:
    """The n strings of a database, by number."""
    chunk, size, _, order, n_links, links = DATABASE.unpack_from(data, at)
    end = at + size
    if chunk != b"CQDB" or order != BYTE_ORDER or end > len(data) or at + links + 4 * n > end or n_links < n or not n:
        raise ValueError("a list of names is damaged")
    names = [_string(data, at + int(link), end, k) for k, link in enumerate(np.frombuffer(data, "<u4", n, at + links))]
    if len(set(names)) != n:
        raise ValueError("a name is there twice")
    return names


def _string(data: bytes, at: int, end: int, number: int) -> str:
    known, length = RECORD.unpack_from(data, at)
    text = data[at + RECORD.size : at + RECORD.size + length]
    if known != number or not length or at + RECORD.size + length > end or text[-1]:
        raise ValueError("a name is damaged")
    return text[:-1].decode()  # after it comes a zero
