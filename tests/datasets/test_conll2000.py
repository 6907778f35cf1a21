"""Chunking attributes against a plain string version of the templates."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin.datasets import fetch_conll2000
from maxmargin.datasets._conll2000 import TEMPLATES
from maxmargin.features.attributes import AttributeEncoder, Tokens
from maxmargin.formats import column

WORD_WINDOWS = [(t,) for t in range(-2, 3)] + [(-1, 0), (0, 1)]
POS_WINDOWS = (
    [(t,) for t in range(-2, 3)] + [(t, t + 1) for t in range(-2, 2)] + [(t, t + 1, t + 2) for t in range(-2, 1)]
)
TRAIN = [("the", "DT"), ("cat", "NN")], [("the", "DT"), ("cat", "NN"), ("sat", "VB"), ("the", "DT")], [("a|b", "DT")]
TEST = [("cat", "NN"), ("the", "DT"), ("dog", "NN")], [("sat", "XX")]


def attributes(sentence):
    """Sets of attribute names, one per token, as the tutorial writes them."""
    rows = []
    for t in range(len(sentence)):
        row = []
        for field, name, windows in ((0, "w", WORD_WINDOWS), (1, "pos", POS_WINDOWS)):
            for window in windows:
                if all(0 <= t + offset < len(sentence) for offset in window):
                    left = "|".join(f"{name}[{offset}]" for offset in window)
                    row.append(left + "=" + "|".join(sentence[t + offset][field] for offset in window))
        rows.append(row + ["__BOS__"] * (t == 0) + ["__EOS__"] * (t == len(sentence) - 1))
    return rows


def tokens(sentences):
    flat = [token for sentence in sentences for token in sentence]
    offsets = np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])])
    columns = {"w": column([word for word, _ in flat]), "pos": column([pos for _, pos in flat])}
    return Tokens(columns, offsets).with_ends()


def decoded(matrices, names):
    return [[sorted(names[row.indices]) for row in matrix] for matrix in matrices]


@pytest.mark.parametrize("min_freq", [1, 2, 3])
def test_encoder_matches_strings(min_freq):
    encoder = AttributeEncoder.learn(TEMPLATES, tokens(TRAIN), min_freq)
    counts = Counter(name for sentence in TRAIN for row in attributes(sentence) for name in row)
    kept = {name for name, count in counts.items() if count >= min_freq}
    names = encoder.names()
    assert len(names) == encoder.n_attributes and set(names) == kept
    for sentences in (TRAIN, TEST):
        expected = [[sorted(kept & set(row)) for row in attributes(sentence)] for sentence in sentences]
        assert decoded(encoder.encode(tokens(sentences)), names) == expected


def test_encoder_with_nothing_frequent_enough():
    encoder = AttributeEncoder.learn(TEMPLATES, tokens(TRAIN), 100)
    assert encoder.n_attributes == 0 and len(encoder.names()) == 0
    assert [matrix.shape for matrix in encoder.encode(tokens(TEST))] == [(3, 0), (1, 0)]


@pytest.fixture(scope="module")
def frequent(shared_data):
    return fetch_conll2000(data_home=shared_data)


def test_sizes(frequent):
    assert (len(frequent.X_train), len(frequent.X_test)) == (8936, 2012)
    assert sum(map(len, frequent.y_train)) == 211727 and sum(map(len, frequent.y_test)) == 47377
    assert len(frequent.target_names) == 22 and len(frequent.feature_names) == 75289


def test_matrices(frequent):
    for x, y in zip(frequent.X_train, frequent.y_train, strict=True):
        assert x.shape == (len(y), 75289) and x.dtype == np.float64
        assert x.indices.dtype == np.int32 and x.indptr.dtype == np.int32
    x = frequent.X_train[0].copy()
    x.has_sorted_indices = False
    x.sort_indices()
    assert_array_equal(x.indices, frequent.X_train[0].indices)
    frequent.X_train[0].check_format(full_check=True)


def test_real_sentence_matches_strings(frequent):
    for split in ("train", "test"):
        sentence = list(zip(frequent[f"words_{split}"][5], frequent[f"pos_{split}"][5], strict=True))
        kept = set(frequent.feature_names)
        expected = [sorted(kept & set(row)) for row in attributes(sentence)]
        assert decoded([frequent[f"X_{split}"][5]], frequent.feature_names) == [expected]


def test_number_of_all_attributes(shared_data):
    assert len(fetch_conll2000(min_freq=1, data_home=shared_data).feature_names) == 335674


def test_bad_min_freq_is_refused():
    with pytest.raises(ValueError, match="min_freq"):
        fetch_conll2000(min_freq=0)
    with pytest.raises(TypeError, match="min_freq"):
        fetch_conll2000(min_freq=1.5)
