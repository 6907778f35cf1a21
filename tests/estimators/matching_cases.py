"""Tiny samples with rows and columns to be matched, and all their matchings written out."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse as sp
from numpy.testing import assert_allclose

from maxmargin import Bipartite, MatchingSVM
from reference import from_callables

LAM, F = 0.2, 3
SHAPES = [(2, 3), (3, 3), (3, 2), (2, 2), (0, 2), (2, 3)]
Y = [[(0, 2), (1, 0)], [(0, 0), (1, 2), (2, 1)], [(2, 0)], [], [], [(0, 1), (1, 2)]]
IGNORED = [
    [(0, 0), (0, 1), (0, 2)],
    [(0, 1), (2, 1), (0, 2)],
    [],
    [(1, 1)],
    [],
    [(1, 0)],
]  # some true, some no candidates
PERFECT = [0, 1, 5]  # samples whose rows all have a link


EVERY = range(len(SHAPES))


def make_samples():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(*shape, F)) * (rng.random((*shape, F)) < 0.7) for shape in SHAPES]


DENSE = make_samples()
ALLOWED = [np.ones(shape, bool) for shape in SHAPES]
ALLOWED[1] = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 1]], bool)
ALLOWED[2] = np.array([[0, 1], [0, 0], [1, 1]], bool)
ALLOWED[3] = np.zeros((2, 2), bool)


def as_given(kind, kept=EVERY):
    """Samples as arrays, or with candidates only, in an order of no meaning."""
    if kind == "arrays":
        return [DENSE[i] for i in kept]
    convert = {"candidates": np.copy, "sparse": sp.csr_matrix}[kind]
    X, rng = [], np.random.default_rng(1)
    for i in kept:
        pairs = rng.permutation(np.argwhere(ALLOWED[i]))
        X.append(Bipartite(*SHAPES[i], pairs, convert(DENSE[i][tuple(pairs.T)])))
    return X


def model_of(**params):
    return MatchingSVM(**{"lam": LAM, "tol": 1e-3, "random_state": 0, **params})


def outputs(kind, i, perfect=False):
    """All matchings of a sample, as tuples of pairs."""
    n, m = SHAPES[i]
    rows = [[None, *range(m)]] * n
    found = []
    for columns in itertools.product(*rows):
        pairs = tuple((r, c) for r, c in enumerate(columns) if c is not None)
        distinct = len({c for _, c in pairs}) == len(pairs)
        allowed = kind == "arrays" or all(ALLOWED[i][pair] for pair in pairs)
        if distinct and allowed and (len(pairs) == n or not perfect):
            found.append(pairs)
    return found


def joint_feature(i, pairs, intercept=True):
    return np.concatenate([sum((DENSE[i][pair] for pair in pairs), np.zeros(F)), [len(pairs) * intercept]])


def loss_of(i, pairs, cost, normalize):
    true, found = set(Y[i]), set(pairs)
    total = cost[0] * len(found - true) + cost[1] * len(true - found)
    return total / max(1, len(true)) if normalize else total


def enumerated(
    kind, kept=EVERY, *, cost=(1, 1), normalize=True, intercept=True, perfect=False, weight=None, ignored=None
):
    kept = list(kept)
    free = [set(ignored[i]) - set(Y[i]) if ignored else set() for i in kept]
    return from_callables(
        len(kept),
        lambda i: [pairs for pairs in outputs(kind, kept[i], perfect) if not free[i] & set(pairs)],
        lambda i, y: joint_feature(kept[i], y, intercept),
        lambda i, y: loss_of(kept[i], y, cost, normalize),
        [tuple(Y[i]) for i in kept],
        weight,
    )


def pack(model):
    return np.append(model.coef_, model.intercept_)


def assert_optimal(model, reference):
    """The objective is that of the weights, and the certificate encloses the optimum of an independent QP solver."""
    optimum = reference.solve(LAM)[1]
    assert_allclose(model.primal_, reference.primal(pack(model), LAM), rtol=1e-9)
    assert model.status_ == "converged"
    assert model.dual_ - 1e-7 <= optimum <= model.primal_ + 1e-7
    assert_allclose(model.gap_, model.primal_ - model.dual_, atol=1e-12)
    assert 0 <= model.gap_ <= model.tol
