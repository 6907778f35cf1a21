"""What is refused of trees, graphs and features of transitions: the words name the sample and the part."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import refusals
import scipy.sparse as sp
from graph_cases import FEATURED, KINDS, LABELS, K, case_of

from maxmargin import ChainSVM, GraphSVM, TransitionMask, Tree, TreeSVM

pytestmark = pytest.mark.usefixtures("no_compilation")

TREE, CYCLE, CHAIN = (case_of(kind) for kind in ("tree", "cycle", "chain featured"))
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
SITE = {"tree": "node", "cycle": "node", "chain": "position"}  # what messages call it
EVERY_FEATURED = pytest.mark.parametrize("kind", FEATURED)


@cache
def older(kind):
    good = {TreeSVM: TREE, GraphSVM: CYCLE, ChainSVM: CHAIN}[kind]
    return good.model(tol=0.5).fit(good.X, LABELS)


def assert_refuses(model, X, y, match, **given):
    refusals.assert_refuses(model, older(type(model)), X, y, match, **given)


def changed(X, i, part, value):
    """Samples with one part of one of them replaced."""
    sample = list(X[i])
    sample[part] = value
    return [*X[:i], tuple(sample), *X[i + 1 :]]


HEADS = {
    "cycle": ([1, 2, 0, -1], "sample 2: the edge 2 -> 0 closes a cycle"),
    "outside": ([4, 2, -1, 2], "sample 2: the edge 0 -> 4"),
    "self-loop": ([2, 1, -1, 2], "sample 2: the edge 1 -> 1 leads to itself"),
    "fractions": ([2, 2, -1, 0.5], "X, sample 2: heads must hold whole numbers"),
    "NaN": ([2, 2, -1, np.nan], "X, sample 2: heads must hold whole numbers"),
    "infinity": ([2, 2, -1, np.inf], "sample 2"),
    "below -1": ([2, 2, -2, 2], "sample 2: the edge 2 -> -2"),
    "too few": ([2, 2, -1], r"X, sample 2: heads has shape \(3,\), but there are 4 nodes"),
    "too many": ([2, 2, -1, 2, 2], r"X, sample 2: heads has shape \(5,\), but there are 4 nodes"),
    "2-d": ([[2, 2, -1, 2]], r"X, sample 2: heads has shape \(1, 4\)"),
    "a number": (2, r"X, sample 2: heads has shape \(\)"),
    "ragged": ([2, [2], -1, 2], "X, sample 2: heads"),
    "strings": (["2", "2", "-1", "2"], "X, sample 2: heads must hold whole numbers"),
    "None": (None, "X, sample 2: heads must hold whole numbers"),
    "None inside": ([2, 2, None, 2], "X, sample 2: heads must hold whole numbers"),
    "truth values": ([True, False, True, False], "X, sample 2: heads must hold whole numbers"),
    "unsigned": (np.array([2, 2, 2**64 - 1, 2], np.uint64), "sample 2"),
}


@pytest.mark.parametrize("case", HEADS)
def test_heads(case):
    value, match = HEADS[case]
    assert_refuses(TreeSVM(), changed(TREE.X, 2, 1, value), LABELS, match)
    with pytest.raises(ValueError, match=match):
        TREE.model(tol=0.5).fit(TREE.X, LABELS).predict(changed(TREE.X, 2, 1, value))


def test_a_parent_outside_is_named_in_a_sentence():
    with pytest.raises(ValueError, match=r"edge 0 -> 4 leads to (?!which)"):
        TreeSVM().fit(changed(TREE.X, 2, 1, [4, 2, -1, 2]), LABELS)


EDGES = {
    "missing node": ([(0, 1), (0, 4)], "sample 2, edge 1: it joins nodes 0 and 4, but the sample has 4 nodes"),
    "negative": ([(0, -1)], "sample 2, edge 0: it joins nodes 0 and -1"),
    "self-loop": ([(0, 1), (3, 3)], "sample 2, edge 1: it joins node 3 with itself"),
    "triples": ([(0, 1, 2)], r"X, sample 2: edges must be \(m, 2\) pairs of nodes, got shape \(1, 3\)"),
    "flat": ([0, 1], r"X, sample 2: edges must be \(m, 2\) pairs"),
    "ragged": ([(0, 1), (2,)], "X, sample 2: edges"),
    "fractions": ([(0, 1.5)], "X, sample 2: edges must hold whole numbers"),
    "NaN": ([(0, np.nan)], "X, sample 2: edges must hold whole numbers"),
    "strings": ([("a", "b")], "X, sample 2: edges must hold whole numbers"),
    "None": (None, "X, sample 2: edges must hold whole numbers"),
    "a sparse matrix": (sp.csr_matrix(np.eye(4)), "X, sample 2: edges must hold whole numbers"),
    "too wide": (
        [(a, b) for a in range(4) for b in range(a)],
        'sample 2: .*width of 3.*max_width=2.*inference="lp".*"cut"',
    ),
}


@pytest.mark.parametrize("case", EDGES)
def test_edges(case):
    value, match = EDGES[case]
    exact = {"max_width": 2, "inference": "junction"}
    assert_refuses(GraphSVM(**exact), changed(CYCLE.X, 2, 1, value), LABELS, match)
    with pytest.raises(ValueError, match=match):
        CYCLE.model(tol=0.5, **exact).fit(CYCLE.X, LABELS).predict(changed(CYCLE.X, 2, 1, value))


def test_a_width_of_the_limit_is_taken():
    complete = changed(CYCLE.X, 2, 1, [(a, b) for a in range(4) for b in range(a)])
    assert CYCLE.model(tol=0.5, max_width=3).fit(complete, LABELS).status_ == "converged"


EDGE_FEATURES = {
    "too few rows": (lambda e: e[:-1], "X, sample 2: edge_features must have . rows"),
    "too many rows": (lambda e: np.vstack([e, e]), "X, sample 2: edge_features must have . rows"),
    "too few columns": (lambda e: e[:, :1], "X, sample 2: edge_features .*2 columns"),
    "too many columns": (lambda e: np.hstack([e, e]), "X, sample 2: edge_features .*2 columns"),
    "1-d": (lambda e: e[:, 0], "X, sample 2: edge_features must have . rows and 2 dimensions"),
    "3-d": (lambda e: e[:, :, None], "X, sample 2: edge_features must have . rows and 2 dimensions"),
    "NaN": (lambda e: e * np.nan, "X, sample 2: edge_features holds NaN"),
    "masked": (lambda e: np.ma.masked_array(e, e > -9), "X, sample 2: edge_features: masked values"),
    "infinity": (lambda e: e + np.inf, "X, sample 2: edge_features holds NaN or infinity"),
    "sparse NaN": (lambda e: sp.csr_matrix(e * np.nan), "X, sample 2: edge_features holds NaN"),
    "complex": (lambda e: e * 1j, "X, sample 2: edge_features must hold real numbers"),
    "strings": (lambda e: e.astype(str), "X, sample 2: edge_features must hold real numbers"),
    "ragged": (lambda e: [[1.0], *e[1:].tolist()], "X, sample 2: edge_features"),
    "a number": (lambda e: 3.0, "X, sample 2: edge_features"),
    "None": (lambda e: None, "X, sample 2: .*edge_features"),
}


@EVERY_FEATURED
@pytest.mark.parametrize("case", EDGE_FEATURES)
def test_edge_features(kind, case):
    good, (make, match) = case_of(kind), EDGE_FEATURES[case]
    X = changed(good.X, 2, -1, make(good.X[2][-1]))
    assert_refuses(good.cls(), X, LABELS, match)
    with pytest.raises(ValueError, match=match):
        good.model(tol=0.5).fit(good.X, LABELS).predict(X)


@EVERY_FEATURED
def test_edge_features_of_some_samples_only(kind):
    case = case_of(kind)

    bare = case.X[1][0] if kind == "chain featured" else case.X[1][:-1]
    assert_refuses(case.cls(), [case.X[0], bare, *case.X[2:]], LABELS, "X, sample 1: .*edge_features")


@pytest.mark.parametrize("method", ["predict", "predict_topk", "predict_marginals", "decision_function", "score"])
@EVERY_FEATURED
def test_fitted_with_and_asked_without_edge_features(kind, method):
    case = case_of(kind)
    bare = case.nodes if kind == "chain featured" else [sample[:-1] for sample in case.X]
    given = {"predict_topk": (2,), "score": (LABELS,)}.get(method, ())
    for fitted, asked, match in [
        (case.X, bare, "X comes without edge_features, but .* was fitted with them"),
        (bare, case.X, "X comes with edge_features, but .* was fitted without them"),
    ]:
        model = case.model(tol=0.5).fit(fitted, LABELS)
        with pytest.raises(ValueError, match=match):
            getattr(model, method)(asked, *given)


NO_SAMPLES = {"array": np.zeros((4, 2)), "None": None, "a number": 3, "text": "tree", "empty": [], "dict": {"X": 1}}


@pytest.mark.parametrize("case", NO_SAMPLES)
@pytest.mark.parametrize("cls", [TreeSVM, GraphSVM])
def test_no_list_of_samples(cls, case):
    assert_refuses(cls(), NO_SAMPLES[case], LABELS, f"X must be a list of {cls.__name__[:-3]} samples or tuples")


@pytest.mark.parametrize("form", [lambda s: s[:1], lambda s: (*s, None, None), lambda s: s[0], lambda s: None])
@pytest.mark.parametrize("case", [TREE, CYCLE])
def test_samples_that_are_no_tuples(case, form):
    X = [*case.X[:2], form(case.X[2]), case.X[3]]
    assert_refuses(case.cls(), X, LABELS, "X, sample 2: must be a (Tree|Graph) or a tuple")


def test_one_tree_instead_of_a_list():
    assert_refuses(TreeSVM(), Tree(*TREE.X[0]), LABELS[:1], "X, sample 0: must be a Tree")


@EVERY_KIND
def test_features(kind):
    case, site = case_of(kind), SITE[kind.split()[0]]
    for value, match in [
        (case.nodes[2] * np.nan, f"X, sample 2, {site} 0: .*NaN"),
        (case.nodes[2][:, :1], "X, sample 2: 1 features, but sample 0 has 3"),
        (sp.csr_matrix(case.nodes[2]), "X, sample 2: sparse, but sample 0 is dense"),
        (np.zeros((0, 3)), "X, sample 2: empty"),
    ]:
        assert_refuses(case.cls(), changed(case.X, 2, 0, value), LABELS, match)


@EVERY_KIND
def test_labels(kind):
    case, site = case_of(kind), SITE[kind.split()[0]]
    for y, match in [
        ([*LABELS[:2], LABELS[2][:3], LABELS[3]], f"y, sample 2: 3 labels, .* 4 {site}s"),
        (LABELS[:3], "y has 3 label sequences, but X has 4"),
        (None, "requires y"),
        ([*LABELS[:3], [1, np.nan]], f"y, sample 3, {site} 1: .*NaN"),
        ([*LABELS[:3], ["1", "2"]], f"y, sample 3, {site} 0: label '1' next to"),
    ]:
        assert_refuses(case.cls(), case.X, y, match)


@EVERY_KIND
def test_sample_weights(kind):
    case = case_of(kind)
    for weight, match in [
        ([1, 1, 1], "sample_weight.shape"),
        ([0, 0, 0, 0], "sample_weight sums to 0"),
        ([1, -1, 1, 1], "sample_weight, sample 1"),
        ([1, np.nan, 1, 1], "sample_weight, sample 1"),
    ]:
        assert_refuses(case.cls(), case.X, LABELS, match, sample_weight=weight)


NOT_TWICE = np.array([[True] * 3, [True, False, True], [True] * 3])


@pytest.mark.parametrize("weight", [None, [1, 0, 1, 1]], ids=["", "after a sample of weight 0"])
def test_a_mask_that_forbids_a_training_label_pair(weight):
    y = [[1, 0, 2], [1], *LABELS[2:]]
    for cls, X, where in [
        (TreeSVM, TREE.X, "edge 1 -> 2"),
        (GraphSVM, CYCLE.X, "edge 1 -> 2"),
        (ChainSVM, CHAIN.X, "position 2"),
    ]:
        match = f"y, sample 2, {where}: .*'1'"
        assert_refuses(cls(transition_mask=NOT_TWICE), X, y, match, sample_weight=weight)


@pytest.mark.parametrize("weight", [None, [1, 0, 1, 1]], ids=["", "after a sample of weight 0"])
def test_broken_edges_are_named_by_their_sample(weight):
    """Fails with the weight: "sample 1"."""
    X = changed(TREE.X, 2, 1, [1, 2, 0, -1])
    assert_refuses(TreeSVM(), X, [[1, 0, 2], *LABELS[1:]], "sample 2: .*cycle", sample_weight=weight)


@pytest.mark.parametrize("case", [TREE, CYCLE])
@pytest.mark.parametrize(
    "mask",
    [
        np.ones((2, 2), bool),
        np.ones(3, bool),
        "bio",
        np.where(NOT_TWICE, 0.0, -np.inf),
        np.full((3, 3), 2),
        TransitionMask.everything(K),
    ],
    ids=lambda mask: type(mask).__name__ + str(np.shape(mask) if isinstance(mask, np.ndarray) else ""),
)
def test_masks(case, mask):
    assert_refuses(case.cls(transition_mask=mask), case.X, LABELS, "transition_mask (must|has shape)")


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"inference": "nonsense"}, "inference must be one of .*'nonsense'"),
        ({"inference": None}, "inference must be one of"),
        *(({"max_width": width}, "max_width must be an integer >= 1") for width in (0, -1, 1.5, None, "8", True)),
    ],
)
def test_parameters_of_graphs(params, match):
    assert_refuses(GraphSVM(**params), CYCLE.X, LABELS, match)


@pytest.mark.parametrize("case", [TREE, CYCLE])
@pytest.mark.parametrize("params", [{"loss": "squared"}, {"cost_matrix": np.ones((3, 3))}, {"lam": 0}, {"solver": "x"}])
def test_parameters(case, params):
    assert_refuses(case.cls(**params), case.X, LABELS, next(iter(params)))


@pytest.mark.parametrize("name", ["fit_boundary", "kernel", "gamma", "lamda"])
@pytest.mark.parametrize("cls", [TreeSVM, GraphSVM])
def test_unknown_parameters(cls, name):
    with pytest.raises(TypeError, match=rf"{cls.__name__}\.__init__\(\) got an unexpected keyword argument '{name}'"):
        cls(**{name: True})
    with pytest.raises(ValueError, match=name):
        cls().set_params(**{name: True})
