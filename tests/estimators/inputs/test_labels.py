"""Every accepted form of labels equals the plain lists; every refused one says which sample and why."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from input_forms import OFFSETS, Frame, objects
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from maxmargin.estimators.inputs.labels import encode_labels, stack_labels, unstack

TEXT = ["b", "a", "b", "cc", "a", "a", "b"]
CODES = [1, 0, 1, 2, 0, 0, 1]
NUMBERS = [3, -1, 3, 7, -1, -1, 3]


def cut(labels):
    return [labels[0:2], labels[2:3], labels[3:7]]


LABEL_FORMS = {
    "lists of str": (cut(TEXT), "U"),
    "tuples of str": (tuple(map(tuple, cut(TEXT))), "U"),
    "flat list of str": (TEXT, "U"),
    "str arrays": (cut(np.array(TEXT)), "U"),
    "str arrays of different width": ([np.array(x) for x in cut(TEXT)], "U"),
    "lists and arrays": ([TEXT[0:2], np.array(TEXT[2:3]), TEXT[3:7]], "U"),
    "object arrays of str": (cut(np.array(TEXT, dtype=object)), "O"),
    "flat objects of str": (np.array(TEXT, dtype=object), "O"),
    "object array of lists": (objects(cut(TEXT)), "U"),
    "frame": (Frame(TEXT), "U"),
    "lists of int": (cut(NUMBERS), "i"),
    "int8 arrays": (cut(np.array(NUMBERS, dtype=np.int8)), "i"),
    "uint8": (np.array(CODES, dtype=np.uint8), "u"),
    "floats": (np.array(NUMBERS, dtype=float), "f"),
    "lists of floats": (cut([float(v) for v in NUMBERS]), "f"),
    "objects of int": (np.array(NUMBERS, dtype=object), "i"),
    "numpy numbers in lists": (cut(list(np.array(NUMBERS))), "i"),
}


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_label_forms(form):
    y, kind = LABEL_FORMS[form]
    flat = stack_labels(y, OFFSETS)
    codes, classes = encode_labels(flat, OFFSETS)
    assert flat.ndim == 1
    assert flat.dtype.kind == classes.dtype.kind == kind
    assert codes.dtype == np.int32
    assert_array_equal(codes, CODES)
    assert_array_equal(classes[codes], flat)
    again, same = encode_labels(flat, OFFSETS, classes)
    assert_array_equal(again, codes)
    assert same is classes


def test_narrow_dtypes_are_kept():
    for dtype in (np.int8, np.float32, bool, "<U5"):
        flat = stack_labels(np.array([0, 1, 0, 1, 1, 1, 0]).astype(dtype), OFFSETS)
        assert encode_labels(flat, OFFSETS)[1].dtype == flat.dtype == np.dtype(dtype)


def test_labels_2d():
    grid = np.array([["a", "b"], ["b", "b"]])
    assert_array_equal(stack_labels(grid, np.array([0, 2, 4])), ["a", "b", "b", "b"])
    with pytest.warns(DataConversionWarning):
        assert_array_equal(stack_labels(np.arange(7)[:, None], OFFSETS), np.arange(7))


def test_unknown_labels():
    offsets = np.array([0, 3])
    assert_array_equal(encode_labels(np.array(["b", "z", "a"]), offsets, np.array(["a", "b"]))[0], [1, -1, 0])
    assert_array_equal(encode_labels(np.array([1.0, 5.0, 2.0]), offsets, np.array([2, 1]))[0], [1, -1, 0])
    assert_array_equal(encode_labels(np.array(["1", "2", "1"]), offsets, np.array([1, 2]))[0], [-1, -1, -1])
    with pytest.raises(ValueError, match="twice"):
        encode_labels(np.array([1, 2, 1]), offsets, [1, 1])
    with pytest.raises(ValueError, match="2 labels for 3 positions"):
        encode_labels(np.array([1, 2]), offsets)


def test_one_long_label_does_not_widen_all():
    long = "x" * 100_000
    for y in ([["a"] * 50_000, [long]], [np.array(["a"] * 50_000), np.array([long])]):
        flat = stack_labels(y, np.array([0, 50_000, 50_001]))
        assert flat.dtype == object
        assert len(encode_labels(flat, np.array([0, 50_001]))[1]) == 2


@given(st.lists(st.lists(st.text("abé☃", max_size=3), min_size=1, max_size=4), min_size=1))
@settings(max_examples=40, deadline=None)
def test_labels_round_trip(y):
    offsets = np.cumsum([0, *map(len, y)])
    codes, classes = encode_labels(stack_labels(y, offsets), offsets)
    assert [part.tolist() for part in unstack(classes[codes], offsets)] == y
    assert classes.tolist() == sorted(set(itertools.chain.from_iterable(y)))


def with_label(value, position=4):
    return cut([*TEXT[:position], value, *TEXT[position + 1 :]])


BAD_Y = {
    "None": (None, "requires y to be passed, but the target y is None"),
    "too few sequences": (cut(TEXT)[:2], "y has 2 label sequences, but X has 3 sequences"),
    "too few labels": (TEXT[:5], "y has 5 labels, but X has 7 positions in 3 sequences"),
    "no labels": ([], "y has 0 labels"),
    "strings as sequences": (["ba", "b", "caab"], "y has 3 labels, but X has 7 positions"),
    "length": ([TEXT[0:2], TEXT[2:4], TEXT[3:7]], "sample 1: 2 labels, but the sequence has 1 positions"),
    "2-d length": (np.ones((3, 2)), "sample 1: 2 labels"),
    "2-d": (np.ones((7, 2)), "y has 7 label sequences"),
    "3-d": (np.ones((3, 2, 2)), "shape"),
    "None label": (with_label(None), "sample 2, position 1: the label is None"),
    "NaN among text": (with_label(float("nan")), "sample 2, position 1: the label is NaN"),
    "NaN": (np.array([1, 1, np.nan, 1, 1, 1, 1]), "sample 1, position 0: the label is NaN"),
    "inf": (np.array([1, 1, np.inf, 1, 1, 1, 1]), "sample 1, position 0: the label is inf"),
    "continuous": (cut([1.0, 0.5, 1, 1, 1, 1, 1]), "sample 0, position 1: .*Unknown label type: continuous"),
    "number among text": (with_label(3), "sample 2, position 1: label 3 next to 'b'.*do not mix"),
    "number arrays among text": ([TEXT[:2], np.array([1]), np.array(TEXT[3:])], "sample 1, position 0: .*do not mix"),
    "text array among numbers": ([np.array([1, 2]), np.array(["a"]), [1, 1, 1, 1]], "sample 1, position 0: .*mix"),
    "bytes": (with_label(b"a"), "sample 2, position 1: .*got bytes"),
    "nested": ([[["a"], ["b"]], ["b"], TEXT[3:]], "sample 0, position 0: .*got list"),
    "arrays in lists": ([["a", np.ones(2)], ["b"], TEXT[3:]], "sample 0, position 1: .*got ndarray"),
    "2-d sequence": ([np.ones((2, 1)), [1], np.ones(4)], r"sample 0: labels must be 1-d, got .*\(2, 1\)"),
    "complex": (np.ones(7) * 1j, "sample 0, position 0: .*got complex"),
    "dates": (np.ones(7, dtype="M8[D]"), "sample 0, position 0: .*got date"),
    "huge": ([2**80] * 7, "64 bits"),
    "masked": (np.ma.masked_equal(np.arange(7), 3), "masked"),
}


@pytest.mark.parametrize("case", BAD_Y)
def test_bad_y(case):
    y, message = BAD_Y[case]
    with pytest.raises(ValueError, match=message):
        stack_labels(y, OFFSETS)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (3, "y: .*got int"),
        ("abc", "y: .*got str"),
        ({}, "y: .*got dict"),
        (sp.csr_matrix(np.ones((1, 7))), "y: .*got csr_matrix"),
        (itertools.count(), "y: .*got count"),
        ([["a", "b"], "b", ["a"] * 4], "sample 1: .*got str"),
        ([["a", "b"], 3, ["a"] * 4], "sample 1: .*got int"),
        ([["a", "b"], None, ["a"] * 4], "sample 1: .*got NoneType"),
    ],
)
def test_bad_y_type(y, message):
    with pytest.raises(TypeError, match=message):
        stack_labels(y, OFFSETS)
