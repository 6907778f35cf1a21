"""Feature dicts as sparse rows: the same as scikit-learn's DictVectorizer makes of them, and what it cannot take."""

import pickle
from collections import OrderedDict, UserDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline

from maxmargin import ChainSVM, DictEncoder, DictHasher
from maxmargin.features.tables import fill_table, look_up, new_table, number_hashes, tidy_rows

NAMES = st.sampled_from(["w", "w=", "a=b", "a", "", "pos", "bias"])
TEXTS = st.sampled_from(["the", "=", "b=c", "c", "", "x"])
NUMBERS = st.sampled_from([0, 1, True, False, 2, -1, -2, 0.5, 2.0**-61, 2**61, 1.0, np.float32(3)])
VALUES = st.one_of(TEXTS, NUMBERS, st.lists(TEXTS, max_size=3), st.sets(TEXTS, max_size=2), st.tuples(TEXTS, TEXTS))
DICTS = st.lists(st.dictionaries(NAMES, VALUES, max_size=5), min_size=1, max_size=6)


def same(one, other):
    assert one.has_canonical_format
    assert_array_equal(one.toarray(), other.toarray())


@settings(deadline=None, max_examples=200)
@given(DICTS, DICTS)
def test_what_dict_vectorizer_makes(train, test):
    ours, theirs = DictEncoder(), DictVectorizer()
    same(ours.fit_transform(train), theirs.fit_transform(train))
    assert ours.feature_names_ == theirs.feature_names_
    assert ours.vocabulary_ == theirs.vocabulary_
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    same(ours.transform(test), theirs.transform(test))
    same(pickle.loads(pickle.dumps(ours)).transform(test), theirs.transform(test))


def test_names_that_are_no_strings():
    tokens = [{0: "a", 1: 2.5}, {0: "b", 1: 1}]
    ours, theirs = DictEncoder(), DictVectorizer()
    with pytest.raises(TypeError):  # names of two kinds have no order, there as here
        ours.fit(tokens)
    tokens = [{0: "a", 1: "c"}, {0: "b"}]
    same(ours.fit_transform(tokens), theirs.fit_transform(tokens))
    same(ours.transform([{0: "b", 1: "a"}, {"0": "a"}]), theirs.transform([{0: "b", 1: "a"}, {"0": "a"}]))


def test_mappings_of_other_kinds():
    tokens = [OrderedDict(w="the"), UserDict(w="cat", n=2)]
    assert_array_equal(DictEncoder().fit_transform(tokens).toarray(), [[0, 0, 1], [2, 1, 0]])


def test_sequences_go_in_and_come_out():
    sequences = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}]]
    encoder = DictEncoder()
    first, second = encoder.fit_transform(sequences)
    assert_array_equal(first.toarray(), np.eye(2))
    assert_array_equal(second.toarray(), [[0, 1]])
    assert [rows.shape for rows in DictHasher(8).transform(sequences)] == [(2, 8), (1, 8)]


def test_rare_features_are_left_out():
    tokens = [{"w": "a", "n": 1}, {"w": "a"}, {"w": "b", "n": 0}, {"a=": "b"}, {"a": "=b"}]
    encoder = DictEncoder(min_count=2).fit(tokens)
    assert encoder.feature_names_ == ["a==b", "n", "w=a"]
    assert_array_equal(encoder.transform([{"w": "b", "n": 3}]).toarray(), [[0, 3, 0]])


def test_a_clone_knows_nothing():
    encoder = DictEncoder(separator=":", min_count=2)
    copied = clone(encoder.fit([{"w": "a"}, {"w": "a"}]))
    assert (copied.separator, copied.min_count) == (":", 2)
    assert encoder.feature_names_ == ["w:a"]
    with pytest.raises(ValueError, match="not fitted"):
        copied.transform([{"w": "a"}])


