"""The textbook form of partial linearization, looked at by itself."""

import itertools

import numpy as np
import pytest

from reference import enumerate_chain, enumerate_multiclass
from reference.partial_linearization import (
    exact_length,
    marginal_of_rows,
    markov,
    near_truth,
    partial_linearization,
    running_cliques,
)

CUBE = np.array(list(itertools.product(range(3), repeat=4)))
MODELS = {
    "chain": [(0, 1), (1, 2), (2, 3)],
    "star": [(0, 2), (1, 2), (3, 2)],
    "triangles": [(0, 1, 2), (0, 2, 3)],
    "forest": running_cliques([(0, 1)], 4),
}


def entropy(alpha):
    return -np.sum(alpha * np.log(alpha))


@pytest.mark.parametrize("model", MODELS)
def test_the_distribution_of_cliques_keeps_their_marginals_and_has_most_entropy(model):
    rng, cliques = np.random.default_rng(0), MODELS[model]
    alpha = rng.dirichlet(np.ones(len(CUBE)))
    found = markov(alpha, list(CUBE), cliques)
    assert np.sum(found) == pytest.approx(1.0)
    for clique in cliques:
        assert marginal_of_rows(found, CUBE, list(clique)) == pytest.approx(marginal_of_rows(alpha, CUBE, list(clique)))
    assert markov(found, list(CUBE), cliques) == pytest.approx(found)
    assert entropy(found) > entropy(alpha)
    for share in (0.1, 0.5):  # all between the two have the same marginals
        assert entropy(found) > entropy((1 - share) * found + share * alpha)


def problems():
    rng = np.random.default_rng(1)
    chains = enumerate_chain([rng.normal(size=(t, 2)) for t in (3, 2)], [np.array([0, 1, 1]), np.array([1, 0])], 2)
    classes = enumerate_multiclass(rng.normal(size=(5, 3)), np.arange(5) % 3, 3, sample_weight=[1, 2, 0, 1, 3])
    cliques = [running_cliques([(t, t + 1) for t in range(length - 1)], length) for length in (3, 2)]
    return [(chains, cliques), (classes, None)]


@pytest.mark.parametrize("tau", [0.05, 0.5])
def test_it_rises_to_the_optimum(tau):
    for problem, cliques in problems():
        order = np.tile(np.arange(problem.n), 1500)
        found = partial_linearization(problem, 1.0, order, tau, near_truth(problem, 5.0), cliques)
        assert np.all(np.diff(found.dual) >= -1e-14)
        assert found.dual[-1] == pytest.approx(problem.solve(1.0)[1], abs=1e-6)
        assert problem.is_feasible(found.alpha)


def test_lengths_are_the_best_along_the_way():
    (problem, _), _ = problems()
    rng = np.random.default_rng(0)
    for _ in range(20):
        alpha = [rng.dirichlet(np.ones(len(loss))) for loss in problem.losses]
        goal = rng.dirichlet(np.ones(len(problem.losses[0])))
        best = exact_length(problem, 0, alpha[0], goal, problem.weights_of(alpha, 0.1), 0.1)

        def dual(gamma, alpha=alpha, goal=goal):
            return problem.dual([(1 - gamma) * alpha[0] + gamma * goal, *alpha[1:]], 0.1)

        assert all(dual(best) >= dual(gamma) - 1e-14 for gamma in np.linspace(0, 1, 101))
