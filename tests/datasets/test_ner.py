"""Named entities: parsing, sizes, and splits. The attributes are those of the treebank, tested there."""

import numpy as np
import pytest

from maxmargin.datasets import _ner, fetch_bc2gm, fetch_wnut17

TEXT = b"Empire\tB-location\nState\tI-location\n!\tO\n\t\nO\tO\n\n\nBye\tO\n"

BOTH = pytest.mark.parametrize("fetch", [fetch_wnut17, fetch_bc2gm])
SIZES = {
    fetch_wnut17: {"train": (3394, 62730), "dev": (1009, 15733), "test": (1287, 23394)},
    fetch_bc2gm: {"train": (12574, 355405), "dev": (2519, 71042), "test": (5038, 143465)},
}
N_LABELS = {fetch_wnut17: 13, fetch_bc2gm: 3}
N_ATTRIBUTES = {fetch_wnut17: 22202, fetch_bc2gm: 76283}


def test_parse():
    found = _ner._parse(TEXT)
    assert found.words == ("Empire", "State", "!", "O", "Bye")
    assert found.labels == ("B-location", "I-location", "O", "O", "O")
    assert found.offsets.tolist() == [0, 3, 4, 5]
    assert [part.tolist() for part in found.first(2).cut(np.array(found.first(2).words))] == [
        ["Empire", "State", "!"],
        ["O"],
    ]


@pytest.mark.parametrize("line", ["Empire", "Empire\tX-location", "\tO", "Empire B-location", "Empire\tB-"])
def test_what_is_no_token_is_refused(line):
    with pytest.raises(ValueError, match="expected a word and"):
        _ner._parse(f"a\tO\n{line}\nb\tO\n".encode())


def test_a_text_without_sentences_is_refused():
    with pytest.raises(ValueError, match="no sentence"):
        _ner._parse(b"\n\t\n")


@BOTH
def test_sizes(fetch, shared_data):
    data = fetch(data_home=shared_data)
    for split, (n_sentences, n_tokens) in SIZES[fetch].items():
        X, y, words = (data[f"{name}_{split}"] for name in ("X", "y", "words"))
        assert len(X) == len(y) == len(words) == n_sentences
        assert sum(map(len, y)) == sum(x.shape[0] for x in X) == n_tokens
        assert {x.shape[1] for x in X} == {len(data.feature_names)}
        assert [len(one) for one in words] == [len(one) for one in y]
    assert len(data.target_names) == N_LABELS[fetch]
    assert len(data.feature_names) == N_ATTRIBUTES[fetch]
    assert f"{N_ATTRIBUTES[fetch]:,} for 3" in data.DESCR


@BOTH
def test_first_sentences_alone_decide_on_the_attributes(fetch, shared_data):
    few, fewer = (fetch(n_train=n, min_freq=1, data_home=shared_data) for n in (50, 20))
    assert (len(few.X_train), len(fewer.X_train)) == (50, 20)
    assert set(fewer.feature_names) < set(few.feature_names)
    own = set(few.feature_names[few.X_train[3].indices])
    assert {f"w[0]={word}" for word in few.words_train[3]} <= own


@BOTH
@pytest.mark.parametrize("name", ["n_train", "min_freq"])
def test_bad_numbers_are_refused(fetch, name):
    with pytest.raises(ValueError, match=name):
        fetch(**{name: 0})
