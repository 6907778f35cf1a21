"""Parts in compiled code: a pointer, and loads of fields where they are used."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, models, register_model, unbox

from .parts import PartType

WORD = ir.IntType(64)

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
