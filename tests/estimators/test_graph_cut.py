"""`GraphSVM(inference="cut")`: the same problem by enumeration, errors, and what cannot be asked."""

import pickle
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from maxmargin import GraphSVM, regularization_path
from maxmargin.solvers import BlockFrankWolfe
from maxmargin.structures import PairwiseProblem

pytestmark = pytest.mark.usefixtures("no_compilation")

EDGES = [[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [(0, 1), (1, 0)], []]


def make_graphs(n_edge_features=2, seed=0):
    rng = np.random.default_rng(seed)
    sizes = (4, 2, 1)
    y = [rng.integers(2, size=size) for size in sizes]
    y[0][:2] = 0, 1
    X = [rng.normal(size=(size, 2)) + labels[:, None] for size, labels in zip(sizes, y, strict=True)]
    if n_edge_features is None:
        return list(zip(X, EDGES, strict=True)), y
    of_edges = [rng.uniform(size=(len(edges), n_edge_features)) for edges in EDGES]
    return list(zip(X, EDGES, of_edges, strict=True)), y


def score(model, sample, labels):
    """By the fitted attributes, as those of any graph."""
    x, edges, *rest = sample
    of_edges = rest[0] if rest else np.zeros((len(edges), 0))
    total = sum(model.coef_[k] @ row + model.intercept_[k] for row, k in zip(x, labels, strict=True))
    for (s, t), features in zip(edges, of_edges, strict=True):
        table = model.transitions_ + np.tensordot(features, model.edge_coef_, 1)
        total += table[labels[s], labels[t]]
    return total


def labelings(sample):
    return list(product((0, 1), repeat=len(sample[0])))


@pytest.mark.parametrize("n_edge_features", [None, 0, 2])
def test_objective_and_predictions_by_enumeration(n_edge_features):
    X, y = make_graphs(n_edge_features)
    model = GraphSVM(lam=0.1, tol=1e-6, inference="cut", random_state=0, max_passes=5000).fit(X, y)
    weights = np.concatenate([model.transitions_[None], model.edge_coef_])
    assert np.all(weights[:, 0, 1] <= 0) and np.array_equal(weights[:, 0, 1], weights[:, 1, 0])
    hinges = []
    for sample, truth in zip(X, y, strict=True):
        losses = [np.mean(np.array(one) != truth) for one in labelings(sample)]
        scores = np.array([score(model, sample, one) for one in labelings(sample)])
        hinges.append(np.max(scores + losses) - score(model, sample, truth))
        assert model.decision_function([sample])[0].max() == pytest.approx(scores.max())
        _, values = model.predict_topk([sample], 3)
        assert values[0] == pytest.approx(np.sort(scores)[::-1][:3])
        assert score(model, sample, model.predict([sample])[0]) == pytest.approx(scores.max())
    square = sum(np.sum(part**2) for part in (model.coef_, model.intercept_, weights[:, 0, 1]))
    assert model.primal_ == pytest.approx(0.05 * square + np.mean(hinges), abs=1e-9)
    assert 0 <= model.gap_ <= 1e-6


def test_no_other_weights_are_better():
    X, y = make_graphs()
    model = GraphSVM(lam=0.1, tol=1e-7, inference="cut", random_state=0, max_passes=5000).fit(X, y)
    problem = model.encode(X, y).problem
    assert isinstance(problem, PairwiseProblem)
    free = BlockFrankWolfe("gap", step="pairwise").solve(problem, 0.1, tol=1e-7, max_passes=3000, random_state=0)
    if np.all(free.w[-3:] >= 0):  # the bounds do not bind: the same optimum
        assert model.primal_ == pytest.approx(free.primal, abs=1e-5)
    assert model.primal_ >= free.dual - 1e-7


def test_there_are_no_marginals():
    assert not hasattr(GraphSVM(inference="cut"), "predict_marginals")


def test_sparse_edge_features_pickle_and_clone():
    X, y = make_graphs()
    model = GraphSVM(lam=0.1, inference="cut", random_state=0).fit(X, y)
    same = clone(model).fit([(x, edges, sparse.csr_matrix(f)) for x, edges, f in X], y)
    assert same.coef_ == pytest.approx(model.coef_)
    assert all(map(np.array_equal, pickle.loads(pickle.dumps(model)).predict(X), model.predict(X)))


def test_path():
    X, y = make_graphs()
    path = regularization_path(GraphSVM(inference="cut", random_state=0), X, y, eps=0.2, lam_min=0.05)
    assert path.worst_gap <= 0.2
    model = path.estimator_at(path.breakpoints[-1])
    assert np.all(model.edge_coef_[:, 0, 1] <= 0) and len(model.predict(X)) == len(X)


def negative(X, y):
    x, edges, of_edges = X[0]
    of_edges = of_edges.copy()
    of_edges[3, 1] = -0.1
    return [(x, edges, of_edges), *X[1:]], y


def three_labels(X, y):
    return X, [np.arange(len(labels)) % 3 for labels in y]


BAD = {
    "negative features": ({}, negative, "sample 0, edge 3 -> 0: edge_features must be >= 0"),
    "three labels": ({}, three_labels, "two labels"),
    "mask": ({"transition_mask": np.eye(2)[::-1]}, lambda X, y: ([X[2]], [[0]]), "two labels"),
    "bounds": ({"solver": BlockFrankWolfe(lower=-1.0)}, lambda X, y: (X, y), "leave lower, upper and positive"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    options, change, message = BAD[case]
    model = GraphSVM(inference="cut", **options)
    with pytest.raises(ValueError, match=message):
        model.fit(*change(*make_graphs()))
    assert not hasattr(model, "coef_")


def test_negative_features_keep_the_number_of_their_sample():
    good, y = make_graphs()
    X, _ = negative(good, y)
    model = GraphSVM(inference="cut", tol=0.5)
    with pytest.raises(ValueError, match="X, sample 1, edge 3 -> 0: edge_features must be >= 0"):
        model.fit([X[1], X[0]], [y[1], y[0]], sample_weight=[0, 1])
    with pytest.raises(ValueError, match="X, sample 2, edge 3 -> 0: edge_features must be >= 0"):
        model.fit(good, y).predict([*X[1:], X[0]])


def test_weights_that_are_no_costs():
    """A model of another kind, or changed by hand, has edges that no cut can answer for."""
    X, y = make_graphs()
    model = GraphSVM(tol=0.5, max_passes=20).fit(X, y).set_params(inference="cut")
    with pytest.raises(ValueError, match=r'transitions: .* no cost >= 0 .* inference="cut" needs: fit again'):
        model.predict(X)
    before = model.fit(X, y).predict(X)
    with pytest.raises(ValueError, match="read-only"):
        model.edge_coef_[1] = 1 - np.eye(2)
    changed = model.edge_coef_.copy()
    changed[1] = 1 - np.eye(2)
    with pytest.raises(ValueError, match=r"edge_coef, edge feature 1: .* no cost >= 0"):
        model.edge_coef_ = changed
    assert all(map(np.array_equal, model.predict(X), before))


def test_weights_that_are_assigned():
    X, y = make_graphs()
    model = GraphSVM(tol=0.5, inference="cut").fit(X, y)
    model.transitions_ = 100.0 * (np.eye(2) - 1.0)  # labels that differ cost so much that none do
    model.edge_coef_ = np.zeros_like(model.edge_coef_)
    assert model.transitions_[0, 1] == -100.0 and not np.any(model.edge_coef_)
    connected = [sample for sample in X if len(sample[1]) >= len(sample[0])]
    assert connected and all(len(set(labels)) == 1 for labels in model.predict(connected))


def test_labelings_of_costs_by_junction_trees():
    X, y = make_graphs()
    model = GraphSVM(lam=0.1, inference="cut", random_state=0).fit(X, y)
    by_cuts = model.predict(X)
    assert all(map(np.array_equal, model.set_params(inference="junction").predict(X), by_cuts))


def test_masks_are_refused():
    X, y = make_graphs()
    with pytest.raises(ValueError, match="transition_mask does not go with"):
        GraphSVM(inference="cut", transition_mask=np.ones((2, 2), bool)).fit(X, y)
