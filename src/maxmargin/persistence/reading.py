"""Values from JSON and arrays, believing neither."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .archive import NUMBERS, Archive
from .errors import ModelFileError
from .registry import kind_named, stored_as
from .writing import DEEPEST

LEAST_TEXT = 1 << 20  # bytes that an array of strings may take in memory in any case
NESTED = {list, dict}  # what may hold something else in JSON
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Given:
    """Values from the JSON and the arrays of a file; `values` says whether numbers are looked at one by one."""

    def __init__(self, archive: Archive, values: bool):
        self.archive, self.values = archive, values
        self.unused = set(archive.entries)
        self.n_bytes = max(entry.end for entry in archive.entries.values())

    def value(self, node: Any, where: str, depth: int = 0) -> Any:
        """The value of a node; `where` is what it is called in errors."""
        if depth > DEEPEST:
            raise self.fault(where, f"values lie within each other more than {DEEPEST} deep")
        if isinstance(node, list):
            if NESTED.isdisjoint(map(type, node)):
                return node
            return [self.value(one, f"{where}[{i}]", depth + 1) for i, one in enumerate(node)]
        if not isinstance(node, dict):
            return node
        (tag, content), *more = node.items() if node else [("", None)]
        if more or tag not in _READERS:
            raise self.fault(where, f"no value is written as {tag!r}; a newer maxmargin may know it")
        try:
            return _READERS[tag](self, content, where, depth + 1)
        except ModelFileError:
            raise
        except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
            raise self.fault(where, str(error) or type(error).__name__) from error

    def fault(self, where: str, what: str) -> ModelFileError:
        return self.archive.fault(f"{where}: {what}")

    def shape(self, given: Any) -> tuple[int, ...]:
        if not isinstance(given, list) or len(given) > 32 or not all(type(n) is int and n >= 0 for n in given):
            raise ValueError(f"no shape of an array: {str(given)[:50]}")
        return tuple(given)

    def entry(self, content: Any) -> np.ndarray:
        """The array of an entry, which no other value may have."""
        name, dtype, shape = _fields(content, "entry", "dtype", "shape")
        if dtype not in NUMBERS:
            raise ValueError(f"no type of numbers: {str(dtype)[:50]!r}")
        array = self.archive.array(name, dtype, self.shape(shape))
        if name not in self.unused:
            raise ValueError(f"entry {name!r} is there for another value")
        self.unused.discard(name)
        return array


def _fields(content: Any, *names: str) -> list[Any]:
    if not isinstance(content, dict) or content.keys() != set(names):
        raise ValueError(f"expected {', '.join(names)}")
    return [content[name] for name in names]


def _listed(content: Any) -> list:
    if not isinstance(content, list):
        raise ValueError("expected a list")
    return content


def _read_entry(given: Given, content: Any, where: str, depth: int) -> np.ndarray:
    return given.entry(content)


def _read_sparse(given: Given, content: Any, where: str, depth: int) -> np.ndarray:
    shape, places, values = _fields(content, "shape", "places", "values")
    shape = given.shape(shape)
    places, values = (given.entry(*_fields(one, "$array")) for one in (places, values))
    size = math.prod(shape)
    if places.dtype.kind != "i" or places.ndim != 1 or values.shape != places.shape:
        raise ValueError("places and values of a sparse array do not go together")
    if len(places) and (places[0] < 0 or places[-1] >= size or np.any(places[1:] <= places[:-1])):
        raise ValueError("places of a sparse array are not ascending numbers within it")
    dense = np.zeros(size, values.dtype)  # pages without a number take no memory
    dense[places] = values
    return dense.reshape(shape)


def _read_strings(given: Given, content: Any, where: str, depth: int) -> np.ndarray:
    shape, width, items = _fields(content, "shape", "width", "items")
    shape, items = given.shape(shape), _listed(items)
    if len(items) != math.prod(shape) or not all(isinstance(one, str) for one in items):
        raise ValueError("items are not as many strings as the shape says")
    longest = max(map(len, items), default=0)
    if (
        type(width) is not int
        or not max(longest, 1) <= width
        or 4 * width * len(items) > given.n_bytes * 64 + LEAST_TEXT
    ):
        raise ValueError(f"strings of width {str(width)[:20]} are not what the file holds")
    return np.array(items, f"<U{width}").reshape(shape)


def _read_objects(given: Given, content: Any, where: str, depth: int) -> np.ndarray:
    shape, items = _fields(content, "shape", "items")
    array = np.empty(len(_listed(items)), object)
    for i, one in enumerate(items):
        array[i] = given.value(one, f"{where}[{i}]", depth)
    return array.reshape(given.shape(shape))


def _read_float(given: Given, content: Any, where: str, depth: int) -> float:
    return NOT_FINITE[content]


def _read_tuple(given: Given, content: Any, where: str, depth: int) -> tuple:
    return tuple(given.value(_listed(content), where, depth))


def _read_dict(given: Given, content: Any, where: str, depth: int) -> dict:
    pairs = [given.value(_listed(pair), where, depth) for pair in _listed(content)]
    return {key: one for key, one in pairs}  # noqa: C416  (a pair that is none is an error)


def _read_slice(given: Given, content: Any, where: str, depth: int) -> slice:
    start, stop, step = given.value(_listed(content), where, depth)
    return slice(start, stop, step)


def _read_class(given: Given, content: Any, where: str, depth: int) -> type:
    found = kind_named(content)
    if found is None:
        raise ValueError(f"no class is called {str(content)[:50]!r}")
    return found


def _read_object(given: Given, content: Any, where: str, depth: int) -> Any:
    name, values = _fields(content, "class", "values")
    stored = stored_as(name) if isinstance(name, str) else None
    if stored is None:
        raise ValueError(
            f"nothing is registered as {str(name)[:50]!r}: import the module that has the class, "
            "or take a newer maxmargin"
        )
    if not isinstance(values, dict):
        raise ValueError("expected values by name")
    read = {one: given.value(node, f"{where}.{one[:50]}", depth) for one, node in values.items()}
    made = stored.make(stored.find(), read)
    stored.check(made, given.values)
    return made


_READERS: dict[str, Callable[[Given, Any, str, int], Any]] = {
    "$array": _read_entry,
    "$class": _read_class,
    "$dict": _read_dict,
    "$float": _read_float,
    "$object": _read_object,
    "$objects": _read_objects,
    "$slice": _read_slice,
    "$sparse": _read_sparse,
    "$strings": _read_strings,
    "$tuple": _read_tuple,
}
