"""Marginals of links as lists of what has mass, against tables of all pairs."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe
from maxmargin.structures import make_chain_problem
from maxmargin.structures.pairwise import sums
from maxmargin.structures.pairwise.links import accumulate_links
from maxmargin.structures.pairwise.pairs import Pairs, no_pairs
from maxmargin.structures.pairwise.room import put_listed, sums_lack_room, sums_with_room
from maxmargin.structures.pairwise.sums import Sums
from maxmargin.structures.verbs import lacks_room, new_blocks, with_all_room, with_room

from .pairs import as_tables

K = 4
SOLVERS = {
    "fw": BlockFrankWolfe(),
    "fw averaged": BlockFrankWolfe(averaging="weighted"),
    "fixed lengths": BlockFrankWolfe(averaging="weighted", line_search=False),
    "pairwise averaged": BlockFrankWolfe("permutation", "weighted", step="pairwise"),
    "away cached": BlockFrankWolfe(step="away", cache=True),
    "accelerated": BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst"),
}


def chains(n=7, seed=0):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *rng.integers(1, 9, n)])
    return make_chain_problem(rng.normal(size=(offsets[-1], 3)), offsets, rng.integers(K, size=offsets[-1]), K)


def check_lists(kept):
    """Sorted, without zeros, inside the pool and apart from each other."""
    for i in range(len(kept.filled)):
        mine = slice(kept.first[i], kept.first[i] + kept.filled[i])
        assert np.all(np.diff(kept.pair[mine]) > 0) and np.all(kept.mass[mine] > 0)
    assert np.all(kept.filled <= kept.room)
    order = np.lexsort((kept.room, kept.first))
    ends = (kept.first + kept.room)[order]
    assert np.all(ends[:-1] <= kept.first[order][1:]) and ends[-1] <= kept.free[0] <= kept.free[1] <= len(kept.pair)


def run(problem, solver, tables, n_passes=12):
    engine = solver.start(problem, 0.05, None, 0, None)
    if tables:
        engine.blocks = with_all_room(problem, engine.blocks)
        engine.averaging = engine.new_averaging()
    found = []
    for _ in range(n_passes):
        goal = engine.steps + engine.n
        while engine.steps < goal:
            engine.advance(goal - engine.steps)
        found.append(engine.certify())
    return engine, found


@pytest.mark.parametrize("name", SOLVERS)
def test_lists_and_tables_are_one_run(name):
    problem = chains()
    listed, found = run(problem, SOLVERS[name], tables=False)
    full, expected = run(problem, SOLVERS[name], tables=True)
    assert isinstance(listed.blocks.links, Pairs) and isinstance(full.blocks.links, Sums)
    for ours, theirs in zip(found, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert a.w == pytest.approx(b.w, abs=1e-10)
            assert (a.primal, a.dual) == pytest.approx((b.primal, b.dual), abs=1e-12)
    n = len(problem.weight)
    assert as_tables(listed.blocks.links, n, K) == pytest.approx(as_tables(full.blocks.links, n, K), abs=1e-12)
    check_lists(listed.blocks.links)


def test_lists_add_up():
    rng, expected = np.random.default_rng(0), np.zeros((3, K, K))
    totals = no_pairs(3, K)
    for _ in range(8):
        size = int(rng.integers(1, 12))
        listed = rng.integers(3, size=size), *rng.integers(K, size=(2, size)), rng.random(size)
        kept = put_listed(no_pairs(3, K), *listed)
        amount = rng.random()
        np.add.at(expected, listed[:3], amount * listed[3])
        totals = sums_with_room(totals, kept)
        for i in range(3):
            assert not sums_lack_room(totals, kept, i)
            accumulate_links(kept, totals, None, i, amount)
        check_lists(totals)
        assert as_tables(totals, 3, K) == pytest.approx(expected, abs=1e-14)


def test_a_full_pool_asks_for_a_larger_one():
    problem = chains()
    blocks = new_blocks(problem)
    links = blocks.links._replace(free=np.zeros(2, np.int64), room=blocks.links.filled.copy())  # none may grow or move
    full = blocks._replace(links=links)
    long = np.flatnonzero(np.diff(problem.sites.offsets) > 2)
    assert all(lacks_room(problem, full, i) for i in long)
    larger = with_room(problem, full)
    assert not any(lacks_room(problem, larger, i) for i in range(len(problem.weight)))
    assert np.array_equal(as_tables(larger.links, 7, K), as_tables(blocks.links, 7, K))
    check_lists(larger.links)


def test_lists_move_where_there_is_room():
    blocks = new_blocks(chains())
    kept = blocks.links._replace(room=blocks.links.filled.copy())
    before, i = as_tables(kept, 7, K), int(np.argmax(kept.filled))
    assert not lacks_room(chains(), blocks._replace(links=kept), i)
    assert kept.room[i] > kept.filled[i] and np.array_equal(as_tables(kept, 7, K), before)
    check_lists(kept)


def test_true_labels_are_counted():
    problem = chains()
    tables, offsets, y = as_tables(new_blocks(problem).links, 7, K), problem.sites.offsets, problem.labels
    for i in range(7):
        expected = np.zeros((K, K))
        np.add.at(expected, (y[offsets[i] : offsets[i + 1] - 1], y[offsets[i] + 1 : offsets[i + 1]]), 1.0)
        assert np.array_equal(tables[i], expected)


def test_tables_beyond_all_memory_are_refused(monkeypatch):
    problem = chains()
    monkeypatch.setattr(sums, "MOST_BYTES", 100)
    with pytest.raises(MemoryError, match="7 samples with 4 labels"):
        with_all_room(problem, new_blocks(problem))


def test_steps_of_all_kinds_go_on_from_each_other():
    problem = chains()
    outputs, inside = BlockFrankWolfe(averaging="weighted"), BlockFrankWolfe(averaging="weighted", step="expectation")
    first = outputs.solve(problem, 0.05, tol=0, max_passes=3, random_state=0)
    second = inside.solve(problem, 0.05, tol=0, max_passes=3, state=first.state)
    assert isinstance(second.state.blocks.links, Sums) and isinstance(second.state.averaging.totals.links, Sums)
    third = outputs.solve(problem, 0.05, tol=0, max_passes=20, state=second.state)
    assert third.dual >= second.dual - 1e-12 and third.gap < first.gap
