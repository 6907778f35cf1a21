"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when all of it is on disk; until then nothing has changed.

    Whatever goes wrong, a full disk included, the old file stays as it was and nothing else is left behind.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    unfinished = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        if target.exists() and not target.is_file():
            raise FileExistsError(errno.EEXIST, "it is there, and no regular file")
        with open(unfinished, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, unfinished)
        os.replace(unfinished, target)
        _settle_folder(target.parent)
    except OSError as error:
        why = error.strerror or str(error)
        raise OSError(
            error.errno, f"cannot write {os.fspath(path)!r} ({why}); what was there before is as it was"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _settle_folder(folder: Path) -> None:
    """Make the new name last, too, where folders can be synchronised."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
