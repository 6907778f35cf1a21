"""Chains in pieces: dual variables of the whole, a certificate of the whole, other cuts, going on."""

from itertools import product

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, get_solver
from maxmargin.solvers.block_coordinate.pieces import PiecesEngine
from maxmargin.solvers.passes import Passes, weights_pass
from maxmargin.structures import make_chain_problem
from maxmargin.structures.pairwise.pieces import (
    blocks_of,
    can_be_cut,
    cut_anew,
    even_cuts,
    every_other,
    in_pieces,
    joint_vector,
    labelings_of,
    merged,
    outputs_of,
    sure_cuts,
    sureness_pass,
)
from maxmargin.structures.verbs import new_work
from structures.pairs import MASK, as_tables, chain_pair, interpreted

LAM = 0.5
EXACT = 1e-7


def long_chain(n_sites=60, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.integers(n_labels, size=n_sites), rng.integers(1, 4, size=n_sites))[:n_sites]
    rows = np.eye(n_labels)[labels] + rng.normal(size=(n_sites, n_labels))
    return make_chain_problem(rows, np.array([0, n_sites]), labels, n_labels)


def solver_of(pieces, **options):
    return BlockFrankWolfe(
        "gap", "weighted", **{"step": "pairwise", "acceleration": "catalyst"} | options, pieces=pieces
    )


def random_outputs(problem, cuts, masses=(0.75, 0.25), seed=0):
    """Outputs of each piece, with their masses."""
    rng, n_labels = np.random.default_rng(seed), len(problem.cost)
    return [
        [(rng.integers(n_labels, size=length).astype(np.int32), mass) for mass in masses] for length in np.diff(cuts)
    ]


def random_pieces(problem, longest):
    """Pieces, with marginals that agree with each other inside them."""
    pieces = in_pieces(problem, even_cuts(problem, longest))
    return pieces, blocks_of(pieces, random_outputs(problem, pieces.sites.offsets))


def vector_of(problem, blocks):
    w = np.zeros(Passes(problem, None).dimension)
    weights_pass(problem, blocks, new_work(problem), len(problem.weight), 1.0, 1.0, w)
    return w


@pytest.mark.parametrize("offsets", [[0, 40], [0, 13, 14, 40]])
def test_pieces_cover_the_chains_and_nest(offsets):
    whole = long_chain(40)
    problem = make_chain_problem(np.ones((40, 1)), np.array(offsets), whole.labels, 3)
    with interpreted():
        short, longer = (in_pieces(problem, even_cuts(problem, longest)) for longest in (5, 10))
    assert every_other(problem, short.sites.offsets).tolist() == longer.sites.offsets.tolist()
    assert np.diff(short.sites.offsets).max() <= 5
    assert set(offsets) <= set(longer.sites.offsets) <= set(short.sites.offsets)
    assert np.count_nonzero(~short.links.follows[:-1]) == len(offsets) - 1


def test_joints_make_up_the_vector_of_the_whole():
    problem = long_chain(24)
    with interpreted():
        pieces, blocks = random_pieces(problem, 6)
        pieces.links.node[:] = blocks.node
        whole = in_pieces(problem, even_cuts(problem, 24))
        joined = merged(pieces, blocks, whole)
        whole.links.node[:] = joined.node
        ours = vector_of(pieces, blocks) + joint_vector(problem, pieces)
        theirs = vector_of(whole, joined) + joint_vector(problem, whole)
    assert ours == pytest.approx(theirs)
    edge = as_tables(joined.links, 1, 3)[0]
    assert edge.sum() == pytest.approx(23)
    # marginals of links agree with those of their ends
    tails = np.delete(np.arange(24), 23)
    assert edge.sum(axis=1) == pytest.approx(joined.node[tails].sum(axis=0))


@pytest.mark.parametrize("offsets", [[0, 40], [0, 13, 14, 40]])
def test_cuts_move_to_sure_sites_inside_their_windows(offsets):
    problem = make_chain_problem(np.ones((40, 1)), np.array(offsets), np.zeros(40, int), 2)
    even, sureness = even_cuts(problem, 5), np.zeros(40)
    sureness[[26, 27, 28, 29]] = 1.0, 2.0, 3.0, 0.5
    cuts = sure_cuts(problem, even, sureness)
    assert set(offsets) <= set(cuts) and np.all(np.diff(cuts) > 0)
    assert np.all(np.abs(cuts - even) < 5 / 2)
    assert 28 in cuts  # the link of 27 and 28 is surest


