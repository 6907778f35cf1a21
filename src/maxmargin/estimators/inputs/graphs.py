"""Samples with links, as flat arrays: what leads from each site, and features of the links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .arrays import Words, as_any_array, as_float64, take
from .sparse import read_csr, stack_csr


class Tree(NamedTuple):
    """A rooted tree or forest to be labelled; a plain tuple means the same.

    Parameters
    ----------
    features : array or sparse matrix of shape (T, F), or list of T dicts
        What the nodes look like.
    heads : array of int of shape (T,)
        The parent of each node, -1 for roots.
    edge_features : array or sparse matrix of shape (T, E) or None, default=None
        Row t is of the edge from t to its parent; those of roots do not count.

    See Also
    --------
    maxmargin.TreeSVM : Learns from such samples.

    Examples
    --------
    >>> from maxmargin import Tree
    >>> sentence = Tree([{"word": "cats"}, {"word": "sleep"}], heads=[1, -1])
    >>> sentence.heads
    [1, -1]
    """

    features: Any
    heads: Any
    edge_features: Any = None


class Graph(NamedTuple):
    """A graph to be labelled; a plain tuple means the same.

    Parameters
    ----------
    features : array or sparse matrix of shape (T, F), or list of T dicts
        What the nodes look like.
    edges : array of int of shape (m, 2)
        Pairs of nodes, counted from 0; which comes first matters to the weights.
    edge_features : array or sparse matrix of shape (m, E) or None, default=None
        What the edges look like.

    See Also
    --------
    maxmargin.GraphSVM : Learns from such samples.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Graph
    >>> triangle = Graph(np.eye(3), edges=[(0, 1), (1, 2), (2, 0)])
    >>> len(triangle.edges)
    3
    """

    features: Any
    edges: Any
    edge_features: Any = None


TREES, GRAPHS = Words("tree", "node"), Words("graph", "node")


class Split(NamedTuple):
    """A list a part, over all samples."""

    features: list[Any]
    links: list[Any]
    edge_features: list[Any] | None

    def joined(self, more: Split) -> Split:
        """These samples, and others after them, which are given in the same way."""
        of_edges = None if self.edge_features is None else [*self.edge_features, *(more.edge_features or [])]
        return Split([*self.features, *more.features], [*self.links, *more.links], of_edges)

    def take(self, kept: np.ndarray) -> Split:
        """Some of the samples."""
        of_edges = None if self.edge_features is None else take(self.edge_features, kept)
        return Split(take(self.features, kept), take(self.links, kept), of_edges)


@contextmanager
def numbered(kept: np.ndarray) -> Iterator[None]:
    """Let errors about some of the samples, which count these, name them as users do."""
    try:
        yield
    except ValueError as error:
        named = re.fullmatch(r"(?:X, )?sample (\d+)(.*)", str(error), re.DOTALL)
        if named is None:
            raise
        raise ValueError(f"X, sample {kept[int(named[1])]}{named[2]}") from error


def split_samples(X: Any, kind: type[Tree] | type[Graph], least: int = 1) -> Split:
    """Take samples, at least so many, apart that are all given with features of edges, or all without."""
    wanted = ", ".join(kind._fields)
    hint = f"; if X is one {kind.__name__}, wrap it: [X]"
    if isinstance(X, np.ndarray) and X.ndim == 1:
        X = X.tolist()
    if not isinstance(X, (list, tuple)) or len(X) < least:
        raise ValueError(f"X must be a list of {kind.__name__} samples or tuples ({wanted}), at least one")
    for i, sample in enumerate(X):
        if isinstance(X, kind) or not isinstance(sample, (tuple, list)) or len(sample) not in (2, 3):
            got = type(sample).__name__
            raise ValueError(f"X, sample {i}: must be a {kind.__name__} or a tuple ({wanted}), got {got}{hint}")
    samples = [kind(*sample) for sample in X]
    given = [sample.edge_features is not None for sample in samples]
    if any(given) and not all(given):
        odd = given.index(not given[0])
        raise ValueError(f"X, sample {odd}: all samples must have edge_features, or none; compare sample 0")
    edge_features = [sample[2] for sample in samples] if any(given) else None
    return Split([sample[0] for sample in samples], [sample[1] for sample in samples], edge_features)


def refuse_edges_of_nothing(split: Split, empty: np.ndarray) -> None:
    """Samples without nodes, `empty`, are left out of plans, so that nobody else would look at their edges."""
    for i in empty:
        if as_any_array(split.links[i], f"X, sample {i}").size:
            raise ValueError(f"X, sample {i}: it has edges, but no nodes")


def stack_heads(heads: list[Any], offsets: np.ndarray) -> np.ndarray:
    """(N,) parents, counted inside the sample."""
    stacked = [_whole_numbers(one, f"X, sample {i}: heads") for i, one in enumerate(heads)]
    for i, (one, length) in enumerate(zip(stacked, np.diff(offsets).tolist(), strict=True)):
        if one.shape != (length,):
            raise ValueError(f"X, sample {i}: heads has shape {one.shape}, but there are {length} nodes")
    return np.concatenate([np.empty(0, np.int64), *stacked])


def stack_edges(edges: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets (n + 1,) of the samples' edges, their tails and heads (E,)."""
    stacked = []
    for i, one in enumerate(edges):
        pairs = _whole_numbers(one, f"X, sample {i}: edges")
        pairs = pairs.reshape(0, 2) if pairs.size == 0 else pairs
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"X, sample {i}: edges must be (m, 2) pairs of nodes, got shape {pairs.shape}")
        stacked.append(pairs)
    every = np.concatenate([np.empty((0, 2), np.int64), *stacked])
    return np.concatenate([[0], np.cumsum([len(pairs) for pairs in stacked])]), every[:, 0].copy(), every[:, 1].copy()


