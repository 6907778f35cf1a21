"""Verbs, their implementations, and the functions these call: compiled into kernels, plain functions from Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba.core.errors import TypingError
from numba.extending import overload, register_jitable

from .inner import inner_options

# Sums may be reordered (so that they vectorise); infinities and NaN keep their meaning, masks are -inf.
FAST = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"fastmath": FAST, "error_model": "numpy"}

CALLED: dict[str, Any] = {**OPTIONS, **inner_options()}
INLINED: dict[str, Any] = {"forceinline": True, **CALLED}

helper = register_jitable(**INLINED)
"""Marks a plain function that compiled verbs may call; from Python it stays the plain function."""

routine = register_jitable(**CALLED)
"""The same for functions that run long and are called from several places: compiled once, and called."""


def verb(stub: Callable) -> Callable:
    """Turn a documented signature into a generic function dispatched on its first argument.

    Where an implementation is registered for a pair of types, the second argument counts, too.
    """
    table: dict[Any, Callable] = {}
    name = stub.__name__

    @functools.wraps(stub)
    def generic(part, *args):
        implementation = table.get((type(part), type(args[0]))) if args else None
        implementation = implementation or table.get(type(part))
        if implementation is None and hasattr(part, name):
            return getattr(part, name)(*args)
        implementation = implementation or table.get(object)
        if implementation is None:
            raise AttributeError(f"{type(part).__name__} has no {name}")
        return implementation(part, *args)

    @overload(generic, strict=False, jit_options=INLINED)  # type: ignore[arg-type]
    def typed(part, *args):
        cls, *second = (getattr(one, "instance_class", None) for one in (part, *args[:1]))
        implementation = table.get((cls, *second)) or table.get(cls) or table.get(object)
        if implementation is None:
            raise TypingError(f"{cls.__name__ if cls else part} has no {name}")
        return implementation

    generic.table = table  # type: ignore[attr-defined]
    return generic


def implements(generic: Callable, *types: Any) -> Callable[[Callable], Callable]:
    """Register a function as the implementation of a verb for NamedTuple types; `object` stands for all others.

    A pair of types means the first two arguments.
    """

    def register(function: Callable) -> Callable:
        for one in types:
            generic.table[one] = function  # type: ignore[attr-defined]
        return function

    return register
