"""ChainSVM: the problem it solves, what it takes, what it leaves, and which labelings it may predict."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin import ChainSVM, MulticlassSVM, TransitionMask, bio_mask
from maxmargin.datasets import load_dates
from reference.chain import brute_force_argmax, brute_force_max_marginals, chain_potentials, score_labelings

NAMES = np.array(["ant", "bee", "cat"])


def make_sequences(n=14, seed=0):
    """Whole numbers as features, so that every dtype holds them; noisy labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = [rng.integers(0, 4, size=(length, 4)).astype(float) for length in rng.integers(1, 6, size=n)]
    return X, [np.argmax(x[:, :3] + rng.normal(size=(len(x), 3)), axis=1) for x in X]


X, Y = make_sequences()
LENGTHS = [len(x) for x in X]
ROWS, FLAT = np.vstack(X), np.concatenate(Y)


def fit(X=X, y=Y, sample_weight=None, lengths=None, **params):
    model = ChainSVM(**{"lam": 0.1, "tol": 2e-2, "random_state": 0, **params})
    return model.fit(X, y, sample_weight=sample_weight, lengths=lengths)


def assert_same_model(one, other, rtol=0.0):
    for name in ("coef_", "transitions_", "intercept_", "boundary_", "primal_", "dual_"):
        assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=rtol, err_msg=name)


def test_signature():
    parameters = inspect.signature(ChainSVM).parameters
    defaults = {name: one.default for name, one in parameters.items()}
    first = {
        "lam": None,
        "solver": "auto",
        "tol": None,
        "max_passes": 1000,
        "max_seconds": None,
        "loss": None,
        "class_weight": None,
        "random_state": None,
        "verbose": 0,
        "n_jobs": None,
        "warm_start": False,
        "checkpoint": None,
        "checkpoint_every": 60.0,
        "scale": None,
    }
    assert list(defaults.items())[: len(first)] == list(first.items())
    further = {"fit_intercept": True, "fit_boundary": True, "transition_mask": None, "cost_matrix": None}
    kernel = {"kernel": None, "gamma": "scale", "degree": 3, "coef0": 0.0}
    assert defaults == {**first, **further, **kernel}
    assert ChainSVM(0.5).lam == 0.5


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("boundary", [True, False])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_fitted_names(n_labels, boundary, intercept):
    model = fit(y=[y % n_labels for y in Y], fit_intercept=intercept, fit_boundary=boundary)
    shapes = {
        "coef_": (n_labels, 4),
        "transitions_": (n_labels, n_labels),
        "intercept_": (n_labels,),
        "boundary_": (2, n_labels),
        "classes_": (n_labels,),
    }
    assert {name: getattr(model, name).shape for name in shapes} == shapes
    assert intercept or not np.any(model.intercept_)
    assert boundary or not np.any(model.boundary_)
    assert model.n_features_in_ == 4
    assert list(model.history_)[:6] == ["passes", "oracle_calls", "seconds", "primal", "dual", "gap"]
    assert {len(column) for column in model.history_.values()} == {len(model.history_["gap"])}
    for name in ("primal", "dual", "gap"):
        assert model.history_[name][-1] == getattr(model, f"{name}_")
    assert model.history_["passes"][-1] == model.n_passes_
    assert model.history_["oracle_calls"][-1] == model.n_oracle_calls_
    for name in ("oracle_calls", "seconds"):
        assert np.all(np.diff(model.history_[name]) > 0)
    assert model.status_ == "converged"
    assert hasattr(model.solver_, "solve")
    assert 0 <= model.gap_ <= 2e-2


def potentials(model, x):
    """(node, transitions, start, end) of a sequence, the mask included, from the fitted attributes alone."""
    w = np.concatenate([model.coef_.T.ravel(), model.transitions_.ravel(), model.intercept_, model.boundary_.ravel()])
    node, transitions, start, end = chain_potentials(w, x, len(model.classes_))
    mask = model.transition_mask_
    forbidden = [np.where(allowed, 0.0, -np.inf) for allowed in mask]
    return node, transitions + forbidden[0], start + forbidden[1], end + forbidden[2]


