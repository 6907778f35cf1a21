"""Every verb of every structure against the enumerated problem, along a random walk through the dual."""

from functools import partial

import numpy as np
import pytest

from maxmargin.structures import CustomProblem
from maxmargin.structures.directions import BetweenCorners, ToCorner, ToExpectation
from maxmargin.structures.needs import Need
from maxmargin.structures.pairwise import layout
from maxmargin.structures.verbs import (
    accumulate,
    add_block,
    add_corner,
    block_value,
    corner_loss,
    dimension,
    find_corner,
    find_entry,
    find_expectation,
    find_potentials,
    keep_corner,
    mean_loss,
    measure,
    move,
    n_blocks,
    new_blocks,
    new_expectation,
    new_labelings,
    new_tilts,
    new_totals,
    new_work,
    offers,
    take_away,
    truth_value,
)

from .pairs import COST, GRAPHS, chain_pair, graph_pair, multiclass_pair, multilabel_pair, subsets_pair

LAM = 0.3

CHAINS = {
    "plain": {},
    "bare": {"intercept": False, "boundary": False},
    "intercept": {"boundary": False},
    "boundary": {"intercept": False, "is_sparse": True},
    "summed": {"normalize": False, "cost": COST},
    "weighted": {"sample_weight": [0.5, 2.0, 0.0, 1.3], "class_weight": [1.0, 2.0, 0.3]},
    "masked": {"masked": True},
    "sparse": {"is_sparse": True},
    "sparse masked": {"is_sparse": True, "masked": True, "cost": COST, "sample_weight": [1, 2, 3, 4]},
}
OTHERS = {
    "multiclass": lambda: multiclass_pair(),
    "multiclass bare": lambda: multiclass_pair(intercept=False, sample_weight=[1, 2, 0, 1, 0.5, 1]),
    "multiclass sparse": lambda: multiclass_pair(is_sparse=True, cost=COST),
    "multilabel": lambda: multilabel_pair(),
    "multilabel bare": lambda: multilabel_pair(intercept=False, sample_weight=[1, 2, 0, 1, 0.5], missed=3.0),
    "multilabel sparse": lambda: multilabel_pair(is_sparse=True, missed=[1.0, 2.0, 0.5], wrong=[0.3, 1.1, 2.0]),
    "custom": lambda: subsets_pair(),
    "custom weighted": lambda: subsets_pair(sample_weight=[1, 2, 0, 1, 0.5]),
    **{name: partial(graph_pair, **options) for name, options in GRAPHS.items()},
}
# pairs of positions a non-zero: all blocks have a Gram matrix, some, none
GRAM = {"gram": 4, "mixed": 0.7, "no gram": 0}


def pair_named(title, chains, others, monkeypatch):
    """One of the others, or one of the chains with its share of Gram matrices."""
    if title in others:
        return others[title]()
    name, gram = title.split(", ")
    monkeypatch.setattr(layout, "GRAM_PAIRS_PER_NONZERO", GRAM[gram])
    return chain_pair(**chains[name])


@pytest.fixture(params=[*(f"{name}, {gram}" for name in CHAINS for gram in GRAM), *OTHERS])
def pair(request, monkeypatch):
    return pair_named(request.param, CHAINS, OTHERS, monkeypatch)


def follow(direction, problem, blocks, work, w, i, gamma, scale):
    """Measure a direction and take a step along it; its norm."""
    measured = measure(problem, direction, blocks, work, i)
    move(problem, direction, measured, blocks, work, w, i, gamma, scale)
    return measured.norm


def close(value):
    return pytest.approx(value, abs=1e-12, rel=1e-12)


