"""One text at two speeds: generic verbs, compiled for registered NamedTuples, interpreted for everything else.

A *verb* is a generic function dispatched on the type of its first argument. Built-in structures and solver parts are
NamedTuples of arrays; their implementations are registered with :func:`implements` and serve both speeds: called from
Python they run as they are, called from a compiled loop Numba compiles them in. An object of any other class brings
its own method of the verb's name, and the loop around it runs interpreted.

Numba's on-disk cache stamps only the file of the outermost function, so an edit of a callee would be served a stale
kernel. Here the cache lives in a folder named after a hash of every source file of the package (and is not used at
all for types registered from outside it).
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import caching
from numba.extending import overload, register_jitable

PACKAGE = Path(__file__).resolve().parent
LOG = logging.getLogger("maxmargin")

# Sums may be reordered (so that they vectorise); infinities and NaN keep their meaning, masks are -inf.
FAST = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"fastmath": FAST, "error_model": "numpy"}

# All is inlined into the loops: a call would pass every array of a problem, some 200 numbers, and cost a quarter more.
INLINED: dict[str, Any] = {"forceinline": True, **OPTIONS}

helper = register_jitable(**INLINED)
"""Marks a plain function that compiled verbs may call; from Python it stays the plain function."""

routine = register_jitable(**OPTIONS)
"""The same for functions that run long and are called from several places: compiled once, and called."""


def verb(stub: Callable) -> Callable:
    """Turn a documented signature into a generic function dispatched on its first argument.

    Where an implementation is registered for a pair of types, the second argument counts, too.
    """
    table: dict[Any, Callable] = {}
    name = stub.__name__

    @functools.wraps(stub)
    def generic(part, *args):
        implementation = table.get((type(part), type(args[0])) if args else None) or table.get(type(part))
        if implementation is None and hasattr(part, name):
            return getattr(part, name)(*args)
        implementation = implementation or table.get(object)
        if implementation is None:
            raise AttributeError(f"{type(part).__name__} has no {name}")
        return implementation(part, *args)

    @overload(generic, strict=False, jit_options=INLINED)  # type: ignore[arg-type]
    def typed(part, *args):
        first, *rest = (getattr(one, "instance_class", None) for one in (part, *args[:1]))
        found = table.get((first, *rest)) or table.get(first)
        return found or table.get(object)

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


class Kernel:
    """A function that runs compiled when all its parts are NamedTuples, and interpreted otherwise.

    ``kernel.interpreted`` is the plain function. Parts are the leading arguments, up to `n_parts`.
    """

    def __init__(self, function: Callable, n_parts: int):
        functools.update_wrapper(self, function)
        self.interpreted = function
        self.n_parts = n_parts

    @functools.cached_property
    def cached(self) -> Callable:
        dispatcher = numba.njit(nogil=True, **OPTIONS)(self.interpreted)
        dispatcher._cache = _SourceHashedCache(self.interpreted)
        return dispatcher

    @functools.cached_property
    def uncached(self) -> Callable:
        return numba.njit(nogil=True, **OPTIONS)(self.interpreted)

    def __call__(self, *args: Any) -> Any:
        parts = args[: self.n_parts]
        if not runs_compiled(*parts):
            return self.interpreted(*args)
        own = all(one.__module__.partition(".")[0] == __package__ for one in _types_within(parts))
        return (self.cached if own else self.uncached)(*args)


def runs_compiled(*parts: Any) -> bool:
    """Whether loops over these parts run compiled: each is a NamedTuple."""
    return all(isinstance(part, tuple) for part in parts)


def _types_within(parts: Any) -> Iterator[type]:
    for part in parts:
        if isinstance(part, tuple):
            yield type(part)
            yield from _types_within(part)


def kernel(n_parts: int) -> Callable[[Callable], Kernel]:
    """Decorate a loop over verbs; its first `n_parts` arguments decide at which speed it runs."""
    return functools.partial(Kernel, n_parts=n_parts)


def _source_hash() -> str:
    """Hash of every source file of the package and of the compiler that reads them."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(PACKAGE.rglob("[!.]*.py")):  # not the hidden files that editors leave
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


# Taken at import: what is compiled later are the sources as they were read then, whatever edits came since.
SOURCE_HASH = _source_hash()


@functools.cache
def cache_folder() -> Path:
    """The folder of the compiled kernels: beside the package, else in the user's cache, else a temporary one."""
    own = os.environ.get("NUMBA_CACHE_DIR")
    user_wide = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    homes = [Path(own)] if own else [PACKAGE / "__pycache__", Path(user_wide)]
    for home in homes:
        folder = home / f"maxmargin-kernels-{SOURCE_HASH}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        if home == PACKAGE / "__pycache__":  # only there is it sure that nobody else wants the old ones
            for stale in home.glob("maxmargin-kernels-*"):
                if stale != folder:
                    shutil.rmtree(stale, ignore_errors=True)
        return folder
    # for this process only: a folder that others could have filled must not be loaded from
    return Path(tempfile.mkdtemp(prefix="maxmargin-kernels-"))


class _Locator(caching._CacheLocator):
    def __init__(self, py_func: Callable):
        self._py_file = py_func.__code__.co_filename
        self._line = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return SOURCE_HASH

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _Locator:
        return cls(py_func)


class _CompileResultImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # type: ignore[list-item]  # noqa: RUF012


class _SourceHashedCache(caching.FunctionCache):
    _impl_class = _CompileResultImpl

    def load_overload(self, sig, target_context):
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:  # a damaged cache file must cost a compilation, never a run
            LOG.warning("ignoring an unreadable compiled kernel in %s (%s)", self.cache_path, error)
            self.flush()  # its index may be what is damaged, and is read again when the new one is stored
            found = None
        if found is None:
            _announce_compilation()
        return found

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:
            LOG.warning("could not store a compiled kernel in %s (%s)", self.cache_path, error)


@functools.cache
def _announce_compilation() -> None:
    LOG.warning(
        "maxmargin compiles its kernels on first use (up to a minute, once) and keeps them in %s", cache_folder()
    )
