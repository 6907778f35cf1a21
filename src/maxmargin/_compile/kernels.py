"""Kernels: loops over verbs that run compiled for NamedTuples and interpreted for everything else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import config

from .disk import KernelCache
from .parts import PACKAGE
from .references import Reference
from .verbs import OPTIONS

# no wrapper for callers in C: there are none
KERNEL: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **OPTIONS}

# what compiled code takes: parts, and what is passed as it is
COMPILED = (tuple, Reference, np.ndarray, np.generic, int, float, type(None))


class Kernel:
    """A function that runs compiled when all its parts are NamedTuples, and interpreted otherwise.

    ``kernel.interpreted`` is the plain function. Its parts are those arguments that are neither arrays nor numbers.
    They reach compiled code by reference; who calls often may make the :class:`Reference` once and hand it over in
    place of the NamedTuple.

    Kernels of this package over NamedTuples of this package are kept on disk. Those of others are compiled in every
    process, since their sources may change unseen.
    """

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self.interpreted = function
        self.is_own = function.__module__.partition(".")[0] == PACKAGE

    @functools.cached_property
    def cached(self) -> Callable:
        dispatcher = numba.njit(**KERNEL)(self.interpreted)
        dispatcher._cache = KernelCache(self.interpreted)
        return dispatcher

    @functools.cached_property
    def uncached(self) -> Callable:
        return numba.njit(**KERNEL)(self.interpreted)

    def __call__(self, *args: Any) -> Any:
        if not runs_compiled(*args):
            return self.interpreted(*(one.part if isinstance(one, Reference) else one for one in args))
        given = [Reference(one) if isinstance(one, tuple) else one for one in args]
        own = self.is_own and all(one.is_own for one in given if isinstance(one, Reference))
        return (self.cached if own else self.uncached)(*given)


def runs_compiled(*args: Any) -> bool:
    """Whether a loop over these runs compiled: each is a NamedTuple, a reference to one, an array or a number."""
    return not config.DISABLE_JIT and all(isinstance(one, COMPILED) for one in args)  # type: ignore[attr-defined]


def kernel(function: Callable) -> Kernel:
    """Decorate a loop over verbs.

    Parameters
    ----------
    function : callable
        The loop, written for both speeds.

    Returns
    -------
    Kernel
        It runs at the speed that its arguments allow.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> import numpy as np
    >>> class Scale(NamedTuple):
    ...     factor: float
    >>> @kernel
    ... def scaled_sum(scale, numbers):
    ...     total = 0.0
    ...     for k in range(len(numbers)):
    ...         total += scale.factor * numbers[k]
    ...     return total
    >>> scaled_sum(Scale(2.0), np.arange(4.0))  # compiled
    12.0
    """
    return Kernel(function)