def test_tables_are_made_anew_after_a_second_fit():
    encoder = DictEncoder().fit([{"w": "b"}])
    encoder.transform([{"w": "b"}])
    encoder.fit([{"w": "a"}, {"w": "b"}])
    assert_array_equal(encoder.transform([{"w": "b"}]).toarray(), [[0, 1]])


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([{"a": {"b": 1}}], "Unsupported value"),
        ([{"a": [1]}], "Unsupported type int in the list of 'a'"),
        ([{"a": object()}], "Unsupported value"),
        ([{"a": b"text"}], "Unsupported type int"),
        ([["a", 1]], "Unsupported attribute 1"),
        ([["a"], {"a": 1}], "all dicts or all lists"),
    ],
)
@pytest.mark.parametrize("encoder", [DictEncoder(), DictEncoder().fit([{"a": 1}]), DictHasher()], ids=str)
def test_refusals(encoder, tokens, message):
    with pytest.raises(TypeError, match=message):
        (encoder.transform if hasattr(encoder, "vocabulary_") else encoder.fit_transform)(tokens)


@settings(deadline=None)
@given(DICTS)
def test_hashed_rows_are_encoded_rows_with_columns_merged(tokens):
    encoder = DictEncoder()
    rows = encoder.fit_transform(tokens)
    wide = DictHasher(1000)
    place = np.array([wide.transform([[name]]).toarray()[0] for name in encoder.feature_names_])
    assert_array_equal(wide.transform(tokens).toarray(), rows @ place.reshape(-1, 1000))


def test_hashing_is_the_same_everywhere():
    assert DictHasher(2**20).transform([{"w": "the", "n": 2}]).indices.tolist() == [352074, 566226]


def test_in_a_pipeline():
    X = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}, {"w": "a"}]]
    y = [["x", "y"], ["y", "x"]]
    for encoder in (DictEncoder(), DictHasher(64)):
        model = make_pipeline(encoder, ChainSVM(lam=0.01, random_state=0)).fit(X, y)
        assert [labels.tolist() for labels in model.predict(X)] == y


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30).map(lambda some: some + some[::2]))
def test_tables_of_hashes(some):
    hashes = np.array(some, np.int64)
    codes, is_first = number_hashes(hashes)
    numbers = {}
    assert codes.tolist() == [numbers.setdefault(one, len(numbers)) for one in some]
    assert is_first.tolist() == [one not in some[:at] for at, one in enumerate(some)]
    table, columns = new_table(len(numbers)), np.empty(len(some), np.int32)
    fill_table(table, hashes[is_first], np.arange(len(numbers)))
    look_up(table, hashes, columns)
    assert columns.tolist() == codes.tolist()


def test_numbering_grows_its_table():
    hashes = np.random.default_rng(0).integers(0, 3000, 9000) * 2**20
    codes, is_first = number_hashes(hashes)
    assert_array_equal(hashes[is_first][codes], hashes)
    assert is_first.sum() == len(np.unique(hashes))


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(st.integers(-2, 40), st.integers(-2, 2)), max_size=60), min_size=1, max_size=4))
def test_rows_are_tidied(rows):
    indices = np.array([column for row in rows for column, _ in row], np.int32)
    data = np.array([value for row in rows for _, value in row], float)
    indptr = np.cumsum([0, *map(len, rows)])
    size = tidy_rows(indices, data, indptr)
    assert size == indptr[-1]
    for row, begin, end in zip(rows, indptr[:-1], indptr[1:], strict=True):
        sums = {}
        for column, value in row:
            if column >= 0 and value != 0:
                sums[column] = sums.get(column, 0) + value
        assert dict(zip(indices[begin:end].tolist(), data[begin:end].tolist(), strict=True)) == sums
        assert (np.diff(indices[begin:end]) > 0).all()


@settings(deadline=None, max_examples=50)
@given(DICTS, DICTS, DICTS)
def test_encoders_of_parts_make_that_of_all(first, second, test):
    whole = DictEncoder().fit([*first, *second])
    joined = DictEncoder.of_parts([DictEncoder().fit(first), DictEncoder().fit(second)])
    assert joined.feature_names_ == whole.feature_names_
    same(joined.transform(test), whole.transform(test))