def test_sureness_is_what_another_label_costs():
    problem, w = long_chain(5), np.random.default_rng(0).normal(size=21)
    w, node, found = np.resize(w, Passes(problem, None).dimension), np.full((5, 3), 0.5), np.empty(5)
    passes = Passes(problem, None)
    with interpreted():
        sureness_pass(problem, passes.work, w, node, found, 0, 1)
        values = {}
        for y in product(range(3), repeat=5):
            labels = np.array(y, np.int32)
            corner = blocks_of(in_pieces(problem, np.array([0, 5])), [[(labels, 1.0)]])
            values[y] = float(corner.loss[0] - vector_of(in_pieces(problem, np.array([0, 5])), corner) @ w)
    best = max(values, key=values.get)
    for t in range(5):
        other = max(value for y, value in values.items() if y[t] != best[t])
        assert found[t] == pytest.approx(0.5 * (values[best] - other))


@pytest.mark.parametrize("new", [[0, 24], [0, 12, 24], [0, 3, 11, 13, 24], [0, 6, 12, 18, 24]])
def test_other_cuts_leave_the_marginals_of_sites(new):
    problem, new = long_chain(24), np.array(new)
    with interpreted():
        pieces = in_pieces(problem, even_cuts(problem, 6))
        outputs = random_outputs(problem, pieces.sites.offsets, (0.5, 0.3, 0.2))
        others = in_pieces(problem, new)
        again = cut_anew(outputs, pieces.sites.offsets, new)
        before, after = blocks_of(pieces, outputs), blocks_of(others, again)
    assert after.node == pytest.approx(before.node)
    assert after.loss.sum() == pytest.approx(before.loss.sum())
    for piece, begin, end in zip(again, new[:-1], new[1:], strict=True):
        inside = np.count_nonzero((pieces.sites.offsets > begin) & (pieces.sites.offsets < end))
        assert len(piece) <= 3 + 2 * inside  # no product of all with all
        assert sum(mass for _, mass in piece) == pytest.approx(1.0)
    kept = labelings_of(others, again, 20)
    filled, mass = np.array([len(piece) for piece in again]), np.zeros((len(again), 20))
    for i, piece in enumerate(again):
        mass[i, : len(piece)] = [one for _, one in piece]
    read = outputs_of(others, kept, filled, mass)
    found, expected = (as_tables(one.links, len(again), 3) for one in (blocks_of(others, read), after))
    assert found == pytest.approx(expected)


def test_chains_are_cut_anew_once_sites_are_sure():
    problem = long_chain(200)
    even = even_cuts(problem, 25)
    result = solver_of(25).solve(problem, 20.0, tol=0, max_passes=30, random_state=0)
    cuts = result.state.cuts
    assert not np.array_equal(cuts, even) and cuts[[0, -1]].tolist() == [0, 200]
    assert result.history["pieces"][-1] == len(even) - 1
    assert np.all(np.diff(result.history["dual"]) >= 0)


def test_outputs_without_names_leave_cuts_where_they_are():
    solver = BlockFrankWolfe("gap", "weighted", step="fw", acceleration="catalyst", pieces=4)
    result = solver.solve(long_chain(), 5.0, tol=0, max_passes=150, random_state=0)
    assert set(result.state.cuts) < set(even_cuts(long_chain(), 4))
    assert np.all(np.diff(result.history["dual"]) >= 0)


@pytest.mark.parametrize("lam", [0.5, 20.0])
def test_the_certificate_is_that_of_the_whole(lam):
    problem = long_chain()
    exact = BlockFrankWolfe("gap", step="pairwise", acceleration="catalyst").solve(
        problem, lam, tol=1e-7, max_passes=5000, random_state=0
    )
    result = solver_of(10).solve(problem, lam, tol=1e-3, max_passes=60, random_state=0)
    assert result.dual - EXACT <= exact.primal
    assert exact.dual - EXACT <= result.primal
    assert result.primal == pytest.approx(Passes(problem, None).primal(result.w, lam))
    assert result.history["pieces"][0] == 8


