"""NamedTuples of arrays handed to compiled code by reference: one pointer each, fields loaded where they are used.

A NamedTuple argument of Numba's own is flattened into 7 to 9 numbers an array, some 400 for a loop over blocks; they
spill, and every inner call unpacks and packs them again. Here a part is laid out in words of 8 bytes for the time of a
call, parts within it in place, and compiled code has the address of the first.

- Fields are arrays of one dimension or more, NamedTuples, bool, int and float. Anything else is a TypeError.
- Loads are marked invariant, so that LLVM moves them out of loops: nothing may replace or resize the memory of a field
  while a call runs. Writing into arrays is fine, and so is to put larger arrays into a new NamedTuple between calls.
- An array taken from a part has no owner: a kernel must not return it.
- A type is the class itself, not its name, and the types of its fields: a class defined again is another type.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaNotImplementedError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, unbox
from numba.np import numpy_support

ALLOWED = "fields of a part are arrays of one dimension or more, NamedTuples, bool, int or float"
PACKAGE = __name__.partition(".")[0]
WORD = ir.IntType(64)


# ---------------------------------------------------------------------------------------------------------- the type


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


# ----------------------------------------------------------------------------------------------------- in compiled code

register_model(PartType)(models.OpaqueModel)


@infer_getattr
class _FieldTypes(AttributeTemplate):
    key = PartType

    def generic_resolve(self, typ, attr):
        return typ.types.get(attr)


@lower_getattr_generic(PartType)
def _load_field(context, builder, typ, value, attr):
    kind = typ.types[attr]
    base = builder.gep(builder.bitcast(value, WORD.as_pointer()), [ir.Constant(WORD, typ.places[attr])])

    def load(k, as_type=WORD):
        at = builder.bitcast(builder.gep(base, [ir.Constant(WORD, k)]), as_type.as_pointer())
        found = builder.load(at)
        found.set_metadata("invariant.load", builder.module.add_metadata([]))
        return found

    if isinstance(kind, PartType):
        return builder.bitcast(base, value.type)
    if isinstance(kind, types.Array):
        return _load_array(context, builder, kind, load)
    if kind == types.boolean:
        return builder.trunc(load(0), context.get_value_type(kind))
    return load(0, context.get_value_type(kind))


def _load_array(context, builder, kind, load):
    array = context.make_array(kind)(context, builder)
    array.meminfo, array.parent = (cgutils.get_null_value(one.type) for one in (array.meminfo, array.parent))
    array.itemsize = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    array.data = load(0, array.data.type)
    shape = [load(1 + d) for d in range(kind.ndim)]
    array.nitems = _product(builder, shape)
    strides = {
        "C": lambda d: _product(builder, [array.itemsize, *shape[:d:-1]]),
        "F": lambda d: _product(builder, [array.itemsize, *shape[:d]]),
        "A": lambda d: load(1 + kind.ndim + d),
    }[kind.layout]
    array.shape = cgutils.pack_array(builder, shape, WORD)
    array.strides = cgutils.pack_array(builder, [strides(d) for d in range(kind.ndim)], WORD)
    return array._getvalue()


def _product(builder, factors):
    product = factors[0]
    for one in factors[1:]:
        product = builder.mul(product, one, flags=["nsw"])
    return product


@unbox(PartType)
def _unbox(typ, obj, c):
    address = c.pyapi.object_getattr_string(obj, "address")
    word = c.pyapi.long_as_ulonglong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(word, c.context.get_value_type(typ)))


# ------------------------------------------------------------------------------------------------------- from Python

ARRAYS = frozenset({np.ndarray, np.memmap})  # of other subclasses compiled code would see only half
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
