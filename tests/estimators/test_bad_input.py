"""What is refused, with which words, and what a failed or interrupted fit leaves behind."""

from __future__ import annotations

import os
import signal
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from maxmargin import ChainSVM, MulticlassSVM, TransitionMask
from maxmargin.solvers import BlockFrankWolfe

RNG = np.random.default_rng(0)
SEQUENCES = [RNG.normal(size=(length, 2)) for length in (3, 1, 4, 2)]
LABELS = [RNG.integers(2, size=len(x)) for x in SEQUENCES]
LABELS[0][:] = [0, 1, 0]
BOTH = pytest.mark.parametrize("cls", [ChainSVM, MulticlassSVM])


def data(cls):
    """Fresh copies: 4 sequences, or their 10 positions."""
    X, y = [x.copy() for x in SEQUENCES], [labels.copy() for labels in LABELS]
    return (X, y) if cls is ChainSVM else (np.vstack(X), np.concatenate(y))


def flat(labels):
    return np.concatenate(labels) if isinstance(labels, list) else labels


def assert_refuses(model, X, y, error, match, **fit_params):
    """Fit says why not, leaves nothing on a new model, and leaves an older fit of the same estimator as it was."""
    before = dict(vars(model))
    with pytest.raises(error, match=match):
        model.fit(X, y, **fit_params)
    assert vars(model) == before
    good_X, good_y = data(type(model))
    with pytest.raises(NotFittedError):
        model.predict(good_X)
    with pytest.raises(NotFittedError):
        model.decision_function(good_X)

    older = type(model)(tol=0.1, random_state=0).fit(good_X, good_y)
    predicted, attributes, params = flat(older.predict(good_X)), set(vars(older)), older.get_params(deep=False)
    older.set_params(**model.get_params(deep=False))
    with pytest.raises(error, match=match):
        older.fit(X, y, **fit_params)
    assert set(vars(older)) == attributes
    older.set_params(**params)
    assert_array_equal(flat(older.predict(good_X)), predicted)


def change(part, index, value):
    """A copy of X or y with one entry changed; a list of arrays where `part` is one."""
    part = [one.astype(object if isinstance(value, (str, type(None))) else float) for one in part]
    part[index][0] = value
    return part


PARAMETERS = [
    *({"lam": lam} for lam in (0, -1.0, np.nan, np.inf, "big", True)),
    *({"tol": tol} for tol in (-1e-3, np.nan, "small")),
    *({"max_passes": passes} for passes in (0, -1, np.nan, "many", None)),
    *({"max_seconds": seconds} for seconds in (0, -1.0, np.nan, "long")),
    *({"solver": solver} for solver in ("newton", "", None, 3, BlockFrankWolfe)),
    *({"n_jobs": n_jobs} for n_jobs in (0, 1.5, "all")),
    *({"class_weight": weight} for weight in ("heavy", 3, [1.0, 2.0])),
    *({"class_weight": weight} for weight in ({0: -1.0}, {0: np.nan}, {0: np.inf}, {0: "x"}, {0: None}, {"a": 1.0})),
    *({"cost_matrix": cost} for cost in (np.zeros((3, 3)), np.zeros(2), 1.0 - np.eye(3))),
    *({"cost_matrix": [[0, one], [1, 0]]} for one in (-1.0, np.nan, np.inf)),
    {"cost_matrix": np.ones((2, 2))},
    {"solver": BlockFrankWolfe(sampling="alphabetical")},
    {"solver": BlockFrankWolfe(averaging="harmonic")},
    {"solver": BlockFrankWolfe(gap_every=0)},
]


@BOTH
@pytest.mark.parametrize("params", PARAMETERS, ids=str)
def test_parameters(cls, params):
    name, value = next(iter(params.items()))
    if isinstance(value, BlockFrankWolfe):
        name = next(key for key, one in value.get_params().items() if one != BlockFrankWolfe().get_params()[key])
    assert_refuses(cls(**params), *data(cls), ValueError, name)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"loss": "squared"}, "loss must be one of"),
        ({"transition_mask": "iob"}, "transition_mask must be"),
        ({"transition_mask": np.ones((3, 3), bool)}, r"allowed has shape \(3, 3\)"),
        ({"transition_mask": np.ones(2, bool)}, r"allowed has shape \(2,\)"),
        ({"transition_mask": np.array([[0, -np.inf], [0, 0]])}, "allowed must hold truth values"),
        ({"transition_mask": TransitionMask.everything(2)._replace(start=[True])}, "start has shape"),
        ({"transition_mask": TransitionMask.everything(2)._replace(end=[True, 7])}, "end must hold truth values"),
        ({"transition_mask": np.array([[True, False], [True, True]])}, "y, sample 0, position 1"),
    ],
)
def test_parameters_of_chains(params, match):
    assert_refuses(ChainSVM(**params), *data(ChainSVM), ValueError, match)


