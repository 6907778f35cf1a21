"""Values as JSON and arrays.

Scalars and lists are JSON's own. Everything else is an object with a single key that says what it is: ``{"$tuple":
[...]}``. Arrays of numbers are entries of their own in a file; `Taken` collects them while a value is written down.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .archive import NUMBERS
from .registry import is_kind, stored_of

DEEPEST = 64  # levels of values within values
OF_ENTRY = 400  # bytes that an entry takes beside its numbers, about

PLAIN = {type(None), bool, int, str}  # what JSON has as it is


class Taken:
    """Values as JSON, and the arrays that go with them."""

    def __init__(self) -> None:
        self.arrays: list[tuple[str, np.ndarray]] = []

    def node(self, value: Any, where: str, depth: int = 0) -> Any:
        """A value as JSON; `where` is what it is called in errors."""
        if depth > DEEPEST:
            raise ValueError(f"{where}: values lie within each other more than {DEEPEST} deep: nothing can store that")
        value = value.item() if isinstance(value, np.generic) else value
        value = os.fspath(value) if isinstance(value, os.PathLike) else value
        write = _class if isinstance(value, type) else _WRITERS.get(type(value))
        if write is not None:
            return write(self, value, where, depth + 1)
        stored = stored_of(type(value))
        if stored is None:
            _refuse(value, where)
        values = {name: self.node(one, f"{where}.{name}", depth + 1) for name, one in stored.take(value).items()}
        return {"$object": {"class": stored.name, "values": values}}

    def entry(self, array: np.ndarray) -> Any:
        name = f"arrays/{len(self.arrays)}.npy"
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)
        self.arrays.append((name, plain))
        return {"$array": {"entry": name, "dtype": plain.dtype.str, "shape": list(plain.shape)}}


def _refuse(value: Any, where: str) -> NoReturn:
    kind = type(value)
    if callable(value):
        what, hint = f"{value!r} is code, which files never hold", "give a name instead, or set it to None"
    elif kind in (np.random.RandomState, np.random.Generator):
        what, hint = f"a {kind.__name__} cannot be stored", "set it to an integer or None"
    else:
        what = f"objects of type {kind.__module__}.{kind.__qualname__} cannot be stored"
        hint = "set it to None where predictions do not need it, or register the class (maxmargin.persistence.storable)"
    raise TypeError(f"{where}: {what}: {hint} before saving")


def _same(taken: Taken, value: Any, where: str, depth: int) -> Any:
    return value


def _float(taken: Taken, value: float, where: str, depth: int) -> Any:
    return value if math.isfinite(value) else {"$float": repr(value)}


def _items(taken: Taken, value: Any, where: str, depth: int) -> list:
    if PLAIN.issuperset(map(type, value)):  # names of a hundred thousand features, say
        return list(value)
    return [taken.node(one, f"{where}[{i}]", depth) for i, one in enumerate(value)]


def _tuple(taken: Taken, value: tuple, where: str, depth: int) -> Any:
    return {"$tuple": _items(taken, value, where, depth)}


def _dict(taken: Taken, value: dict, where: str, depth: int) -> Any:
    pairs = [(f"a key of {where}", f"{where}[{key!r}]", key, one) for key, one in value.items()]
    return {"$dict": [[taken.node(key, of_key, depth), taken.node(one, at, depth)] for of_key, at, key, one in pairs]}


def _slice(taken: Taken, value: slice, where: str, depth: int) -> Any:
    return {"$slice": _items(taken, (value.start, value.stop, value.step), where, depth)}


def _class(taken: Taken, value: type, where: str, depth: int) -> Any:
    if not is_kind(value):
        _refuse(value, where)
    return {"$class": value.__name__}


def _array(taken: Taken, value: np.ndarray, where: str, depth: int) -> Any:
    if value.dtype.kind == "O":
        return {"$objects": {"shape": list(value.shape), "items": _items(taken, value.ravel().tolist(), where, depth)}}
    if value.dtype.kind == "U":
        width = value.dtype.itemsize // 4
        return {"$strings": {"shape": list(value.shape), "width": width, "items": value.ravel().tolist()}}
    if value.dtype.newbyteorder("<").str not in NUMBERS:
        raise TypeError(f"{where}: arrays of dtype {value.dtype} cannot be stored: make it one of numbers or strings")
    return _sparse(taken, value) if _is_sparse(value) else taken.entry(value)


def _is_sparse(array: np.ndarray) -> bool:
    """Whether places and values of what is not 0 take less than half the bytes: arrays as they are start at once."""
    if array.nbytes <= 4 * OF_ENTRY:
        return False
    n = int(np.count_nonzero(array))
    return 2 * (n * (array.itemsize + _places(array.size).itemsize) + OF_ENTRY) < array.nbytes


def _places(size: int) -> np.dtype:
    return np.dtype(np.int32 if size <= 2**31 else np.int64)


def _sparse(taken: Taken, array: np.ndarray) -> Any:
    flat = array.ravel()
    places = np.flatnonzero(flat)
    parts = {"places": taken.entry(places.astype(_places(flat.size))), "values": taken.entry(flat[places])}
    return {"$sparse": {"shape": list(array.shape), **parts}}


_WRITERS: dict[type, Callable[[Taken, Any, str, int], Any]] = {
    type(None): _same,
    bool: _same,
    int: _same,
    str: _same,
    float: _float,
    list: _items,
    tuple: _tuple,
    dict: _dict,
    slice: _slice,
    np.ndarray: _array,
    np.memmap: _array,
}