def test_short_chains_are_solved_to_the_end():
    pair = chain_pair()  # no chain is longer than a piece: only biases of first and last sites are looked at late
    result = solver_of(4).solve(pair.problem, LAM, tol=1e-2, random_state=0)
    best = pair.reference.solve(LAM)[1]
    assert result.dual - EXACT <= best <= result.primal + EXACT


def test_pieces_become_longer_where_the_gap_stops_falling():
    history = solver_of(4).solve(long_chain(), 5.0, tol=0, max_passes=150, random_state=0).history
    assert history["pieces"][0] == 16
    assert history["pieces"][-1] < 16
    assert np.all(np.diff(history["dual"]) >= 0)


def test_goes_on_as_if_it_had_not_stopped():
    solver, problem = solver_of(4), long_chain()
    whole = solver.solve(problem, 5.0, tol=0, max_passes=80, random_state=0)
    half = solver.solve(problem, 5.0, tol=0, max_passes=40, random_state=0)
    rest = solver.solve(problem, 5.0, tol=0, max_passes=40, state=half.state)
    assert (rest.primal, rest.dual) == (whole.primal, whole.dual)


@pytest.mark.parametrize("max_passes", [3, 12])  # 12: with other cuts
def test_both_speeds_agree(max_passes):
    problem, solver = long_chain(30), solver_of(8, acceleration=None)
    fast = solver.solve(problem, 5.0, tol=0, max_passes=max_passes, random_state=0)
    with interpreted():
        slow = solver.solve(problem, 5.0, tol=0, max_passes=max_passes, random_state=0)
    assert np.array_equal(fast.state.cuts, slow.state.cuts)
    assert fast.w == pytest.approx(slow.w, abs=1e-9)


def test_chains_with_masks_or_features_are_not_cut():
    masked = make_chain_problem(np.ones((300, 1)), np.array([0, 300]), np.ones(300, int), 3, mask=MASK)
    featured = make_chain_problem(np.ones((3, 1)), np.array([0, 3]), np.zeros(3, int), 2, edge_matrix=np.ones((2, 1)))
    assert not can_be_cut(masked)
    assert not can_be_cut(featured)
    assert get_solver("auto", masked).pieces is None
    with pytest.raises(ValueError, match="pieces are for chains"):
        solver_of(10).solve(masked, LAM)


def test_auto_cuts_what_is_long_beside_the_rest():
    assert get_solver("auto", long_chain(400)).pieces == 40
    assert get_solver("auto", long_chain(30)).pieces is None
    sentences = make_chain_problem(np.ones((400, 1)), np.arange(0, 401, 20), np.zeros(400, int), 2)
    assert get_solver("auto", sentences).pieces is None
    assert get_solver("auto", long_chain(400)).family == PiecesEngine.family


@pytest.mark.parametrize("dense", [True, False])
def test_biases_of_ends_are_learned(dense):
    """First and last sites have labels that only their biases can tell, and pieces, once joined, are whole chains."""
    rng, n, length = np.random.default_rng(0), 6, 40
    labels = rng.integers(3, size=(n, length))
    labels[:, 0], labels[:, -1] = 0, 1
    rows = np.eye(3)[labels] + 0.5 * rng.normal(size=(n, length, 3))
    rows[:, [0, -1]] = 0.0
    matrix = rows.reshape(-1, 3) if dense else np.where(rows > 0.8, rows, 0.0).reshape(-1, 3)
    problem = make_chain_problem(matrix, np.arange(n + 1) * length, labels.ravel(), 3)
    found = solver_of(10).solve(problem, LAM, tol=3e-3, max_passes=300, random_state=0)
    whole = get_solver("bcpfw").solve(problem, LAM, tol=1e-4, max_passes=3000, random_state=0)
    assert found.status == "converged"
    assert whole.dual - 1e-9 <= found.primal and found.dual <= whole.primal + 1e-9
    assert np.all(found.history["effective_passes"] >= found.history["passes"])
