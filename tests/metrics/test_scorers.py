"""Scorers by name: against plain versions, and inside scikit-learn's tools."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from maxmargin import ChainSVM, MulticlassSVM
from maxmargin.metrics import (
    Scorer,
    chunk_f1,
    chunk_scores,
    default_scoring,
    get_scorer,
    names_chunks,
    scorer_names,
)

pytestmark = pytest.mark.usefixtures("no_compilation")

SCHEMES = {"IOB": "BI", "BIOES": "BIES", "BILOU": "BILU"}


def random_labels(rng, tags, n=40):
    names = ["O", *(f"{tag}-{kind}" for tag in tags for kind in ("x", "y"))]
    return [rng.choice(names, size=length).tolist() for length in rng.integers(1, 9, size=n)]


def chunks_of(labels):
    """conlleval's startOfChunk and endOfChunk, one token at a time."""
    found, start = set(), None
    before, kind_before = "O", ""
    for t, label in enumerate([*labels, "O"]):
        tag, _, kind = label.partition("-")
        ends = before != "O" and (tag in ("B", "S", "U", "O") or before in ("E", "S", "L", "U") or kind != kind_before)
        starts = tag != "O" and (tag in ("B", "S", "U") or before in ("E", "S", "L", "U", "O") or kind != kind_before)
        if ends:
            found.add((start, t, kind_before))
        if starts:
            start = t
        before, kind_before = tag, kind
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
def test_chunks_are_those_of_a_plain_version(scheme):
    rng = np.random.default_rng(0)
    for _ in range(20):
        true, pred = (random_labels(rng, SCHEMES[scheme]) for _ in range(2))
        pred = [
            [a if rng.random() < 0.7 else b for a, b in zip(one, rng.permutation(one).tolist(), strict=True)]
            for one in true
        ]
        n_true, n_pred, n_both = 0, 0, 0
        for a, b in zip(true, pred, strict=True):
            one, other = chunks_of(a), chunks_of(b)
            n_true, n_pred, n_both = n_true + len(one), n_pred + len(other), n_both + len(one & other)
        assert chunk_scores(true, pred) == pytest.approx(
            (n_both / n_pred, n_both / n_true, 2 * n_both / (n_true + n_pred))
        )


def test_other_schemes_spell_the_same_chunks():
    spelt = (
        [["B-x", "I-x", "I-x", "O", "B-y"]],
        [["B-x", "I-x", "E-x", "O", "S-y"]],
        [["B-x", "I-x", "L-x", "O", "U-y"]],
    )
    assert [chunk_f1(spelt[0], other) for other in spelt] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        (["O", "B-x", "I-x"], True),
        (["B-x"], True),
        (["O", "B-x", "I-x", "E-x", "S-x"], True),
        (["O"], False),
        (["S-Adj", "S-Noun"], False),  # tags of words that begin like those of chunks
        (["O", "B-x", "NN"], False),
        ([0, 1], False),
        ([], False),
    ],
)
def test_labels_that_name_chunks(labels, answer):
    assert names_chunks(labels) is answer


def test_default():
    assert default_scoring([np.array(["O", "B-x"])]) == "chunk_f1"
    assert default_scoring([["O", "B-x"], ("I-x",)]) == "chunk_f1"
    assert default_scoring(np.array(["O", "B-x"])) is None  # classes of samples spell nothing
    assert default_scoring([["NN"], ["DT"]]) is None
    assert default_scoring([np.array([[0, 1], [2, 2]])]) is None


def test_labels_of_samples_and_of_sequences_are_compared_alike():
    rng = np.random.default_rng(0)
    true, pred = rng.choice(["a", "b", "c"], size=(2, 60))
    cut = lambda y: np.split(y, [7, 20, 21])  # noqa: E731
    for name, value in {
        "accuracy": accuracy_score(true, pred),
        "label_accuracy": accuracy_score(true, pred),
        "macro_f1": f1_score(true, pred, average="macro"),
    }.items():
        assert Scorer(name).compare(true, pred) == pytest.approx(value)
        assert Scorer(name).compare(cut(true), cut(pred)) == pytest.approx(value)
        assert Scorer(name).compare([one.tolist() for one in cut(true)], cut(pred)) == pytest.approx(value)


def test_whole_sequences():
    true = [["a", "b"], ["a"], ["b", "b"]]
    assert Scorer("sequence_accuracy").compare(true, [np.array(["a", "b"]), ["b"], ["b", "a"]]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", scorer_names())
def test_outputs_that_are_not_as_many_are_refused(name):
    with pytest.raises(ValueError, match="y_true has 1"):
        Scorer(name).compare([["O"]], [["O"], ["O"]])


def make_chunks(n=12):
    rng = np.random.default_rng(0)
    y = [["O", "B-x", "I-x", "O"][: rng.integers(2, 5)] for _ in range(n)]
    code = {"O": 0, "B-x": 1, "I-x": 2}
    return [np.eye(3)[[code[label] for label in labels]] for labels in y], y


@pytest.mark.parametrize("name", scorer_names())
def test_inside_other_tools(name):
    X, y = make_chunks()
    scorer = get_scorer(name)
    assert repr(pickle.loads(pickle.dumps(scorer))) == f"Scorer(name={name!r})"
    model = ChainSVM(lam=0.1, random_state=0)
    assert cross_val_score(model, X, y, cv=2, scoring=scorer, error_score="raise").shape == (2,)
    search = GridSearchCV(model, {"lam": [0.1, 1.0]}, cv=2, scoring=scorer, error_score="raise").fit(X, y)
    assert 0 <= search.best_score_ <= 1


def test_names_of_scikit_learn_and_functions():
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    model = MulticlassSVM(lam=0.1, random_state=0).fit(X, y)
    assert get_scorer("balanced_accuracy")(model, X, y) == 1.0
    assert get_scorer(max) is max
    with pytest.raises(ValueError, match=r"chunk_f1.*got 'no_such'"):
        get_scorer("no_such")
    with pytest.raises(TypeError, match="scoring must be"):
        get_scorer(3)
    with pytest.raises(ValueError, match="scoring must be one of"):
        Scorer("no_such")
