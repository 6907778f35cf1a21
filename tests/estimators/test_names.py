"""Weights by name."""

import numpy as np
import pytest

from maxmargin import ChainSVM, Tree, TreeSVM

X = [[{"w": "the"}, {"w": "cat", "n": 2.0}], [{"w": "a"}, {"w": "dog"}, {"w": "barks"}]]
Y = [["D", "N"], ["D", "N", "V"]]


@pytest.fixture(scope="module")
def tagger():
    return ChainSVM(lam=0.01, random_state=0).fit(X, Y)


def test_names_of_features(tagger):
    assert tagger.get_feature_names_out().tolist() == ["n", "w=a", "w=barks", "w=cat", "w=dog", "w=the"]
    plain = ChainSVM(lam=0.1, random_state=0).fit([np.eye(3)], [[0, 1, 0]])
    assert plain.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert plain.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="2 names for 3 features"):
        plain.top_features(1, ["a", "b"])


@pytest.mark.parametrize("k", [1, 2, 100])
def test_top_features(tagger, k):
    names = tagger.get_feature_names_out()
    top = tagger.top_features(k)
    assert list(top) == ["D", "N", "V"]
    for label, weights in zip(tagger.classes_, tagger.coef_, strict=True):
        ranked = sorted(zip(-weights, range(len(names)), strict=True))
        best = [(names[f], -minus) for minus, f in ranked if minus < 0][:k]
        ranked = sorted(zip(weights, range(len(names)), strict=True))
        worst = [(names[f], weight) for weight, f in ranked if weight < 0][:k]
        assert top[label] == (best, worst)
    assert top["V"].positive[0][0] == "w=barks"


def test_transitions_by_name(tagger):
    table = tagger.transition_table()
    assert {(a, b) for a, b, _ in table} == {(a, b) for a in "DNV" for b in "DNV"}
    assert tagger.transition_table(2) == table[:2]
    weights = [weight for *_, weight in table]
    assert weights == sorted(weights, reverse=True)
    labels = tagger.classes_.tolist()
    assert all(tagger.transitions_[labels.index(a), labels.index(b)] == weight for a, b, weight in table)


def test_forbidden_transitions_are_left_out():
    model = ChainSVM(lam=0.1, random_state=0, transition_mask="bio").fit([np.eye(3)], [["B-X", "I-X", "O"]])
    assert ("O", "I-X") not in {(a, b) for a, b, _ in model.transition_table()}
    assert len(model.transition_table()) == 8


def test_trees_have_names():
    model = TreeSVM(lam=0.1, random_state=0).fit([Tree([{"w": "a"}, {"w": "b"}], [-1, 0])], [["x", "y"]])
    assert model.top_features(1)["x"].positive[0][0] == "w=a"
    assert len(model.transition_table()) == 4


def test_a_kernel_has_no_weights():
    model = ChainSVM(lam=0.1, random_state=0, kernel="linear").fit([np.eye(3)], [[0, 1, 0]])
    with pytest.raises(ValueError, match="kernel"):
        model.top_features()
