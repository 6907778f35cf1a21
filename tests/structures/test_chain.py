"""Chains: which blocks have a Gram matrix, decoding, layouts that mean the same."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.structures import make_chain_problem, make_multiclass_problem
from maxmargin.structures.pairwise import decode, decode_max_marginals, decoding_work, layout
from maxmargin.structures.rows import DenseRows, SparseRows
from reference import brute_force_argmax, brute_force_max_marginals, chain_potentials

from .pairs import LENGTHS, MASK, K, chain_pair


@pytest.mark.parametrize(("limit", "kept"), [(4, [1, 1, 1, 1]), (0.7, [1, 1, 0, 1]), (0, [0, 0, 0, 0])])
def test_long_blocks_have_no_gram_matrix(monkeypatch, limit, kept):
    monkeypatch.setattr(layout, "GRAM_PAIRS_PER_NONZERO", limit)
    problem = chain_pair().problem
    pairs = np.multiply(LENGTHS, np.add(LENGTHS, 1)) // 2
    assert np.diff(problem.gram_offsets).tolist() == (pairs * kept).tolist()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("biases", [(True, True), (False, True), (True, False), (False, False)])
def test_decode(biases, masked):
    intercept, boundary = biases
    pair = chain_pair(intercept=intercept, boundary=boundary, masked=masked)
    parts, rng = pair.problem[:3], np.random.default_rng(0)
    sites = pair.problem.sites
    w = rng.normal(size=pair.reference.d)
    n, size = len(LENGTHS), sum(LENGTHS)
    labels, values, marginals = np.zeros(size, np.int32), np.zeros(n), np.zeros((size, K))
    work = decoding_work(*parts[1:], max(LENGTHS), K)
    decode(*parts, work, w, 0, n, labels, values)
    decode_max_marginals(*parts, work, w, 0, n, marginals.reshape(-1))
    for i in range(n):
        here = slice(sites.offsets[i], sites.offsets[i + 1])
        node, edge, start, end = chain_potentials(
            pair.to_reference(w), sites.rows.values[here], K, intercept=intercept, boundary=boundary
        )
        if masked:
            edge, start, end = (np.where(m, v, -np.inf) for m, v in zip(MASK, (edge, start, end), strict=True))
        best, maximisers = brute_force_argmax(node, edge, start, end)
        assert values[i] == pytest.approx(best)
        assert labels[here].tolist() in maximisers.tolist()
        assert marginals[here] == pytest.approx(brute_force_max_marginals(node, edge, start, end))


def test_dense_with_few_nonzeros_is_walked_as_sparse():
    rng = np.random.default_rng(0)
    for share, kind in [(0.1, SparseRows), (0.9, DenseRows)]:
        matrix = rng.normal(size=(20, 10)) * (rng.random((20, 10)) < share)
        assert type(make_multiclass_problem(matrix, np.arange(20) % K, K).rows) is kind


def scrambled(matrix):
    """The same matrix with unsorted indices and an entry in two pieces."""
    rows = [list(zip(*np.nonzero(row), row[row != 0], strict=True))[::-1] for row in matrix]
    rows = [[(f, v / 2), *row[1:], (f, v / 2)] for row in rows for f, v in row[:1]]
    indptr = np.cumsum([0, *map(len, rows)])
    indices, data = zip(*(entry for row in rows for entry in row), strict=True)
    return sparse.csr_matrix((np.array(data), np.array(indices), indptr), shape=matrix.shape)


def test_sparse_rows_need_not_be_sorted():
    matrix = np.random.default_rng(0).normal(size=(5, 3))
    labels, offsets = np.array([0, 1, 2, 0, 1]), np.array([0, 2, 5])
    messy = scrambled(matrix)
    assert messy.toarray() == pytest.approx(matrix) and not messy.has_canonical_format
    for make, norms in [
        (lambda m: make_chain_problem(m, offsets, labels, K), "gram"),
        (lambda m: make_multiclass_problem(m, labels, K), "squared_norm"),
    ]:
        assert getattr(make(messy), norms) == pytest.approx(getattr(make(matrix), norms))
