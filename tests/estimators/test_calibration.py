"""The temperature of marginals."""

import numpy as np
import pytest

from maxmargin import ChainSVM, Tree, TreeSVM
from maxmargin.datasets import load_dates
from maxmargin.estimators._calibration import CLOSE, hold_out, least


@pytest.fixture(scope="module")
def dates():
    return load_dates(n_train=90, n_test=100)


@pytest.fixture
def reader(dates):
    return ChainSVM(lam=0.03, random_state=0).fit(dates.X_train[:60], dates.y_train[:60])


def calibration_error(model, X, y, temperature=None, n_bins=10):
    """How far the probability of the likeliest label is from the share that is right, on average over bins."""
    marginals, truth = np.concatenate(model.predict_marginals(X, temperature)), np.concatenate(y)
    sure, right = marginals.max(axis=1), model.classes_[marginals.argmax(axis=1)] == truth
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    return np.abs(np.bincount(bins, sure - right, n_bins)).sum() / len(truth)


def test_probabilities_mean_something_then(reader, dates):
    before = calibration_error(reader, dates.X_test, dates.y_test)
    labels = reader.predict(dates.X_test)
    assert reader.calibrate(dates.X_train[60:], dates.y_train[60:]) is reader
    after = calibration_error(reader, dates.X_test, dates.y_test)
    assert after < 0.1 < 0.5 * before
    assert after == calibration_error(reader, dates.X_test, dates.y_test, reader.temperature_)
    assert all((a == b).all() for a, b in zip(labels, reader.predict(dates.X_test), strict=True))


def test_by_cross_validation(reader, dates):
    held_out = reader.calibrate(dates.X_train[60:], dates.y_train[60:]).temperature_
    reader.calibrate(dates.X_train[:60], dates.y_train[:60], cv=3)
    assert held_out / 2 < reader.temperature_ < 2 * held_out
    assert calibration_error(reader, dates.X_test, dates.y_test) < 0.1


def test_it_is_the_best_of_all(reader, dates):
    X, y = dates.X_train[60:], dates.y_train[60:]
    reader.calibrate(X, y)
    held = hold_out(reader, X, y, None, None)
    losses = [held.loss(reader.temperature_ * factor)[0] for factor in (0.5, 0.9, 1.0, 1.1, 2.0)]
    assert np.argmin(losses) == 2


def test_the_scale_of_scores_does_not_matter(reader, dates):
    X, y = dates.X_train[60:], dates.y_train[60:]
    before = reader.calibrate(X, y).temperature_
    reader._weights.flat[:] *= 1000.0
    assert reader.calibrate(X, y).temperature_ == pytest.approx(1000.0 * before, rel=2 * CLOSE)


def test_weights_and_unknown_labels(reader, dates):
    X, y = dates.X_train[60:70], list(dates.y_train[60:70])
    expected = reader.calibrate(X[:5], y[:5]).temperature_
    weight = np.repeat([1.0, 0.0], 5)
    assert reader.calibrate(X, y, sample_weight=weight).temperature_ == pytest.approx(expected, rel=2 * CLOSE)
    strange = [*y[:5], *([99] * len(one) for one in y[5:])]
    assert reader.calibrate(X, strange).temperature_ == pytest.approx(expected, rel=2 * CLOSE)
    with pytest.raises(ValueError, match="no label to calibrate with"):
        reader.calibrate(X[5:], strange[5:])


def test_where_all_is_right_the_temperature_stays_above_zero():
    X, y = [np.eye(2)] * 5, [[0, 1]] * 5
    model = ChainSVM(lam=0.01, random_state=0).fit(X, y).calibrate(X, y)
    assert np.isfinite(model.temperature_) and model.temperature_ > 1e-4
    assert model.predict_marginals(X)[0][0, 0] > 0.9


def test_a_new_fit_forgets_it(reader, dates):
    reader.calibrate(dates.X_train[60:], dates.y_train[60:])
    assert not hasattr(reader.fit(dates.X_train[:60], dates.y_train[:60]), "temperature_")


def test_a_stacked_x(reader, dates):
    X, y = dates.X_train[60:70], dates.y_train[60:70]
    lengths = [len(x) for x in X]
    expected = reader.calibrate(X, y).temperature_
    stacked = np.vstack(X), np.concatenate(y)
    assert reader.calibrate(*stacked, lengths=lengths).temperature_ == expected
    with pytest.raises(ValueError, match="cut a stacked X"):
        reader.calibrate(*stacked, lengths=lengths, cv=2)


def test_trees():
    samples = [Tree(np.eye(2), [-1, 0]), Tree(np.eye(2)[::-1], [-1, 0])] * 3
    y = [["a", "b"], ["b", "a"]] * 3
    assert TreeSVM(lam=0.1, random_state=0).fit(samples, y).calibrate(samples, y, cv=2).temperature_ > 0


@pytest.mark.parametrize("place", [-30.0, -0.3, 0.0, 7.7])
def test_the_search_finds_a_valley(place):
    assert least(lambda at: (at - place) ** 2, 0.0) == pytest.approx(place, abs=CLOSE)
