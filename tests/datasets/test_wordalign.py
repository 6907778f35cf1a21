"""Word alignments: parsing, matchings and features by hand, then the real set and its published error rates."""

import json
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment

from maxmargin.datasets import _wordalign, fetch_wordalign
from maxmargin.metrics import alignment_error_rate

ALIGNERS = _wordalign.ALIGNERS
FIELDS = {
    "src": ["The", "nation", "!"],
    "tgt": ["La", "Nation", "the", "."],
    "S": [[1, 1]],
    "P": [[0, 0], [2, 3]],
    "giza_fwd": [[0, 0], [1, 1]],
    "giza_rev": [[1, 1], [2, 3]],
    "fast_fwd": [[1, 1]],
    "fast_rev": [],
}
SIZES = {"en-fr": (100, 347), "ro-en": (100, 148)}


def lines(*rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def pair(sure, votes=(), shape=(3, 4)):
    """A sentence pair with these sure links, and votes of the first aligner."""
    fields = {name: [] for name in ("P", *ALIGNERS)} | {"S": list(sure), "giza_fwd": list(votes)}
    words = {"src": ["a"] * shape[0], "tgt": ["b"] * shape[1]}
    return _wordalign._parse(lines(fields | words), ALIGNERS)[0]


def test_parse():
    first, second = _wordalign._parse(lines(FIELDS, FIELDS | {"src": ["é"] * 3, "S": []}), ALIGNERS)
    assert first.source.tolist() == ["The", "nation", "!"] and second.source.tolist() == ["é"] * 3
    assert first.sure.tolist() == [[1, 1]] and first.possible.tolist() == [[0, 0], [2, 3]]
    assert second.sure.shape == (0, 2) and first.votes.shape == (3, 4, 4)
    assert np.argwhere(first.votes).tolist() == [[0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 2], [2, 3, 1]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            lines(FIELDS, {"src": ["a"], "tgt": ["b"], "S": []}),
            "pair 2 has no P, giza_fwd, giza_rev, fast_fwd, fast_rev",
        ),
        (lines(FIELDS | {"src": []}), "pair 1 has a sentence without words"),
        (lines(FIELDS | {"S": [[0, 0], [3, 0]]}), r"S of pair 1 links \[3, 0\], but the sentences have 3 and 4 words"),
        (lines(FIELDS | {"fast_rev": [[0, -1]]}), r"fast_rev of pair 1 links \[0, -1\]"),
        (b"{", "Expecting"),
    ],
)
def test_bad_text_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        _wordalign._parse(text, ALIGNERS)


@pytest.mark.parametrize(
    ("sure", "votes", "matched"),
    [
        ([], [[0, 0]], [-1, -1, -1]),
        ([[0, 2], [2, 0]], [], [2, -1, 0]),
        ([[0, 0], [0, 1]], [[0, 1]], [1, -1, -1]),  # the votes decide
        ([[0, 0], [1, 0]], [[1, 0]], [-1, 0, -1]),
        ([[0, 0], [0, 1], [1, 0]], [[0, 0]], [1, 0, -1]),  # more links before more votes
    ],
)
def test_matching(sure, votes, matched):
    assert _wordalign._matching(pair(sure, votes)).tolist() == matched


def test_matching_is_largest():
    rng = np.random.default_rng(0)
    for _ in range(30):
        sure = [[i, j] for i in range(3) for j in range(4) if rng.random() < 0.4]
        one_to_one = [
            subset
            for size in range(4)
            for subset in combinations(sure, size)
            if len({i for i, _ in subset}) == len({j for _, j in subset}) == size
        ]
        matched = _wordalign._matching(pair(sure))
        assert np.count_nonzero(matched >= 0) == max(map(len, one_to_one))
        assert all([i, j] in sure for i, j in enumerate(matched) if j >= 0)
        assert len(set(matched[matched >= 0])) == np.count_nonzero(matched >= 0)


def test_features():
    found = _wordalign._features(_wordalign._parse(lines(FIELDS), ALIGNERS)[0])
    assert found.shape == (3, 4, 30) and found.dtype == np.float64
    columns = {name: found[..., k] for k, name in enumerate(_wordalign.FEATURE_NAMES)}
    for name in ALIGNERS:
        assert np.argwhere(columns[name]).tolist() == FIELDS[name]
    assert np.argwhere(columns["giza_both"]).tolist() == [[1, 1]]
    assert not columns["fast_both"].any() and not columns["all_four"].any()
    assert np.argwhere(columns["giza_fwd_before"]).tolist() == [[1, 1], [2, 2]]
    assert np.argwhere(columns["giza_fwd_after"]).tolist() == [[0, 0]]
    assert np.argwhere(columns["giza_rev_after"]).tolist() == [[0, 0], [1, 2]]
    assert_array_equal(columns["giza_fwd_other_targets"], [[0, 0.5, 0.5, 0.5], [0.5, 0, 0.5, 0.5], [0] * 4])
    assert_array_equal(columns["giza_rev_other_sources"], [[0, 0.5, 0, 0.5], [0, 0, 0, 0.5], [0, 0.5, 0, 0]])
    assert not any(columns[f"fast_rev_{where}"].any() for where in ("before", "after", "other_targets"))
    assert_allclose(columns["position"][1], [1 / 3, 1 / 12, 1 / 6, 5 / 12])
    assert_allclose(columns["position^2"], columns["position"] ** 2)
    assert np.argwhere(columns["same_word"]).tolist() == [[0, 2], [1, 1]]
    assert_array_equal(columns["common_prefix"], columns["same_word"])
    assert np.argwhere(columns["both_punctuation"]).tolist() == [[2, 3]]
    assert np.argwhere(columns["one_punctuation"]).tolist() == [[0, 3], [1, 3], [2, 0], [2, 1], [2, 2]]
    assert_array_equal(columns["constant"], 1)