S, L = SEQUENCES, LABELS
OF_CHAINS = {
    "NaN": (change(S, 2, np.nan), L, {}, ValueError, "X, sample 2, position 0: .*NaN"),
    "infinity": (change(S, 3, np.inf), L, {}, ValueError, "X, sample 3, position 0: .*infinity"),
    "sparse NaN": ([sp.csr_matrix(x) for x in change(S, 2, np.nan)], L, {}, ValueError, "X, sample 2, position 0"),
    "NaN in dicts": ([[{"a": 1.0}], [{"a": np.nan}]], [[0], [1]], {}, ValueError, "X, sample 1, position 0"),
    "nothing": ([], [], {}, ValueError, "X is empty"),
    "empty matrix": (np.empty((0, 2)), [], {}, ValueError, "minimum of 1"),
    "empty sequence": ([S[0], S[1][:0]], L[:2], {}, ValueError, "X, sample 1: empty sequence"),
    "empty dicts": ([[{"a": 1}], []], [[0], []], {}, ValueError, "X, sample 1: empty sequence"),
    "no features": ([x[:, :0] for x in S], L, {}, ValueError, r"sample 0: .*0 feature\(s\)"),
    "widths": ([S[0], S[1][:, :1]], L[:2], {}, ValueError, "X, sample 1: 1 features"),
    "1-d sequence": ([S[0], S[1][0]], L[:2], {}, ValueError, "X, sample 1: expected a 2-d array"),
    "complex": ([S[0], 1j * S[1]], L[:2], {}, ValueError, "sample 1: Complex"),
    "strings": ([S[0], np.array([["a", "b"]])], L[:2], {}, ValueError, "sample 1: dtype <U1"),
    "dates": ([S[0], np.array([["2020-01-01"] * 2], "M8[D]")], L[:2], {}, ValueError, "sample 1: dtype datetime64"),
    "a number": (3.0, L, {}, TypeError, "X: expected a list or an array"),
    "None": (None, L, {}, TypeError, "X: expected a list or an array"),
    "mixed": ([S[0], sp.csr_matrix(S[1])], L[:2], {}, ValueError, "X, sample 1: sparse, but sample 0 is dense"),
    "no y": (S, None, {}, ValueError, "requires y"),
    "too few label sequences": (S, L[:3], {}, ValueError, "3 label sequences, but X has 4"),
    "too few labels": (S, [*L[:2], L[2][:3], L[3]], {}, ValueError, "y, sample 2: 3 labels.* has 4 positions"),
    "NaN label": (S, change(L, 2, np.nan), {}, ValueError, "y, sample 2, position 0: .*NaN"),
    "None label": (S, change(L, 2, None), {}, ValueError, "y, sample 2, position 0: .*None"),
    "continuous label": (S, change(L, 2, 0.5), {}, ValueError, "y, sample 2, position 0: .*continuous"),
    "mixed labels": (S, change(L, 2, "a"), {}, ValueError, "y, sample 2, position 0: label 'a' next to"),
    "2-d labels": (S, [L[0][:, None], *L[1:]], {}, ValueError, "y, sample 0: labels must be 1-d"),
    "lengths of a list": (S, L, {"lengths": [3, 1, 4, 2]}, ValueError, "lengths goes with"),
    "lengths too short": (np.vstack(S), L, {"lengths": [3, 1, 4, 1]}, ValueError, "lengths sum to 9"),
    "length of zero": (np.vstack(S), L, {"lengths": [3, 0, 5, 2]}, ValueError, "lengths, sample 1: length 0"),
    "lengths of floats": (np.vstack(S), L, {"lengths": [3.0, 7.0]}, ValueError, "lengths must be .*integers"),
    "flat labels too few": (np.vstack(S), np.zeros(9, int), {"lengths": [3, 1, 4, 2]}, ValueError, "9 labels"),
}


