"""Weights that a run keeps: by those that are not 0, where these are few; runs do not depend on it."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, kept
from maxmargin.solvers.kept import Few, Whole

from .test_few_weights import LAM, PARTS, some_chains

pytestmark = pytest.mark.usefixtures("no_compilation")


def test_few_of_many_weights_are_kept_by_their_places(monkeypatch):
    monkeypatch.setattr(kept, "MANY", 8)
    few, half, short = np.eye(8)[3], np.tile([0.0, 1.0], 4), np.eye(7)[3]
    for w, kind in ((few, Few), (half, Whole), (short, Whole)):
        found = kept.kept(w)
        assert isinstance(found, kind)
        assert np.array_equal(found.weights(), w) and np.array_equal(found.own(), w) and found.own() is not w
        assert found.size == len(w) and not found.is_nothing() and kept.kept(0.0 * w).is_nothing()
        assert kept.are_same(found, kept.kept(w.copy())) and not kept.are_same(found, kept.kept(2.0 * w))


@pytest.mark.parametrize("passes", [0.5, 6])
def test_runs_are_the_same(passes, monkeypatch, tmp_path):
    def run(name):
        solver, records = BlockFrankWolfe(**PARTS[0], gap_every=1), []
        kwargs = {"tol": 1e-9, "random_state": 0, "callbacks": [records.append], "checkpoint": tmp_path / name}
        solver.solve(some_chains(), LAM, max_passes=passes, **kwargs)
        result = solver.solve(some_chains(), LAM, max_passes=2 * passes, **kwargs)  # goes on
        return result, records

    whole, its_records = run("whole")
    monkeypatch.setattr(kept, "MANY", 0)
    monkeypatch.setattr(kept, "SHARE", 1.0)
    found, records = run("few")
    assert np.array_equal(found.w, whole.w) and found.gap == whole.gap
    assert np.array_equal(found.state.best.w, whole.state.best.w)
    assert [record.w.tolist() for record in records] == [record.w.tolist() for record in its_records]
    found.w[:] = 7.0  # which is the user's own
    assert not np.array_equal(found.state.best.w, found.w)


def test_pieces_are_put_together(monkeypatch):
    monkeypatch.setattr(kept, "MANY", 0)
    monkeypatch.setattr(kept, "SHARE", 1.0)
    monkeypatch.setattr(kept, "PIECE", 3)
    for w in (np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0, np.nan, -1.0]), np.ones(9), np.zeros(4), np.zeros(0)):
        found = kept.kept(w)
        assert np.array_equal(found.places, np.flatnonzero(w)) and np.array_equal(found.weights(), w, equal_nan=True)
