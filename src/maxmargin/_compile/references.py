"""NamedTuples of arrays handed to compiled code by reference: one pointer each, fields loaded where they are used.

A NamedTuple argument of Numba's own is flattened into 7 to 9 numbers an array, some 400 for a loop over blocks; they
spill, and every inner call unpacks and packs them again. Here a part is laid out in words of 8 bytes for the time of a
call, parts within it in place, and compiled code has the address of the first.

- Fields are arrays of one dimension or more, NamedTuples, bool, int and float. Anything else is a TypeError.
- Loads are marked invariant, so that LLVM moves them out of loops: nothing may replace or resize the memory of a field
  while a call runs. Writing into arrays is fine, and so is to put larger arrays into a new NamedTuple between calls.
- An array taken from a part has no owner: a kernel must not return it.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import types

from . import loads  # noqa: F401  (registers with Numba how compiled code reads parts)
from .parts import ARRAYS, PartType, find_type, n_words

CONTIGUOUS = 1 | 2  # of numpy's flags: C and F
TYPED = CONTIGUOUS | 0x0100 | 0x0400  # and aligned, writeable
HEADER = object.__basicsize__  # in C, an array begins as every object does; then comes the address of its data
_word_at = ctypes.c_size_t.from_address


def _address_in_header(array: np.ndarray) -> int:
    return _word_at(id(array) + HEADER).value


def _address_in_interface(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _fastest_address() -> Any:
    """Reading numpy's header takes a tenth of the time; where it is not where it was, ask for the address."""
    probe = np.empty(1)
    agree = _address_in_header(probe) == _address_in_interface(probe)
    return _address_in_header if agree else _address_in_interface


address_of = _fastest_address()


class _Known(NamedTuple):
    """A type, found before for the same class and the same dtypes, dimensions, layouts and flags of its arrays."""

    type: PartType
    pack: Any


_KNOWN: dict[tuple, _Known] = {}


def _formats(part_type: PartType) -> Iterator[str]:
    """What ``struct.pack`` makes words of, field by field."""
    for kind in part_type.types.values():
        if isinstance(kind, PartType):
            yield from _formats(kind)
        elif isinstance(kind, types.Array):
            yield f"Q{n_words(kind) - 1}q"
        else:
            yield FORMATS[kind]


FORMATS: dict[types.Type, str] = {types.boolean: "?7x", types.int64: "q", types.float64: "d"}


def _gather(part: Any, signature: list, values: list) -> None:
    """Collect what decides on the type of a part, and the numbers that make its words."""
    signature.append(type(part))
    for one in part:
        kind = type(one)
        if kind in ARRAYS:
            flags, shape = one.flags.num, one.shape
            signature.append(one.dtype)
            signature.append(len(shape) << 16 | flags & TYPED)
            values.append(address_of(one))
            values += shape
            if not flags & CONTIGUOUS:
                values += one.strides
        elif isinstance(one, tuple):
            _gather(one, signature, values)
        else:
            signature.append(kind)
            values.append(one)


def _first_large(part: Any) -> str:
    """The field of an int beyond 64 bits."""
    for name, one in zip(part._fields, part, strict=True):
        found = _first_large(one) if isinstance(one, tuple) else ""
        if found or (isinstance(one, (int, np.integer)) and not -(2**63) <= one < 2**63):
            return found or f"{type(part).__qualname__}.{name}"
    return ""


class Reference:
    """A NamedTuple laid out in words, for kernels; to be kept as long as a call runs, and fit for many.

    Once its type is known it is made in half a microsecond an array (34 microseconds for 62 arrays).

    Parameters
    ----------
    part : NamedTuple
        Of arrays, NamedTuples, bool, int and float.

    Attributes
    ----------
    part : NamedTuple
        What it refers to.
    address : int
        Where its words begin.
    is_own : bool
        Whether all classes within are of this package, so that kernels over them may be kept on disk.

    Examples
    --------
    >>> from maxmargin.structures import TransitionMask
    >>> reference = Reference(TransitionMask(np.ones((2, 2), bool), np.ones(2, bool), np.ones(2, bool)))
    >>> reference.part.start
    array([ True,  True])
    >>> reference.is_own
    True
    """

    __slots__ = ("_numba_type_", "address", "is_own", "part", "words")

    def __init__(self, part: Any):
        signature: list = []
        values: list = []
        _gather(part, signature, values)
        key = tuple(signature)
        known = _KNOWN.get(key)
        if known is None:
            found = find_type(part)
            known = _KNOWN[key] = _Known(found, struct.Struct(f"={''.join(_formats(found))}8x").pack)
        try:
            self.words = np.frombuffer(known.pack(*values), np.int64)
        except struct.error as error:
            raise OverflowError(f"{_first_large(part)} does not fit 64 bits") from error
        self.part, self.address = part, address_of(self.words)
        self._numba_type_, self.is_own = known.type, known.type.is_own

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a Reference holds addresses of this process; pickle or copy the NamedTuple it is made of")
