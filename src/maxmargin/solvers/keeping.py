"""Checkpoints: where a run is, kept in a file, so that one that was cut off goes on."""

from __future__ import annotations

import errno
import math
import numbers
import os
import re
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._files import replacing
from .._parameters import check_not_negative
from ..persistence.states import read_state, write_state

FORMAT, VERSION = "maxmargin checkpoint", 3
EVERY = 60.0  # seconds between two checkpoints
SHARE = 0.05  # of its time that a run may write, at most

INSTEAD = "delete it to begin anew, or give another path"


class CheckpointError(ValueError):
    """A checkpoint that cannot be gone on from: it is damaged, or that of another run.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, CheckpointError
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/run.npz"
    ...     first = BlockFrankWolfe().solve(problem, 0.1, random_state=0, checkpoint=path)
    ...     again = BlockFrankWolfe().solve(problem, 0.1, random_state=0, checkpoint=path)  # nothing is left to do
    ...     try:
    ...         BlockFrankWolfe().solve(problem, 0.2, random_state=0, checkpoint=path)
    ...     except CheckpointError as error:
    ...         print("lam" in str(error), np.array_equal(first.w, again.w))
    True True
    """


class NotKept:
    """A run whose snapshots nobody wants."""

    keeps = False

    def is_due(self) -> bool:
        return False

    def found(self) -> Any:
        return None

    def keep(self, contents: Any) -> None:
        pass

    def finish(self, contents: Any) -> None:
        pass

    def close(self) -> None:
        pass

    def within(self, around: Callable[[Any], Any]) -> NotKept:
        return self


NOT_KEPT = NotKept()


