"""`GraphSVM(inference="lp")`: the relaxed problem by an independent solver, trees, bounds, and what cannot be asked."""

import pickle
from itertools import combinations, product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from maxmargin import Graph, GraphSVM, regularization_path
from reference.graph import Graph as Scores
from reference.relaxation import relaxed_optimum, relaxed_value
from structures.pairs import graph_joint_feature

pytestmark = pytest.mark.usefixtures("no_compilation")

LAM = 0.02
TRIANGLE, CLIQUE = [(0, 1), (1, 2), (2, 0)], list(combinations(range(4), 2))
TREE = [[(0, 1), (2, 1), (1, 3)], [(1, 0)], []]


def make_graphs(edges, n_labels, n_edge_features=None, seed=0):
    """Random labels, of which features tell little."""
    rng = np.random.default_rng(seed)
    sizes = [max(np.max(one, initial=0) + 1, 2) for one in edges]
    y = [rng.integers(n_labels, size=size) for size in sizes]
    y[0][:n_labels] = np.arange(n_labels)[: sizes[0]]
    X = [rng.normal(size=(size, 2)) + 0.3 * labels[:, None] for size, labels in zip(sizes, y, strict=True)]
    if n_edge_features is None:
        return list(zip(X, edges, strict=True)), y
    return [(x, e, rng.normal(size=(len(e), n_edge_features))) for x, e in zip(X, edges, strict=True)], y


def fit(X, y, **options):
    return GraphSVM(**{"lam": LAM, "inference": "lp", "random_state": 0, "max_passes": 5000, **options}).fit(X, y)


def parts(sample):
    x, edges, *rest = sample
    return x, np.reshape(edges, (-1, 2)).astype(int), rest[0] if rest else np.zeros((len(edges), 0))


def scores_of(model, sample, truth=None):
    """Scores by the fitted attributes, with the loss if the true labels are given."""
    x, edges, of_edges = parts(sample)
    node = x @ model.coef_.T + model.intercept_
    if truth is not None:
        node = node + (np.arange(node.shape[1]) != truth[:, None]) / len(truth)
    tables = [model.transitions_ + np.tensordot(row, model.edge_coef_, 1) for row in of_edges]
    return Scores(list(node), edges.tolist(), tables)


def labeling_score(scores, labels):
    edges = zip(scores.edges, scores.tables, strict=True)
    own = sum(node[k] for node, k in zip(scores.nodes, labels, strict=True))
    return own + sum(table[labels[u], labels[v]] for (u, v), table in edges)


def best_score(scores):
    return max(labeling_score(scores, y) for y in product(*(range(len(node)) for node in scores.nodes)))


def weights_of(model):
    parts = (model.coef_, model.intercept_, model.transitions_, model.edge_coef_)
    return np.concatenate([part.ravel() for part in parts])


def optimum(X, y, n_labels, lam):
    """The relaxed problem's, with the joint feature of every label and pair written out as a column."""
    losses, maps, truth = [], [], []
    for sample, labels in zip(X, y, strict=True):
        x, edges, of_edges = parts(sample)
        columns = [np.outer([*row, 1.0], np.eye(n_labels)[k]).ravel() for row in x for k in range(n_labels)]
        pairs = np.eye(n_labels**2)
        links = [np.outer([1.0, *row], pair).ravel() for row in of_edges for pair in pairs]
        of_nodes, n_link = np.reshape(columns, (len(columns), -1)).T, (1 + of_edges.shape[1]) * n_labels**2
        of_links = np.reshape(links, (len(links), n_link)).T
        above = np.hstack([of_nodes, np.zeros((len(of_nodes), len(links)))])
        maps.append(np.vstack([above, np.hstack([np.zeros((n_link, len(columns))), of_links])]))
        truth.append(graph_joint_feature(x, labels, edges, of_edges, n_labels))
        loss = (np.arange(n_labels) != labels[:, None]) / len(labels)
        losses.append(Scores(list(loss), edges.tolist(), [np.zeros((n_labels, n_labels))] * len(edges)))
    return relaxed_optimum(losses, maps, truth, lam)


@pytest.mark.parametrize(("n_labels", "n_edge_features"), [(2, None), (2, 1), (3, None)])
def test_the_optimum_is_that_of_the_relaxed_problem(n_labels, n_edge_features):
    X, y = make_graphs([TRIANGLE, CLIQUE, TRIANGLE, []], n_labels, n_edge_features)
    model = fit(X, y, tol=1e-3)
    hinges = []
    for sample, labels in zip(X, y, strict=True):
        augmented = scores_of(model, sample, labels)
        hinges.append(relaxed_value(augmented) - labeling_score(scores_of(model, sample), labels))
        assert relaxed_value(augmented) >= best_score(augmented) - 1e-9
    weights = weights_of(model)
    assert model.primal_ == pytest.approx(0.5 * LAM * weights @ weights + np.mean(hinges), abs=1e-5)
    assert model.status_ == "converged" and model.gap_ <= 1e-3
    best = optimum(X, y, n_labels, LAM)
    assert model.dual_ - 1e-7 <= best <= model.primal_ + 1e-7
    exact = GraphSVM(LAM, tol=1e-2, random_state=0, max_passes=5000).fit(X, y)
    assert exact.dual_ <= model.primal_  # the relaxed loss is an upper bound