def test_many_other_links_count_as_two():
    found = _wordalign._features(pair([], [[0, 0], [0, 1], [0, 3], [1, 1]]))
    columns = {name: found[..., k] for k, name in enumerate(_wordalign.FEATURE_NAMES)}
    assert_array_equal(columns["giza_fwd_other_targets"], [[1, 1, 1, 1], [0.5, 0, 0.5, 0.5], [0] * 4])
    assert_array_equal(columns["giza_fwd_other_sources"], [[0, 0.5, 0, 0], [0.5, 0.5, 0, 0.5], [0.5, 1, 0, 0.5]])


@pytest.mark.parametrize(
    ("word", "other", "share"),
    [("commons", "communes", 4 / 8), ("a", "a", 1), ("a", "b", 0), ("in", "inside", 2 / 6), ("inside", "in", 2 / 6)],
)
def test_common_prefix(word, other, share):
    assert _wordalign._common_prefix(word, other) == pytest.approx(share)


@pytest.fixture(scope="module", params=SIZES)
def languages(request):
    return request.param


@pytest.fixture(scope="module")
def data(shared_data, languages):
    return fetch_wordalign(languages, trial=languages == "en-fr", data_home=shared_data)


def test_sizes(data, languages):
    for split, n_pairs in zip(("train", "test"), SIZES[languages], strict=True):
        names = ("X", "y", "sure", "possible", "source", "target")
        assert {len(data[f"{name}_{split}"]) for name in names} == {n_pairs}
        for x, y, sure, possible, source, target in zip(*(data[f"{name}_{split}"] for name in names), strict=True):
            assert x.shape == (len(source), len(target), 30) and x.dtype == np.float64
            assert y.shape == (len(source),) and y.dtype == sure.dtype == possible.dtype == np.int64
            assert y.min() >= -1 and y.max() < len(target)
            links = np.concatenate([sure, possible])
            assert len(np.unique(links, axis=0)) == len(links)  # the possible links do not repeat the sure ones
    assert data.feature_names[:4].tolist() == data.aligner_names.tolist() and len(data.feature_names) == 30


def test_counts(data, languages):
    names = ("source", "target", "sure", "possible")
    totals = [sum(map(len, data[f"{name}_train"] + data[f"{name}_test"])) for name in names]
    assert totals == {"en-fr": [7020, 7761, 4038, 13400], "ro-en": [5495, 5639, 6198, 0]}[languages]
    n_many = sum(len(sure) > np.count_nonzero(y >= 0) for sure, y in _zipped(data, "sure", "y"))
    assert n_many == {"en-fr": 105, "ro-en": 234}[languages]


def _zipped(data, *names):
    return zip(*(data[f"{name}_train"] + data[f"{name}_test"] for name in names), strict=True)


def test_aligners_have_the_published_error_rates(data, languages):
    sure, possible = (data[f"{name}_train"] + data[f"{name}_test"] for name in ("sure", "possible"))
    rates = [
        alignment_error_rate([np.argwhere(x[..., k]) for x in data.X_train + data.X_test], sure, possible)
        for k in range(4)
    ]
    published = {"en-fr": [0.080, 0.098, 0.164, 0.159], "ro-en": [0.287, 0.322, 0.338, 0.355]}[languages]
    assert_allclose(rates, published, atol=1e-3)


def _best_links(gain):
    rows, columns = linear_sum_assignment(np.maximum(gain, 0), maximize=True)
    return [(i, j) for i, j in zip(rows, columns, strict=True) if gain[i, j] > 0]


def test_weighted_votes(data, languages):
    predicted = [_best_links(x[..., :4] @ [3, 3, 1, 1] - 3.5) for x in data.X_test]
    rate = alignment_error_rate(predicted, data.sure_test, data.possible_test)
    assert rate == pytest.approx({"en-fr": 0.054, "ro-en": 0.239}[languages], abs=5e-4)


def test_trial_pairs(data, languages):
    if languages == "ro-en":
        assert not any(name.endswith("trial") for name in data)
        return
    assert {len(data[f"{name}_trial"]) for name in ("source", "target", "sure", "possible")} == {37}
    assert sum(map(len, data.sure_trial)) == 338 and sum(map(len, data.possible_trial)) == 1446
    assert data.source_trial[0][:3].tolist() == ["each", "of", "them"] and "X_trial" not in data


def test_unknown_languages():
    with pytest.raises(ValueError, match="languages must be 'en-fr' or 'ro-en', got 'fr-en'"):
        fetch_wordalign("fr-en")
    with pytest.raises(ValueError, match="trial pairs for 'en-fr' only"):
        fetch_wordalign("ro-en", trial=True)