def squared_norm(model):
    parts = (model.coef_, model.transitions_, model.intercept_, model.boundary_)
    return sum(float(np.sum(part**2)) for part in parts)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"loss": "hamming_sum"},
        {"class_weight": {0: 2.0, 1: 0.5, 2: 1.0}},
        {"cost_matrix": np.array([[0, 1, 3], [2, 0, 1], [0.5, 1, 0]])},
        {"solver": "fw", "fit_intercept": False, "fit_boundary": False},
    ],
    ids=str,
)
def test_primal_is_the_objective(params):
    """lam/2 |w|^2 + mean of the margin-rescaled hinges, every labeling looked at."""
    weight = 1.0 + np.arange(len(X)) % 3
    model = fit(sample_weight=weight, **params)
    cost = np.asarray(params.get("cost_matrix", 1.0 - np.eye(3)))
    cost = cost * np.array([params.get("class_weight", {}).get(k, 1.0) for k in range(3)])[:, None]
    hinges = []
    for x, y in zip(X, Y, strict=True):
        labelings, scores = score_labelings(*potentials(model, x))
        losses = cost[y[None, :], labelings].sum(axis=1)
        losses = losses if params.get("loss") == "hamming_sum" else losses / len(y)
        truth = scores[np.all(labelings == y, axis=1)].item()
        hinges.append(np.max(losses + scores) - truth)
    assert_allclose(model.primal_, 0.05 * squared_norm(model) + np.average(hinges, weights=weight), rtol=1e-10)


class TestDecoding:
    @pytest.mark.parametrize(
        "params",
        [
            {},
            {"fit_intercept": False, "fit_boundary": False},
            {"transition_mask": "all but one", "n_jobs": 2},
        ],
        ids=str,
    )
    def test_against_every_labeling(self, params):
        if "transition_mask" in params:  # the rarest move is forbidden, and sequences that make it are left out
            allowed = np.ones((3, 3), bool)
            allowed[0, 1] = False
            kept = [i for i, y in enumerate(Y) if np.all(allowed[y[:-1], y[1:]])]
            params = {**params, "transition_mask": allowed}
            model = fit([X[i] for i in kept], [Y[i] for i in kept], **params)
        else:
            model = fit(**params)
        for x, predicted, marginals in zip(X, model.predict(X), model.decision_function(X), strict=True):
            _, best = brute_force_argmax(*potentials(model, x))
            assert predicted.tolist() in best.tolist()
            assert_allclose(marginals, brute_force_max_marginals(*potentials(model, x)), rtol=1e-10, atol=1e-12)

    def test_argmax_of_max_marginals_is_the_prediction(self):
        model = fit()
        unique = 0
        for predicted, marginals in zip(model.predict(X), model.decision_function(X), strict=True):
            second, best = np.sort(marginals, axis=1)[:, -2:].T
            if np.all(best - second > 1e-9):
                unique += 1
                assert_array_equal(marginals.argmax(axis=1), predicted)
        assert unique > len(X) / 2

    def test_unseen_labels_count_as_wrong(self):
        model = fit(y=[NAMES[y] for y in Y])
        predicted = model.predict(X)
        assert model.score(X, predicted) == 1
        assert model.score(X, [["dog"] * len(x) for x in X]) == 0
        predicted[0] = np.array(["dog"] * LENGTHS[0])
        assert_allclose(model.score(X, predicted), 1 - LENGTHS[0] / sum(LENGTHS))

    def test_score_weighs_sequences(self):
        model = fit()
        right = np.array([np.sum(p == y) for p, y in zip(model.predict(X), Y, strict=True)])
        weight = np.arange(len(X)) % 3
        assert_allclose(model.score(X, Y), right.sum() / sum(LENGTHS))
        assert_allclose(model.score(X, Y, sample_weight=weight), (weight @ right) / (weight @ np.array(LENGTHS)))


def as_dicts(x):
    return [{f"f{j}": value for j, value in enumerate(row) if value} for row in np.asarray(x).tolist()]


def strided(x):
    wide = np.full((2 * x.shape[0], 2 * x.shape[1]), np.nan)
    wide[::2, ::2] = x
    return wide[::2, ::2]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