class Walk:
    """The library's state of the blocks and, beside it, the distribution over labelings it stands for."""

    def __init__(self, pair, seed=0):
        self.pair, self.problem, self.reference = pair, pair.problem, pair.reference
        self.rng = np.random.default_rng(seed)
        self.blocks, self.work = new_blocks(self.problem), new_work(self.problem)
        self.alpha = [a.copy() for a in self.reference.true_alpha()]

    def look(self):
        """A random block at random weights, asked for its corner: (i, w, row)."""
        i = int(self.rng.integers(n_blocks(self.problem)))
        w = self.rng.normal(size=dimension(self.problem)) * self.rng.choice([0.1, 1.0, 10.0])
        find_potentials(self.problem, self.work, w, i)
        self.value = find_corner(self.problem, self.work, w, i)
        return i, w, self.pair.corner(self.work, i)

    def step(self, i, w, row, gamma, scale):
        direction = self.pair.phi[i][row] - self.alpha[i] @ self.pair.phi[i]
        norm = follow(ToCorner(), self.problem, self.blocks, self.work, w, i, gamma, scale)
        self.alpha[i] *= 1 - gamma
        self.alpha[i][row] += gamma
        return norm, direction

    def steps(self, n_steps=15):
        """Random steps, the full and the empty one among them."""
        for gamma in [1.0, 0.0, 1.0, *self.rng.random(n_steps)]:
            i, w, row = self.look()
            yield (i, w, row, gamma, float(self.rng.uniform(0.1, 2.0)))

    def weights(self, blocks, mass):
        w = np.zeros(dimension(self.problem))
        for i in range(n_blocks(self.problem)):
            add_block(self.problem, blocks, self.work, i, self.problem.weight[i] / (LAM * mass), mass, w)
        return w


def test_start_is_the_truth(pair):
    walk = Walk(pair)
    assert n_blocks(pair.problem) == pair.reference.n
    assert dimension(pair.problem) == pair.reference.d
    assert pair.problem.weight == close(pair.reference.shares)
    assert mean_loss(pair.problem, walk.blocks) == 0
    assert not walk.weights(walk.blocks, 1.0).any()
    assert mean_loss(pair.problem, new_totals(pair.problem)) == 0


def test_values(pair):
    walk, reference = Walk(pair), pair.reference
    for i, w, row, gamma, scale in walk.steps():
        scores = reference.losses[i] + pair.phi[i] @ w
        assert walk.value == close(scores.max())
        assert scores[row] == close(scores.max())
        assert truth_value(walk.problem, walk.work, w, i) == close(pair.phi[i][reference.truth[i]] @ w)
        assert block_value(walk.problem, walk.blocks, walk.work, w, i) == close(walk.alpha[i] @ scores)
        assert corner_loss(walk.problem, walk.work, i) == close(reference.losses[i][row])
        walk.step(i, w, row, gamma, scale)


def test_moves(pair):
    walk, reference = Walk(pair, 1), pair.reference
    for i, w, row, gamma, scale in walk.steps():
        before = w.copy()
        norm, direction = walk.step(i, w, row, gamma, scale)
        assert norm == close(direction @ direction)
        assert w == close(before - scale * gamma * direction)
        assert mean_loss(walk.problem, walk.blocks) == close(reference.ell_of(walk.alpha))
        found = pair.to_reference(walk.weights(walk.blocks, 1.0))
        assert found == close(reference.weights_of(walk.alpha, LAM))


def test_norms_are_of_the_direction_when_no_move_follows(pair):
    # a look at one block between another's norms leaves nothing behind in the scratch
    walk = Walk(pair, 2)
    for i, _, row, _, _ in walk.steps():
        direction = pair.phi[i][row] - walk.alpha[i] @ pair.phi[i]
        for _ in range(2):
            assert measure(walk.problem, ToCorner(), walk.blocks, walk.work, i).norm == close(direction @ direction)


def test_add_corner(pair):
    walk = Walk(pair, 3)
    for i, w, row, _, scale in walk.steps():
        before = w.copy()
        add_corner(walk.problem, walk.work, i, scale, w)
        assert w == close(before + scale * (pair.phi[i][pair.reference.truth[i]] - pair.phi[i][row]))


