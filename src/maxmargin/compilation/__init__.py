"""Compile ahead: kernels for models before anybody fits them, for images, continuous integration and shared installs.

The rooms: ``recipes`` (what is run for each model), ``worker`` (a process that runs it), ``pool`` (several of them).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numba.core import config

from .._compile.disk import COMPILED, LOADED, stored_kernels
from .._compile.folders import kernel_folders
from .._parameters import count_threads
from .pool import run_tasks
from .recipes import RECIPES, SOLVERS, Task

ALL = "all"
MODELS = tuple(RECIPES)

__all__ = ["ALL", "MODELS", "SOLVERS", "Compilation", "compile_models"]


@dataclass
class Compilation:
    """What `compile_models` did.

    Parameters
    ----------
    folder : Path
        Where kernels are kept.
    n_compiled : int
        Kernels that were not there.
    n_found : int
        Kernels that were.
    seconds : float
        What it took.
    n_bytes : int
        The size of all kernels there.
    failed : dict
        What went wrong, by model and kind of data; empty if all went well.

    Examples
    --------
    >>> from maxmargin.compilation import Compilation
    >>> Compilation(Path("kernels"), n_found=24).is_complete
    True
    """

    folder: Path
    n_compiled: int = 0
    n_found: int = 0
    seconds: float = 0.0
    n_bytes: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether all kernels that were asked for are there now."""
        return not self.failed


def compile_models(
    models: str | Iterable[str] = ALL,
    *,
    solvers: str | Iterable[str] = ALL,
    n_jobs: int | None = None,
    tell: Callable[[str], Any] | None = None,
) -> Compilation:
    """Compile the kernels of models and keep them on disk, so that no later process has to.

    Every model is fitted to tiny data with every kind of features and solver, and asked all that it answers. What is
    there already is not compiled again. Kernels go beside the package, or into the folder ``NUMBA_CACHE_DIR``; see
    ``docs/compilation.md``.

    Parameters
    ----------
    models : str or list of str, default="all"
        "chain", "multiclass", "tree", "graph", "chain_crf", "tree_crf", "graph_crf", "matching", "box", "pose", or
        "all" of them.
    solvers : str or list of str, default="all"
        Names of solvers, as estimators take them, or "all"; "auto" is what estimators take unless told otherwise.
    n_jobs : int or None, default=None
        Processes; None is 1, -1 one for each core.
    tell : function or None, default=None
        Called with a line of text when a model with a kind of data is done, such as `print`.

    Returns
    -------
    compilation : Compilation
        How many kernels there are, where, and what went wrong.

    Examples
    --------
    >>> from maxmargin import compile_models
    >>> compile_models("matching", solvers="auto").is_complete
    True
    """
    tasks = _tasks(_chosen("models", models, MODELS), _chosen("solvers", solvers, SOLVERS))
    folder = kernel_folders().write
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        raise RuntimeError("NUMBA_DISABLE_JIT is set: nothing is compiled, everything runs interpreted")
    if folder is None:
        raise RuntimeError(
            "compiled kernels cannot be kept: neither the folder of the package nor the user's cache can be written; "
            "set NUMBA_CACHE_DIR to a folder that can"
        )
    began, done = time.perf_counter(), Compilation(folder)

    def note(task: Task, answer: dict[str, Any]) -> None:
        name, n_compiled, n_found = f"{task.model} ({task.kind})", answer.get(COMPILED, 0), answer.get(LOADED, 0)
        done.n_compiled += n_compiled
        done.n_found += n_found
        text = f"{n_compiled} compiled, {n_found} there already, {answer.get('seconds', 0.0):.1f} s"
        if "error" in answer:
            done.failed[name] = text = answer["error"]
        if tell is not None:
            tell(f"{name}: {text}")

    run_tasks(tasks, count_threads(n_jobs), note)
    done.seconds, done.n_bytes = time.perf_counter() - began, sum(stored_kernels(kernel_folders()).values())
    return done


def _chosen(name: str, given: str | Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the known names that are given, in their order."""
    wanted = {given} if isinstance(given, str) else set(given)
    unknown = wanted - {ALL, *known}
    if unknown or not wanted:
        raise ValueError(f"{name} must be {ALL!r} or some of {', '.join(known)}, got {given!r}")
    return tuple(one for one in known if ALL in wanted or one in wanted)


def _tasks(models: tuple[str, ...], solvers: tuple[str, ...]) -> list[Task]:
    return [Task(model, kind, solvers) for model in models for kind in RECIPES[model]]
