"""Predictions of compiled kernels are those of the same kernels as plain Python, for every kind of inference."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin import ChainSVM, Graph, GraphSVM, Tree, TreeSVM
from structures.pairs import interpreted

rng = np.random.default_rng(0)
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
ROWS = [rng.normal(size=(4, 2)) for _ in range(4)]
GRAPHS = [Graph(x, EDGES) for x in ROWS]
LABELS = [rng.integers(2, size=4) for _ in ROWS]
CASES = {
    "chains": (ChainSVM(), ROWS),
    "trees": (TreeSVM(), [Tree(x, [-1, 0, 0, 1]) for x in ROWS]),
    "junction": (GraphSVM(inference="junction"), GRAPHS),
    "cut": (GraphSVM(inference="cut"), GRAPHS),
    "lp": (GraphSVM(inference="lp"), GRAPHS),
}


@pytest.mark.parametrize("name", CASES)
def test_predictions(name):
    model, X = CASES[name]
    with interpreted():
        model.set_params(random_state=0, max_passes=5).fit(X, LABELS)
    asked = [method for method in ("predict", "predict_marginals", "decision_function") if hasattr(model, method)]
    compiled = {method: np.concatenate(getattr(model, method)(X)) for method in asked}
    with interpreted():
        plain = {method: np.concatenate(getattr(model, method)(X)) for method in asked}
    assert_array_equal(compiled.pop("predict"), plain.pop("predict"))
    for method, values in compiled.items():
        assert_allclose(values, plain[method], atol=1e-9)
