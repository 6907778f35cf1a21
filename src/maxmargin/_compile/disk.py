"""Compiled kernels on disk: a file each.

Numba keeps an index for each function, which two processes that write at once can leave pointing at each other's code,
and stamps it with the file of the outermost function alone, so that an edit of a callee would be served a stale kernel.
Here every kernel has a file of its own, named after all that it depends on: the function, the types of its arguments,
the processor it is compiled for, and, by its folder, every source file of the package. Files appear whole or not at
all, so that readers and writers need not know of each other.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import pickle
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import caching
from numba.core.serialize import dumps

from .folders import SOURCE_HASH, Folders, kernel_folders

LOG = logging.getLogger("maxmargin")
ENDING = ".kernel"

COMPILED, LOADED = "compiled", "loaded"
TALLY: Counter[str] = Counter()
"""How many kernels this process has compiled and loaded."""


class KernelFiles:
    """The files of one function's kernels, one for each kind of arguments and processor."""

    def __init__(self, folders: Folders, name: str):
        self.folders, self.name = folders, name

    def load(self, key: tuple) -> Any:
        """What was saved under a key, from the first folder that has it; None from none."""
        for folder in self.folders.read:
            path = folder / self._file_name(key)
            try:
                stored, data = pickle.loads(path.read_bytes())
            except FileNotFoundError:
                continue
            except Exception as error:  # a damaged file must cost a compilation, never a run
                LOG.warning("ignoring an unreadable compiled kernel, %s (%s)", path, error)
                continue
            if stored == key:
                return data
        return None

    def save(self, key: tuple, data: Any) -> None:
        if self.folders.write is None:
            return
        path = self.folders.write / self._file_name(key)
        unfinished = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            unfinished.write_bytes(dumps((key, data)))
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)

    def flush(self) -> None:
        """Forget what can be forgotten: all files of the function in the folder that is written to."""
        for path in self.folders.write.glob(f"{self.name}-*{ENDING}") if self.folders.write else ():
            path.unlink(missing_ok=True)

    def _file_name(self, key: tuple) -> str:
        return f"{self.name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}{ENDING}"


class _Locator(caching._CacheLocator):
    """What Numba asks of a function; where files are, `KernelFiles` knows."""

    def __init__(self, py_func: Callable):
        self._py_file = py_func.__code__.co_filename
        self._line = py_func.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        folders = kernel_folders()
        return str(folders.write or next(iter(folders.read), ""))

    def ensure_cache_path(self) -> None:
        if kernel_folders().write is not None:
            super().ensure_cache_path()

    def get_source_stamp(self) -> str:
        return SOURCE_HASH

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> _Locator:
        return cls(py_func)


class _CompileResultImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # type: ignore[list-item]  # noqa: RUF012


class KernelCache(caching.FunctionCache):
    """What a dispatcher asks for a kernel before it compiles, and hands one to when it has."""

    _impl_class = _CompileResultImpl

    def __init__(self, py_func: Callable):
        super().__init__(py_func)
        self._cache_file = KernelFiles(kernel_folders(), self._impl.filename_base)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:  # read, but of no use
            LOG.warning("ignoring a compiled kernel of %s that cannot be used (%s)", self._impl.filename_base, error)
            found = None
        if found is None:
            _announce_compilation()
        TALLY[COMPILED if found is None else LOADED] += 1
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            LOG.warning("could not store a compiled kernel in %s (%s)", self.cache_path, error)


def stored_kernels(folders: Folders) -> dict[Path, int]:
    """The files of kernels in all folders, and their sizes."""
    return {path: path.stat().st_size for folder in folders.read for path in folder.glob(f"*{ENDING}")}


@functools.cache
def _announce_compilation() -> None:
    folder = kernel_folders().write
    if folder is None:
        LOG.warning(
            "maxmargin compiles its kernels in this process alone (up to a minute): no folder to keep them in can be "
            "written. Set NUMBA_CACHE_DIR to one, or let `maxmargin compile` be run by whoever installs the package"
        )
    else:
        LOG.warning("maxmargin compiles its kernels on first use (up to a minute, once) and keeps them in %s", folder)
