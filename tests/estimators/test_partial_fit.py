"""Samples that come in parts: after each, the model is that of fit on all of them."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from maxmargin import (
    ChainCRF,
    ChainSVM,
    ChainSVMCV,
    Graph,
    GraphSVM,
    MulticlassSVM,
    MultilabelSVM,
    Tree,
    TreeCRF,
    TreeSVM,
    load,
)
from maxmargin.solvers import BlockFrankWolfe, CheckpointError, FrankWolfe
from structures.pairs import interpreted

TOL, ROUGH = 1e-5, 1e-2  # steps that are not accelerated crawl


@pytest.fixture(autouse=True)
def no_compilation():
    with interpreted():
        yield


def tokens(length, rng):
    return [{"w": f"w{rng.integers(6)}", "b": float(rng.standard_normal())} for _ in range(length)]


def samples(kind, n=12, seed=0):
    """X, y of n samples; the first one has all features that dicts have."""
    rng = np.random.default_rng(seed)
    lengths = np.array([6, *rng.integers(2, 5, size=n - 1)])
    if kind in ("classes", "sparse classes"):
        X = rng.standard_normal((n, 3)) + 2.0
        y = np.array(["b", "a", "c", *np.array(list("abc"))[X[3:].argmax(axis=1)]])
        return (sp.csr_matrix(X) if kind.startswith("sparse") else X), y
    if kind == "sets":
        return rng.standard_normal((n, 3)), rng.integers(2, size=(n, 3))
    y = [rng.choice(["x", "y", "zebra"], T) for T in lengths]
    features = [rng.standard_normal((T, 3)) + 1.0 for T in lengths]
    if kind == "sequences":
        return features, y
    if kind == "sparse sequences":
        return [sp.csr_matrix(x * (x > 0.5)) for x in features], y
    if kind == "dicts":
        every = [{"w": f"w{k}", "b": 1.0} for k in range(6)]
        return [every, *(tokens(T, rng) for T in lengths[1:])], y
    if kind == "transitions":
        return [(x, rng.standard_normal((len(x) - 1, 2))) for x in features], y
    if kind == "trees":
        return [Tree(x, [-1, *(rng.integers(t) for t in range(1, len(x)))]) for x in features], y
    edges = [[(t, t + 1) for t in range(len(x) - 1)] + ([(0, len(x) - 1)] if len(x) > 2 else []) for x in features]
    return [Graph(x, e, rng.standard_normal((len(e), 2))) for x, e in zip(features, edges, strict=True)], y


def some(X, which):
    return X[which] if hasattr(X, "shape") else [X[i] for i in range(len(X))[which]]


def in_parts(model, X, y, ends, weight=None, **first):
    """Fit the samples up to each of these."""
    for begin, end in pairwise((0, *ends)):
        now, given = slice(begin, end), first if begin == 0 else {}
        model.partial_fit(some(X, now), some(y, now), sample_weight=weight if weight is None else weight[now], **given)
    return model


def assert_same_optimum(parts, whole, X):
    assert parts.lam_ == pytest.approx(whole.lam_, rel=1e-12)
    for one, other in zip(parts.scaling_[:3], whole.scaling_[:3], strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    # each is between the optimum and its gap above it
    assert abs(parts.primal_ - whole.primal_) <= parts.gap_ + whole.gap_
    assert max(parts.dual_, whole.dual_) <= min(parts.primal_, whole.primal_) + 1e-12
    assert parts.status_ == whole.status_ == "converged"
    if hasattr(parts, "coef_"):
        assert parts.coef_ == pytest.approx(whole.coef_, abs=4.0 * np.sqrt(parts.tol / parts.lam_))
    found = [np.concatenate([np.ravel(labels) for labels in model.predict(X)]) for model in (parts, whole)]
    assert np.mean(found[0] == found[1]) > 0.9


CACHED = BlockFrankWolfe("gap", "weighted", step="pairwise", cache=True)
MODELS = {
    "chain": (ChainSVM(lam=0.1), "sequences"),
    "chain by the rule": (ChainSVM(), "sequences"),
    "chain sparse": (ChainSVM(scale=True, lam=0.1, class_weight="balanced"), "sparse sequences"),
    "chain of dicts": (ChainSVM(), "dicts"),
    "chain with transitions": (ChainSVM(), "transitions"),
    "chain with a kernel": (ChainSVM(kernel="rbf"), "sequences"),
    "chain cached": (ChainSVM(lam=0.1, solver=CACHED), "dicts"),
    "chain by fixed steps": (ChainSVM(lam=0.1, solver=BlockFrankWolfe("permutation", step="away")), "sequences"),
    "tree": (TreeSVM(), "trees"),
    "graph": (GraphSVM(), "graphs"),
    "classes": (MulticlassSVM(), "classes"),
    "classes of lam": (MulticlassSVM(lam=0.05, class_weight="balanced"), "sparse classes"),
    "sets": (MultilabelSVM(), "sets"),
    "chain crf": (ChainCRF(), "sequences"),
    "chain crf of dicts": (ChainCRF(lam=0.1), "dicts"),
    "tree crf": (TreeCRF(), "trees"),
}


@pytest.mark.parametrize("name", MODELS)
def test_parts_end_at_the_optimum_of_the_whole(name):
    model, kind = MODELS[name]
    X, y = samples(kind)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float) if kind != "dicts" else None
    tol = ROUGH if isinstance(model.solver, BlockFrankWolfe) else TOL
    model = clone(model).set_params(tol=tol, max_passes=5000, random_state=0)
    labels = None if kind == "sets" else np.unique(np.concatenate(list(map(np.atleast_1d, y))))
    parts = in_parts(clone(model), X, y, (3, 4, 9, 12), weight, classes=labels)
    whole = clone(model).fit(X, y, sample_weight=weight)
    assert_same_optimum(parts, whole, X)


def test_ten_parts_whatever_the_units():
    """By the rule, every part has another lam and other units."""
    X, y = samples("classes", 40)
    model = MulticlassSVM(tol=TOL, max_passes=5000, random_state=0)
    parts = in_parts(clone(model), X, y, range(4, 41, 4))
    assert_same_optimum(parts, clone(model).fit(X, y), X)


def test_a_fixed_lam_rescales_weights_by_the_sums_of_sample_weights():
    X, y = samples("classes")
    weight = np.arange(1.0, 13.0)
    model = MulticlassSVM(lam=0.1, tol=TOL, max_passes=5000, random_state=0)
    model.partial_fit(X[:8], y[:8], sample_weight=weight[:8])
    before = model.coef_.copy()
    seen = []
    model.set_callbacks(lambda record, fitted: seen.append(fitted.coef_.copy()))
    model.partial_fit(X[8:], y[8:], sample_weight=weight[8:])
    # blocks that joined have no weights yet; what was solved is so up to its gap
    assert seen[0] == pytest.approx(before * weight[:8].sum() / weight.sum(), abs=np.sqrt(TOL / 0.1))


def test_labels_may_be_missing_in_a_part():
    X, y = samples("classes")
    order = np.argsort(y, kind="stable")  # one class after the other
    model = MulticlassSVM(lam=0.1, class_weight="balanced", tol=TOL, max_passes=5000, random_state=0)
    parts = in_parts(clone(model), X[order], y[order], (2, 5, 12), classes=["c", "a", "b"])
    assert parts.classes_.tolist() == ["a", "b", "c"]
    assert_same_optimum(parts, clone(model).fit(X, y), X)


REFUSED = {
    "another label": (lambda X, y: (X, ["d"] * len(y)), r"y, sample 0: the label 'd' is none of \['a', 'b', 'c'\]"),
    "other classes": (lambda X, y: (X, y, ["a", "b"]), "classes are those of the first call"),
    "other features": (lambda X, y: (X[:, :2], y), "X has 2 features, but MulticlassSVM is expecting 3 features"),
    "sparse": (lambda X, y: (sp.csr_matrix(X), y), "X is sparse, but was dense in the first call"),
    "not a number": (lambda X, y: (X * np.nan, y), "NaN"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_leaves_the_model_as_it_was(what):
    X, y = samples("classes")
    model = MulticlassSVM(lam=0.1, random_state=0).partial_fit(X[:8], y[:8])
    before = pickle.dumps(model)
    given, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*given(X[8:], y[8:]))
    assert pickle.dumps(model) == before
    model.partial_fit(X[8:], y[8:])


def test_labels_of_sequences_are_refused_by_sample():
    X, y = samples("sequences")
    model = ChainSVM(lam=0.1, random_state=0).partial_fit(X[:8], y[:8], classes=["x", "y", "zebra", "seen later"])
    assert model.transitions_.shape == (4, 4)
    with pytest.raises(ValueError, match=r"y, sample 2: the label 'cow' is none of .*: classes are those of the first"):
        model.partial_fit(X[8:], [*y[8:10], np.where(y[10] == y[10][0], "cow", y[10]), y[11]])
    with pytest.raises(ValueError, match="every label once"):
        ChainSVM().partial_fit(X, y, classes=["x", "x"])


def test_going_on_from_a_pickle():
    X, y = samples("sequences")
    model = ChainSVM(lam=0.1, tol=TOL, random_state=0).partial_fit(X[:8], y[:8])
    copied = pickle.loads(pickle.dumps(model)).partial_fit(X[8:], y[8:])
    model.partial_fit(X[8:], y[8:])
    assert np.array_equal(copied.coef_, model.coef_)


def test_fit_begins_anew():
    X, y = samples("classes")
    model = MulticlassSVM(lam=0.1, random_state=0).partial_fit(X[:8], y[:8]).fit(X, y)
    assert np.array_equal(model.coef_, clone(model).fit(X, y).coef_)
    with pytest.warns(UserWarning, match="fit keeps no samples for others to join, nor do model files"):
        model.partial_fit(X[:8], y[:8])
    assert model._samples.n_given == 8


def test_who_cannot_learn_in_parts_says_so(tmp_path):
    X, y = samples("classes")
    for solver in ("svrg", FrankWolfe(), "partial_linearization"):
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as refused:
            MulticlassSVM(solver=solver).partial_fit(X, y)
        assert "samples can join runs" in str(refused.value.__cause__)
    for model in (ChainCRF(l1=0.1), ChainSVMCV(), MulticlassSVM(kernel="precomputed")):
        assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match='lam="cv" is chosen by all samples at once'):
        MulticlassSVM(lam="cv").partial_fit(X, y)
    with pytest.raises(ValueError, match="checkpoint is for fit"):
        MulticlassSVM(checkpoint=tmp_path / "run.npz").partial_fit(X, y)
    with pytest.raises(ValueError, match="dual variables of its own"):
        MultilabelSVM(interactions="pairwise").partial_fit(*samples("sets"))


def test_checkpoints_of_fits(tmp_path):
    X, y = samples("sequences")
    path = tmp_path / "fit.npz"
    model = ChainSVM(random_state=0, tol=1e-3, checkpoint=path, checkpoint_every=0.0)
    plain = clone(model).set_params(checkpoint=None).fit(X, y)
    first = clone(model).fit(X, y)
    again = clone(model).fit(X, y)  # at once, from the file
    for one in (first, again):
        assert np.array_equal(one.coef_, plain.coef_) and one.n_oracle_calls_ == plain.n_oracle_calls_
    with pytest.raises(CheckpointError, match="data: "):
        model.fit(X[1:], y[1:])
    assert not hasattr(model, "coef_")
    first.save(tmp_path / "model.npz")
    assert load(tmp_path / "model.npz").checkpoint == str(path)