DENSE = {
    "float32": lambda x: x.astype(np.float32),
    "int64": lambda x: x.astype(np.int64),
    "uint8": lambda x: x.astype(np.uint8),
    "big-endian": lambda x: x.astype(">f8"),
    "fortran": np.asfortranarray,
    "strided": strided,
    "read-only": read_only,
    "lists": lambda x: x.tolist(),
}
SPARSE = {
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csc": sp.csc_matrix,
    "float32": lambda x: sp.csr_matrix(x.astype(np.float32)),
    "int": lambda x: sp.csr_matrix(x.astype(int)),
    "dicts": as_dicts,
}


class TestInputs:
    @pytest.mark.parametrize("outer", [list, tuple, objects])
    @pytest.mark.parametrize("form", DENSE)
    def test_lists_of_dense(self, form, outer):
        given = outer([DENSE[form](x) for x in X])
        model = fit(given)
        assert_same_model(model, fit())
        predicted = model.predict(given)
        assert isinstance(predicted, list)
        assert_array_equal(np.concatenate(predicted), np.concatenate(fit().predict(X)))

    @pytest.mark.parametrize("form", SPARSE)
    def test_lists_of_sparse(self, form):
        given = [SPARSE[form](x) for x in X]
        model = fit(given)
        assert_same_model(model, fit(), rtol=1e-8)
        predicted = model.predict(given)
        assert [len(labels) for labels in predicted] == LENGTHS
        assert_array_equal(np.concatenate(predicted), np.concatenate(fit().predict(X)))
        assert model.score(given, Y) == fit().score(X, Y)

    @pytest.mark.parametrize("form", [*(form for form in DENSE if form != "lists"), "csr", "csc"])
    @pytest.mark.parametrize("labels", ["flat", "lists"])
    def test_stacked(self, form, labels):
        given = {**SPARSE, **DENSE}[form](ROWS)
        model = fit(given, FLAT if labels == "flat" else Y, lengths=LENGTHS)
        assert_same_model(model, fit(), rtol=1e-8)
        predicted, scores = model.predict(given, lengths=LENGTHS), model.decision_function(given, lengths=LENGTHS)
        assert isinstance(predicted, np.ndarray)
        assert scores.shape == (len(ROWS), 3)
        assert_array_equal(predicted, np.concatenate(fit().predict(X)))
        assert_allclose(scores, np.concatenate(fit().decision_function(X)), rtol=1e-6)
        assert model.score(given, FLAT, lengths=LENGTHS) == fit().score(X, Y)

    def test_stacked_without_lengths_is_one_sequence(self):
        assert_same_model(fit(ROWS, FLAT, tol=0.5), fit([ROWS], [FLAT], tol=0.5))
        assert_array_equal(fit().predict(ROWS), fit().predict([ROWS])[0])

    def test_3d(self):
        cube, labels = np.stack([ROWS[:4], ROWS[4:8]]), np.stack([FLAT[:4], FLAT[4:8]])
        assert_same_model(fit(cube, labels), fit(list(cube), list(labels)))
        assert isinstance(fit().predict(cube), list)

    @pytest.mark.parametrize(
        "labels", [NAMES, NAMES.astype(object), np.array([-5, 0, 7]), np.array([1.0, 2.0, 3.0])], ids=lambda x: x.dtype
    )
    def test_labels(self, labels):
        model = fit(y=[labels[y] for y in Y])
        assert_same_model(model, fit())
        assert_array_equal(model.classes_, labels)
        assert_array_equal(np.concatenate(model.predict(X)), labels[np.concatenate(fit().predict(X))])
        assert_same_model(fit(y=[labels[y].tolist() for y in Y]), fit())

    def test_features_unknown_to_the_dicts_are_ignored(self):
        given = [as_dicts(x) for x in X]
        model = fit(given)
        more = [[{**features, "new": 9.0} for features in sample] for sample in given]
        assert_array_equal(np.concatenate(model.predict(more)), np.concatenate(model.predict(given)))

    def test_forms_may_change_between_fit_and_predict(self):
        model = fit([sp.csr_matrix(x) for x in X])
        assert_array_equal(np.concatenate(model.predict(X)), model.predict(ROWS, lengths=LENGTHS))

    def test_nothing_is_written_to(self):
        rows, labels, weight = ROWS.copy(), FLAT.copy(), np.ones(len(X))
        fit(rows, labels, weight, LENGTHS).predict(rows, lengths=LENGTHS)
        assert_array_equal(rows, ROWS)
        assert_array_equal(labels, FLAT)
        assert_array_equal(weight, 1)


