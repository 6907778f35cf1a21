"""Files that commands write: whether they can, and predictions beside what they are of."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

STDOUT = "-"


def cannot_write(path: str | os.PathLike[str], *inputs: str) -> str | None:
    """Why a file cannot be written, if so: better known before training than after. `inputs` must not be lost."""
    path = Path(path)
    for given in inputs:
        with suppress(OSError):
            if os.path.samefile(given, path):
                return f"cannot write {path}: it is what is read, and would be lost"
    try:
        existed = path.exists()
        with path.open("ab"):
            pass
        if not existed:
            path.unlink()
    except OSError as error:
        return f"cannot write {path}: {error.strerror}"
    return None


def cannot_save(path: str | os.PathLike[str], *inputs: str) -> str | None:
    """Why a model file cannot be written, if so: it is made beside the old one, and takes its place as a whole."""
    if os.fspath(path) == STDOUT:
        return "a model is no text for standard output: name a file"
    complaint, target = cannot_write(path, *inputs), Path(os.path.realpath(path))
    if complaint is None and target.exists() and not target.is_file():
        complaint = f"cannot write {path}: it is there, and no regular file"
    if complaint is None and not os.access(target.parent, os.W_OK):
        complaint = f"cannot write {path}: nothing new can be written to {target.parent}"
    return complaint


def cannot_draw(path: Path) -> str | None:
    """Why a picture cannot be written, if so."""
    complaint = cannot_write(path)
    if complaint:
        return complaint
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    known = Figure().canvas.get_supported_filetypes()
    if path.suffix and path.suffix[1:].lower() not in known:
        return f"cannot write {path}: {path.suffix} is no picture format, use one of {', '.join(sorted(known))}"
    return None


def cannot_draw_at_all() -> str | None:
    """What is missing for pictures, if so."""
    missing = importlib.util.find_spec("matplotlib") is None
    return 'no picture without matplotlib: pip install "maxmargin[plot]"' if missing else None


@contextmanager
def written(path: str) -> Iterator[TextIO]:
    """A text file to write to, in UTF-8 whatever the system thinks; standard output where it is called "-"."""
    if path != STDOUT:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", newline="\n")
    yield sys.stdout
    sys.stdout.flush()