def test_totals(pair):
    walk, reference = Walk(pair, 4), pair.reference
    totals, mass = new_totals(pair.problem), 0.0
    sums = [np.zeros_like(a) for a in walk.alpha]
    for i, w, row, gamma, scale in walk.steps(6):
        walk.step(i, w, row, gamma, scale)
        amount = float(walk.rng.uniform(0.5, 2.0))
        mass += amount
        for j in range(reference.n):
            accumulate(pair.problem, totals, walk.blocks, j, amount)
            sums[j] += amount * walk.alpha[j]
    mean = [s / mass for s in sums]
    assert mean_loss(pair.problem, totals) / mass == close(reference.ell_of(mean))
    assert pair.to_reference(walk.weights(totals, mass)) == close(reference.weights_of(mean, LAM))


def test_blocks_mix_directions(pair):
    """Corners, pairs and expectations, each some of the way: the state stays that of the distribution beside it."""
    walk, reference = Walk(pair, 5), pair.reference
    labelings = new_labelings(pair.problem, 2)
    expects = Need.EXPECTATIONS in offers(pair.problem)
    expectation = new_expectation(pair.problem) if expects else None
    tilts = new_tilts(pair.problem) if expects else None
    for i in range(reference.n if expects else 0):  # true parts are likelier than others
        w = np.zeros(dimension(pair.problem))
        find_potentials(pair.problem, walk.work, w, i)
        find_entry(pair.problem, tilts, new_blocks(pair.problem), expectation, walk.work, w, i, 1.0)
    for turn in range(60):
        i, w, row = walk.look()
        gamma, before = float(walk.rng.choice([0.3, 0.9, 1.0])), w.copy()
        goal = np.zeros_like(walk.alpha[i])
        goal[row] = 1.0
        if turn % 3 == 0:
            direction, change = ToCorner(), goal - walk.alpha[i]
        elif turn % 3 == 1 or not expects:
            # the corner of other weights, which the block held, becomes what mass is taken from
            keep_corner(pair.problem, labelings, walk.work, i, 1)
            walk.step(i, w.copy(), row, 0.5, 1.0)
            w[:] = before = walk.rng.normal(size=dimension(pair.problem))
            find_potentials(pair.problem, walk.work, w, i)
            find_corner(pair.problem, walk.work, w, i)
            take_away(pair.problem, labelings, walk.work, i, 1)
            direction, change = BetweenCorners(), -goal
            change[pair.corner(walk.work, i)] += 1.0
            before, gamma = w.copy(), 0.5 * gamma
        else:
            find_expectation(pair.problem, tilts, expectation, walk.work, w, i, 0.7)
            features = expected_alpha(pair, i, w, 0.7)
            direction, change = ToExpectation(expectation), features - walk.alpha[i]
        apart = change @ pair.phi[i]
        measured = measure(walk.problem, direction, walk.blocks, walk.work, i)
        assert measured.norm == pytest.approx(apart @ apart, abs=1e-9)
        move(walk.problem, direction, measured, walk.blocks, walk.work, w, i, gamma, 0.8)
        walk.alpha[i] = walk.alpha[i] + gamma * change
        assert w == pytest.approx(before - 0.8 * gamma * apart, abs=1e-10)
        assert mean_loss(walk.problem, walk.blocks) == pytest.approx(reference.ell_of(walk.alpha), abs=1e-11)
        found = pair.to_reference(walk.weights(walk.blocks, 1.0))
        assert found == pytest.approx(reference.weights_of(walk.alpha, LAM), abs=1e-10)


def expected_alpha(pair, i, w, eta):
    """Probabilities of the outputs under the first tilts, true parts with odds of 1, plus eta times the scores."""
    true = pair.reference.labelings[i][pair.reference.truth[i]]
    if isinstance(pair.problem, CustomProblem):
        tilt = -pair.reference.losses[i]
    else:
        tilt = np.array([np.sum(np.atleast_1d(y) == np.atleast_1d(true)) for y in pair.reference.labelings[i]])
    scores = tilt + eta * (pair.reference.losses[i] + pair.phi[i] @ w)
    chances = np.exp(scores - scores.max())
    return chances / chances.sum()