@pytest.mark.parametrize("case", OF_CHAINS)
def test_data_of_chains(case):
    X, y, fit_params, error, match = OF_CHAINS[case]
    assert_refuses(ChainSVM(), X, y, error, match, **fit_params)


ROWS, FLAT = np.vstack(SEQUENCES), np.concatenate(LABELS)
OF_CLASSES = {
    "NaN": (np.where(ROWS[4, 1] == ROWS, np.nan, ROWS), FLAT, ValueError, "NaN"),
    "infinity": (np.where(ROWS[4, 1] == ROWS, np.inf, ROWS), FLAT, ValueError, "infinity"),
    "sparse NaN": (sp.csr_matrix(np.where(ROWS[4, 1] == ROWS, np.nan, ROWS)), FLAT, ValueError, "NaN"),
    "nothing": ([], [], ValueError, "empty|Expected 2D"),
    "no samples": (ROWS[:0], FLAT[:0], ValueError, "minimum of 1"),
    "no features": (ROWS[:, :0], FLAT, ValueError, r"0 feature\(s\)"),
    "1-d": (ROWS[:, 0], FLAT, ValueError, "Expected 2D"),
    "3-d": (ROWS[None], FLAT, ValueError, "dim 3"),
    "complex": (1j * ROWS, FLAT, ValueError, "Complex"),
    "strings": (np.full(ROWS.shape, "a"), FLAT, ValueError, "convert string to float"),
    "no y": (ROWS, None, ValueError, "requires y"),
    "too few labels": (ROWS, FLAT[:-1], ValueError, "inconsistent numbers of samples"),
    "NaN label": (ROWS, np.where(np.arange(10) == 3, np.nan, FLAT), ValueError, "NaN"),
    "continuous labels": (ROWS, FLAT + 0.5, ValueError, "continuous"),
    "2-d labels": (ROWS, np.stack([FLAT, FLAT], 1), ValueError, "1d array"),
    "other width": (np.hstack([ROWS, ROWS]), FLAT[:-1], ValueError, "inconsistent"),
    "other width, late failure": (np.hstack([ROWS, ROWS]), FLAT + 0.5, ValueError, "continuous"),
}


@pytest.mark.parametrize("case", OF_CLASSES)
def test_data_of_classes(case):
    X, y, error, match = OF_CLASSES[case]
    assert_refuses(MulticlassSVM(), X, y, error, match)


@BOTH
@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda n: np.where(np.arange(n) == 2, -1.0, 1.0), ValueError, "sample_weight, sample 2: weight -1.0"),
        (lambda n: np.where(np.arange(n) == 2, np.nan, 1.0), ValueError, "sample_weight, sample 2: weight nan"),
        (lambda n: np.where(np.arange(n) == 2, np.inf, 1.0), ValueError, "sample_weight, sample 2: weight inf"),
        (lambda n: np.zeros(n), ValueError, "zero"),
        (lambda n: np.ones(n + 1), ValueError, "sample_weight.shape"),
        (lambda n: np.ones((n, 1)), ValueError, "sample_weight.shape"),
        (lambda n: ["1"] * n, TypeError, "sample_weight must hold real numbers"),
        (lambda n: np.full(n, 1e308), ValueError, "sums to inf"),
        (lambda n: 0, ValueError, "zero"),
    ],
)
def test_sample_weight(cls, make, error, match):
    X, y = data(cls)
    assert_refuses(cls(), X, y, error, match, sample_weight=make(len(X)))


