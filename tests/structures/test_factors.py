"""Lists of factors, and their oracles against looking at all outputs."""

import numpy as np
import pytest

from maxmargin.inference.maxima import new_maxima, read_maxima
from maxmargin.structures import make_chain_problem
from maxmargin.structures.factors import lacks_room, make_room, new_factors, site_norms
from maxmargin.structures.factors.oracles import (
    Exhaustive,
    Ordered,
    find_label,
    find_pair,
    mark,
    new_scratch,
    pair_table,
)
from maxmargin.structures.verbs import dimension

from .pairs import chain_pair

pytestmark = pytest.mark.usefixtures("no_compilation")

K = 9


def problem_of(rng, n=3, length=4):
    """A few chains of K labels."""
    X, labels = rng.normal(size=(n * length, 2)), rng.integers(K, size=n * length)
    return make_chain_problem(X, np.arange(n + 1) * length, labels, K)


def listed(rng, problem):
    """Factors with some labels listed at every site."""
    factors = make_room(make_room(make_room(new_factors(problem))))
    for j, label in enumerate(problem.labels):
        others = rng.permutation(np.delete(np.arange(K), label))[: rng.integers(4)]
        factors.label[factors.first[j] + 1 : factors.first[j] + 1 + len(others)] = others
        factors.size[j] = 1 + len(others)
    return factors


@pytest.mark.parametrize("seed", range(20))
def test_the_best_pair_is_that_of_all(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng)
    factors, scratch, w, rho = listed(rng, problem), new_scratch(K), np.zeros(dimension(problem)), 0.5
    pair_table(problem, w)[:] = rng.integers(-2, 3, size=(K, K)) * (rng.random((K, K)) < 0.3)  # with ties
    search = Ordered(new_maxima(K))
    read_maxima(search.maxima, pair_table(problem, w))
    for e in range(len(factors.pair_size)):
        tail, head = factors.ends[2 * e : 2 * e + 2]
        scratch.tail_pull[:], scratch.head_pull[:] = rng.integers(-2, 3, size=(2, K))
        values = pair_table(problem, w).copy()
        for p in range(factors.size[tail]):
            values[factors.label[factors.first[tail] + p]] -= rho * scratch.tail_pull[p]
        for p in range(factors.size[head]):
            values[:, factors.label[factors.first[head] + p]] -= rho * scratch.head_pull[p]
        mark(factors, tail, scratch.listed, True)
        mark(factors, head, scratch.at_head, True)
        for one in (search, Exhaustive()):
            assert find_pair(one, problem, factors, scratch, w, e, rho) == pytest.approx(values.max())
            assert values[tuple(scratch.found)] == pytest.approx(values.max())
        mark(factors, tail, scratch.listed, False)
        mark(factors, head, scratch.at_head, False)


@pytest.mark.parametrize("nu", [1, 2, 4])
def test_the_best_label_is_that_of_the_part_drawn(nu):
    rng = np.random.default_rng(nu)
    problem = problem_of(rng)
    factors, scratch, w = listed(rng, problem), new_scratch(K), rng.normal(size=dimension(problem))
    weights = w[: problem.sites.n_rows * K].reshape(-1, K)
    for j in range(len(problem.labels)):
        i = factors.sample_of_site[j]
        extras = [1.0, j == problem.sites.offsets[i], j == problem.sites.offsets[i + 1] - 1]
        scores = np.concatenate([problem.sites.rows.values[j], extras]) @ weights
        scores += problem.loss_scale[i] * problem.cost[problem.labels[j]]
        scores[factors.label[factors.first[j] : factors.first[j] + factors.size[j]]] = -np.inf
        for part in range(nu):
            low, high = part * K // nu, (part + 1) * K // nu
            found = find_label(problem, factors, scratch, w, j, low, high)
            if scores[low:high].max() == -np.inf:
                assert found == -1
            else:
                assert low <= found < high and scores[found] == scores[low:high].max()
                assert scratch.scores[found] == pytest.approx(scores[found])
        assert not scratch.listed.any()


def test_lists_keep_what_they_hold_when_they_get_room():
    rng = np.random.default_rng(0)
    factors = listed(rng, problem_of(rng))
    for name in ("mass", "given", "multiplier", "pair_mass"):
        getattr(factors, name)[:] = rng.random(len(getattr(factors, name)))
    roomy = make_room(factors)
    assert not lacks_room(roomy)
    for j, size in enumerate(factors.size):
        for name, first in (("label", "first"), ("mass", "first")):
            old, new = (getattr(one, name)[getattr(one, first)[j] :][:size] for one in (factors, roomy))
            assert np.array_equal(old, new)
    for s, j in enumerate(factors.ends):
        for name in ("given", "multiplier"):
            old, new = (getattr(one, name)[one.slot_first[s] :][: factors.size[j]] for one in (factors, roomy))
            assert np.array_equal(old, new)


def test_norms_count_the_features_that_need_no_storing():
    pair = chain_pair(is_sparse=True)
    features = pair.phi[1][0]  # of a sample of one site: all of them at once
    assert site_norms(pair.problem)[pair.problem.sites.offsets[1]] == pytest.approx(features @ features)
