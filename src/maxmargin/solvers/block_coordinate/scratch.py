"""Files for what a run knows of the blocks of each window while these are not in memory."""

from __future__ import annotations

import errno
import tempfile
import uuid
from pathlib import Path
from typing import Any

import numpy as np

from ...persistence.states import read_state, write_state


class Scratch:
    """A folder of its own for the windows of a run, each in a file; a new file takes the place of the one before.

    Files that the last two states of the run know stay, so that it can go on from either.

    Parameters
    ----------
    parent : path
        Where the folder is to be.
    stays : bool
        Whether it stays when the run is over.
    earlier : dict or None, default=None
        What `pinned_files` gave an earlier run, to go on with.
    """

    def __init__(self, parent: Path, stays: bool, earlier: dict[str, Any] | None = None):
        self.stays = stays
        self.versions: dict[int, int] = {}
        self.pinned: tuple[dict[int, int], ...] = ({}, {})  # versions that the last two states know
        try:
            if stays:
                self.folder = parent / (f"run-{uuid.uuid4().hex}" if earlier is None else earlier["folder"])
                self.folder.mkdir(parents=True, exist_ok=earlier is not None)
            else:
                self.owned = tempfile.TemporaryDirectory(dir=parent, prefix=".run-", ignore_cleanup_errors=True)
                self.folder = Path(self.owned.name)
        except OSError as error:
            raise type(error)(
                error.errno,
                f"dual variables cannot be written to {str(parent)!r}: give open_samples a scratch folder "
                f"({error.strerror})",
            ) from error
        if earlier is not None:
            self._go_on(earlier["versions"])

    def path(self, k: int, version: int) -> Path:
        return self.folder / f"window-{k:06d}-{version}.npz"

    def read(self, k: int) -> Any:
        """What was written of a window last; None where nothing was."""
        from ..known import CLASSES  # knows all parts of all solvers

        return read_state(self.path(k, self.versions[k]), CLASSES) if k in self.versions else None

    def write(self, k: int, contents: Any) -> None:
        """Take this for what is known of a window."""
        from ..known import CLASSES

        before = self.versions.get(k)
        version = 1 + max((0, *(known[k] for known in (self.versions, *self.pinned) if k in known)))
        path = self.path(k, version)
        try:
            with open(path, "wb") as file:
                write_state(file, contents, CLASSES)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise OSError(
                error.errno or errno.EIO,
                f"dual variables cannot be written to {str(self.folder)!r} ({error.strerror}): make room there, or "
                "give open_samples a scratch folder on another disk",
            ) from error
        self.versions[k] = version
        self._drop(k, before)

    def pinned_files(self) -> dict[str, Any]:
        """What a state needs to know of what is there now, which stays until the state after the next one is made."""
        oldest, self.pinned = self.pinned[0], (self.pinned[1], dict(self.versions))
        for k, version in oldest.items():
            self._drop(k, version)
        versions = np.array(sorted(self.versions.items()), np.int64).reshape(-1, 2)
        return {"folder": self.folder.name, "versions": versions}

    def _go_on(self, versions: np.ndarray) -> None:
        self.versions = {int(k): int(version) for k, version in versions}
        self.pinned = ({}, dict(self.versions))
        missing = [path for k, version in self.versions.items() if not (path := self.path(k, version)).is_file()]
        if missing:
            raise ValueError(f"{str(missing[0])!r}, which the state goes on from, is gone: start without the state")

    def gram(self, k: int) -> np.ndarray | None:
        """Gram matrices of a window, where they were found before."""
        path = self.folder / f"gram-{k:06d}.npy"
        return np.load(path, allow_pickle=False) if path.is_file() else None

    def keep_gram(self, k: int, gram: np.ndarray) -> None:
        """Keep them for when the window comes again."""
        unfinished = self.folder / f".gram-{k:06d}.npy"
        np.save(unfinished, gram, allow_pickle=False)
        unfinished.replace(self.folder / f"gram-{k:06d}.npy")

    def _drop(self, k: int, version: int | None) -> None:
        if version is not None and all(known.get(k) != version for known in (self.versions, *self.pinned)):
            self.path(k, version).unlink(missing_ok=True)
