"""Slovak tags: parsing, sizes, and labels that training does not know. The attributes are those of the treebank."""

import numpy as np
import pytest

from maxmargin.datasets import _slovak, fetch_slovak

SIZES = {"train": (29330, 482451), "dev": (3544, 59774), "test": (3680, 61390)}


def test_parse():
    found = _slovak._parse("Pán\tSSms1\tNOUN\nlampy\tSSfs2\tNOUN\n\n,\tZ\tPUNCT\n".encode())
    assert found.words == ("Pán", "lampy", ",") and found.tags == ("SSms1", "SSfs2", "Z")
    assert found.offsets.tolist() == [0, 2, 3]


@pytest.mark.parametrize("line", ["Pán\tSSms1", "Pán\t\tNOUN", "Pán SSms1 NOUN", "a\tb\tc\td"])
def test_what_is_no_token_is_refused(line):
    with pytest.raises(ValueError, match="expected FORM"):
        _slovak._parse(f"a\tZ\tX\n{line}\n".encode())


def test_sizes(shared_data):
    data = fetch_slovak(data_home=shared_data)
    for split, (n_sentences, n_tokens) in SIZES.items():
        X, y, words = (data[f"{name}_{split}"] for name in ("X", "y", "words"))
        assert len(X) == len(y) == len(words) == n_sentences
        assert sum(map(len, y)) == sum(x.shape[0] for x in X) == n_tokens
    assert len(data.target_names) == 1563 and f"{len(data.feature_names):,} for 3" in data.DESCR
    assert len(set(np.concatenate(data.y_train + data.y_dev + data.y_test))) == 1653
    assert np.count_nonzero(~np.isin(np.concatenate(data.y_test), data.target_names)) == 47


def test_first_sentences(shared_data):
    few = fetch_slovak(n_train=50, min_freq=1, data_home=shared_data)
    assert len(few.X_train) == 50 and len(few.X_dev) == 3544
    assert {f"w[0]={word}" for word in few.words_train[3]} <= set(few.feature_names[few.X_train[3].indices])


@pytest.mark.parametrize("name", ["n_train", "min_freq"])
def test_bad_numbers_are_refused(name):
    with pytest.raises(ValueError, match=name):
        fetch_slovak(**{name: 0})
