"""The verbs of remembered outputs and of steps between two of them, against the enumerated problem."""

from functools import partial

import numpy as np
import pytest

from maxmargin.structures import CustomProblem
from maxmargin.structures.custom import Output
from maxmargin.structures.directions import BetweenCorners, ToCorner
from maxmargin.structures.multiclass import MulticlassProblem
from maxmargin.structures.verbs import (
    block_value,
    enlarged,
    find_potentials,
    is_corner,
    keep_corner,
    mean_loss,
    measure,
    new_labelings,
    new_work,
    output_bound,
    output_bytes,
    slot_value,
    take_away,
    take_corner,
)

from .pairs import COST, GRAPHS, chain_pair, graph_pair, multiclass_pair, subsets_pair
from .test_verbs import GRAM, LAM, Walk, close, follow, pair_named

CAPACITY = 4
CHAINS = {
    "dense": {"cost": COST},
    "sparse masked": {"is_sparse": True, "masked": True, "normalize": False, "sample_weight": [1, 2, 3, 4]},
    "bare": {"intercept": False, "boundary": False},
}
OTHERS = {
    "multiclass": lambda: multiclass_pair(cost=COST),
    "multiclass sparse": lambda: multiclass_pair(1, is_sparse=True, intercept=False, sample_weight=[1, 2, 0, 1, 1, 3]),
    "custom": subsets_pair,
    **{name: partial(graph_pair, **options) for name, options in GRAPHS.items()},
}


@pytest.fixture(params=[*(f"{name}, {gram}" for name in CHAINS for gram in GRAM), *OTHERS])
def pair(request, monkeypatch):
    return pair_named(request.param, CHAINS, OTHERS, monkeypatch)


def corner_row(pair, work, i):
    """Row of the corner, whoever set it."""
    if not isinstance(pair.problem, CustomProblem):
        return pair.corner(work, i)
    rows = range(len(pair.reference.labelings[i]))
    return next(row for row in rows if output(pair, i, row).equals(work.corner))


def output(pair, i, row):
    y = pair.reference.labelings[i][row]
    return Output(pair.problem.feature(i, y), pair.problem.loss(i, y))


def remembered_row(pair, labelings, i, j):
    """Row of the enumeration that slot j of block i holds."""
    work = new_work(pair.problem)
    take_corner(pair.problem, labelings, work, i, j)
    return corner_row(pair, work, i)


def set_corner(pair, work, i, row):
    """Any labeling becomes the corner, an oracle's choice or not."""
    y = pair.reference.labelings[i][row]
    if isinstance(pair.problem, CustomProblem):
        work.corner = output(pair, i, row)
    elif isinstance(pair.problem, MulticlassProblem):
        work.label[0] = y
    else:
        work.labels[: len(y)] = y


class Slots(Walk):
    """A walk through the dual that remembers random outputs."""

    def __init__(self, pair, seed=0):
        super().__init__(pair, seed)
        self.labelings = new_labelings(pair.problem, CAPACITY)
        self.rows = np.full((pair.reference.n, CAPACITY), -1)
        self.rows[:, 0] = pair.reference.truth

    def random_row(self, i):
        return int(self.rng.integers(len(self.reference.losses[i])))

    def keep(self, i, j, row=None):
        """A labeling, random if none is given, into a slot."""
        row = self.random_row(i) if row is None else row
        set_corner(self.pair, self.work, i, row)
        keep_corner(self.problem, self.labelings, self.work, i, j)
        self.rows[i, j] = row

    def fill(self):
        for i in range(self.reference.n):
            for j in range(1, CAPACITY):
                self.keep(i, j)
        return self


def test_the_truth_is_in_the_first_slot(pair):
    labelings = new_labelings(pair.problem, CAPACITY)
    assert [remembered_row(pair, labelings, i, 0) for i in range(pair.reference.n)] == pair.reference.truth


def test_slots_keep_what_they_were_given(pair):
    slots = Slots(pair).fill()
    for _ in range(40):
        slots.keep(int(slots.rng.integers(pair.reference.n)), int(slots.rng.integers(CAPACITY)))
    found = [[remembered_row(pair, slots.labelings, i, j) for j in range(CAPACITY)] for i in range(pair.reference.n)]
    assert found == slots.rows.tolist()


def test_larger_labelings_keep_what_is_filled(pair):
    slots = Slots(pair).fill()
    filled = slots.rng.integers(1, CAPACITY + 1, size=pair.reference.n)
    slots.labelings = enlarged(pair.problem, slots.labelings, filled, 3 * CAPACITY)
    slots.rows = np.pad(slots.rows, ((0, 0), (0, 2 * CAPACITY)))
    for i, count in enumerate(filled):
        for j in range(count, 3 * CAPACITY, 2):  # what is written later stays in its slot
            slots.keep(i, j)
    for i, count in enumerate(filled):
        for j in (*range(count), *range(count, 3 * CAPACITY, 2)):
            assert remembered_row(pair, slots.labelings, i, j) == slots.rows[i, j]


