"""Log-losses against sums over every labeling."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from maxmargin.solvers.passes import Passes
from maxmargin.structures import LogLoss, as_problem, make_log_loss
from maxmargin.structures.directions import ToCorner, ToExpectation
from maxmargin.structures.fingerprint import fingerprint
from maxmargin.structures.needs import Need
from maxmargin.structures.verbs import (
    block_value,
    find_corner,
    find_expectation,
    find_potentials,
    keep_expectation,
    mean_loss,
    measure,
    move,
    new_blocks,
    new_expectation,
    new_tilts,
    new_work,
    offers,
    truth_value,
)
from reference.crf import crf_dual, entropy, gibbs, log_loss, moved

from .pairs import COST, chain_pair, graph_pair, multiclass_pair, subsets_pair

PAIRS = {
    "chain": lambda: chain_pair(cost=COST),
    "chain weighted": lambda: chain_pair(1, is_sparse=True, sample_weight=[2, 0, 1, 3]),
    "chain masked": lambda: chain_pair(2, masked=True, intercept=False),
    "chain with features of edges": lambda: graph_pair("chain", n_edge_features=2),
    "tree": lambda: graph_pair("tree"),
    "tree with features of edges": lambda: graph_pair("tree", n_edge_features=2, masked=True),
    "cycle": lambda: graph_pair("cycle", is_sparse=True, sample_weight=[1, 2, 0, 3]),
    "classes": lambda: multiclass_pair(cost=COST),
    "classes weighted": lambda: multiclass_pair(1, is_sparse=True, sample_weight=[0.5, 2, 0, 1, 1, 3]),
}
each_pair = pytest.mark.parametrize("name", PAIRS)


@pytest.fixture
def pair(name):
    return PAIRS[name]()


def random_weights(pair, scale=1.0):
    return scale * np.random.default_rng(3).normal(size=pair.reference.d)


@each_pair
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_values_are_sums_over_all_outputs(pair, scale):
    problem, v = LogLoss(pair.problem), random_weights(pair, scale)
    w, work, mass = pair.from_reference(v), new_work(problem), gibbs(pair.reference, v)
    for i, psi in enumerate(pair.reference.psi):
        find_potentials(problem, work, w, i)
        value = find_corner(problem, work, w, i)
        expected = np.logaddexp.reduce(-psi @ v)
        assert value - truth_value(problem, work, w, i) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert work.room.entropy[0] == pytest.approx(entropy(mass[i]), abs=1e-9)


@each_pair
def test_gradients_are_those_of_finite_differences(pair):
    passes, v = Passes(LogLoss(pair.problem), None), random_weights(pair)
    hinges, point = passes.gradient(pair.from_reference(v))
    assert passes.problem.weight @ hinges == pytest.approx(log_loss(pair.reference, v), abs=1e-12)
    slopes = approx_fprime(v, lambda u: log_loss(pair.reference, u), 1e-7)
    assert -pair.to_reference(point.vector) == pytest.approx(slopes, abs=1e-6)
    assert pair.to_reference(point.vector) == pytest.approx(moved(pair.reference, gibbs(pair.reference, v)), abs=1e-12)


@each_pair
def test_blocks_move_to_distributions_between_tilts_and_potentials(pair):
    problem, v = LogLoss(pair.problem), random_weights(pair)
    work, blocks, tilts = new_work(problem), new_blocks(problem), new_tilts(problem)
    into = ToExpectation(new_expectation(problem))
    w, shadow = pair.from_reference(v), np.zeros(pair.reference.d)
    masses = [np.eye(len(psi))[t] for psi, t in zip(pair.reference.psi, pair.reference.truth, strict=True)]
    scores = [np.zeros(len(psi)) for psi in pair.reference.psi]
    for eta in (0.5, 0.3, 1.0, 0.0):
        for i, psi in enumerate(pair.reference.psi):
            find_potentials(problem, work, w, i)
            value = find_expectation(problem, tilts, into.expectation, work, w, i, eta)
            scores[i] = (1 - eta) * scores[i] - eta * psi @ v
            masses[i] = np.exp(scores[i] - np.logaddexp.reduce(scores[i]))
            measured = measure(problem, into, blocks, work, i)
            move(problem, into, measured, blocks, work, shadow, i, 1.0, problem.weight[i])
            keep_expectation(problem, tilts, into.expectation, i, 1.0)
            assert value == pytest.approx(block_value(problem, blocks, work, w, i), abs=1e-9)
            worth = entropy(masses[i]) - masses[i] @ psi @ v
            assert value - truth_value(problem, work, w, i) == pytest.approx(worth, abs=1e-9)
    assert mean_loss(problem, blocks) - shadow @ shadow / 2 == pytest.approx(
        crf_dual(pair.reference, masses, 1.0), abs=1e-9
    )
    assert pair.to_reference(shadow) == pytest.approx(moved(pair.reference, masses), abs=1e-9)


@each_pair
def test_no_potentials_are_too_large(pair):
    problem, v = LogLoss(pair.problem), random_weights(pair, 1e5)
    passes, w = Passes(problem, None), pair.from_reference(v)
    hinges, point = passes.gradient(w)
    assert np.all(np.isfinite(hinges)) and np.all(np.isfinite(point.vector)) and np.isfinite(point.loss)
    assert problem.weight @ hinges == pytest.approx(log_loss(pair.reference, v), rel=1e-9)


def test_gaps_are_divergences():
    pair = chain_pair()
    problem, v = LogLoss(pair.problem), random_weights(pair)
    blocks, gaps, work = new_blocks(problem), np.empty(pair.reference.n), new_work(problem)
    hinges = Passes(problem, None).gaps(blocks, pair.from_reference(v), gaps)
    assert gaps == pytest.approx(problem.weight * hinges)  # all mass is on the truth
    find_potentials(problem, work, pair.from_reference(v), 0)
    find_corner(problem, work, pair.from_reference(v), 0)
    difference = gibbs(pair.reference, v)[0] @ pair.reference.psi[0]
    assert measure(problem, ToCorner(), blocks, work, 0).norm == pytest.approx(difference @ difference)


def test_is_a_problem_of_its_own():
    base = chain_pair().problem
    problem = LogLoss(base)
    assert as_problem(problem) is problem
    assert fingerprint(problem) == fingerprint(LogLoss(base)) != fingerprint(base)
    for twin in (copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        assert type(twin) is LogLoss and fingerprint(twin) == fingerprint(problem)
    assert offers(problem) == {Need.IN_MEMORY, Need.LOG_LOSS, Need.BOUNDS, Need.WEIGHTS}
    assert type(make_log_loss(base)) is LogLoss


def test_says_what_cannot_be_summed_over():
    with pytest.raises(TypeError, match="LogLoss needs expectations"):
        LogLoss(graph_pair("tree", n_edge_features=2, potts=True).problem)
    with pytest.raises(TypeError, match="LogLoss needs the outputs that maximise"):
        LogLoss(LogLoss(chain_pair().problem))
    with pytest.raises(TypeError, match="make_log_loss"):
        LogLoss(subsets_pair().problem)
    with pytest.raises(TypeError, match="a log-loss needs expectations"):
        make_log_loss(subsets_pair().problem)
