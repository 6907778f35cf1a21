"""Where compiled kernels are kept: on disk, never older than the sources.

Numba's on-disk cache stamps only the file of the outermost function, so an edit of a callee would be served a stale
kernel. Here the cache lives in a folder named after a hash of every source file of the package.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numba
from numba.core import caching

PACKAGE = Path(__file__).resolve().parent.parent
LOG = logging.getLogger("maxmargin")


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


class SourceHashedCache(caching.FunctionCache):
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
