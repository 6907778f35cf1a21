"""What marginals change by along a direction, against dense arithmetic."""

import numpy as np
import pytest

from maxmargin.structures.directions import (
    BetweenCorners,
    ToCorner,
    ToExpectation,
    list_change,
    list_difference,
    list_pair,
    plus,
)
from maxmargin.structures.multiclass.expectations import Expected
from maxmargin.structures.pairwise.links import Alike, new_kept, put_marginals
from maxmargin.structures.pairwise.room import links_with_all_room

K = 4


def dense(count, active, values):
    found = np.zeros(K)
    np.add.at(found, active[:count], values[:count])
    return found


@pytest.mark.parametrize("mass", [0.0, 0.5, 1.0, 7.0])
def test_differences_of_any_mass(mass):
    rng, active, values = np.random.default_rng(0), np.zeros(K, int), np.zeros(K)
    for label in range(K):
        corner = np.eye(K)[label]
        for marginals in (mass * rng.dirichlet(np.ones(K)), mass * corner, mass * np.eye(K)[label - 1], rng.random(K)):
            if mass > 0 and marginals[label] == mass:
                marginals = mass * corner  # the mass is all there is
            count = list_difference(marginals, label, mass, active, values)
            assert dense(count, active, values) == pytest.approx(mass * corner - marginals, abs=1e-15)


def test_changes_along_every_direction():
    rng, active, values = np.random.default_rng(1), np.zeros(K, int), np.zeros(K)
    goal = rng.dirichlet(np.ones(K), size=3)
    into = ToExpectation(Expected(np.zeros(3 * K), goal.ravel(), np.zeros(1)))
    for _ in range(20):
        marginals, (corner, away) = rng.dirichlet(np.ones(K)), rng.integers(K, size=2)
        s = int(rng.integers(3))
        expected = [
            (ToCorner(), np.eye(K)[corner] - marginals),
            (BetweenCorners(), np.eye(K)[corner] - np.eye(K)[away]),
            (into, goal[s] - marginals),
        ]
        for direction, change in expected:
            count = list_change(direction, s, marginals, corner, away, active, values)
            assert dense(count, active, values) == pytest.approx(change, abs=1e-15)


def test_a_pair_of_one_label_changes_nothing():
    assert list_pair(2, 2, np.zeros(K, int), np.zeros(K)) == 0


def test_sums_that_are_put_in_know_their_square():
    links = Alike(np.empty((0, 0)), np.array([0, 2, 3]), np.zeros(3, np.int32), np.ones(3, np.int32))
    kept, tables = links_with_all_room(new_kept(links, 2, K)), np.random.default_rng(2).random((2, K, K))
    put_marginals(kept, links, 0, tables)
    assert kept.edge[0] == pytest.approx(tables.sum(axis=0))
    assert kept.square == pytest.approx([np.sum(tables.sum(axis=0) ** 2), 0.0])


def test_what_only_rounding_leaves_is_nothing():
    assert plus(0.3, -0.3 + 1e-17) == 0.0 and plus(0.0, 1e-14) == 1e-14