def test_is_corner(pair):
    slots = Slots(pair, 1).fill()
    for i in range(pair.reference.n):
        for row in range(len(pair.reference.losses[i])):
            set_corner(pair, slots.work, i, row)
            found = [is_corner(pair.problem, slots.labelings, slots.work, i, j) for j in range(CAPACITY)]
            assert found == (slots.rows[i] == row).tolist()


def test_slot_value(pair):
    slots = Slots(pair, 2).fill()
    for _ in range(10):
        i, w, _ = slots.look()
        scores = pair.reference.losses[i] + pair.phi[i] @ w
        for j in range(CAPACITY):
            assert slot_value(pair.problem, slots.labelings, slots.work, w, i, j) == close(scores[slots.rows[i, j]])


def test_pair_norm_leaves_nothing_behind(pair):
    slots = Slots(pair, 3).fill()
    for _ in range(20):
        i = int(slots.rng.integers(pair.reference.n))
        j, other = slots.rng.integers(CAPACITY, size=2)
        take_corner(pair.problem, slots.labelings, slots.work, i, j)
        take_away(pair.problem, slots.labelings, slots.work, i, other)
        difference = pair.phi[i][slots.rows[i, j]] - pair.phi[i][slots.rows[i, other]]
        for _ in range(2):
            assert measure(pair.problem, BetweenCorners(), slots.blocks, slots.work, i).norm == close(
                difference @ difference
            )
        direction = pair.phi[i][slots.rows[i, j]] - slots.alpha[i] @ pair.phi[i]
        assert measure(pair.problem, ToCorner(), slots.blocks, slots.work, i).norm == close(direction @ direction)


def test_move_pair(pair):
    """Mass moves between outputs, all of it or some; the state stays that of the distribution beside it."""
    slots = Slots(pair, 4).fill()
    for _ in range(60):
        i, w, _ = slots.look()
        if slots.rng.random() < 0.3:
            set_corner(pair, slots.work, i, slots.random_row(i))
        row, source = corner_row(pair, slots.work, i), int(slots.rng.choice(np.flatnonzero(slots.alpha[i])))
        slots.keep(i, 1, source)
        set_corner(pair, slots.work, i, row)
        take_away(pair.problem, slots.labelings, slots.work, i, 1)
        difference = pair.phi[i][row] - pair.phi[i][source]
        assert measure(pair.problem, BetweenCorners(), slots.blocks, slots.work, i).norm == close(
            difference @ difference
        )
        before, scale = w.copy(), float(slots.rng.uniform(0.1, 2.0))
        gamma = float(slots.alpha[i][source] * slots.rng.choice([0.3, 1.0]))
        follow(BetweenCorners(), slots, w, i, gamma, scale)
        slots.alpha[i][source] -= gamma
        slots.alpha[i][row] += gamma
        assert w == close(before - scale * gamma * difference)
        check_state(slots, i, w)


def check_state(slots, i, w):
    """Value, loss, weights and norms of the state are those of the distribution beside it."""
    pair, reference = slots.pair, slots.reference
    find_potentials(pair.problem, slots.work, w, i)
    scores = reference.losses[i] + pair.phi[i] @ w
    value = block_value(pair.problem, slots.blocks, slots.work, w, i)
    assert value == pytest.approx(slots.alpha[i] @ scores, abs=1e-10)
    assert mean_loss(pair.problem, slots.blocks) == close(reference.ell_of(slots.alpha))
    found = pair.to_reference(slots.weights(slots.blocks, 1.0))
    assert found == close(reference.weights_of(slots.alpha, LAM))
    set_corner(pair, slots.work, i, reference.truth[i])
    direction = pair.phi[i][reference.truth[i]] - slots.alpha[i] @ pair.phi[i]
    assert measure(pair.problem, ToCorner(), slots.blocks, slots.work, i).norm == close(direction @ direction)


def test_a_pair_of_one_output_changes_nothing(pair):
    slots = Slots(pair, 5)
    for i in range(pair.reference.n):
        _, w, _ = slots.look()
        before = w.copy()
        take_corner(pair.problem, slots.labelings, slots.work, i, 0)
        take_away(pair.problem, slots.labelings, slots.work, i, 0)
        assert measure(pair.problem, BetweenCorners(), slots.blocks, slots.work, i).norm == 0
        follow(BetweenCorners(), slots, w, i, 0.5, 1.0)
        assert w == close(before)
        check_state(slots, i, w)


def test_bounds_on_the_number_of_outputs_and_their_bytes(pair):
    longest = max(len(losses) for losses in pair.reference.losses)
    assert output_bound(pair.problem) >= longest
    if isinstance(pair.problem, CustomProblem):
        assert output_bytes(pair.problem) > 0
        return
    codes = new_labelings(pair.problem, CAPACITY)
    codes = codes.codes if hasattr(codes, "codes") else codes
    assert codes.nbytes == CAPACITY * output_bytes(pair.problem)


def test_the_bound_of_long_chains_is_a_number_to_compute_with():
    assert 10**6 < output_bound(chain_pair().problem._replace(longest=10**6)) < 2**63