class TestWeights:
    weight = np.arange(len(X)) % 3

    @pytest.mark.parametrize("lam", [None, 0.1])
    @pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 2: 0.5}])
    @pytest.mark.parametrize("solver", ["auto", "fw"])
    def test_integer_weight_is_repetition(self, solver, class_weight, lam):
        params = {"solver": solver, "class_weight": class_weight, "lam": lam, "max_passes": 10_000}
        times = self.weight
        weighted = fit(sample_weight=times, **params)
        repeated = fit(
            [x for x, k in zip(X, times, strict=True) for _ in range(k)],
            [y for y, k in zip(Y, times, strict=True) for _ in range(k)],
            **params,
        )
        assert abs(weighted.primal_ - repeated.primal_) <= weighted.gap_ + repeated.gap_

    @pytest.mark.parametrize("class_weight", [None, "balanced"])
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
    def test_zero_is_removal(self, form, class_weight):
        kept = np.flatnonzero(self.weight)
        weighted = fit([form(x) for x in X], Y, self.weight, class_weight=class_weight)
        removed = fit([form(X[i]) for i in kept], [Y[i] for i in kept], self.weight[kept], class_weight=class_weight)
        assert_same_model(weighted, removed)
        assert_array_equal(weighted.history_["gap"], removed.history_["gap"])

    def test_a_label_of_weight_zero_is_unknown(self):
        without = np.array([not np.any(y == 1) for y in Y])
        assert_array_equal(fit(sample_weight=without).classes_, [0, 2])

    def test_common_factor_changes_nothing(self):
        assert_same_model(fit(sample_weight=2.5), fit(), rtol=1e-8)

    @pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 1.0, 2: 0.5}, {1: 3.0}, {1: 0.0}], ids=str)
    @pytest.mark.parametrize("cost", [None, np.array([[0, 1, 3], [2, 0, 1], [0.5, 1, 0]])])
    def test_class_weight_weighs_the_loss_of_positions(self, cost, class_weight):
        if class_weight == "balanced":
            factor = len(FLAT) / (3 * np.bincount(FLAT))
        else:
            factor = np.array([class_weight.get(label, 1.0) for label in range(3)])
        full = 1.0 - np.eye(3) if cost is None else cost
        weighted = fit(class_weight=class_weight, cost_matrix=cost)
        assert_same_model(weighted, fit(cost_matrix=full * factor[:, None]), rtol=1e-12)

    def test_class_weight_of_labels_that_look_like_numbers(self):
        assert_same_model(fit(y=[y.astype(str) for y in Y], class_weight={"1": 3.0}), fit(class_weight={1: 3.0}))


BIO = ["B-NP", "B-VP", "I-NP", "I-VP", "O"]


def make_chunks(n=12, seed=0):
    """Features that say nothing of the labels, so that only the mask keeps the rules."""
    rng = np.random.default_rng(seed)
    y = []
    for length in rng.integers(2, 7, size=n):
        labels = []
        while len(labels) < length:
            kind, inside = rng.choice(["NP", "VP"]), int(rng.integers(4))
            labels += ["O"] if rng.random() < 0.3 else [f"B-{kind}"] + [f"I-{kind}"] * inside
        y.append(labels[:length])
    return [rng.normal(size=(len(labels), 3)) for labels in y], y


def breaks_bio(labels):
    pairs = zip(["O", *labels[:-1]], labels, strict=True)
    return any(now.startswith("I-") and before[1:] != now[1:] for before, now in pairs)