def test_frustrated_cycles_are_learned_with_fractional_corners():
    X, y = make_graphs([TRIANGLE, TRIANGLE, CLIQUE], 2, seed=3)
    y = [np.arange(len(labels)) % 2 for labels in y]
    X = [(np.zeros((len(labels), 1)), edges) for (_, edges), labels in zip(X, y, strict=True)]
    model, exact = fit(X, y, tol=1e-4), GraphSVM(LAM, tol=1e-4, random_state=0, max_passes=5000).fit(X, y)
    assert model.dual_ > exact.primal_ + 1e-3  # so labelings alone would not do
    assert model.dual_ - 1e-7 <= optimum(X, y, 2, LAM) <= model.primal_ + 1e-7


@pytest.mark.parametrize("n_edge_features", [None, 2])
def test_trees_have_the_optimum_of_exact_inference(n_edge_features):
    X, y = make_graphs(TREE, 3, n_edge_features)
    model = fit(X, y, tol=1e-4)
    exact = GraphSVM(LAM, tol=1e-4, random_state=0, max_passes=5000).fit(X, y)
    assert max(model.dual_, exact.dual_) <= min(model.primal_, exact.primal_) + 1e-9
    found = model.relaxation(X)
    assert found.bounds == pytest.approx(found.scores) and np.all(found.integral == 1.0)
    assert found.scores == pytest.approx([best_score(scores_of(model, sample)) for sample in X])


def test_bounds_of_predictions():
    X, y = make_graphs([TRIANGLE, CLIQUE, []], 3)
    model = fit(X, y, tol=0.05)
    model.transitions_ = -5.0 * np.eye(3) - np.arange(9).reshape(3, 3) / 9  # neighbours differ: four cannot
    found, predicted = model.relaxation(X), model.predict(X)
    for i, sample in enumerate(X):
        scores = scores_of(model, sample)
        best = best_score(scores)
        assert found.bounds[i] == pytest.approx(relaxed_value(scores), abs=1e-6) and found.bounds[i] >= best - 1e-9
        codes = np.searchsorted(model.classes_, found.labelings[i])
        assert found.scores[i] == pytest.approx(labeling_score(scores, codes)) and found.scores[i] <= best + 1e-9
        assert labeling_score(scores, np.searchsorted(model.classes_, predicted[i])) <= found.scores[i] + 1e-9
    assert found.bounds[1] > found.scores[1] + 0.1 and found.integral[1] < 1.0 and found.integral[2] == 1.0


def test_what_cannot_be_asked():
    X, y = make_graphs([TRIANGLE, []], 2)
    model = fit(X, y, tol=0.5)
    for method in ("decision_function", "predict_marginals", "predict_topk"):
        assert not hasattr(model, method)
    for exact in ("junction", "cut"):  # there is nothing to bound
        assert not hasattr(model.set_params(inference=exact), "relaxation")


def test_masks_are_refused():
    X, y = make_graphs([TRIANGLE, []], 2)
    with pytest.raises(ValueError, match=r'transition_mask does not go with inference="lp".*"junction"'):
        fit(X, y, transition_mask=np.ones((2, 2), bool))


@pytest.mark.parametrize("inference", ["exact", None, ["lp"]])
def test_other_kinds_are_refused(inference):
    X, y = make_graphs([TRIANGLE, []], 2)
    with pytest.raises(ValueError, match=r"inference must be one of \['auto', 'cut', 'junction', 'lp'\]"):
        fit(X, y, inference=inference)


def test_names_sparse_features_pickle_and_clone():
    X, y = make_graphs([TRIANGLE, CLIQUE, []], 3, 2)
    names = [np.array(["ant", "bee", "cat"])[labels] for labels in y]
    model = fit([Graph(*sample) for sample in X], names, tol=0.05)
    rows = [(sparse.csr_matrix(x), edges, sparse.csr_matrix(of_edges)) for x, edges, of_edges in X]
    same = clone(model).fit(rows, names)
    assert same.coef_ == pytest.approx(model.coef_, abs=1e-6)
    assert all(map(np.array_equal, pickle.loads(pickle.dumps(model)).predict(X), model.predict(X)))
    assert set(model.predict(X)[0]) <= {"ant", "bee", "cat"}
    fresh, again = clone(model).fit(X, names), clone(model).fit(X, names)
    assert np.array_equal(weights_of(fresh), weights_of(again))


@pytest.mark.filterwarnings("error")
def test_warm_start():
    X, y = make_graphs([TRIANGLE, CLIQUE, []], 2)
    model = fit(X, y, tol=0.05, warm_start=True)
    passes = model.n_passes_
    assert model.fit(X, y).n_passes_ < max(passes, 2)


def test_path():
    X, y = make_graphs([TRIANGLE, TRIANGLE, []], 2)
    path = regularization_path(GraphSVM(inference="lp", random_state=0), X, y, eps=0.3, lam_min=0.1)
    assert path.worst_gap <= 0.3 and len(path.estimator_at(0.1).predict(X)) == 3


def test_samples_of_weight_0_are_not_planned_but_errors_count_them():
    wide = list(combinations(range(6), 2))
    X, y = make_graphs([wide, TRIANGLE, TRIANGLE], 2)
    model = GraphSVM(max_width=2, tol=0.5).fit(X, y, sample_weight=[0, 1, 1])
    assert model.status_ == "converged"
    X[2] = (X[2][0], [(0, 7)])
    for inference in ("junction", "lp"):
        with pytest.raises(ValueError, match="sample 2, edge 0: it joins nodes 0 and 7"):
            GraphSVM(inference=inference, max_width=5).fit(X, y, sample_weight=[0, 1, 1])
