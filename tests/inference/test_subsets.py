"""Best sets against trying all, the relaxation against a linear program, at both speeds."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from maxmargin.inference import best_subset, relax_subset
from maxmargin.inference import subsets as module


def worth(gains, pairs, y):
    y = np.asarray(y, float)
    return gains @ y + y @ np.triu(pairs, 1) @ y


def drawn(seed, n, density=1.0, whole=False):
    rng = np.random.default_rng(seed)
    draw = (
        (lambda size: rng.integers(-3, 4, size=size).astype(float)) if whole else (lambda size: rng.normal(size=size))
    )
    pairs = np.triu(draw((n, n)) * (rng.random((n, n)) < density), 1)
    return draw(n), pairs + pairs.T


def program(gains, pairs):
    """The local polytope as scipy solves it."""
    n = len(gains)
    edges = [(k, m) for k, m in itertools.combinations(range(n), 2)]
    rows, bounds = [], []
    for e, (k, m) in enumerate(edges):
        for signs, bound in (({k: -1}, 0), ({m: -1}, 0), ({k: 1, m: 1}, 1)):
            row = np.zeros(n + len(edges))
            for at, sign in signs.items():
                row[at] = sign
            row[n + e] = 1 if bound == 0 else -1
            rows.append(row)
            bounds.append(bound)
    costs = -np.concatenate([gains, [pairs[k, m] for k, m in edges]])
    solved = linprog(costs, np.array(rows) if rows else None, bounds if rows else None, bounds=(0, 1))
    return -solved.fun


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("whole", [False, True])
def test_best_and_relaxed(n, seed, whole, no_compilation):
    gains, pairs = drawn(seed, n, [1.0, 0.4][seed % 2], whole)
    highest = max(worth(gains, pairs, y) for y in itertools.product((0, 1), repeat=n))
    found = best_subset(gains, pairs)
    assert found.value == pytest.approx(highest, abs=1e-9) == worth(gains, pairs, found.labels)
    assert found.bound == found.value
    relaxed = relax_subset(gains, pairs)
    assert relaxed.value == pytest.approx(program(gains, pairs), abs=1e-7)
    assert relaxed.bound == pytest.approx(relaxed.value, abs=1e-9)
    assert set(relaxed.shares) <= {0.0, 0.5, 1.0}
    sure = relaxed.shares != 0.5  # what is sure is so in a best set
    assert np.array_equal(found.labels[sure], relaxed.shares[sure])
    assert found.integral == pytest.approx(sure.mean())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20))
def test_compiled_relaxations_are_tight(seed, n):
    gains, pairs = drawn(seed, n, 0.6)
    relaxed = relax_subset(gains, pairs)
    assert relaxed.bound == pytest.approx(relaxed.value, abs=1e-9)
    assert best_subset(gains, pairs).value <= relaxed.bound + 1e-9


def test_interactions_that_attract_leave_nothing_open():
    gains, pairs = drawn(3, 30)
    found = best_subset(gains, np.abs(pairs))
    assert found.integral == 1 and found.bound == found.value == pytest.approx(relax_subset(gains, np.abs(pairs)).value)


def test_more_open_items_than_are_tried_come_with_a_bound(monkeypatch):
    gains, pairs = drawn(5, 8)
    best = best_subset(gains, pairs)
    assert best.integral < 1
    monkeypatch.setattr(module, "MOST_TRIED", 0)
    climbed = best_subset(gains, pairs)
    assert climbed.value <= best.value <= climbed.bound == pytest.approx(relax_subset(gains, pairs).bound)
    for k in range(8):  # no single change is for the better
        other = climbed.labels.copy()
        other[k] = 1 - other[k]
        assert worth(gains, pairs, other) <= climbed.value + 1e-9


def test_the_diagonal_is_not_looked_at(no_compilation):
    gains, pairs = drawn(1, 4)
    assert best_subset(gains, pairs + 5 * np.eye(4)).value == best_subset(gains, pairs).value


def test_no_items(no_compilation):
    assert best_subset([], np.zeros((0, 0))).value == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        best_subset([bad, 0.0], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="finite"):
        relax_subset([0.0, 0.0], np.full((2, 2), bad))
