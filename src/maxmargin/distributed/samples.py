"""Samples that lie in partitions, as users hand them over: Dask collections, or files that workers can read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

MISSING = (
    "training on a cluster needs Dask, which is not there: install it with pip install 'maxmargin[distributed]', on "
    "the workers, too"
)


class PartitionFiles:
    """Samples in files, one partition each, that the workers of a cluster read for themselves.

    Parameters
    ----------
    paths : list of str or path
        As the workers see them.
    load : function of a path
        Gives an object with attributes X and y, as those of `maxmargin.formats` do, or a tuple (X, y) or (X, y,
        sample_weight). Workers must be able to import it.

    Examples
    --------
    >>> from maxmargin.distributed import PartitionFiles
    >>> from maxmargin.formats import read_attributes
    >>> PartitionFiles(["monday.txt", "tuesday.txt"], read_attributes)
    PartitionFiles of 2 paths
    """

    def __init__(self, paths: Iterable[Any], load: Callable[[Any], Any]):
        self.paths, self.load = list(paths), load
        if not self.paths:
            raise ValueError("paths is empty: at least one partition is needed")
        if not callable(load):
            raise TypeError(f"load must be a function of a path, got {load!r}")

    def __repr__(self) -> str:
        return f"PartitionFiles of {len(self.paths)} paths"


def is_spread(X: Any) -> bool:
    """Whether samples lie in partitions; Dask need not be there to say no."""
    if isinstance(X, PartitionFiles) or _is_dask(X):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and _is_dask(X[0])


def _is_dask(value: Any) -> bool:
    """A collection, a delayed value or a future."""
    return hasattr(type(value), "__dask_graph__") or type(value).__module__.startswith("distributed.")


def pieces_of(X: Any, y: Any, given: Mapping[str, Any]) -> Callable[[Any], list[Any]]:
    """A function of a client that gives futures of all partitions, each a dict of what `fit` takes."""
    named = {name: value for name, value in {"X": X, "y": y, **given}.items() if value is not None}
    if isinstance(X, PartitionFiles):
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named.keys() - {'X'})} must come from the files, by what load gives")
        return lambda client: [client.submit(loaded, X.load, path, pure=False) for path in X.paths]
    columns = {name: _columns(name, value) for name, value in named.items()}
    if "y" not in columns:
        raise ValueError("y is missing: give the labels of all partitions, too")
    counts = {name: len(column) for name, column in columns.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"all that is given must have as many partitions, but these have others: {counts}")

    def pieces(client: Any) -> list[Any]:
        computed = [client.compute(list(column)) for column in columns.values()]
        return [client.submit(named_values, list(columns), *parts, pure=False) for parts in zip(*computed, strict=True)]

    return pieces


def _columns(name: str, value: Any) -> Sequence[Any]:
    """The partitions of a collection, one after the other."""
    if isinstance(value, (list, tuple)) and all(map(_is_dask, value)):
        return value
    if not hasattr(type(value), "__dask_graph__"):
        raise TypeError(
            f"{name} must lie in partitions as X does: a Dask bag, array or data frame, or a list of delayed values or "
            f"futures, not {type(value).__name__}"
        )
    if getattr(value, "ndim", 1) > 1 and hasattr(value, "rechunk"):
        value = value.rechunk(dict.fromkeys(range(1, value.ndim), -1))  # partitions are of whole rows
    found = value.to_delayed()
    return found.ravel().tolist() if hasattr(found, "ravel") else list(found)


def named_values(names: Sequence[str], *values: Any) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))


def loaded(load: Callable[[Any], Any], path: Any) -> dict[str, Any]:
    """What a file has."""
    found = load(path)
    if isinstance(found, tuple):
        return dict(zip(("X", "y", "sample_weight"), found, strict=False))
    return {"X": found.X, "y": found.y}


def current_client() -> Any:
    """The client that was made last."""
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError(MISSING) from error
    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            "there is no Dask client: make one before, client = distributed.Client(...), of the cluster to train on"
        ) from error
