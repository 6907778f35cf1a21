"""Where threads of compiled code wait for each other; interpreted, nobody is there to wait for.

A round of steps takes some ten microseconds, a lock of the operating system as many. So each thread counts its
arrivals in a word of its own, and looks at those of the others until all have come; one that waits for long lets other
threads have its core.
"""

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LINE = 8  # words of a cache line: two threads do not write to the same one
SPINS = 4096  # some microseconds; whoever is late by more has probably lost its core


def new_meeting(n_threads: int) -> np.ndarray:
    """(n_threads, LINE) arrivals, in the first word of each row."""
    return np.zeros((n_threads, LINE), np.int64)


def _pointer(context, builder, array_type, array, index):
    struct = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, [index, index.type(0)])


@intrinsic
def _publish(typingctx, arrivals, thread, count):
    """All that was written before is seen by whoever sees the count."""

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1])
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(arrivals, types.intp, types.int64), codegen


@intrinsic
def _look(typingctx, arrivals, thread):
    """The count of a thread; what was written before it is seen from now on."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_pointer(context, builder, signature.args[0], args[0], args[1]), "acquire", 8)

    return types.int64(arrivals, types.intp), codegen


@intrinsic
def _let_others_run(typingctx):
    def codegen(context, builder, signature, args):
        if sys.platform != "win32":
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), codegen


def arrive(arrivals, thread, count):
    """For the `count`-th time, from 1 on."""


@overload(arrive)
def _(arrivals, thread, count):
    return lambda arrivals, thread, count: _publish(arrivals, thread, count)


def wait_for_all(arrivals, left, count):
    """Until all threads have arrived so many times: True; or False, where one has left before, and says so there."""


@overload(wait_for_all)
def _(arrivals, left, count):
    def wait(arrivals, left, count):
        for other in range(arrivals.shape[0]):
            spins = 0
            while _look(arrivals, other) < count:
                if _look(left, other) != 0 and _look(arrivals, other) < count:
                    return False
                spins += 1
                if spins > SPINS:
                    _let_others_run()
        return True

    return wait
