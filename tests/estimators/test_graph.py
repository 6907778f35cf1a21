"""TreeSVM, GraphSVM and ChainSVM with features of transitions: the problem they solve, every labeling looked at."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graph_cases import (
    FEATURED,
    KINDS,
    LABELS,
    LAM,
    NAMES,
    K,
    assert_optimal,
    assert_same_optimum,
    case_of,
    enumerated,
    pack,
)
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin import ChainSVM, Graph, GraphSVM, TransitionMask, Tree, TreeSVM
from maxmargin.solvers import BlockFrankWolfe
from structures.pairs import COST, MASK, PARENTS

pytestmark = pytest.mark.usefixtures("no_compilation")

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
ALLOWED = TransitionMask.everything(K)._replace(allowed=MASK.allowed)
WEIGHT = [1, 2, 0, 3]


OPTIONS = {
    "plain": ({}, {}),
    "mask": ({"transition_mask": MASK.allowed}, {"mask": ALLOWED}),
    "sum": ({"loss": "hamming_sum"}, {"normalize": False}),
    "cost": ({"cost_matrix": COST}, {"cost": COST}),
    "class_weight": ({"class_weight": {0: 2.0, 1: 0.5}}, {"class_weight": [2.0, 0.5, 1.0]}),
    "balanced": ({"class_weight": "balanced"}, {"class_weight": 10 / (3 * np.array([1, 7, 2]))}),
    "no intercept": ({"fit_intercept": False}, {"intercept": False}),
}


@EVERY_KIND
@pytest.mark.parametrize("option", OPTIONS)
def test_optimum(kind, option):
    case, (params, options) = case_of(kind), OPTIONS[option]
    assert_optimal(case.model(**params).fit(case.X, LABELS), enumerated(case, **options))


@EVERY_KIND
def test_optimum_with_sample_weights(kind):
    case = case_of(kind)
    y = [*LABELS[:3], np.array([0, 2])]  # no label occurs in the sample of weight 0 alone
    model = case.model().fit(case.X, y, sample_weight=WEIGHT)
    assert_optimal(model, enumerated(case, y, sample_weight=WEIGHT))


@EVERY_KIND
def test_optimum_of_sparse_features(kind):
    case = case_of(kind, is_sparse=True)
    assert_optimal(case.model(transition_mask=MASK.allowed).fit(case.X, LABELS), enumerated(case, mask=ALLOWED))


@pytest.mark.parametrize("boundary", [True, False])
@pytest.mark.parametrize("mask", [MASK, MASK._replace(end=np.ones(K, bool))], ids=["both ends", "start"])
def test_optimum_of_chains_with_restricted_ends(mask, boundary):
    case = case_of("chain featured")
    model = case.model(transition_mask=mask, fit_boundary=boundary).fit(case.X, LABELS)
    assert_optimal(model, enumerated(case, mask=mask, boundary=boundary))


@pytest.mark.parametrize("kind", ["tree featured", "cycle"])
@pytest.mark.parametrize(
    "solver",
    [
        "bcfw",
        "bcpfw",
        "fw",
        BlockFrankWolfe("gap", "weighted"),
        BlockFrankWolfe(step="away", cache=True),
        BlockFrankWolfe(step="pairwise", acceleration="catalyst"),
    ],
    ids=str,
)
def test_every_solver(kind, solver):
    case = case_of(kind)
    assert_optimal(case.model(solver=solver, tol=2e-2).fit(case.X, LABELS), enumerated(case))


@EVERY_KIND
def test_integer_weights_are_repetition_and_0_is_removal(kind):
    case, y = case_of(kind), [*LABELS[:3], np.array([0, 2])]
    kept = [0, 1, 1, 3, 3, 3]
    weighted = case.model(class_weight="balanced").fit(case.X, y, sample_weight=WEIGHT)
    repeated = case.taking(kept).model(class_weight="balanced").fit([case.X[i] for i in kept], [y[i] for i in kept])
    assert_same_optimum(weighted, repeated)
    removed = case.model().fit(case.X, y, sample_weight=[1, 1, 0, 1])
    left_out = case.model().fit([case.X[i] for i in (0, 1, 3)], [y[i] for i in (0, 1, 3)])
    assert_array_equal(pack(removed), pack(left_out))


@EVERY_KIND
def test_labels_of_samples_without_weight_are_not_learned(kind):
    case = case_of(kind)
    model = case.model().fit(case.X, LABELS, sample_weight=[1, 1, 0, 1])
    assert model.classes_.tolist() == [1, 2]
    assert model.coef_.shape == (2, 3)


@EVERY_KIND
@pytest.mark.parametrize("weight", [None, [1, 1, 0, 1]], ids=["", "one of weight 0"])
def test_labels_may_be_flat(kind, weight):
    """As ChainSVM takes them."""
    case = case_of(kind)
    flat = case.model().fit(case.X, np.concatenate(LABELS), sample_weight=weight)
    assert_array_equal(flat.coef_, case.model().fit(case.X, LABELS, sample_weight=weight).coef_)


@EVERY_KIND
def test_strings_as_labels(kind):
    case = case_of(kind)
    numbers = case.model().fit(case.X, LABELS)
    strings = case.model().fit(case.X, [NAMES[y].tolist() for y in LABELS])
    assert strings.classes_.tolist() == NAMES.tolist()
    assert_array_equal(pack(strings), pack(numbers))
    for one, other in zip(strings.predict(case.X), numbers.predict(case.X), strict=True):
        assert_array_equal(one, NAMES[other])
    assert strings.score(case.X, [["dog"] * len(y) for y in LABELS]) == 0


@EVERY_KIND
def test_fitted_names(kind):
    case = case_of(kind)
    model = case.model().fit(case.X, LABELS)
    n_edge_features = 2 if kind in FEATURED else 0
    assert model.coef_.shape == (K, 3)
    assert model.intercept_.shape == (K,)
    assert model.transitions_.shape == (K, K)
    assert model.edge_coef_.shape == (n_edge_features, K, K)
    assert (model.n_features_in_, model.n_edge_features_in_) == (3, n_edge_features or None)
    assert model.history_["gap"][-1] == model.gap_


def as_dicts(x):
    return [{f"f{j}": value for j, value in enumerate(row)} for row in np.asarray(x).tolist()]


@EVERY_KIND
def test_feature_dicts(kind):
    case = case_of(kind)
    X = [(as_dicts(sample[0]), *sample[1:]) for sample in case.X]
    model, plain = case.model().fit(X, LABELS), case.model().fit(case.X, LABELS)
    assert_allclose(model.primal_, plain.primal_, rtol=1e-6)
    assert model.vectorizer_.feature_names_ == ["f0", "f1", "f2"]
    unknown = [([{**row, "new": 1.0} for row in sample[0]], *sample[1:]) for sample in X]
    for one, other in zip(model.predict(unknown), plain.predict(case.X), strict=True):
        assert_array_equal(one, other)


class TestFormsOfSamples:
    @pytest.mark.parametrize(
        "form", [tuple, np.array, lambda h: np.array(h, np.int32), lambda h: np.array(h, float), np.int8]
    )
    def test_heads(self, form):
        case = case_of("tree featured")
        X = [Tree(x, form(heads), e) for x, heads, e in case.X]
        assert_array_equal(pack(case.model().fit(X, LABELS)), pack(case.model().fit(case.X, LABELS)))

    @pytest.mark.parametrize("form", [tuple, np.array, lambda e: np.array(e, float), lambda e: list(map(list, e))])
    def test_edges(self, form):
        case = case_of("cycle featured")
        X = [Graph(x, form(edges), edge_features=e) for x, edges, e in case.X]
        assert_array_equal(pack(case.model().fit(X, LABELS)), pack(case.model().fit(case.X, LABELS)))

    @pytest.mark.parametrize("kind", FEATURED)
    @pytest.mark.parametrize("form", [sp.coo_matrix, sp.csc_array, np.ndarray.tolist, np.float32, np.asfortranarray])
    def test_edge_features(self, kind, form):
        case = case_of(kind)
        X = [(*sample[:-1], form(sample[-1])) for sample in case.X]
        plain, other = (case.model(tol=1e-4).fit(samples, LABELS) for samples in (case.X, X))  # roundings lead apart
        assert_allclose(other.primal_, plain.primal_, rtol=1e-3)

    def test_edge_features_sparse_in_some_samples(self):
        case = case_of("tree featured")
        X = [(x, heads, sp.csr_matrix(e) if i % 2 else e) for i, (x, heads, e) in enumerate(case.X)]
        assert_optimal(case.model().fit(X, LABELS), enumerated(case))

    def test_features_of_roots_do_not_count(self):
        case = case_of("tree featured")
        X = [(x, heads, np.where(np.equal(heads, -1)[:, None], 1e6, e)) for x, heads, e in case.X]
        assert_array_equal(pack(case.model().fit(X, LABELS)), pack(case.model().fit(case.X, LABELS)))

    def test_a_sample_without_edges_needs_no_width(self):
        case = case_of("cycle featured")
        X = [(x, edges, e if len(edges) else []) for x, edges, e in case.X]
        assert_array_equal(pack(case.model().fit(X, LABELS)), pack(case.model().fit(case.X, LABELS)))

    def test_only_samples_without_edges(self):
        """How many features edges would have is known from the shape."""
        case = case_of("cycle featured")
        model = case.model().fit([(x, [], np.zeros((0, 2))) for x in case.nodes], LABELS)
        assert model.edge_coef_.shape == (2, K, K)
        assert len(model.predict(case.X)) == len(case.X)


class TestEqualModels:
    def test_trees_that_are_chains(self):
        case = case_of("chain featured")
        X = [(x, [*range(1, len(x)), -1]) for x in case.nodes]
        tree = TreeSVM(lam=LAM, tol=1e-4).fit(X, LABELS)
        chain = ChainSVM(lam=LAM, tol=1e-4, fit_boundary=False).fit(case.nodes, LABELS)
        assert_same_optimum(tree, chain)
        X = [(x, heads, [*e.tolist(), [0, 0]]) for (x, heads), e in zip(X, case.edge_rows, strict=True)]
        assert_same_optimum(TreeSVM(lam=LAM, tol=1e-4).fit(X, LABELS), case.model(tol=1e-4).fit(case.X, LABELS))

    @pytest.mark.parametrize("kind", ["tree", "tree featured"])
    def test_graphs_that_are_trees(self, kind):
        case = case_of(kind)
        X = list(zip(case.nodes, case.edges, *([case.edge_rows] if kind in FEATURED else []), strict=True))
        graph = GraphSVM(lam=LAM, tol=1e-4, max_width=1).fit(X, LABELS)
        tree = case.model(tol=1e-4).fit(case.X, LABELS)
        assert_same_optimum(graph, tree)
        assert_allclose(pack(graph), pack(tree), atol=2 * np.sqrt(2 * 1e-4 / LAM))

    @pytest.mark.parametrize("kind", ["tree", "cycle"])
    def test_edge_features_of_zero(self, kind):
        case = case_of(kind)
        rows = [len(x) if kind == "tree" else len(e) for x, e in zip(case.nodes, case.edges, strict=True)]
        X = [(*sample, np.zeros((count, 2))) for sample, count in zip(case.X, rows, strict=True)]
        model = case.model().fit(X, LABELS)
        assert not model.edge_coef_.any()
        assert_same_optimum(model, case.model().fit(case.X, LABELS))

    def test_edge_features_of_zero_in_chains(self):
        case = case_of("chain featured")
        model = case.model().fit([(x, 0 * e) for x, e in case.X], LABELS)
        assert not model.edge_coef_.any()
        assert_same_optimum(model, case.model().fit(case.nodes, LABELS))

    def test_a_constant_edge_feature_shares_the_transitions(self):
        """Each has half of the weight, so that it costs half; as if transitions counted sqrt(2) times."""
        case = case_of("chain featured")
        ones = [np.ones((len(x) - 1, 1)) for x in case.nodes]
        model = case.model().fit(list(zip(case.nodes, ones, strict=True)), LABELS)
        assert_allclose(model.edge_coef_[0], model.transitions_, rtol=1e-9, atol=1e-12)
        assert_optimal(model, enumerated(case._replace(edge_rows=ones)))
        assert model.dual_ <= case.model().fit(case.nodes, LABELS).primal_

    def test_edges_turned_around_turn_the_weights(self):
        case = case_of("cycle featured")
        turned = [(x, [(b, a) for a, b in edges], e) for x, edges, e in case.X]
        one, other = (case.model(tol=1e-5).fit(X, LABELS) for X in (case.X, turned))
        assert_same_optimum(one, other)
        assert_allclose(one.transitions_, other.transitions_.T, atol=2 * np.sqrt(2e-5 / LAM))
        assert_allclose(one.edge_coef_, other.edge_coef_.transpose(0, 2, 1), atol=2 * np.sqrt(2e-5 / LAM))

    def test_two_edges_between_two_nodes_count_twice(self):
        case = case_of("cycle")
        doubled = [(x, [*edges, *edges]) for x, edges in case.X]
        twice = case._replace(
            edges=[np.vstack([e, e]) for e in case.edges], edge_rows=[np.zeros((2 * len(e), 0)) for e in case.edges]
        )
        assert_optimal(case.model().fit(doubled, LABELS), enumerated(twice))

    def test_the_order_of_nodes_does_not_matter(self):
        case = case_of("tree featured")
        X, y = [], []
        for (x, _, e), labels, heads in zip(case.X, LABELS, PARENTS, strict=True):
            place = np.arange(len(x))[::-1]  # reversed: parents come before their children and after them
            X.append((x[place], [-1 if heads[v] < 0 else int(place[heads[v]]) for v in place], e[place]))
            y.append(labels[place])
        assert_same_optimum(case.model(tol=1e-4).fit(X, y), case.model(tol=1e-4).fit(case.X, LABELS))
