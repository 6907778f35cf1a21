"""What is asked for ahead is what will be wanted, where it does not lie in a cache anyway."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.structures import LogLoss, make_chain_problem, make_multiclass_problem, rows
from maxmargin.structures.changes import add_changes, announce_changed_weights, list_changes
from maxmargin.structures.directions import ToCorner
from maxmargin.structures.verbs import announce_weights, dimension, find_corner, find_potentials, new_blocks, new_work

K = 4


def features(kind, n, n_features=30):
    return kind(sparse.random(n, n_features, 0.1, random_state=0, data_rvs=np.ones))


def chain(kind):
    return make_chain_problem(features(kind, 12), np.array([0, 5, 6, 12]), np.arange(12) % K, K)


def classes(kind):
    return make_multiclass_problem(features(kind, 12), np.arange(12) % K, K)


@pytest.fixture
def asked(monkeypatch):
    """Places in flat weights that are asked for."""
    places = []

    def note(array, first, count):
        assert first >= 0 and first + count <= array.size
        places.extend(range(first, first + count))

    monkeypatch.setattr(rows, "prefetch", note)
    monkeypatch.setattr(rows, "BEYOND_A_CACHE", 0)
    return places


def read_by(problem, i):
    """Weights of features that the potentials of sample i depend on."""
    found, work, w = set(), new_work(problem), np.zeros(dimension(problem))
    find_potentials(problem, work, w, i)
    before = work.node.copy()
    for place in range(30 * K):
        w[place] = 1.0
        find_potentials(problem, work, w, i)
        w[place] = 0.0
        if not np.array_equal(work.node, before):
            found.add(place)
    return found


@pytest.mark.parametrize("make", [chain, classes])
def test_weights_of_a_samples_features_are_asked_for(make, asked):
    problem = make(sparse.csr_matrix)
    for i in range(3):
        asked.clear()
        announce_weights(problem, np.zeros(dimension(problem)), i)
        assert set(asked) == read_by(problem, i)


def test_log_losses_ask_as_their_base_does(asked):
    problem = chain(sparse.csr_matrix)
    announce_weights(LogLoss(problem), np.zeros(dimension(problem)), 0)
    assert set(asked) == read_by(problem, 0)


@pytest.mark.parametrize("make", [chain, classes])
def test_nothing_is_asked_for_that_a_cache_holds(make, asked, monkeypatch):
    dense, problem = make(lambda matrix: 1.0 + matrix.toarray()), make(sparse.csr_matrix)
    announce_weights(dense, np.zeros(dimension(dense)), 0)  # rows one after the other come by themselves
    monkeypatch.setattr(rows, "BEYOND_A_CACHE", dimension(problem))
    announce_weights(problem, np.zeros(dimension(problem)), 0)
    assert not asked


def test_no_more_is_asked_for_than_stays(asked, monkeypatch):
    problem = chain(sparse.csr_matrix)
    monkeypatch.setattr(rows, "WEIGHTS_AHEAD", 2 * K)
    announce_weights(problem, np.zeros(dimension(problem)), 0)
    assert len(asked) == 2 * K


def test_weights_that_change_are_asked_for(asked):
    problem = chain(sparse.csr_matrix)
    blocks, work, w = new_blocks(problem), new_work(problem), np.zeros(dimension(problem))
    keys, values = np.zeros(1000, np.int64), np.zeros(1000)
    for i in range(3):
        find_potentials(problem, work, w, i)
        find_corner(problem, work, w, i)
        end = list_changes(problem, ToCorner(), blocks, work, i, 0.5, keys, values, 7)
        values[7:end] = np.arange(1, end - 6)  # which do not add up to 0
        asked.clear()
        announce_changed_weights(problem, work, i, keys, 7, end, w)
        changed = w.copy()
        add_changes(problem, work, i, keys, values, 7, end, 1.0, changed)
        assert set(asked) == set(np.flatnonzero(changed[: 30 * K]).tolist())
