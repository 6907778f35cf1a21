"""The CRFs against enumeration of all labelings, on tiny data."""

from __future__ import annotations

import numpy as np
import pytest
from crf_cases import CASES, LABELS, K
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.usefixtures("no_compilation")
EACH = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
FEW = pytest.mark.parametrize("case", [CASES[name] for name in ("chain", "tree, edges", "graph")])


@EACH
def test_weights_are_those_of_the_optimum(case):
    model = case.model().fit(case.X, case.y)
    w, value = case.optimum(0.1)
    assert model.status_ == "converged"
    assert_allclose(case.weights_of(model), w, atol=2e-4)
    assert value - 1e-9 <= model.primal_ <= value + model.gap_ + 1e-9
    assert model.dual_ <= value + 1e-9


@EACH
def test_log_likelihood(case):
    model = case.model(tol=0.1).fit(case.X, case.y)
    w = case.weights_of(model)
    expected = [case.log_probabilities(w, i)[case.truth(i)] for i in range(len(case.y))]
    found = model.log_likelihood(case.X, case.y)
    assert_allclose(found, expected, atol=1e-9)
    assert_allclose(model.primal_, 0.05 * w @ w - np.mean(found), rtol=1e-9)


@EACH
def test_marginals(case):
    model = case.model(tol=0.1).fit(case.X, case.y)
    w = case.weights_of(model)
    for i, found in enumerate(model.predict_marginals(case.X)):
        assert_allclose(found.sum(axis=1), 1.0)
        assert_allclose(found, case.marginals(w, i), atol=1e-9)


@EACH
def test_best_labelings_and_their_probabilities(case):
    model = case.model(tol=0.1).fit(case.X, case.y)
    w = case.weights_of(model)
    labelings, scores = model.predict_topk(case.X, 3)
    for i, labels in enumerate(model.predict(case.X)):
        logs = case.log_probabilities(w, i)
        assert labels.tolist() == LABELS[case.outputs(i)[np.argmax(logs)]].tolist() == labelings[i][0].tolist()
        best = model.log_likelihood([case.X[i]] * len(labelings[i]), list(labelings[i]))
        assert_allclose(best, np.sort(logs)[::-1][: len(best)], atol=1e-9)
        assert_allclose(scores[i] - scores[i][0], best - best[0], atol=1e-9)


@FEW
def test_weights_of_samples_repeat_them(case):
    weight = [2, 1, 0, 1, 3]
    model = case.model().fit(case.X, case.y, sample_weight=weight)
    repeated = [i for i, times in enumerate(weight) for _ in range(times)]
    again = case.model().fit([case.X[i] for i in repeated], [case.y[i] for i in repeated])
    assert_allclose(case.weights_of(model), case.weights_of(again), atol=2e-4)
    assert_allclose(case.weights_of(model), case.optimum(0.1, weight)[0], atol=2e-4)


@FEW
def test_features_of_any_scale_learn_the_same(case):
    """Under the default lam."""

    def scaled(sample, factor):
        return sample * factor if isinstance(sample, np.ndarray) else sample._replace(features=sample[0] * factor)

    model, other = (case.model(lam=None).fit([scaled(x, factor) for x in case.X], case.y) for factor in (1.0, 1000.0))
    assert_allclose(other.coef_ * 1000.0, model.coef_, atol=2e-4)
    assert_allclose(other.transitions_, model.transitions_, atol=2e-4)
    assert_allclose(other.lam_, model.lam_)


@FEW
def test_what_scaling_means(case):
    """A model of scaled features is that of features divided by hand."""
    model = case.model(scale=True, fit_intercept=False).fit(case.X, case.y)
    assert model.scaling_.features == pytest.approx(np.sqrt(np.vstack(case.nodes).var(axis=0).sum()))
    assert model.scaling_.loss == 1.0
    assert_allclose(-np.mean(model.log_likelihood(case.X, case.y)), model.primal_ - _penalty(model, case), rtol=1e-9)


def _penalty(model, case):
    parts = {name: np.array(getattr(model, name)) for name in ("coef_", "transitions_", "edge_coef_")}
    parts["coef_"] *= model.scaling_.features
    parts["edge_coef_"] *= model.scaling_.edges
    if case.ends:
        parts["boundary_"] = model.boundary_
    return 0.5 * model.lam_ * sum(np.sum(np.square(part)) for part in parts.values())


@EACH
def test_masks_forbid(case):
    """Labelings that the mask forbids have probability 0, and the others all of it."""
    allowed = ~np.eye(K, dtype=bool)
    y = [np.roll(LABELS, i)[_coloring(links, len(case.nodes[i]))].tolist() for i, links in enumerate(case.links)]
    model = case.model(tol=1e-6, transition_mask=allowed).fit(case.X, y)
    w = case.weights_of(model)
    for i, (links, found) in enumerate(zip(case.links, model.predict_marginals(case.X), strict=True)):
        outputs = case.outputs(i)
        valid = np.all([outputs[:, u] != outputs[:, v] for u, v in links] or [np.full(len(outputs), True)], axis=0)
        scores = np.where(valid, case.features(i) @ w, -np.inf)
        probabilities = np.exp(scores - np.logaddexp.reduce(scores))
        expected = [np.bincount(outputs[:, t], probabilities, K) for t in range(outputs.shape[1])]
        assert_allclose(found, expected, atol=1e-9)
        given = model.log_likelihood([case.X[i]] * len(outputs), list(LABELS[outputs]))
        assert_allclose(np.exp(given), probabilities, atol=1e-9)
        assert_array_equal(given[~valid], -np.inf)


def _coloring(links, n):
    """Codes of labels, those of linked sites different."""
    codes = np.zeros(n, int)
    for v in range(n):
        taken = {codes[u] for pair in links for u in pair if v in pair and u < v}
        codes[v] = min(set(range(K)) - taken)
    return codes