class TestPredict:
    """What fit refuses in X, a fitted model refuses too, and other widths besides; nothing at all it answers."""

    @pytest.mark.parametrize("method", ["predict", "decision_function"])
    @pytest.mark.parametrize(
        ("X", "match"),
        [
            (change(S, 2, np.nan), "X, sample 2, position 0"),
            ([x[:, :1] for x in S], "X has 1 features, but ChainSVM is expecting 2"),
            ([[{"a": 1.0}]], "fitted without"),
        ],
    )
    def test_chains(self, method, X, match):
        model = ChainSVM(tol=0.1).fit(*data(ChainSVM))
        with pytest.raises(ValueError, match=match):
            getattr(model, method)(X)

    @pytest.mark.parametrize("method", ["predict", "decision_function"])
    @pytest.mark.parametrize(
        ("X", "match"),
        [
            (np.full((2, 2), np.nan), "NaN"),
            (ROWS[:, :1], "X has 1 features, but MulticlassSVM is expecting 2"),
        ],
    )
    def test_classes(self, method, X, match):
        model = MulticlassSVM(tol=0.1).fit(*data(MulticlassSVM))
        with pytest.raises(ValueError, match=match):
            getattr(model, method)(X)

    @pytest.mark.parametrize("y", [LABELS[:3], [labels[:1] for labels in LABELS], None])
    def test_score(self, y):
        model = ChainSVM(tol=0.1).fit(*data(ChainSVM))
        with pytest.raises(ValueError, match="y"):
            model.score(SEQUENCES, y)


class Raiser:
    """A callback that raises at the begin or the end of a task."""

    def __init__(self, error, hook, task):
        self.error, self.hook, self.task = error, hook, task

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.maybe("begin", context)

    def on_fit_task_end(self, estimator, context):
        self.maybe("end", context)

    def maybe(self, hook, context):
        if (hook, context.task_name) == (self.hook, self.task) and (self.task == "fit" or context.task_id == 2):
            raise self.error("by the callback")


class TestBrokenOff:
    @BOTH
    @pytest.mark.parametrize(
        ("error", "hook", "task"),
        [
            *((RuntimeError, hook, task) for hook in ("begin", "end") for task in ("fit", "certificate")),
            *((KeyboardInterrupt, hook, "fit") for hook in ("begin", "end")),
        ],
    )
    def test_error_in_a_callback(self, cls, error, hook, task):
        X, y = data(cls)
        old = cls(tol=0.1, random_state=0).fit(X, y)
        predicted = flat(old.predict(X))
        callback = Raiser(error, hook, task)
        new = cls()
        for model in (new, old):
            model.set_params(tol=0, max_passes=100).set_callbacks(callback)
            names = set(vars(model))
            with pytest.raises(error, match="by the callback"), warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(X, y)
            assert set(vars(model)) == names
        with pytest.raises(NotFittedError):
            new.predict(X)
        assert_array_equal(flat(old.predict(X)), predicted)

    @BOTH
    @pytest.mark.parametrize("hook", ["begin", "end"])
    def test_second_ctrl_c(self, cls, hook):
        """The first one is a flag; one that still gets into a certificate's callbacks leaves what is certified."""
        X, y = data(cls)
        model = cls(tol=0, lam=1e-3).set_callbacks(Raiser(KeyboardInterrupt, hook, "certificate")).fit(X, y)
        assert model.status_ == "interrupted"
        assert len(model.history_["gap"]) == 3
        assert len(flat(model.predict(X))) == len(flat(y))

    @BOTH
    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_ctrl_c(self, cls, n_jobs):
        X, y = data(cls)
        X = [np.repeat(x, 20, axis=0) for x in X] if cls is ChainSVM else np.repeat(X, 20, axis=0)
        y = [RNG.integers(2, size=len(x)) for x in X] if cls is ChainSVM else RNG.integers(2, size=len(X))
        # no convergence, so that only the interrupt ends the fit, or the time limit where it does not come through
        model = cls(tol=0, lam=1e-6, max_passes=1e9, max_seconds=60, n_jobs=n_jobs)
        model.solver = BlockFrankWolfe(gap_every=1e9)
        cls(tol=0, max_passes=1, n_jobs=n_jobs, solver=BlockFrankWolfe()).fit(X, y)  # compiled before the clock runs
        handler = signal.getsignal(signal.SIGINT)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            model.fit(X, y)
        finally:
            timer.cancel()
        assert model.status_ == "interrupted"
        assert signal.getsignal(signal.SIGINT) is handler
        assert model.n_passes_ > 0
        assert model.gap_ >= 0
        assert len(flat(model.predict(X))) == len(flat(y))

    @BOTH
    def test_fit_outside_the_main_thread(self, cls):
        """Where signals cannot be caught."""
        X, y = data(cls)
        model = cls(tol=0.1)
        thread = threading.Thread(target=model.fit, args=(X, y))
        thread.start()
        thread.join()
        assert model.status_ == "converged"
