"""Warnings of fits: why it stopped, what it cost, what to do next, and that there are no weights."""

import os
import re
import signal
import threading
import warnings

import numpy as np
import pytest
from fit_cases import BOTH, make_data
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM
from maxmargin.solvers import BlockFrankWolfe


def words_of_fit(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert all(one.category is ConvergenceWarning for one in caught)
    assert all(one.filename == __file__ for one in caught), "a warning names the line that called fit"
    return [str(one.message) for one in caught]


@BOTH
def test_max_passes(cls):
    words, *_ = words_of_fit(cls(tol=1e-9, max_passes=3, random_state=0, solver="bcfw"), *make_data(cls))
    cost = r"stopped after 3 passes \(\d+\.\d with certificates\) and \S+ seconds with a duality gap of \d\.\d\de-\d\d"
    assert re.match(cost + r", above the goal of 1e-09\. Raise max_passes, tol or lam", words)
    assert "Ctrl-C" not in words


@BOTH
def test_max_seconds_warns_alike(cls):
    X, y = make_data(cls)
    solver = BlockFrankWolfe(line_search=False)
    model = cls(tol=1e-15, lam=1e-4, max_seconds=0.3, max_passes=np.inf, solver=solver)
    cls(max_passes=1, tol=1, solver=solver).fit(X, y)  # compiled by now
    words = words_of_fit(model, X, y)
    assert model.status_ == "max_seconds"
    assert re.match(
        r"stopped after .* seconds with a duality gap of .*, above the goal of 1e-15\. Raise max_seconds, tol", words[0]
    )
    assert "Ctrl-C" not in words[0]


def test_no_time_for_a_pass_leaves_no_weights_and_says_so():
    X, y = make_data(MulticlassSVM)
    stopped, empty = words_of_fit(MulticlassSVM(max_seconds=1e-9), X, y)
    assert "Raise max_seconds" in stopped
    assert re.match(
        "all weights are 0: every output scores the same, .* no time for a single pass: raise max_seconds", empty
    )


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="Ctrl-C goes to the main thread")
def test_ctrl_c_alone_speaks_of_ctrl_c():
    def press(record):
        if record.passes > 0:
            os.kill(os.getpid(), signal.SIGINT)

    model = MulticlassSVM(tol=0, max_passes=1000, solver=BlockFrankWolfe(gap_every=1)).set_callbacks(press)
    words = words_of_fit(model, *make_data(MulticlassSVM))
    assert model.status_ == "interrupted"
    assert words[0].startswith("stopped by Ctrl-C after ")
    assert words[0].endswith("Press Ctrl-C twice to break off instead")


def test_converged_says_nothing():
    assert words_of_fit(MulticlassSVM(tol=0.5, lam=0.1), np.eye(4), np.arange(4)) == []


def test_without_a_bound_the_end_of_passes_is_no_failure():
    X, y = make_data(MulticlassSVM)
    assert words_of_fit(MulticlassSVM(solver="perceptron", max_passes=5), X, y) == []


def test_features_of_zeros_leave_no_weights():
    model = MulticlassSVM(fit_intercept=False) if "fit_intercept" in MulticlassSVM().get_params() else MulticlassSVM()
    words = words_of_fit(model, np.zeros((6, 2)), np.array([0, 1, 0, 1, 0, 1]))
    if not np.any(model.coef_) and not np.any(getattr(model, "intercept_", 0.0)):
        assert any(one.startswith("all weights are 0") and "features are all 0" in one for one in words)


@pytest.mark.parametrize("lam", [1e12, 1e300])
def test_a_lam_that_leaves_nothing_is_named(lam):
    words = words_of_fit(MulticlassSVM(lam=lam, random_state=0), *make_data(MulticlassSVM))
    assert len(words) == 1
    assert (
        f"no weights were found that do better than none: with lam={lam:g}" in words[0]
        or "all weights are 0" in words[0]
    )
    assert "lower" in words[0]


def test_a_lam_too_small_for_numbers_is_named():
    with pytest.raises(
        FloatingPointError, match=r"with lam=1e-300, features, costs or 1/lam are too large; rescale them"
    ):
        MulticlassSVM(lam=1e-300, random_state=0).fit(*make_data(MulticlassSVM, scale=10.0))


def test_noisy_labels_are_learned_with_a_word_on_the_objective():
    rng = np.random.default_rng(0)
    X, directions = rng.normal(size=(400, 10)), rng.normal(size=(10, 10))
    y = np.argmax(X @ directions + 3 * rng.gumbel(size=(400, 10)), axis=1)
    model = MulticlassSVM(lam=1 / 400, tol=1e-4, max_passes=6, random_state=0)
    words = words_of_fit(model, X, y)
    assert model.score(X, y) > 0.3
    assert "no weights were found that do better than none" in words[-1]
