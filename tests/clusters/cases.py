"""Tiny problems, whole and in partitions."""

import numpy as np

from maxmargin.distributed import Partitioned
from maxmargin.distributed.partitions import Here, LostError
from maxmargin.structures import CustomProblem
from structures.pairs import COST, Subsets, chain_pair, interpreted, multiclass_pair, subsets_pair

LAM = 1.0


class Some(Subsets):
    """Some of the samples of a structure in plain Python."""

    def __init__(self, whole, kept):
        self.n_samples, self.sample_weight, self.calls = len(kept), None, 0
        self.x, self.price = whole.x[kept], whole.price[kept]
        self.y = [whole.y[i] for i in kept]


def subsets_part(repeats=None):
    pair = subsets_pair()
    return pair if repeats is None else pair.__class__(CustomProblem(Some(Subsets(), repeats)), None, None, None)


MAKERS = {
    "chain": lambda repeats=None: chain_pair(cost=COST, repeats=repeats),
    "chain masked": lambda repeats=None: chain_pair(2, masked=True, normalize=False, repeats=repeats),
    "chain sparse": lambda repeats=None: chain_pair(1, is_sparse=True, cost=COST.T, repeats=repeats),
    "multiclass": lambda repeats=None: multiclass_pair(cost=COST, repeats=repeats),
    "custom": subsets_part,
}
SPLITS = {4: [[0, 3], [1], [2]], 5: [[0, 4], [1, 3], [2]], 6: [[0, 4], [1, 2, 5], [3]]}


def partitions_of(name):
    """The problems of three partitions, as they are made, and how many samples they have."""
    splits = SPLITS[len(MAKERS[name]().problem.weight)]
    return [MAKERS[name](some).problem for some in splits], [len(some) for some in splits]


def partitioned(name):
    with interpreted():
        return Partitioned.of_problems(*partitions_of(name))


def optimum(name):
    with interpreted():
        return MAKERS[name]().reference.solve(LAM)[1]


class Forgetful(Here):
    """A team that loses everything now and then, though not what it was made of."""

    loses = True

    def __init__(self, problems, seed, chance=0.2):
        super().__init__(problems)
        self.rng, self.chance, self.lost = np.random.default_rng(seed), chance, 0

    def forget(self):
        if self.rng.random() < self.chance:
            self.lost += 1
            raise LostError("gone")

    def share(self, value):
        self.forget()
        return super().share(value)

    def total(self, held):
        self.forget()
        return super().total(held)

    def fetch(self, held, share):
        self.forget()
        return super().fetch(held, share)

    def repair(self):
        pass
