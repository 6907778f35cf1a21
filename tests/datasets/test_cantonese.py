"""Cantonese: the published sizes, features against plain strings, and pictures with and without noise."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin.datasets import _cantonese, fetch_cantonese, fetch_glyphs
from maxmargin.datasets._fetch import load_file


@pytest.fixture(scope="module")
def talk(shared_data):
    return fetch_cantonese(data_home=shared_data)


def test_sizes(talk):
    for split, (n_sequences, n_characters) in {"train": (22012, 126545), "test": (6672, 34500)}.items():
        X, y, syllables = (talk[f"{name}_{split}"] for name in ("X", "y", "syllables"))
        assert len(X) == len(y) == len(syllables) == n_sequences
        assert sum(map(len, y)) == sum(x.shape[0] for x in X) == n_characters
        assert {x.shape[1] for x in X} == {len(talk.feature_names)} == {4217}
    assert max(map(len, talk.y_train + talk.y_test)) == 46
    assert len(talk.target_names) == 2346 and f"{len(talk.feature_names):,} with tones" in talk.DESCR
    assert len(set(np.concatenate(talk.y_train + talk.y_test))) == 2447
    assert np.count_nonzero(~np.isin(np.concatenate(talk.y_test), talk.target_names)) == 218


def test_features_are_the_syllable_its_neighbours_and_the_ends(talk):
    spoken = talk.syllables_train[0].tolist()
    for t, row in enumerate(talk.X_train[0]):
        expected = [f"syllable[{k}]={spoken[t + k]}" for k in (-1, 0, 1) if 0 <= t + k < len(spoken)]
        expected += ["__BOS__"] * (t == 0) + ["__EOS__"] * (t == len(spoken) - 1)
        assert sorted(talk.feature_names[row.indices]) == sorted(expected)


def test_without_tones_and_neighbours(shared_data, talk):
    plain = fetch_cantonese(False, window=0, n_train=500, data_home=shared_data)
    assert len(plain.X_train) == 500 and len(plain.X_test) == 6672
    assert plain.syllables_train[0].tolist() == [one.rstrip("123456") for one in talk.syllables_train[0]]
    assert_array_equal(plain.y_train[3], talk.y_train[3])
    assert set(plain.X_train[0].sum(axis=1).A1[1:-1]) == {1}
    assert_array_equal(plain.target_names, np.unique(np.concatenate(talk.y_train[:500])))


def test_syllables_of_the_training_sequences(shared_data):
    names = [fetch_cantonese(tones, window=0, data_home=shared_data).feature_names for tones in (True, False)]
    assert [len(one) - 2 for one in names] == [1421, 570]


def test_pictures(shared_data):
    data = fetch_glyphs(noise=0, data_home=shared_data)
    assert (len(data.X_train), len(data.X_test), len(data.target_names)) == (23456, 7074, 2319)
    assert (sum(map(len, data.y_train)), sum(map(len, data.y_test))) == (124053, 33750)
    assert len(set(np.concatenate(data.y_train + data.y_test))) == 2419
    glyphs = load_file(_cantonese.GLYPHS, shared_data)
    number = {name: k for k, name in enumerate(glyphs["char_table"])}
    for x, y in zip(data.X_test[:20], data.y_test[:20], strict=True):
        assert x.dtype == np.float32
        assert_array_equal(np.packbits(x.astype(bool), axis=1), glyphs["glyph_bits"][[number[one] for one in y]])


def test_noise_turns_its_share_of_the_pixels_and_follows_the_seed(shared_data):
    clean, *noisy = (
        np.vstack(fetch_glyphs(noise, random_state=seed, n_train=300, data_home=shared_data).X_train)
        for noise, seed in [(0, 0), (0.2, 0), (0.2, 0), (0.2, 1)]
    )
    assert abs(np.mean(clean != noisy[0]) - 0.2) < 0.005
    assert_array_equal(noisy[0], noisy[1])
    assert np.any(noisy[0] != noisy[2])


def test_sequences_are_cut_at_characters_that_are_left_out():
    text = _cantonese._Text(
        np.array([1, 0, 1, 2, 0, 0, 2, 1]), np.arange(8), np.array([0, 3, 4, 5, 8]), np.array([0, 1, 0, 1], bool)
    )
    cut = _cantonese._where(text, np.array([False, True, True]))
    assert [part.tolist() for part in cut.cut(cut.syllables)] == [[0], [2], [3], [6, 7]]
    assert cut.for_test.tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("fetch", "name", "value"),
    [
        (fetch_cantonese, "window", -1),
        (fetch_cantonese, "n_train", 0),
        (fetch_glyphs, "noise", 0.6),
        (fetch_glyphs, "noise", -0.1),
        (fetch_glyphs, "n_train", 0),
    ],
)
def test_bad_numbers_are_refused(fetch, name, value):
    with pytest.raises(ValueError, match=name):
        fetch(**{name: value})