class Keeper:
    """Writes snapshots of a run to a file, each in the place of the one before.

    Parameters
    ----------
    path : str or path
        Of the file.
    every : float
        Seconds between two snapshots, at least.
    identity : mapping of str to str
        What tells this run from others: words, as messages have them.
    """

    keeps = True

    def __init__(self, path: str | os.PathLike[str], every: float, identity: Mapping[str, str]):
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"checkpoint must be the path of a file or None, got {path!r}")
        check_not_negative("checkpoint_every", every)
        self.path, self.every, self.identity = Path(path), float(every), dict(identity)
        self.failure: OSError | None = None  # of the last attempt
        self.next = time.monotonic() + self.every
        self._refuse_folder()
        self.own = self._lying_there()  # the file that this run found or wrote

    def _refuse_folder(self) -> None:
        """Find out now, not in an hour, whether files can be written there; and clear up after runs that were cut."""
        if self.path.is_dir():
            raise IsADirectoryError(f"checkpoint must be the path of a file, and {str(self.path)!r} is a folder")
        for unfinished in self.path.parent.glob(f".{self.path.name}.*"):
            if re.fullmatch(r"[0-9a-f]{32}", unfinished.name[len(self.path.name) + 2 :]):
                unfinished.unlink(missing_ok=True)
        try:
            with replacing(self.path.with_name(f".{self.path.name}")) as file:
                file.write(b"?")
            self.path.with_name(f".{self.path.name}").unlink()
        except OSError as error:
            folder = str(self.path.parent)
            raise type(error)(
                error.errno, f"checkpoints cannot be written to {folder!r}: give another path ({error.strerror})"
            ) from error

    def _lying_there(self) -> tuple[int, ...] | None:
        """What tells the file at the path from others that may come there; None where there is none."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _refuse_other_runs(self) -> None:
        """Runs that began side by side with the same path did not find each other's file, and must not mix."""
        if self._lying_there() in (None, self.own):
            return
        try:
            self.found()  # some file systems change their mind about times: then it is this run's after all
        except CheckpointError as error:
            words = f"another run writes to {str(self.path)!r}: give each its own path"
            raise FileExistsError(errno.EEXIST, words) from error

    def found(self) -> Any:
        """What an earlier run has left; None where there was none."""
        from .known import CLASSES  # knows all parts of all solvers

        if not self.path.exists():
            return None
        try:
            tree = read_state(self.path, CLASSES)
            if not isinstance(tree, dict) or tree.get("format") != FORMAT:
                raise ValueError("it has other contents")
        except ValueError as error:
            raise CheckpointError(f"{str(self.path)!r} is no checkpoint, or damaged: {INSTEAD} ({error})") from error
        if tree["version"] != VERSION:
            raise CheckpointError(
                f"{str(self.path)!r} is a checkpoint of format {tree['version']}, and this version of maxmargin reads "
                f"{VERSION}: go on with the version that wrote it, {INSTEAD}"
            )
        theirs: dict[str, str] = tree["identity"]
        differ = [name for name in {**self.identity, **theirs} if self.identity.get(name) != theirs.get(name)]
        if differ:
            words = "; ".join(f"{name}: {theirs.get(name)} there, {self.identity.get(name)} here" for name in differ)
            raise CheckpointError(f"{str(self.path)!r} is the checkpoint of another run: {INSTEAD} ({words})")
        return tree["contents"]

    def is_due(self) -> bool:
        return time.monotonic() >= self.next

    def keep(self, contents: Any) -> None:
        """Write a snapshot. Hours must not be lost because a disk is full: then the last one stays, with a warning."""
        from .known import CLASSES

        tree = {"format": FORMAT, "version": VERSION, "identity": self.identity, "contents": contents}
        before = time.monotonic()
        try:
            self._refuse_other_runs()
            with replacing(self.path) as file:
                write_state(file, tree, CLASSES)
            self.failure, self.own = None, self._lying_there()
        except OSError as error:
            if self.failure is None:
                self._warn(error, "training goes on, and the next one is tried in time")
            self.failure = error
        now = time.monotonic()
        self.next = now + max(self.every, (now - before) * (1.0 / SHARE - 1.0))

    def finish(self, contents: Any) -> None:
        """Write the last snapshot of a run."""
        self.keep(contents)

    def close(self) -> None:
        """The run is over: say so if its end is not in the file."""
        if self.failure is not None:
            self._warn(self.failure, "the run is over, and what it returns is in memory only")

    def _warn(self, error: OSError, meaning: str) -> None:
        warnings.warn(f"a checkpoint could not be written: {error.strerror}; {meaning}", RuntimeWarning, stacklevel=4)

    def within(self, around: Callable[[Any], Any]) -> Keeper:
        """For a run that is part of this one: its snapshots are kept as `around` makes them part of this one's."""
        return Inner(self, around)


class Inner(Keeper):
    """Keeps snapshots of a run that is part of another one."""

    def __init__(self, outer: Keeper, around: Callable[[Any], Any]):
        self.outer, self.around = outer, around

    def is_due(self) -> bool:
        return self.outer.is_due()

    def keep(self, contents: Any) -> None:
        self.outer.keep(self.around(contents))

    def finish(self, contents: Any) -> None:
        pass  # what it is part of goes on


def identity_of(kind: str, solver: Any, mark: int, random_state: Any, **others: Any) -> dict[str, str]:
    """What tells runs apart, in words; a seed only where it is a number."""
    words = {"run": kind, "solver": described(solver), "data": str(mark)}
    words |= {name: described(value) for name, value in others.items()}
    if isinstance(random_state, numbers.Integral):
        words["random_state"] = str(int(random_state))
    return words


def described(value: Any) -> str:
    """An object as it would be written, without where it happens to lie in memory."""
    words = value.__repr__(math.inf) if hasattr(value, "get_params") else repr(value)
    return re.sub(r" at 0x[0-9a-f]+", "", words)


def keeper_of(path: Any, every: Any, identity: Callable[[], Mapping[str, str]]) -> Any:
    """What keeps the snapshots of a run, or NOT_KEPT where no path is given."""
    return NOT_KEPT if path is None else Keeper(path, every, identity())