class TestMask:
    def test_bio(self):
        (X, y), (new, _) = make_chunks(), make_chunks(60, seed=1)
        new = [100 * x for x in new]  # far louder than the transitions
        free = ChainSVM(lam=0.1, tol=0.01, random_state=0).fit(X, y)
        assert any(breaks_bio(labels) for labels in free.predict(new))  # or the test would show nothing
        bound = ChainSVM(lam=0.1, tol=0.01, random_state=0, transition_mask="bio").fit(X, y)
        assert not any(breaks_bio(labels) for labels in bound.predict(new))
        by_hand = ChainSVM(lam=0.1, tol=0.01, random_state=0, transition_mask=bio_mask(BIO)).fit(X, y)
        assert_same_model(bound, by_hand)

    @pytest.mark.parametrize("as_given", [np.asarray, np.ndarray.tolist, lambda allowed: allowed.astype(float)])
    def test_array(self, as_given):
        allowed = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], bool)  # no label twice in a row
        rng = np.random.default_rng(0)
        X = [rng.normal(size=(length, 2)) for length in (3, 5, 4, 6)]
        y = [(rng.integers(3) + np.cumsum(rng.integers(1, 3, size=len(x)))) % 3 for x in X]
        model = fit(X, y, transition_mask=as_given(allowed))
        for labels in model.predict([rng.normal(size=(20, 2)) for _ in range(20)]):
            assert np.all(labels[1:] != labels[:-1])

    def test_start_and_end(self):
        mask = TransitionMask.everything(3)._replace(start=np.array([1, 0, 1]), end=[False, True, True])
        y = [np.where(np.arange(len(labels)) == 0, 2, labels) for labels in Y]
        y = [np.where(np.arange(len(labels)) == len(labels) - 1, 2, labels) for labels in y]
        model = fit(y=y, transition_mask=mask)
        new, _ = make_sequences(60, seed=1)
        predicted = model.predict(new)
        assert all(labels[0] != 1 and labels[-1] != 0 for labels in predicted)
        marginals = model.decision_function(new)
        assert all(scores[0, 1] == -np.inf and scores[-1, 0] == -np.inf for scores in marginals)

    @pytest.mark.parametrize("weight", [None, [0, 1, 1, 1]])
    @pytest.mark.parametrize(
        ("wrong", "place"),
        [(["O", "I-NP"], "position 1"), (["I-VP", "O"], "position 0"), (["B-NP", "I-VP"], "position 1")],
    )
    def test_truth_that_breaks_it(self, wrong, place, weight):
        X, y = make_chunks(4)
        X[2], y[2] = X[2][:2], wrong
        with pytest.raises(ValueError, match=f"y, sample 2, {place}: .*transition_mask"):
            ChainSVM(transition_mask="bio").fit(X, y, sample_weight=weight)

    def test_truth_of_weight_zero_may_break_it(self):
        X, y = make_chunks(8)
        y[2][0] = "I-NP"
        ChainSVM(transition_mask="bio", tol=0.5).fit(X, y, sample_weight=[1, 1, 0, 1, 1, 1, 1, 1])

    def test_no_allowed_labeling(self):
        x = np.ones((3, 2))
        model = ChainSVM(transition_mask=[[False, True], [False, False]], tol=0.1).fit([x[:2]] * 3, [["a", "b"]] * 3)
        assert_array_equal(model.predict([x[:2]])[0], ["a", "b"])
        assert model.predict([x[:1]])[0].shape == (1,)
        for call in (model.predict, lambda X: model.score(X, [["a"] * len(x) for x in X])):
            with pytest.raises(ValueError, match=r"X, sample 1: transition_mask allows no labeling of length 3"):
                call([x[:2], x])


def test_chain_beats_independent_digits():
    dates = load_dates()
    chain = ChainSVM(lam=0.01, tol=0.02, random_state=0).fit(dates.X_train, dates.y_train)
    digits = MulticlassSVM(lam=0.01, tol=0.02, random_state=0).fit(
        np.vstack(dates.X_train), np.concatenate(dates.y_train)
    )
    of_chain = chain.score(dates.X_test, dates.y_test)
    of_digits = digits.score(np.vstack(dates.X_test), np.concatenate(dates.y_test))
    assert chain.status_ == digits.status_ == "converged"
    assert of_chain > of_digits + 0.01
