"""Weight vectors come back from the store as they were."""

import copy
import pickle

import numpy as np
import pytest

from maxmargin.solvers.path import store
from maxmargin.solvers.path.store import WeightStore

VECTORS = {
    "dense": np.random.default_rng(0).normal(size=50),
    "sparse": np.random.default_rng(1).normal(size=50) * (np.arange(50) % 7 == 0),
    "zero": np.zeros(50),
    "half full": np.repeat([1.5, 0.0], 25),
    "one entry": np.eye(50)[49] * 1e-300,
    "extreme": 1e308 * np.linspace(-1, 1, 50),
    "subnormal": np.full(50, 5e-324),
}


@pytest.fixture(params=["in memory", "on disk"], autouse=True)
def place(request, monkeypatch):
    if request.param == "on disk":
        monkeypatch.setattr(store, "IN_MEMORY", 64)


def filled():
    stored = WeightStore()
    for vector in VECTORS.values():
        stored.append(vector)
    return stored


def assert_same(stored, vectors):
    assert len(stored) == len(vectors)
    for j, vector in enumerate(vectors):
        assert stored[j].dtype == np.float64
        assert np.array_equal(stored[j], vector)
    assert np.array_equal(stored[-1], vectors[-1])


def test_round_trip():
    assert_same(filled(), list(VECTORS.values()))


def test_order_of_reading_does_not_matter():
    stored, vectors = filled(), list(VECTORS.values())
    for j in (3, 0, 6, 3, 1):
        assert np.array_equal(stored[j], vectors[j])
    stored.append(vectors[0])
    assert_same(stored, [*vectors, vectors[0]])


@pytest.mark.parametrize("kind", VECTORS)
def test_repeated_vectors_take_no_room(kind):
    stored = WeightStore()
    for _ in range(3):
        stored.append(VECTORS[kind])
    size = stored.file.seek(0, 2)
    stored.append(VECTORS[kind])
    assert stored.file.seek(0, 2) == size
    assert_same(stored, [VECTORS[kind]] * 4)


def test_sparse_vectors_take_little_room():
    stored = WeightStore()
    stored.append(np.eye(1000)[3])
    assert stored.file.seek(0, 2) <= 16


def test_what_comes_out_is_the_callers_own():
    stored = filled()
    stored[0][:] = 7.0
    stored[2][:] = 7.0
    assert_same(stored, list(VECTORS.values()))
    given = VECTORS["dense"].copy()
    stored.append(given)
    given[:] = 7.0
    assert np.array_equal(stored[-1], VECTORS["dense"])


@pytest.mark.parametrize("duplicate", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
def test_copies_live_on_their_own(duplicate):
    stored, vectors = filled(), list(VECTORS.values())
    twin = duplicate(stored)
    twin.append(np.arange(50.0))
    stored.append(VECTORS["sparse"])
    assert_same(twin, [*vectors, np.arange(50.0)])
    assert_same(stored, [*vectors, VECTORS["sparse"]])


def test_an_empty_store_is_pickled():
    twin = pickle.loads(pickle.dumps(WeightStore()))
    twin.append(np.arange(3.0))
    assert_same(twin, [np.arange(3.0)])