def _whole_numbers(values: Any, where: str) -> np.ndarray:
    array = as_any_array(values, where)
    if array.size and (array.dtype.kind not in "iuf" or np.any(array != np.floor(array))):
        raise ValueError(f"{where} must hold whole numbers, got {array.dtype}")
    if array.size and np.any(np.abs(array.astype(np.float64)) >= 2**53):  # infinity, and what would wrap around
        raise ValueError(f"{where} must hold numbers of nodes, got {array.ravel()[np.argmax(np.abs(array))]}")
    return array.astype(np.int64)


def stack_edge_features(features: list[Any], counts: np.ndarray, n_features: int | None = None) -> Any:
    """(E, F) features of all edges, dense or CSR; those of sample i have ``counts[i]`` rows."""
    blocks = [_edge_block(one, count, i) for i, (one, count) in enumerate(zip(features, counts.tolist(), strict=True))]
    known = [block.shape[1] for block in blocks if block.shape[0]] or [b.shape[1] for b in blocks if b.ndim == 2]
    width = n_features if n_features is not None else known[0] if known else 0
    for i, block in enumerate(blocks):
        if block.shape[0] and block.shape[1] != width:
            raise ValueError(f"X, sample {i}: edge_features must have {width} columns, got {block.shape[1]}")
    with_edges = [i for i, block in enumerate(blocks) if block.shape[0]]  # others need not know how many there are
    blocks = [blocks[i] for i in with_edges]
    if not blocks:
        return np.zeros((0, width))
    if any(map(sp.issparse, blocks)):
        rows = [block if sp.issparse(block) else sp.csr_matrix(block) for block in blocks]
        matrix: Any = stack_csr(rows, lambda k: f"X, sample {with_edges[k]}: edge_features")
        values, sizes = matrix.data, np.diff(matrix.indptr)
    else:
        matrix = as_float64(np.concatenate(blocks))
        values, sizes = matrix.ravel(), np.full(len(matrix), width)
    for k in np.flatnonzero(~np.isfinite(values)):
        row = int(np.searchsorted(np.cumsum(sizes), k, side="right"))
        i = int(np.searchsorted(np.cumsum(counts), row, side="right"))
        raise ValueError(f"X, sample {i}: edge_features holds NaN or infinity")
    return matrix


def _edge_block(features: Any, count: int, i: int) -> Any:
    where = f"X, sample {i}: edge_features"
    block = features if sp.issparse(features) else as_any_array(features, where)
    if block.ndim == 0 or block.shape[0] != count or (block.ndim != 2 and count > 0):
        raise ValueError(f"{where} must have {count} rows and 2 dimensions, got shape {block.shape}")
    if block.dtype.kind not in "biuf":
        raise ValueError(f"{where} must hold real numbers, got {block.dtype}")
    return read_csr(block, where) if sp.issparse(block) and count else block
