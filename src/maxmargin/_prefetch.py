"""A hint to the processor that memory will be wanted soon; interpreted, nothing."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LINE = 64  # bytes of a cache line
BEYOND_A_CACHE = 1 << 18  # numbers that a core's own cache does not hold


@intrinsic
def _prefetch(typingctx, array, first, count):
    def codegen(context, builder, signature, args):
        array_type = signature.args[0]
        struct = context.make_array(array_type)(context, builder, args[0])
        byte = ir.IntType(8)
        base = builder.bitcast(struct.data, byte.as_pointer())
        size = context.get_constant(types.intp, array_type.dtype.bitwidth // 8)
        begin, bytes_ = builder.mul(args[1], size), builder.mul(args[2], size)
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        with cgutils.for_range_slice(builder, begin.type(0), bytes_, begin.type(LINE), begin.type) as (offset, _):
            where = builder.gep(base, [builder.add(begin, offset)])
            builder.call(function, [where, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), codegen


def prefetch(array, first, count):
    """Ask for `count` elements of a contiguous array, from flat index `first` on."""


@overload(prefetch)
def _(array, first, count):
    return lambda array, first, count: _prefetch(array, first, count)
