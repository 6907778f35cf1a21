"""The treebank: parsing, trees, and lexical attributes against a plain string version."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from maxmargin.datasets import _ewt, fetch_ewt
from maxmargin.datasets._lexical import TEMPLATES
from maxmargin.features.attributes import AttributeEncoder

TEXT = """I\tPRON\tPRP\t2\tnsubj
saw\tVERB\tVBD\t0\troot
McDonald\tPROPN\tNNP\t2\tobj

U2-Live\tPROPN\tNNP\t0\troot

42\tNUM\tCD\t2\tnummod
saws\tNOUN\tNNS\t0\troot
,\tPUNCT\t,\t4\tpunct
École\tPROPN\tNNP\t2\tlist

""".encode()
SIZES = {"train": (12544, 204577), "dev": (2001, 25147), "test": (2077, 25094)}
SHAPES = {"I": "X", "saw": "x", "McDonald": "XxXx", "U2-Live": "Xd-Xx", "42": "d", "saws": "x", ",": ",", "École": "Xx"}


def attributes(words):
    """Sets of attribute names, one per word."""
    rows = []
    for t, word in enumerate(words):
        row = [f"w[{k}]={words[t + k]}" for k in range(-2, 3) if 0 <= t + k < len(words)]
        row += [f"lower[{k}]={words[t + k].lower()}" for k in range(-1, 2) if 0 <= t + k < len(words)]
        for n in (2, 3):
            if len(word) >= n:
                row += [f"prefix{n}[0]={word.lower()[:n]}", f"suffix{n}[0]={word.lower()[-n:]}"]
        row += [f"shape[0]={SHAPES[word]}"]
        row += ["capitalised[0]=yes"] * word[0].isupper() + ["digit[0]=yes"] * word.isdigit()
        rows.append(row + ["__BOS__"] * (t == 0) + ["__EOS__"] * (t == len(words) - 1))
    return rows


def test_parse():
    treebank = _ewt._parse(TEXT)
    assert treebank.words == ("I", "saw", "McDonald", "U2-Live", "42", "saws", ",", "École")
    assert list(treebank.xpos) == ["PRP", "VBD", "NNP", "NNP", "CD", "NNS", ",", "NNP"]
    assert list(treebank.upos) == ["PRON", "VERB", "PROPN", "PROPN", "NUM", "NOUN", "PUNCT", "PROPN"]
    assert list(treebank.deprel) == ["nsubj", "root", "obj", "root", "nummod", "root", "punct", "list"]
    assert [heads.tolist() for heads in treebank.cut(treebank.heads)] == [[1, -1, 1], [-1], [1, -1, 3, 1]]


def test_sentences_without_words_are_dropped():
    padded = b"\n\n" + TEXT.replace(b"\n\n", b"\n\n\n\n")
    assert_array_equal(_ewt._parse(padded).offsets, _ewt._parse(TEXT).offsets)


@pytest.mark.parametrize(("n", "offsets"), [(None, [0, 3, 4, 8]), (2, [0, 3, 4]), (9, [0, 3, 4, 8])])
def test_first_sentences(n, offsets):
    part = _ewt._parse(TEXT).first(n)
    assert part.offsets.tolist() == offsets
    assert {len(values) for name, values in vars(part).items() if name != "offsets"} == {offsets[-1]}


@pytest.mark.parametrize("min_freq", [1, 2])
def test_attributes_match_strings(min_freq):
    treebank = _ewt._parse(TEXT)
    sentences = [treebank.words[:3], treebank.words[3:4], treebank.words[4:]]
    counts = Counter(name for words in sentences for row in attributes(words) for name in row)
    kept = {name for name, count in counts.items() if count >= min_freq}
    encoder = AttributeEncoder.learn(TEMPLATES, treebank.tokens(), min_freq)
    names = encoder.names()
    assert len(names) == encoder.n_attributes and set(names) == kept
    for matrix, words in zip(encoder.encode(treebank.tokens()), sentences, strict=True):
        expected = [sorted(kept & set(row)) for row in attributes(words)]
        assert [sorted(names[row.indices]) for row in matrix] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\n\n", "holds no sentence"),
        (b"I\tPRON\tPRP\t0\n\n", r"between tabs, got 'I\\tPRON\\tPRP\\t0'"),
        (b"I\tPRON\tPRP\tone\troot\n\n", "HEAD \\(a number\\)"),
        (b"\tPRON\tPRP\t0\troot\n\n", "FORM"),
        (TEXT + b"I\tPRON\tPRP\t2\troot\n\n", "sentence 4 has a HEAD beyond its last word"),
        (TEXT.replace(b"VBD\t0", b"VBD\t3"), "HEADs of sentence 1 form a cycle"),
        (TEXT.replace(b"NNP\t0", b"NNP\t1"), "HEADs of sentence 2 form a cycle"),
        (b"\xff", "utf-8"),
    ],
)
def test_bad_text_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        _ewt._parse(text)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 9])
def test_a_chain_of_heads_is_no_cycle(length):
    chain = "".join(f"a\tX\tX\t{head}\tdep\n" for head in range(length)).encode()
    assert _ewt._parse(chain).heads.tolist() == list(range(-1, length - 1))
    with pytest.raises(ValueError, match="form a cycle"):
        _ewt._parse(chain.replace(b"\t0\t", f"\t{length}\t".encode()))


@pytest.fixture(scope="module")
def tags(shared_data):
    return fetch_ewt(data_home=shared_data)


def test_sizes(tags):
    for split, (n_sentences, n_words) in SIZES.items():
        for name in ("X", "heads", "y", "words"):
            assert len(tags[f"{name}_{split}"]) == n_sentences
        assert sum(map(len, tags[f"y_{split}"])) == n_words
    assert len(tags.target_names) == 49 and len(tags.feature_names) == 54591
    assert max(map(len, tags.y_train)) == 159


def test_types(tags):
    for split in SIZES:
        parts = (tags[f"{name}_{split}"] for name in ("X", "heads", "y", "words"))
        for x, heads, y, words in zip(*parts, strict=True):
            assert x.shape == (len(y), 54591) and x.dtype == np.float64 and x.indices.dtype == np.int32
            assert heads.shape == words.shape == y.shape and heads.dtype == np.int64
            assert np.count_nonzero(heads == -1) == 1
        assert set(np.concatenate(tags[f"y_{split}"])) <= set(tags.target_names)
    tags.X_train[0].check_format(full_check=True)


def test_first_real_sentence(tags):
    assert tags.words_train[0][:3].tolist() == ["Al", "-", "Zaman"]
    assert tags.y_train[0][:3].tolist() == ["NNP", "HYPH", "NNP"]
    assert tags.heads_train[0][:3].tolist() == [-1, 2, 0]
    present = set(tags.feature_names[tags.X_train[0][0].indices])
    assert {"__BOS__", "w[0]=Al", "lower[0]=al", "shape[0]=Xx", "w[2]=Zaman"} <= present


def test_relations_of_few_sentences(shared_data, tags):
    data = fetch_ewt("deprel", n_train=200, min_freq=1, data_home=shared_data)
    assert (len(data.X_train), len(data.X_dev), len(data.X_test)) == (200, 2001, 2077)
    assert_array_equal(data.target_names, np.unique(np.concatenate(data.y_train)))
    assert data.X_train[0].shape == (29, len(data.feature_names)) and len(data.feature_names) < 30000
    for labels, heads, expected in zip(data.y_train, data.heads_train, tags.heads_train, strict=False):
        assert_array_equal(labels == "root", heads == -1)
        assert_array_equal(heads, expected)


def test_all_relations(shared_data):
    data = fetch_ewt("deprel", data_home=shared_data)
    assert len(data.target_names) == 51
    assert set(np.concatenate(data.y_dev + data.y_test)) <= set(data.target_names)


@pytest.mark.parametrize("name", ["n_train", "min_freq"])
def test_bad_counts_are_refused(name):
    with pytest.raises(ValueError, match=name):
        fetch_ewt(**{name: 0})
    with pytest.raises(TypeError, match=name):
        fetch_ewt(**{name: 1.5})


def test_unknown_target():
    with pytest.raises(ValueError, match="target must be 'xpos', 'upos' or 'deprel', got 'feats'"):
        fetch_ewt("feats")
