"""Which folders hold compiled kernels: those to read from, and the one to write to.

A folder is named after a hash of every source file of the package, so that what is in it is never older than they are.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numba

PACKAGE = Path(__file__).resolve().parent.parent


def _source_hash() -> str:
    """Hash of every source file of the package and of the compiler that reads them."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(PACKAGE.rglob("[!.]*.py")):  # not the hidden files that editors leave
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


# Taken at import: what is compiled later are the sources as they were read then, whatever edits came since.
SOURCE_HASH = _source_hash()


class Folders(NamedTuple):
    """Where kernels are looked for, in this order, and where new ones are put; None: nowhere."""

    read: tuple[Path, ...]
    write: Path | None


@functools.cache
def kernel_folders() -> Folders:
    """``NUMBA_CACHE_DIR``, else beside the package; where that can only be read, the user's cache for what is missing.

    What an administrator or an image has filled is used as it is. A folder that others could have filled, as one for
    all users in the temporary folder, is none to load code from.
    """
    read: list[Path] = []
    for home in _homes():
        folder = home / f"maxmargin-kernels-{SOURCE_HASH}"
        if _can_write(folder):
            _clear_stale(folder)
            return Folders((*read, folder), folder)
        if os.path.isdir(folder):
            read.append(folder)
    return Folders(tuple(read), None)


def _homes() -> Iterator[Path]:
    own = os.environ.get("NUMBA_CACHE_DIR")
    yield Path(own) if own else PACKAGE / "__pycache__"
    user_wide = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if user_wide.is_absolute():  # a user without a name has no home, and ~ stays what it is
        yield user_wide


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _clear_stale(folder: Path) -> None:
    """Remove the kernels of older sources beside the package: only there is it sure that nobody else wants them."""
    if folder.parent != PACKAGE / "__pycache__":
        return
    for stale in folder.parent.glob("maxmargin-kernels-*"):
        if stale != folder:
            shutil.rmtree(stale, ignore_errors=True)
