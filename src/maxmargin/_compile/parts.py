"""Types of parts in compiled code, and what the fields of a part may be.

A type is the class itself, not its name, together with the types of its fields: a class defined again, as by a notebook
cell run twice, is another type.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import NumbaNotImplementedError
from numba.np import numpy_support

PACKAGE = __name__.partition(".")[0]
ARRAYS = frozenset({np.ndarray, np.memmap})  # of other subclasses compiled code would see only half
ALLOWED = "fields of a part are arrays of one dimension or more, NamedTuples, bool, int or float"


def plain(array: Any, dtype: type) -> np.ndarray:
    """The one kind of array that kernels are compiled for: aligned, in C order, and writeable, though nobody writes.

    A read-only array, one in another order or of another dtype would be a type of its own, and compile all anew.
    """
    return np.require(array, dtype, ["C", "A", "W", "E"])


class PartType(types.Type):
    """Type of a reference to a NamedTuple; verbs are dispatched on its `instance_class`."""

    def __init__(self, instance_class: type, fields: tuple[tuple[str, types.Type], ...]):
        self.instance_class, self.fields = instance_class, fields
        self.types, self.places, self.n_words = dict(fields), {}, 0
        for name, one in fields:
            self.places[name] = self.n_words
            self.n_words += n_words(one)
        within = [one.is_own for one in self.types.values() if isinstance(one, PartType)]
        self.is_own: bool = instance_class.__module__.partition(".")[0] == PACKAGE and all(within)
        # short, since it is part of every symbol; the same in every process, since kernels are kept on disk
        digest = hashlib.sha256(str(fields).encode()).hexdigest()[:8]
        super().__init__(f"{instance_class.__module__}.{instance_class.__qualname__}[{digest}]")

    @property
    def key(self) -> tuple:
        return self.instance_class, self.fields


def n_words(kind: types.Type) -> int:
    """Words of a field: an array has its address, its shape, and its strides where the shape does not tell them."""
    if isinstance(kind, PartType):
        return kind.n_words
    if isinstance(kind, types.Array):
        return 1 + kind.ndim if kind.layout in "CF" else 1 + 2 * kind.ndim
    return 1


def find_type(part: Any) -> PartType:
    """The type of a NamedTuple, field by field; a field that compiled code cannot take is an error that names it."""
    cls = type(part)
    if not hasattr(cls, "_fields"):
        raise TypeError(f"a part is a NamedTuple, got {cls.__name__}")
    return PartType(
        cls, tuple((name, _field_type(cls, name, one)) for name, one in zip(cls._fields, part, strict=True))
    )


def _field_type(cls: type, name: str, value: Any) -> types.Type:
    where = f"{cls.__qualname__}.{name}"
    for kinds, find in FIELDS:
        if isinstance(value, kinds):
            return find(where, value)
    raise TypeError(f"{where} is of type {type(value).__name__}: {ALLOWED}")


def _array_type(where: str, array: np.ndarray) -> types.Type:
    if type(array) not in ARRAYS:
        raise TypeError(f"{where} is of type {type(array).__name__}: {ALLOWED}")
    if array.ndim == 0:
        raise TypeError(f"{where} is an array without dimensions: {ALLOWED}")
    if not array.dtype.isnative:
        raise ValueError(
            f"{where} has the byte order of another machine; give it as array.astype(array.dtype.newbyteorder('='))"
        )
    if not array.flags.aligned:
        raise ValueError(f"{where} is not aligned in memory; give it as np.require(array, requirements='A')")
    try:
        dtype = numpy_support.from_dtype(array.dtype)
    except NumbaNotImplementedError:
        dtype = types.pyobject
    if dtype == types.pyobject:
        raise TypeError(f"{where} is an array of {array.dtype}, which compiled code does not know")
    return types.Array(dtype, array.ndim, numpy_support.map_layout(array), readonly=not array.flags.writeable)


def _part_type(where: str, part: tuple) -> types.Type:
    if not hasattr(part, "_fields"):
        raise TypeError(f"{where} is a plain tuple: {ALLOWED}")
    return find_type(part)


FIELDS: tuple[tuple[Any, Callable[[str, Any], types.Type]], ...] = (
    (np.ndarray, _array_type),
    (tuple, _part_type),
    ((bool, np.bool_), lambda where, value: types.boolean),
    ((int, np.integer), lambda where, value: types.int64),
    ((float, np.floating), lambda where, value: types.float64),
)
