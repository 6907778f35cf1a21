"""What is wrong with sets of labels is said, with its place, and leaves nothing half-fitted."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import MultilabelSVM

pytestmark = pytest.mark.usefixtures("no_compilation")

X = np.random.default_rng(0).normal(size=(4, 2))
Y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])


def changed(i, label, value):
    y = Y.astype(float)
    y[i, label] = value
    return y


def corrupt():
    y = sp.csr_matrix(Y)
    y.indices = y.indices + 5
    return y


BAD_SETS = {
    "classes": ([0, 1, 2, 1], r"y must hold a set of labels a sample.*MultiLabelBinarizer"),
    "a column": (Y[:, 0], "y must hold a set of labels a sample"),
    "lists of labels": (
        [[0, 2], [], [0, 1, 2], [1]],
        "y must hold as many columns for every sample.*MultiLabelBinarizer",
    ),
    "sets": ([{0}, {1}, {2}, set()], "y must hold a set of labels a sample"),
    "names": ([["a", "b"]] * 4, "y must hold zeros and ones, got <U1"),
    "three dimensions": (Y[..., None], r"shape \(4, 3, 1\)"),
    "no columns": (Y[:, :0], "y has no column"),
    "a two": (changed(2, 1, 2), "y, sample 2, label 1: 2.0 is neither 0 nor 1"),
    "a half": (changed(0, 2, 0.5), "y, sample 0, label 2: 0.5"),
    "below 0": (2 * Y - 1, "y, sample 0, label 1: -1 is neither 0 nor 1.*MultiLabelBinarizer"),
    "NaN": (changed(3, 0, np.nan), "y, sample 3, label 0: nan"),
    "infinity": (changed(3, 0, np.inf), "y, sample 3, label 0: inf"),
    "sparse, a two": (sp.csr_matrix(changed(2, 1, 2)), "y, sample 2, label 1: 2.0"),
    "sparse, twice": (sp.coo_matrix(([1, 1], ([0, 0], [1, 1])), shape=(4, 3)), "y, sample 0, label 1: 2.0"),
    "sparse, corrupt": (corrupt(), "y: corrupt CSR matrix"),
    "sparse, complex": (sp.csr_matrix(Y.astype(complex)), "y must be a matrix of zeros and ones, got complex"),
    "complex": (Y.astype(complex), "y must hold zeros and ones, got complex"),
    "too short": (Y[:3], "y has 3 samples, but X has 4"),
    "masked": (np.ma.masked_array(Y, mask=Y == 1), "y: masked values"),
    "none": (None, "requires y to be passed"),
}


@pytest.mark.parametrize("name", BAD_SETS)
def test_sets(name):
    y, message = BAD_SETS[name]
    model = MultilabelSVM()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]
    fitted = MultilabelSVM(tol=0.5).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        fitted.score(X, y)


def test_other_labels_than_learned():
    model = MultilabelSVM(tol=0.5).fit(X, Y)
    for ask in (model.score, model.choose_thresholds):
        with pytest.raises(ValueError, match="y has 2 labels, but there are 3"):
            ask(X, Y[:, :2])
    assert model.thresholds_.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"interactions": "all"}, r"interactions must be one of \['pairwise'\], got 'all'"),
        ({"interactions": True}, "interactions must be one of"),
        ({"inference": "cut"}, "inference must be one of"),
        ({"loss": "zero_one"}, "loss must be one of"),
        ({"missed_cost": -1.0}, "missed_cost, label 0: -1.0 must be finite and >= 0"),
        ({"wrong_cost": [1.0, np.nan, 1.0]}, "wrong_cost, label 1: nan"),
        ({"wrong_cost": [1.0, 1.0]}, "wrong_cost must be a number, or one for each of 3 labels"),
        ({"missed_cost": "high"}, "missed_cost must be a number"),
        ({"thresholds": [0.0, np.inf, 0.0]}, "thresholds, label 1: inf must be finite"),
        ({"thresholds": None}, "thresholds must be a number"),
        ({"lam": -1.0}, "lam"),
        ({"tol": -1.0}, "tol"),
        ({"scale": 2}, "scale"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultilabelSVM(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.full((4, 2), np.nan), "X contains NaN"),
        (np.full((4, 2), np.inf), "X contains infinity"),
        (X[:, 0], "Expected 2D array"),
        (X.astype(complex), "X: Complex data"),
        (np.zeros((0, 2)), "X: Found array with 0 sample"),
    ],
)
def test_features(x, message):
    with pytest.raises(ValueError, match=message):
        MultilabelSVM().fit(x, Y[: len(x)])
    with pytest.raises(ValueError, match="3 features, but"):
        MultilabelSVM(tol=0.5).fit(X, Y).predict(np.ones((1, 3)))


@pytest.mark.parametrize("weight", [[1, 1, 1], [1, 1, 1, -1], [0, 0, 0, 0], [1, np.nan, 1, 1]])
def test_weights(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        MultilabelSVM().fit(X, Y, sample_weight=weight)
