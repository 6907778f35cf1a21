"""Every accepted form of input equals the plain list of arrays; every refused one says which sample and why."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from input_forms import LENGTHS, OFFSETS, ROWS, SAMPLES, Frame, objects
from numpy.testing import assert_array_equal

from maxmargin import DictEncoder
from maxmargin.estimators.inputs import sequences
from maxmargin.estimators.inputs.labels import unstack
from maxmargin.estimators.inputs.sequences import needs_vectorizer, stack_sequences


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def strided(x):
    wide = np.full((2 * x.shape[0], 2 * x.shape[1]), np.nan)
    wide[::2, ::2] = x
    return wide[::2, ::2]


def check_layout(stacked):
    assert stacked.offsets.dtype == np.int64
    assert stacked.rows.dtype == np.float64
    if sp.issparse(stacked.rows):
        fresh = sp.csr_matrix((stacked.rows.data, stacked.rows.indices, stacked.rows.indptr), stacked.rows.shape)
        assert fresh.has_canonical_format
        assert isinstance(stacked.rows, sp.csr_matrix)
        assert (stacked.rows.indices.dtype, stacked.rows.indptr.dtype) == (np.int32, np.int64)
    else:
        assert type(stacked.rows) is np.ndarray
        assert stacked.rows.flags.c_contiguous
        assert stacked.rows.flags.aligned


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


FORMS = {
    "list": SAMPLES,
    "tuple": tuple(SAMPLES),
    "object array": objects(SAMPLES),
    "nested lists": [x.tolist() for x in SAMPLES],
    "float32": [x.astype(np.float32) for x in SAMPLES],
    "int8": [x.astype(np.int8) for x in SAMPLES],
    "uint64": [x.astype(np.uint64) for x in SAMPLES],
    "big endian": [x.astype(">f8") for x in SAMPLES],
    "long double": [x.astype(np.longdouble) for x in SAMPLES],
    "numbers as objects": [x.astype(object) for x in SAMPLES],
    "different dtypes": [SAMPLES[0].astype(int), SAMPLES[1], SAMPLES[2].astype(np.float16)],
    "fortran": [np.asfortranarray(x) for x in SAMPLES],
    "strided": [strided(x) for x in SAMPLES],
    "read-only": [read_only(x) for x in SAMPLES],
    "frames": [Frame(x) for x in SAMPLES],
    "np.matrix": [np.asmatrix(x) for x in SAMPLES],
    "mixed sparse": [sp.csc_array(SAMPLES[0]), sp.coo_matrix(SAMPLES[1]), sp.csr_matrix(SAMPLES[2])],
    **{
        f"sparse {fmt}": [sp.csr_matrix(x).asformat(fmt) for x in SAMPLES]
        for fmt in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    },
    "sparse arrays": [sp.csr_array(x) for x in SAMPLES],
    "sparse int64 indices": [
        sp.csr_matrix((m.data.astype(int), m.indices.astype(np.int64), m.indptr.astype(np.int64)), shape=m.shape)
        for m in map(sp.csr_matrix, SAMPLES)
    ],
}
FLAT_FORMS = {
    "dense": ROWS,
    "float32": ROWS.astype(np.float32),
    "fortran": np.asfortranarray(ROWS),
    "read-only": read_only(ROWS),
    "strided": strided(ROWS),
    "objects": ROWS.astype(object),
    "frame": Frame(ROWS),
    "csr": sp.csr_matrix(ROWS),
    "csc": sp.csc_array(ROWS),
    "dok": sp.dok_matrix(ROWS),
}


@pytest.mark.parametrize("form", FORMS)
def test_list_forms(form):
    stacked = stack_sequences(FORMS[form], n_features=3)
    check_layout(stacked)
    assert_array_equal(dense(stacked.rows), ROWS)
    assert_array_equal(stacked.offsets, OFFSETS)
    assert sp.issparse(stacked.rows) == ("sparse" in form)
    assert not stacked.flat


@pytest.mark.parametrize("form", FLAT_FORMS)
@pytest.mark.parametrize("lengths", [None, LENGTHS, tuple(LENGTHS), np.array(LENGTHS, np.uint8), Frame(LENGTHS)])
def test_flat_forms(form, lengths):
    stacked = stack_sequences(FLAT_FORMS[form], lengths)
    check_layout(stacked)
    assert_array_equal(dense(stacked.rows), ROWS)
    assert_array_equal(stacked.offsets, [0, 7] if lengths is None else OFFSETS)
    assert stacked.flat


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, lambda x: x.astype(object), lambda x: x > 5, Frame])
def test_3d(convert):
    cube = convert(np.arange(24.0).reshape(2, 4, 3))
    stacked, plain = stack_sequences(cube), stack_sequences(list(np.asarray(cube)))
    check_layout(stacked)
    assert_array_equal(stacked.rows, plain.rows)
    assert_array_equal(stacked.offsets, [0, 4, 8])
    assert not stacked.flat


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from(["csr", "csc", "coo", "lil"]),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_every_form_agrees(lengths, width, fmt, data):
    values = st.integers(-3, 3)
    rows = data.draw(hnp.arrays(np.float64, (sum(lengths), width), elements=values))
    samples = np.split(rows, np.cumsum(lengths)[:-1])
    plain = stack_sequences(samples)
    assert_array_equal(plain.rows, rows)
    assert_array_equal(np.diff(plain.offsets), lengths)
    for form in ([sp.coo_array(x).asformat(fmt) for x in samples], [x.tolist() for x in samples]):
        other = stack_sequences(form)
        check_layout(other)
        assert_array_equal(dense(other.rows), rows)
        assert_array_equal(other.offsets, plain.offsets)
    for part, sample in zip(unstack(plain.rows, plain.offsets), samples, strict=True):
        assert_array_equal(part, sample)


def test_only_what_may_be_odd_is_looked_at_sample_by_sample(monkeypatch):
    looked = []
    read = sequences._matrix

    def matrix(x, *args, **kwargs):
        looked.append(x)
        return read(x, *args, **kwargs)

    monkeypatch.setattr(sequences, "_matrix", matrix)
    plain = [x.astype(np.float32) for x in SAMPLES]
    expected = stack_sequences(plain).rows
    assert not looked
    odd = ([plain[0].tolist(), *plain[1:]], [sp.csr_matrix(x) for x in plain], [np.ma.array(x) for x in plain])
    for X in odd:
        looked.clear()
        rows = stack_sequences(X).rows
        assert len(looked) == len(X)
        assert_array_equal(rows.toarray() if sp.issparse(rows) else rows, expected)
    for X in ([plain[0], plain[1][:, :1]], [plain[0], plain[1][0]], [plain[0], plain[1][:0]], [plain[0], "text"]):
        with pytest.raises((ValueError, TypeError), match="sample 1"):
            stack_sequences(X)


def test_right_layout_is_shared_not_copied():
    assert stack_sequences(ROWS).rows is ROWS
    assert stack_sequences([ROWS]).rows is ROWS
    cube = np.zeros((2, 3, 4))
    assert np.shares_memory(stack_sequences(cube).rows, cube)
    matrix = sp.csr_matrix(ROWS)
    rows = stack_sequences(matrix, LENGTHS).rows
    assert np.shares_memory(rows.data, matrix.data)
    assert np.shares_memory(rows.indices, matrix.indices)
    assert matrix.indptr.dtype == np.int32  # the caller's own matrix is left as it was


def test_sparse_duplicates_are_summed_outside_the_callers_matrix():
    data, indices, indptr = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    matrix = sp.csr_matrix((data, indices, indptr), shape=(2, 3))
    for form in (matrix, [matrix], [matrix, matrix]):
        stacked = stack_sequences(form)
        check_layout(stacked)
        assert_array_equal(stacked.rows[:2].toarray(), [[2, 0, 4], [0, 4, 0]])
    assert_array_equal(matrix.indices, [2, 0, 2, 1])
    assert_array_equal(matrix.data, [1, 2, 3, 4])


def test_sparse_with_spare_capacity():
    matrix = sp.csr_matrix(np.eye(3))
    matrix.data, matrix.indices = np.r_[matrix.data, np.nan], np.r_[matrix.indices, 99].astype(np.int32)
    assert_array_equal(stack_sequences([matrix, matrix]).rows.toarray(), np.r_[np.eye(3), np.eye(3)])


def test_wide_sparse_is_never_densified():
    matrix = sp.csr_matrix(([1.0], ([1], [2**40])), shape=(2, 2**41))
    rows = stack_sequences([matrix, matrix]).rows
    assert rows.nnz == 2
    assert rows.indices.dtype == np.int64


def test_mixed_index_types_work_in_scipy():
    rows = stack_sequences([sp.csr_matrix(x) for x in SAMPLES]).rows
    assert_array_equal(rows @ np.arange(3.0), ROWS @ np.arange(3.0))
    assert_array_equal(rows[2:4].toarray(), ROWS[2:4])
    assert_array_equal((rows.T @ rows).toarray(), ROWS.T @ ROWS)


def test_large_finite_values_pass():
    assert stack_sequences([np.full((2, 2), 1.7e308)]).rows[0, 0] == 1.7e308


DICTS = [
    [{"w": "the", "cap": True, "len": 3}, {"w": "cat", "suffix": ["t", "at"]}],
    [{"w": "the", "suffix": ["e", "e"], "cap": False}],
]


@pytest.mark.parametrize(
    "form", [DICTS, tuple(map(tuple, DICTS)), objects(DICTS), objects([objects(x) for x in DICTS])]
)
def test_feature_dicts(form):
    assert needs_vectorizer(form)
    vectorizer = DictEncoder()
    stacked = stack_sequences(form, vectorizer=vectorizer)
    check_layout(stacked)
    assert vectorizer.feature_names_ == ["cap", "len", "suffix=at", "suffix=e", "suffix=t", "w=cat", "w=the"]
    assert sp.issparse(stacked.rows)
    assert_array_equal(dense(stacked.rows), [[1, 3, 0, 0, 0, 0, 1], [0, 0, 1, 0, 1, 1, 0], [0, 0, 0, 2, 0, 0, 1]])
    assert_array_equal(stacked.offsets, [0, 2, 3])
    assert not stacked.flat

    later = stack_sequences([[{"w": "dog", "new": 1}, {"w": "cat"}]], vectorizer=vectorizer, n_features=7)
    assert_array_equal(dense(later.matrix), [[0] * 7, [0, 0, 0, 0, 0, 1, 0]])
    only_unknown = stack_sequences([[{"w": "dog"}]], vectorizer=vectorizer)
    assert_array_equal(dense(only_unknown.matrix), [[0] * 7])


def test_grid_of_feature_dicts():
    grid = np.array([[{"a": 1}, {"a": 2}], [{"a": 3}, {"b": 4}]], dtype=object)
    stacked = stack_sequences(grid, vectorizer=DictEncoder())
    assert_array_equal(stacked.rows.toarray(), [[1, 0], [2, 0], [3, 0], [0, 4]])
    assert_array_equal(stacked.offsets, [0, 2, 4])


def test_attribute_lists():
    """As python-crfsuite takes them; a token without attributes tells nothing."""
    form = [[[], ["w=the", "cap"]], [("w=cat", "w=cat"), {"w=the"}]]
    assert needs_vectorizer(form)
    vectorizer = DictEncoder()
    stacked = stack_sequences(form, vectorizer=vectorizer)
    check_layout(stacked)
    assert vectorizer.feature_names_ == ["cap", "w=cat", "w=the"]
    assert_array_equal(dense(stacked.rows), [[0, 0, 0], [1, 0, 1], [0, 2, 0], [0, 0, 1]])
    later = stack_sequences([[{"w": "the"}, {"cap": 2}]], vectorizer=vectorizer)  # dicts mean the same features
    assert_array_equal(dense(later.matrix), [[0, 0, 1], [2, 0, 0]])


def test_arrays_do_not_need_a_vectorizer():
    for form in [*FORMS.values(), *FLAT_FORMS.values(), [], [[]], [[], [[1]]], None, 3, "ab", [None], [np.array(1)]]:
        assert not needs_vectorizer(form)
    assert needs_vectorizer([[], [{}]])


def with_value(value, container=np.array):
    samples = [x.copy() for x in SAMPLES]
    samples[2][1, 2] = value
    return [container(x) for x in samples]


def corrupt(**arrays):
    matrix = sp.csr_matrix(np.eye(3))
    for key, value in arrays.items():
        setattr(matrix, key, np.array(value, dtype=getattr(matrix, key).dtype))
    return matrix


A = np.ones((2, 3))
BAD_X = {
    "nan": (with_value(np.nan), r"sample 2, position 1: X contains NaN \(feature 2\)"),
    "inf": (with_value(np.inf), "sample 2, position 1: X contains inf"),
    "nan sparse": (with_value(np.nan, sp.csc_array), r"sample 2, position 1: X contains NaN \(feature 2\)"),
    "-inf sparse": (with_value(-np.inf, sp.csr_matrix), "sample 2, position 1: X contains inf"),
    "inf and -inf": ([np.array([[np.inf, -np.inf]])], "sample 0, position 0: X contains inf"),
    "too large": ([A, A.astype(np.longdouble) * np.longdouble("1e4000")], "sample 1, position 0: X contains inf"),
    "none as object": ([A, np.array([[1, None, 2]], dtype=object)], "sample 1, position 0: X contains NaN"),
    "nan 3-d": (np.array([A, A * np.nan]), "sample 1, position 0: X contains NaN"),
    "empty": ([], "X is empty: .*0 sample"),
    "empty objects": (objects([]), "X is empty"),
    "empty 3-d": (np.ones((0, 2, 3)), "X is empty"),
    "empty 2-d": (np.ones((0, 3)), "empty sequence"),
    "empty sparse": (sp.csr_matrix((0, 3)), "empty sequence"),
    "empty sequence": ([A, A[:0]], "sample 1: empty sequence"),
    "empty list": ([A, []], "sample 1: empty sequence"),
    "empty first list": ([[], [[1.0]]], "sample 0: empty sequence"),
    "empty sequence 3-d": (np.ones((2, 0, 3)), "sample 0: empty sequence"),
    "no features": (np.ones((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required"),
    "no features 3-d": (np.ones((2, 3, 0)), r"sample 0: found array with 0 feature\(s\)"),
    "1-d": (np.ones(3), "Reshape your data"),
    "1-d sample": ([A, np.ones(3)], "sample 1: expected a 2-d array .* got a 1-d one. Reshape"),
    "list of numbers": ([1.0, 2.0], "sample 0: expected a 2-d array .* got a 0-d one. Reshape"),
    "1-d sparse": ([sp.coo_array(np.ones(3))], "sample 0: .*Reshape"),
    "3-d sample": ([np.ones((1, 2, 3))], "sample 0: .*3-d one"),
    "4-d": (np.ones((1, 1, 2, 3)), "4-d one"),
    "ragged rows": ([A, [[1, 2, 3], [1]]], "sample 1: rows differ"),
    "features differ": ([A, A, A[:, :2]], "sample 2: 2 features, but sample 0 has 3"),
    "sparse among dense": ([A, sp.csr_matrix(A)], "sample 1: sparse, but sample 0 is dense"),
    "dense among sparse": ([sp.csr_matrix(A), sp.csr_matrix(A), A], "sample 2: dense, but sample 0 is sparse"),
    "complex": ([A, A * 1j], "sample 1: Complex data not supported"),
    "complex sparse": (sp.csr_matrix(A * 1j), "Complex data not supported"),
    "strings": ([A, np.array([["a", "b", "c"]])], "sample 1: dtype <U1 is not numeric"),
    "strings nested": ([[["the", "cat"]]], "attributes, but the model was fitted without"),
    "strings as objects": ([A, np.array([[1, 2, 3], [1, "2", 3]], dtype=object)], "sample 1, position 1: strings"),
    "dates": (np.ones((2, 2), dtype="M8[D]"), "not numeric"),
    "structured": (np.zeros((2, 2), dtype=[("a", int)]), "not numeric"),
    "huge integer": ([np.array([[10**400]], dtype=object)], "sample 0, position 0"),
    "masked": ([A, np.ma.masked_equal(A, 1)], "sample 1: masked"),
    "masked flat": (np.ma.masked_equal(A, 1), "X: masked"),
    "index too large": (corrupt(indices=[0, 1, 3]), "corrupt CSR"),
    "index negative": ([corrupt(indices=[0, 1, -1])] * 2, "corrupt CSR"),
    "indptr falls": (corrupt(indptr=[0, 3, 1, 3]), "corrupt CSR"),
    "indptr too far": ([corrupt(indptr=[0, 1, 2, 9])] * 2, "corrupt CSR"),
    "indptr hides": (corrupt(indptr=[0, 9, 9, 0]), "corrupt CSR"),
}


@pytest.mark.parametrize("case", BAD_X)
def test_bad_X(case):
    X, message = BAD_X[case]
    with pytest.raises(ValueError, match=message):
        stack_sequences(X)


BAD_TYPES = {
    "None": (None, "got NoneType"),
    "text": ("abc", "got str"),
    "number": (3, "got int"),
    "numpy number": (np.float64(3), "got float64"),
    "dict": ({0: A}, "got dict"),
    "set": ({1, 2}, "got set"),
    "generator": (itertools.count(), "got count"),
    "None sample": ([A, None], "sample 1: .* got NoneType"),
    "text sample": ([A, "abc"], "sample 1: .* got str"),
    "dict sample": ([{"w": 1}], "sample 0: .* got dict"),
    "generator sample": ([A, itertools.count()], "sample 1: .* got count"),
    "dict inside": (
        np.array([[{"a": 1}, 2.0]], dtype=object),
        "sample 0, position 0: .*argument must be .* string.* num",
    ),
}


@pytest.mark.parametrize("case", BAD_TYPES)
def test_bad_type(case):
    X, message = BAD_TYPES[case]
    with pytest.raises(TypeError, match=message):
        stack_sequences(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[{"a": 1}], "the"], TypeError, "sample 1: expected a list of feature dicts, got str"),
        ([[{"a": 1}], []], ValueError, "sample 1: empty sequence"),
        ([[{"a": 1}], [{"a": 1}, 3]], TypeError, "sample 1, position 1: expected a feature dict, got int"),
        ([[{"a": 1}], [{"a": 1}, {"a": {"b": 1}}]], TypeError, "sample 1, position 1: Unsupported value"),
        ([[{"a": 1}, {"a": [1, 2]}]], TypeError, "sample 0, position 1: Unsupported type"),
        ([[{"a": 1}, {"b": 1j}]], TypeError, "sample 0, position 1"),
        ([[{"a": 1}, {"b": 10**400}]], ValueError, "sample 0, position 1"),
        ([[{"a": 1}], [{"a": float("nan")}]], ValueError, "sample 1, position 0: X contains NaN"),
        ([[{"a": 1}], [{"a": None}]], ValueError, "sample 1, position 0: X contains NaN"),
        ([[{"a": 1, 2: 3}]], TypeError, "X"),
        ([[["a"], ["b", 3]]], TypeError, "sample 0, position 1: Unsupported attribute 3"),
        ([[["a"], 3]], TypeError, "sample 0, position 1: expected a feature dict or a list of attributes, got int"),
        ([[["a"], "b"]], TypeError, "sample 0, position 1: expected a feature dict or a list of attributes, got str"),
        ([[["a"]], [{"a": 1}]], TypeError, "all dicts or all lists of strings"),
        ([[{}]], ValueError, r"0 feature\(s\)"),
    ],
)
def test_bad_dicts(X, error, message):
    with pytest.raises(error, match=message):
        stack_sequences(X, vectorizer=DictEncoder())


def test_dicts_without_vectorizer():
    with pytest.raises(ValueError, match="fitted without"):
        stack_sequences(DICTS)


@pytest.mark.parametrize("X", [SAMPLES, ROWS, sp.csr_matrix(ROWS)])
def test_n_features(X):
    with pytest.raises(ValueError, match="X has 3 features, but ChainSVM is expecting 5 features as input"):
        stack_sequences(X, n_features=5, estimator="ChainSVM")


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([2, 1, 3], "lengths sum to 6, but X has 7 rows"),
        ([2, -1, 6], "sample 1: length -1"),
        ([2, 0, 5], "sample 1: length 0"),
        ([2.0, 5.0], "integers"),
        ([True, True], "integers"),
        (7, "1-d"),
        ([[7]], "1-d"),
        ([], "integers"),
        (np.array([], dtype=int), "lengths sum to 0"),
        ("7", "integers"),
        ([1] * 8, "lengths names 8 sequences"),
        ([2**62, 2**62, 2**62, 2**62, 7], f"sample 0: length {2**62}"),
        ([2**63 + 7, 2**63], f"sample 0: length {2**63 + 7}"),
        ([2**80], "integers"),
        (np.broadcast_to(1, 10**15), "lengths names 1000000000000000 sequences"),
    ],
)
def test_bad_lengths(lengths, message):
    with pytest.raises(ValueError, match=message):
        stack_sequences(ROWS, lengths)


@pytest.mark.parametrize("X", [SAMPLES, objects(SAMPLES), np.ones((2, 3, 4)), DICTS])
def test_lengths_with_sequences(X):
    with pytest.raises(ValueError, match="lengths goes with one stacked 2-d matrix"):
        stack_sequences(X, [2, 1], vectorizer=DictEncoder())
