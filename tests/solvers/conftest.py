"""Tiny problems by name, with their optimum."""

from functools import cache

import pytest

from structures.pairs import COST, Pair, chain_pair, interpreted, multiclass_pair, subsets_pair

LAM = 0.1

PROBLEMS = {
    "chain": lambda: chain_pair(cost=COST),
    "chain weighted": lambda: chain_pair(1, is_sparse=True, cost=COST.T, sample_weight=[2, 0, 1, 3]),
    "chain masked": lambda: chain_pair(2, masked=True, normalize=False, intercept=False),
    "multiclass": lambda: multiclass_pair(),
    "multiclass weighted": lambda: multiclass_pair(1, is_sparse=True, cost=COST, sample_weight=[0.5, 2, 0, 1, 1, 3]),
    "custom": lambda: subsets_pair(),
    "custom weighted": lambda: subsets_pair(1, sample_weight=[1, 2, 0, 0.5, 1]),
}


@pytest.fixture
def no_compilation():
    """Kernels run as plain Python."""
    with interpreted():
        yield


@cache
def named_pair(name: str) -> Pair:
    with interpreted():
        return PROBLEMS[name]()


@cache
def optimum(name: str, lam: float = LAM) -> float:
    """The optimum of a problem from an independent QP solver, exact to 1e-8."""
    return named_pair(name).reference.solve(lam)[1]
