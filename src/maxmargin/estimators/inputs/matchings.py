"""Samples with rows and columns to be matched, and the links between them, or say which sample is wrong and why."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...structures.matching import Candidates
from .arrays import as_any_array, as_features, check_features_finite, read_list, read_outputs, same_width
from .sparse import read_csr, stack_csr


class Bipartite(NamedTuple):
    """Rows and columns to be matched, and which pairs of them may be; a plain tuple means the same.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    n_columns : int
        How many columns there are.
    pairs : array of int of shape (c, 2)
        Row and column of each candidate.
    features : array or sparse matrix of shape (c, F)
        What the candidates look like.

    See Also
    --------
    maxmargin.MatchingSVM : Learns from such samples.

    Examples
    --------
    >>> from maxmargin import Bipartite
    >>> sample = Bipartite(2, 3, pairs=[(0, 0), (1, 0), (1, 2)], features=[[0.5], [0.1], [0.9]])
    >>> sample.n_columns
    3
    """

    n_rows: int
    n_columns: int
    pairs: Any
    features: Any


WANTED = "an (n, m, F) array or a tuple (n_rows, n_columns, pairs, features)"


def read_candidates(X: Any, n_features: int | None = None, estimator: str = "estimator") -> list[Candidates]:
    """Samples, in whatever way they are given, with features of the same number; none will do after a fit."""
    given = read_list(X, f"samples, at least one, each {WANTED}", least=n_features is None)
    samples = [_sample(sample, f"X, sample {i}") for i, sample in enumerate(given)]
    # a sample without candidates need not know how many features there are
    known = [sample.features.shape[1] if len(sample.places) else None for sample in samples]
    width = same_width(known, n_features, estimator)
    return [one if len(one.places) else one._replace(features=np.zeros((0, width))) for one in samples]


def read_links(y: Any, shapes: list[tuple[int, int]], name: str = "y") -> list[np.ndarray]:
    """(l, 2) links of every sample, sorted and each but once."""
    given = read_outputs(y, len(shapes), "the links", name)
    return [_links(one, shape, f"{name}, sample {i}") for i, (one, shape) in enumerate(zip(given, shapes, strict=True))]


def read_ignored(ignored: Any, links: list[np.ndarray], shapes: list[tuple[int, int]]) -> list[np.ndarray]:
    """(l, 2) links of every sample that are neither right nor wrong: true ones stay true, whether they are here too."""
    if ignored is None:
        return [np.empty((0, 2), np.int64) for _ in shapes]
    found = []
    for one, true, shape in zip(read_links(ignored, shapes, "ignored"), links, shapes, strict=True):
        is_true = np.isin(_places(one, shape), _places(true, shape))
        found.append(one[~is_true])
    return found


def leave_out(samples: list[Candidates], links: list[np.ndarray]) -> list[Candidates]:
    """Samples without these candidates; links that are none anyway change nothing."""
    return [_less(sample, _places(one, sample.shape)) for sample, one in zip(samples, links, strict=True)]


def as_numbers(links: list[np.ndarray], samples: list[Candidates], perfect: bool) -> list[np.ndarray]:
    """Links as numbers of candidates; they must be a matching."""
    return [_numbers(*one, perfect, f"y, sample {i}") for i, one in enumerate(zip(links, samples, strict=True))]


def _sample(sample: Any, where: str) -> Candidates:
    if isinstance(sample, tuple):
        return _listed(sample, where)
    if sp.issparse(sample) or isinstance(sample, (str, bytes)) or sample is None:
        raise ValueError(f"{where}: must be {WANTED}, got {type(sample).__name__}")
    x = as_any_array(sample, where)
    if x.ndim != 3:
        raise ValueError(f"{where}: must be {WANTED}, got shape {x.shape}; if X is one sample, wrap it: [X]")
    n, m, _ = x.shape
    features = _features(x.reshape(n * m, x.shape[2]), n * m, where)
    return Candidates((n, m), np.arange(n * m), features)


def _listed(sample: tuple, where: str) -> Candidates:
    if len(sample) != 4:
        raise ValueError(f"{where}: must be {WANTED}, got a tuple of {len(sample)}")
    n, m, pairs, features = sample
    for name, size in (("n_rows", n), ("n_columns", m)):
        if isinstance(size, bool) or not isinstance(size, numbers.Integral) or size < 0:
            raise ValueError(f"{where}: {name} must be an integer >= 0, got {size!r}")
    shape = int(n), int(m)
    indices = _pairs(pairs, shape, f"{where}: pairs")
    x = _features(features, len(indices), where)
    places = _places(indices, shape)
    order = np.argsort(places, kind="stable")
    twice = np.flatnonzero(np.diff(places[order]) == 0)
    if len(twice):
        raise ValueError(f"{where}: pair {_shown(indices[order[twice[0]]])} is given twice")
    return Candidates(shape, places[order], x[order])


def _features(x: Any, count: int, where: str) -> Any:
    x = x if sp.issparse(x) else as_any_array(x, f"{where}: features")
    if x.ndim != 2 or x.shape[0] != count:
        if count == 0 and x.shape[:1] == (0,):
            return np.zeros((0, 0))
        raise ValueError(f"{where}: features must have {count} rows, one a pair, and 2 dimensions, got shape {x.shape}")
    x = as_features(x, where) if not sp.issparse(x) else _sparse_features(x, where)
    check_features_finite(x, where)
    return x


def _sparse_features(x: Any, where: str) -> sp.csr_matrix:
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{where}: features must hold real numbers, got {x.dtype}")
    return stack_csr([read_csr(x, f"{where}: features")], lambda _: f"{where}: features")


def _links(links: Any, shape: tuple[int, int], where: str) -> np.ndarray:
    """Pairs as they are; a 0/1 matrix of the sample's shape as the places of its ones."""
    table = read_csr(links, where).toarray() if sp.issparse(links) else as_any_array(links, where)
    if table.size == 0:
        return np.empty((0, 2), np.int64)
    is_matrix = sp.issparse(links) or table.dtype == bool
    if table.shape != shape or not (is_matrix or shape[1] != 2):
        if is_matrix or table.ndim != 2 or table.shape[1] != 2:
            raise ValueError(
                f"{where}: must be (l, 2) links or a 0/1 matrix of shape {shape}, got {table.dtype} of {table.shape}"
            )
        return np.unique(_pairs(table, shape, where), axis=0)
    if table.dtype.kind not in "biuf" or not np.isin(table, [0, 1]).all():
        raise ValueError(f"{where}: a matrix of links must hold 0 and 1 only")
    return np.argwhere(table)


