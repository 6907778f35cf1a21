"""States of runs in files: as values of models are, and what these have no need of.

Classes are those of a table that the reader brings, so that no model file can hold a state. Arrays and objects that are
one stay one, numbers of NumPy stay such, and generators go on drawing where they were. Small arrays share an entry with
others of their type: a structure in plain Python may have a hundred thousand.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

import numpy as np

from .archive import NUMBERS, STATE, Archive, write_archive
from .errors import ModelFileError
from .reading import Given
from .writing import Taken

SMALL = 1 << 12  # bytes
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")

Function = Callable[[Any], Any]


class Classes:
    """A table of the classes that may be in a file: NamedTuples, dataclasses, enumerations, and plain ones.

    Parameters
    ----------
    classes : iterable of types
        Of plain ones all attributes are kept.
    by_class : mapping of type to two functions, default={}
        For those of which it is something else: what is kept of an object, and the object made of that.
    """

    def __init__(self, classes: Iterable[type], by_class: Mapping[type, tuple[Function, Function]] | None = None):
        self.by_name: dict[str, type] = {}
        self.know(*classes)
        self.by_class = dict(by_class or {})

    def know(self, *classes: type) -> None:
        """Let further ones be in files."""
        self.by_name.update((f"{one.__module__}.{one.__qualname__}", one) for one in classes)
        self.names = {one: name for name, one in self.by_name.items()}

    def take(self, value: Any) -> Any:
        """What is kept of an object."""
        if type(value) in self.by_class:
            return self.by_class[type(value)][0](value)
        if isinstance(value, enum.Enum):
            return value.value
        return value._asdict() if isinstance(value, tuple) else vars(value)  # type: ignore[attr-defined]

    def make(self, name: str, contents: Any) -> Any:
        """The object again; no code of its class runs, but where the table says so."""
        cls = self.by_name[name]
        if cls in self.by_class:
            return self.by_class[cls][1](contents)
        if issubclass(cls, enum.Enum):
            return cls(contents)
        fields = [one.name for one in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else None
        fields = list(getattr(cls, "_fields", ())) if issubclass(cls, tuple) else fields
        if fields is not None and list(contents) != fields:
            raise ValueError(f"{name} has other fields")
        if issubclass(cls, tuple):
            return tuple.__new__(cls, contents.values())
        made = object.__new__(cls)
        vars(made).update(contents)
        return made


def write_state(file: BinaryIO, state: Any, classes: Classes) -> None:
    """Write a value to a file.

    Parameters
    ----------
    file : binary file
    state : object
        Scalars, lists, tuples, dicts, arrays of numbers, generators of NumPy, and objects of classes.
    classes : Classes
    """
    writer = _Writer(classes)
    tree = writer.node(state, "state")
    pools = {kind: writer.entry(np.concatenate(arrays)) for kind, arrays in writer.pools.items()}
    document = {"tree": tree, "pools": pools}
    write_archive(file, (STATE, json.dumps(document).encode()), writer.arrays)


def read_state(path: str | os.PathLike, classes: Classes) -> Any:
    """Read a value from a file; every checksum is compared.

    Parameters
    ----------
    path : str or path
    classes : Classes

    Returns
    -------
    state : object
        Its arrays are mapped where they lie, copy-on-write.
    """
    archive = Archive(path)
    for name in archive.entries:
        archive.verify(name)
    reader = _Reader(archive, classes)
    try:
        document = json.loads(archive.read(STATE))
        reader.pools = {kind: reader.entry(node["$array"]) for kind, node in document["pools"].items()}
        return reader.value(document["tree"], "state")
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        fault = archive.fault(f"{type(error).__name__}: {error}")
        raise (error if isinstance(error, ModelFileError) else fault) from error


class _Writer(Taken):
    def __init__(self, classes: Classes):
        super().__init__()
        self.classes = classes
        self.pools: dict[str, list[np.ndarray]] = {}
        self.filled: dict[str, int] = {}
        self.seen: dict[int, tuple[Any, int]] = {}  # arrays and objects, which must live on while their ids count

    def node(self, value: Any, where: str, depth: int = 0) -> Any:
        if id(value) in self.seen:
            return {"$seen": self.seen[id(value)][1]}
        if isinstance(value, np.ndarray):
            is_small = value.nbytes <= SMALL and value.dtype.newbyteorder("<").str in NUMBERS
            return self.seen_as(value, self.pooled(value) if is_small else super().node(value, where, depth))
        name = self.classes.names.get(type(value))
        if name is not None:
            values = self.node(self.classes.take(value), where, depth + 1)
            return self.seen_as(value, {"$kept": [name, values]})
        for kind, (tag, take) in SCALARS.items():
            if isinstance(value, kind):
                return {tag: self.node(take(value), where, depth + 1)}
        return super().node(value, where, depth)

    def seen_as(self, value: Any, node: Any) -> Any:
        self.seen[id(value)] = value, len(self.seen)
        return node

    def pooled(self, array: np.ndarray) -> Any:
        kind = array.dtype.newbyteorder("<").str
        begin = self.filled.get(kind, 0)
        self.pools.setdefault(kind, []).append(array.ravel())
        self.filled[kind] = begin + array.size
        return {"$pooled": [kind, begin, list(array.shape)]}


class _Reader(Given):
    def __init__(self, archive: Archive, classes: Classes):
        super().__init__(archive, True)
        self.classes = classes
        self.pools: dict[str, np.ndarray] = {}
        self.seen: list[Any] = []

    def value(self, node: Any, where: str, depth: int = 0) -> Any:
        tag = next(iter(node)) if isinstance(node, dict) and len(node) == 1 else None
        if tag == "$seen":
            return self.seen[node[tag]]
        if tag not in READERS:
            found = super().value(node, where, depth)
        else:
            found = READERS[tag](self, node[tag], where, depth + 1)
        if tag in NUMBERED:
            self.seen.append(found)
        return found


def _kept(reader: _Reader, content: Any, where: str, depth: int) -> Any:
    name, values = content
    return reader.classes.make(name, reader.value(values, where, depth))


def _pooled(reader: _Reader, content: Any, where: str, depth: int) -> np.ndarray:
    kind, begin, shape = content
    end = begin + math.prod(reader.shape(shape))
    if kind not in NUMBERS or not 0 <= begin <= end <= len(reader.pools[kind]):
        raise ValueError("an array lies outside its pool")
    return reader.pools[kind][begin:end].reshape(shape).copy()


def _scalar(reader: _Reader, content: Any, where: str, depth: int) -> Any:
    return reader.value(content, where, depth)[()]


def _bytes(reader: _Reader, content: Any, where: str, depth: int) -> bytes:
    return reader.value(content, where, depth).tobytes()


def _generator(reader: _Reader, content: Any, where: str, depth: int) -> np.random.Generator:
    state = reader.value(content, where, depth)
    if state["bit_generator"] not in BIT_GENERATORS:
        raise ValueError(f"no generator is called {state['bit_generator']!r}")
    bits = getattr(np.random, state["bit_generator"])(0)
    bits.state = state
    return np.random.Generator(bits)


SCALARS: dict[type, tuple[str, Function]] = {
    np.generic: ("$scalar", np.asarray),
    np.random.Generator: ("$generator", lambda value: dict(value.bit_generator.state)),
    bytes: ("$bytes", lambda value: np.frombuffer(value, np.uint8)),
}
READERS: dict[Any, Callable[[_Reader, Any, str, int], Any]] = {
    "$kept": _kept,
    "$pooled": _pooled,
    "$scalar": _scalar,
    "$bytes": _bytes,
    "$generator": _generator,
}
NUMBERED = ("$kept", "$pooled", "$array", "$sparse")  # in the order in which they were written
