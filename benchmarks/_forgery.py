"""Model files as others might make them: with every checksum right, and lies inside."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.persistence.archive import MODEL, write_archive


def parts_of(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The document and the arrays of a file, as any reader of zip and .npy finds them."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {f"{name}.npy": archive[name] for name in archive.files if name != MODEL}
        return json.loads(archive[MODEL]), arrays


def forge(path: Path, document: Any, arrays: dict[str, np.ndarray]) -> Path:
    """Write a file that is sound as a file."""
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    with open(path, "wb") as file:
        write_archive(file, (MODEL, text), arrays.items())
    return path


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], Any]) -> Path:
    """The file with its values changed."""
    document, arrays = parts_of(path)
    change(document["model"]["$object"]["values"], arrays)
    return forge(path, document, arrays)


def zipped(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A plain zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return buffer.getvalue()


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one thing wrong: cut, changed, put in, left out, doubled."""
    at, other = sorted(rng.randrange(len(data)) for _ in range(2))
    noise = rng.randbytes(rng.choice((1, 2, 4, 30)))
    return rng.choice(
        (
            lambda: data[:at],
            lambda: data[at:],
            lambda: data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :],
            lambda: data[:at] + noise + data[at + len(noise) :],
            lambda: data[:at] + noise + data[at:],
            lambda: data[:at] + data[other:],
            lambda: data[:other] + data[at:],
            lambda: data[:at] + bytes(other - at) + data[other:],
        )
    )()


LIES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    7,
    2**31,
    2**63,
    1e300,
    "",
    "x",
    "arrays/0.npy",
    "ChainSVM",
    [],
    {},
    [[1]],
)
LIES += (
    {"$float": "nan"},
    {"$tuple": []},
    {"$dict": [[1, 2]]},
    {"$class": "WordImage"},
    {"$slice": [1, 2, 3]},
    {"x": 1},
)
LIES += ({"$object": {"class": "Scaling", "values": {}}}, {"$strings": {"shape": [1], "width": 1, "items": ["a"]}})


def places_in(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document and every key or index in it."""
    for key, one in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield node, key
        yield from places_in(one)


def told_otherwise(document: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The document with a value of its model that is another, missing, or in another place."""
    document = json.loads(json.dumps(document))
    places = list(places_in(document["model"]))
    (node, key), (other, elsewhere) = rng.choice(places), rng.choice(places)
    kind = rng.randrange(4)
    if kind == 0 and isinstance(node, dict):
        del node[key]
    elif kind == 1:
        node[key] = json.loads(json.dumps(other[elsewhere]))
    elif kind == 2 and type(node[key]) in (int, float):
        node[key] += rng.choice((-1, 1, 2, 0.5))
    else:
        node[key] = rng.choice(LIES)
    return document
