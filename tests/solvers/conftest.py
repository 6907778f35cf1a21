"""Tiny problems by name, with their optimum; solvers step by step."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from maxmargin._parameters import as_generator
from maxmargin.solvers.cutting_plane import cuts
from maxmargin.structures.known import KnownProblem
from maxmargin.structures.verbs import find_corner, find_potentials_with, new_work
from reference import softmax
from structures.pairs import (
    COST,
    Pair,
    Subsets,
    chain_pair,
    graph_pair,
    interpreted,
    multiclass_pair,
    subsets_pair,
)

LAM = 0.1
EXACT = 1e-8  # of the QP solver


class Complete(Subsets):
    """Answers every question that a solver may ask, and counts them."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.asked = Counter()
        self.tilts = []

    def max_oracle(self, w, i):
        self.asked["max_oracle"] += 1
        return super().max_oracle(w, i)

    def decode(self, w, i):
        self.asked["decode"] += 1
        self.last = max(self.outputs, key=lambda y: w @ self.joint_feature(i, y))
        return self.last

    def exp_oracle(self, v, i, emphasis):
        self.asked["exp_oracle"] += 1
        self.tilts.append((np.array(v), i, emphasis))
        features = np.array([self.joint_feature(i, y) for y in self.outputs])
        losses = np.array([self.loss(i, y) for y in self.outputs])
        mass = softmax(emphasis * losses + features @ v)
        return mass @ features, float(mass @ losses)


def complete_pair(sample_weight=None):
    return subsets_pair(sample_weight=sample_weight, structure=Complete(1, sample_weight=sample_weight))


PROBLEMS = {
    "chain": lambda: chain_pair(cost=COST),
    "chain weighted": lambda: chain_pair(1, is_sparse=True, cost=COST.T, sample_weight=[2, 0, 1, 3]),
    "chain masked": lambda: chain_pair(2, masked=True, normalize=False, intercept=False),
    "multiclass": lambda: multiclass_pair(),
    "multiclass weighted": lambda: multiclass_pair(1, is_sparse=True, cost=COST, sample_weight=[0.5, 2, 0, 1, 1, 3]),
    "custom": lambda: subsets_pair(),
    "custom weighted": lambda: subsets_pair(1, sample_weight=[1, 2, 0, 0.5, 1]),
}
MORE_PROBLEMS = {
    "chain halves": lambda: chain_pair(1, is_sparse=True, cost=COST.T, sample_weight=[2, 0, 1, 1]),
    "tree featured": lambda: graph_pair(cost=COST, n_edge_features=2),
    "cycle": lambda: graph_pair("cycle", cost=COST, is_sparse=True, sample_weight=[1, 2, 0, 3]),
    "complete": complete_pair,
    "complete weighted": lambda: complete_pair([1, 2, 0, 0.5, 1]),
}
# of every kind one, with losses that leave no ties
KINDS = ["chain", "chain weighted", "multiclass weighted", "tree featured", "complete weighted"]


def of_the_package(structure):
    """As if its oracle were known to be right: where that finds no losses, there is nothing to learn."""
    structure.data = list
    return KnownProblem(structure)


@pytest.fixture
def no_compilation():
    """Kernels run as plain Python."""
    with interpreted():
        yield


@pytest.fixture
def compiled_mixtures(monkeypatch):
    """The small QPs over constraints know no structure; interpreted, they would take most of a run."""
    monkeypatch.setattr(cuts, "best_mixture", cuts.best_mixture.cached)


@cache
def named_pair(name: str) -> Pair:
    with interpreted():
        return (PROBLEMS | MORE_PROBLEMS)[name]()


@cache
def optimum(name: str, lam: float = LAM) -> float:
    """The optimum of a problem from an independent QP solver, exact to 1e-8."""
    return named_pair(name).reference.solve(lam)[1]


def visits(sampling, seed, n, n_steps):
    """The samples that steps visit."""
    rng, drawn = as_generator(seed), []
    while len(drawn) < n_steps:
        drawn += (rng.integers(n, size=n) if sampling == "uniform" else rng.permutation(n)).tolist()
    return drawn[:n_steps]


def walk(solver, pair, n_steps, stride=1, lam=LAM, seed=0):
    """What the solver certifies at the start and after each step of `stride` oracle calls."""
    engine = solver.start(pair.problem, lam, None, seed, None)
    found = [engine.certify()]
    for _ in range(n_steps):
        engine.advance(stride)
        found.append(engine.certify())
    return found


def decoder(pair):
    """The library's choice among the outputs that are best without losses, for the reference to follow."""

    def decode(i, v):
        work, w = new_work(pair.problem), pair.from_reference(v)
        find_potentials_with(pair.problem, work, w, i, 0.0)
        find_corner(pair.problem, work, w, i)
        return pair.corner(work, i)

    return decode


def check_bracket(result, best):
    """Every row encloses the optimum, and its gap is no less than the distance to it."""
    history = result.history
    assert np.all(history["dual"] <= best + EXACT)
    assert np.all(history["primal"] >= best - EXACT)
    assert np.all(history["primal"] - best <= history["gap"] + EXACT)
    assert np.all(history["gap"] >= 0)
    assert np.all(np.diff(history["dual"]) >= -1e-12)


def check_uncertified(result):
    """Nothing is said that is not known."""
    assert np.isnan(result.dual) and result.gap == np.inf
    assert np.all(np.isnan(result.history["dual"])) and np.all(result.history["gap"] == np.inf)
    assert result.status == "uncertified"
