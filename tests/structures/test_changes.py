"""What moves list before they happen: just what they change, and no more than there is room for."""

from collections import Counter

import numpy as np
import pytest

from maxmargin.structures.changes import add_changes, changes_bound, list_changes, tells_changes
from maxmargin.structures.directions import BetweenCorners, ToCorner, ToExpectation
from maxmargin.structures.multiclass import MulticlassProblem
from maxmargin.structures.pairwise.room import list_kept
from maxmargin.structures.verbs import (
    dimension,
    find_expectation,
    keep_corner,
    lacks_room,
    measure,
    move,
    new_expectation,
    new_labelings,
    new_tilts,
    new_work,
    take_away,
    with_room,
)

from .pairs import COST, GRAPHS, K, chain_pair, graph_pair, multiclass_pair, multilabel_pair, subsets_pair
from .test_labelings import set_corner
from .test_verbs import GRAM, Walk, close, pair_named

CHAINS = {
    "dense": {"cost": COST},
    "sparse masked": {"is_sparse": True, "masked": True, "sample_weight": [1, 2, 3, 4]},
    "bare": {"intercept": False, "boundary": False},
}
OTHERS = {
    "multiclass": multiclass_pair,
    "multiclass sparse": lambda: multiclass_pair(1, is_sparse=True, intercept=False, cost=COST),
    "tree": graph_pair,
    "tree masked": lambda: graph_pair(**GRAPHS["tree masked"]),
    "cycle": lambda: graph_pair("cycle", is_sparse=True),
}
MOST = 10_000


@pytest.fixture(params=[*(f"{name}, {gram}" for name in CHAINS for gram in GRAM), *OTHERS])
def pair(request, monkeypatch):
    return pair_named(request.param, CHAINS, OTHERS, monkeypatch)


class Told(Walk):
    """Random moves along all directions, each of which is listed before."""

    def __init__(self, pair, seed):
        super().__init__(pair, seed)
        self.labelings = new_labelings(self.problem, 2)
        self.keys, self.values = np.zeros(MOST, np.int64), np.zeros(MOST)
        self.is_of_classes = isinstance(self.problem, MulticlassProblem)

    def masses(self, i):
        """The marginals of a block, by the keys of what changes."""
        if self.is_of_classes:
            return Counter(dict(enumerate(self.blocks.node[i])))
        begin, end = self.problem.sites.offsets[i : i + 2]
        found = Counter(dict(enumerate(self.blocks.node[begin:end].ravel())))
        samples, tails, heads, masses = list_kept(self.blocks.links)
        own = samples == i
        found.update(dict(zip((-1 - tails * K - heads)[own].tolist(), masses[own].tolist(), strict=True)))
        return found

    def directions(self, i, w):
        """Those a block may go, with a length each; the corner that is set has mass afterwards, and may go away."""
        yield ToCorner(), float(self.rng.choice([0.3, 0.9]))
        yield ToCorner(), -0.25
        # mass goes from the corner there is, which now has some, to another one
        keep_corner(self.problem, self.labelings, self.work, i, 1)
        set_corner(self.pair, self.work, i, int(self.rng.integers(len(self.alpha[i]))))
        take_away(self.problem, self.labelings, self.work, i, 1)
        yield BetweenCorners(), 0.125
        yield ToCorner(), 0.0
        if self.is_of_classes:
            expectation = new_expectation(self.problem)
            find_expectation(self.problem, new_tilts(self.problem), expectation, self.work, w, i, 0.7)
            yield ToExpectation(expectation), 0.6
        yield ToCorner(), 1.0

    def told_move(self, i, w, direction, gamma, scale, first=0):
        """Measure a direction, list what changes along it, and go; where the list ends."""
        if lacks_room(self.problem, self.blocks, i):
            self.blocks = with_room(self.problem, self.blocks)
        measured = measure(self.problem, direction, self.blocks, self.work, i)
        end = list_changes(self.problem, direction, self.blocks, self.work, i, gamma, self.keys, self.values, first)
        move(self.problem, direction, measured, self.blocks, self.work, w, i, gamma, scale)
        return end

    def listed(self, first, end):
        found = Counter()
        for key, value in zip(self.keys[first:end].tolist(), self.values[first:end].tolist(), strict=True):
            found[key] += value
        return found


def test_what_is_listed_is_what_changes(pair):
    walk = Told(pair, 0)
    for _ in range(10):
        i, w, _ = walk.look()
        for direction, gamma in walk.directions(i, w):
            before, bound = walk.masses(i), changes_bound(walk.problem, walk.blocks, i, 1)
            end = walk.told_move(i, w, direction, gamma, 0.7)
            after, listed = walk.masses(i), walk.listed(0, end)
            assert end <= bound
            assert set(listed) <= set(before) | set(after)
            assert all(after[key] - before[key] == close(listed[key]) for key in set(before) | set(after))


def test_weights_of_others_follow(pair):
    walk, others = Told(pair, 1), new_work(pair.problem)
    for _ in range(10):
        i, w, _ = walk.look()
        copy, scale = w.copy(), float(walk.rng.uniform(0.1, 2.0))
        for direction, gamma in walk.directions(i, w):
            end = walk.told_move(i, w, direction, gamma, scale, 5)
            add_changes(walk.problem, others, i, walk.keys, walk.values, 5, end, scale, copy)
            assert copy == close(w)


@pytest.mark.parametrize("moves", [1, 2, 3, 4])
def test_moves_in_a_row_list_no_more_than_there_is_room_for(pair, moves):
    walk = Told(pair, 2)
    for _ in range(50):
        i, w, _ = walk.look()
        bound, end = changes_bound(walk.problem, walk.blocks, i, moves), 0
        for _ in range(moves):
            keep_corner(walk.problem, walk.labelings, walk.work, i, 1)
            set_corner(pair, walk.work, i, int(walk.rng.integers(len(walk.alpha[i]))))
            take_away(walk.problem, walk.labelings, walk.work, i, 1)
            direction = ToCorner() if walk.rng.random() < 0.7 else BetweenCorners()
            end = walk.told_move(i, w, direction, 0.1, 1.0, end)
        assert end <= bound


def test_new_pairs_of_one_move_are_listed_by_the_next():
    # all labels have mass at all sites, so that sites list all they can, and each labeling brings pairs without any
    pair = chain_pair()
    walk, i, w = Told(pair, 3), 2, np.zeros(dimension(pair.problem))

    def go_to(labels, end):
        walk.work.labels[:4] = labels
        return walk.told_move(i, w, ToCorner(), 0.5, 1.0, end)

    for labels in ([0] * 4, [1] * 4, [2] * 4):
        go_to(labels, 0)
    bound, single = (changes_bound(pair.problem, walk.blocks, i, moves) for moves in (4, 1))
    end = 0
    for labels in ([0, 1, 2, 0], [0, 2, 1, 0], [0, 1, 2, 0], [0, 2, 1, 0]):
        end = go_to(labels, end)
    assert 4 * single - pair.problem.cost.shape[0] < end <= bound


def test_who_tells():
    telling = [chain_pair(), graph_pair(), graph_pair("cycle"), multiclass_pair()]
    assert all(tells_changes(pair.problem) for pair in telling)
    of_edges = [graph_pair(n_edge_features=2, potts=potts) for potts in (False, True)]
    assert not any(tells_changes(pair.problem) for pair in [*of_edges, multilabel_pair(), subsets_pair()])
