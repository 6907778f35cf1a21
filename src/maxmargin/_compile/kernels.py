"""Kernels: loops over verbs that run compiled for NamedTuples and interpreted for everything else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba

from .disk import SourceHashedCache
from .references import Reference
from .verbs import OPTIONS


class Kernel:
    """A function that runs compiled when all its parts are NamedTuples, and interpreted otherwise.

    ``kernel.interpreted`` is the plain function. Parts are the leading arguments, up to `n_parts`. NamedTuples, among
    the parts or behind them, reach compiled code by reference; who calls often may make the :class:`Reference` once and
    hand it over in place of the NamedTuple.

    Kernels over NamedTuples of this package are kept on disk; those over types of others are compiled in every process,
    since their sources may change unseen.
    """

    def __init__(self, function: Callable, n_parts: int):
        functools.update_wrapper(self, function)
        self.interpreted = function
        self.n_parts = n_parts

    @functools.cached_property
    def cached(self) -> Callable:
        dispatcher = numba.njit(nogil=True, **OPTIONS)(self.interpreted)
        dispatcher._cache = SourceHashedCache(self.interpreted)
        return dispatcher

    @functools.cached_property
    def uncached(self) -> Callable:
        return numba.njit(nogil=True, **OPTIONS)(self.interpreted)

    def __call__(self, *args: Any) -> Any:
        if not runs_compiled(*args[: self.n_parts]):
            return self.interpreted(*(one.part if isinstance(one, Reference) else one for one in args))
        given = [Reference(one) if isinstance(one, tuple) else one for one in args]
        own = all(one.is_own for one in given if isinstance(one, Reference))
        return (self.cached if own else self.uncached)(*given)


def runs_compiled(*parts: Any) -> bool:
    """Whether loops over these parts run compiled: each is a NamedTuple, or a reference to one."""
    return all(isinstance(part, (tuple, Reference)) for part in parts)


def kernel(n_parts: int) -> Callable[[Callable], Kernel]:
    """Decorate a loop over verbs; its first `n_parts` arguments decide at which speed it runs."""
    return functools.partial(Kernel, n_parts=n_parts)