def _numbers(links: np.ndarray, sample: Candidates, perfect: bool, where: str) -> np.ndarray:
    for side, name in enumerate(("row", "column")):
        count = np.bincount(links[:, side], minlength=sample.shape[side])
        if np.any(count > 1):
            raise ValueError(
                f"{where}: {name} {int(np.argmax(count > 1))} has {count.max()} links, "
                "but in a matching every row and column has one at most"
            )
        if perfect and name == "row" and not count.all():
            raise ValueError(f"{where}: row {int(np.argmin(count))} has no link, but perfect=True asks for one a row")
    places = _places(links, sample.shape)
    missing = ~np.isin(places, sample.places)
    if missing.any():
        raise ValueError(f"{where}: link {_shown(links[np.argmax(missing)])} is no candidate pair of X")
    return np.searchsorted(sample.places, places)  # increasing, as links are sorted


def _less(sample: Candidates, places: np.ndarray) -> Candidates:
    kept = ~np.isin(sample.places, places)
    return sample._replace(places=sample.places[kept], features=sample.features[kept])


def _places(pairs: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    return pairs[:, 0] * shape[1] + pairs[:, 1]


def _pairs(pairs: Any, shape: tuple[int, int], where: str) -> np.ndarray:
    array = as_any_array(pairs, where)
    array = array.reshape(0, 2) if array.size == 0 else array
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{where}: must be (c, 2) rows and columns, got shape {array.shape}")
    if array.dtype.kind not in "iuf" and array.size:
        raise ValueError(f"{where}: must hold whole numbers, got {array.dtype}")
    wrong = ~((array >= 0) & (array < np.array(shape)) & (array == np.floor(array))) if array.size else array > 0
    if wrong.any():
        pair = array[np.argmax(wrong.any(axis=1))]
        n, m = shape
        raise ValueError(f"{where}: {_shown(pair)} is no pair of one of {n} rows and one of {m} columns")
    return array.astype(np.int64)


def _shown(pair: np.ndarray) -> str:
    return f"({pair[0]}, {pair[1]})"
