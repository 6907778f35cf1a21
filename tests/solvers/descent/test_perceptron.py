"""The averaged perceptron, step by step against a dense textbook version; what it learns and what it does not say."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, Perceptron
from reference import perceptron
from structures.pairs import Subsets

from ..conftest import (
    KINDS,
    LAM,
    Complete,
    check_uncertified,
    complete_pair,
    decoder,
    named_pair,
    visits,
    walk,
)
from ..test_box import bounds_of

pytestmark = pytest.mark.usefixtures("no_compilation")

# ties are many where weights are sums of a few features: shares must be exact for rounding not to decide them
EXACT_KINDS = ["chain halves" if name == "chain weighted" else name for name in KINDS]
BOXES = {"free": {}, "positive": {"positive": slice(None, None, 2)}, "boxed": {"lower": -0.5, "upper": 0.7}}


def dense(pair, order, box):
    """The textbook averages, with weights in the library's order."""
    lower, upper = bounds_of(box, pair.reference.d)
    bounds = {"lower": pair.to_reference(lower), "upper": pair.to_reference(upper)}
    found = perceptron(pair.reference, order, decode=decoder(pair), **bounds)
    return [pair.from_reference(row) for row in found.average]


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("name", EXACT_KINDS)
@pytest.mark.parametrize("sampling", ["uniform", "permutation"])
def test_steps_are_those_of_the_textbook(name, sampling, box):
    pair = named_pair(name)
    n = pair.reference.n
    found = walk(Perceptron(sampling, **BOXES[box]), pair, 4 * n)
    averages = dense(pair, visits(sampling, 0, n, 4 * n), BOXES[box])
    for candidates, average in zip(found, averages, strict=True):
        assert len(candidates) == 1
        assert candidates[0].w == pytest.approx(average, abs=1e-10)
        primal = pair.reference.primal(pair.to_reference(average), LAM)
        assert candidates[0].primal == pytest.approx(primal, abs=1e-9)
        assert np.isnan(candidates[0].dual)


@pytest.mark.parametrize("name", [*KINDS, "multiclass", "chain masked"])
def test_decodes_maximise_the_score_without_losses(name):
    pair, rng = named_pair(name), np.random.default_rng(0)
    decode = decoder(pair)
    for w in [*rng.normal(size=(5, pair.reference.d)), *rng.integers(-1, 2, size=(5, pair.reference.d))]:
        for i in range(pair.reference.n):
            scores = -pair.reference.psi[i] @ w
            assert scores[decode(i, w.astype(float))] == pytest.approx(scores.max(), abs=1e-12)


@pytest.mark.parametrize("name", EXACT_KINDS)
def test_the_last_average_is_returned_whatever_its_primal_value(name):
    # it minimises no objective: the weights with the lowest primal value are mostly those of the start
    pair = named_pair(name)
    n = pair.reference.n
    result = Perceptron(gap_every=1).solve(pair.problem, LAM, max_passes=6, random_state=0)
    averages = dense(pair, visits("permutation", 0, n, 6 * n), {})[::n]
    check_uncertified(result)
    assert result.w == pytest.approx(averages[-1], abs=1e-10)
    primal = [pair.reference.primal(pair.to_reference(w), LAM) for w in averages]
    assert result.history["primal"] == pytest.approx(primal, abs=1e-9)


@pytest.mark.parametrize("name", ["chain", "multiclass weighted", "complete"])
def test_lam_and_tol_do_not_matter(name):
    problem = named_pair(name).problem
    first, second = (
        Perceptron().solve(problem, lam, tol=tol, max_passes=5, random_state=0) for lam, tol in ((0.01, 0.0), (7, 1e9))
    )
    assert np.array_equal(first.w, second.w)
    assert first.n_passes == second.n_passes == 5


class Pricier(Complete):
    def loss(self, i, y):
        return 10 * super().loss(i, y)


def test_losses_do_not_matter():
    first, second = (Perceptron().solve(kind(1), LAM, max_passes=5, random_state=0) for kind in (Complete, Pricier))
    assert np.array_equal(first.w, second.w)
    assert first.primal < second.primal


def test_separable_samples_are_learned_without_error():
    # then the number of mistakes is bounded (Novikoff), and the weights stay as they are
    structure = Complete(3)
    truth = np.random.default_rng(5).normal(size=6)
    structure.y = [structure.decode(truth, i) for i in range(5)]
    result = Perceptron(gap_every=50).solve(structure, LAM, max_passes=500, random_state=0)
    assert [structure.decode(result.w, i) for i in range(5)] == structure.y


def test_a_sample_of_weight_0_changes_nothing_but_the_mean():
    weighted = complete_pair([1, 2, 0, 0.5, 1])
    weighted.problem.structure.y[2] = weighted.problem.structure.outputs[5]
    problems = weighted.problem, named_pair("complete weighted").problem
    one, other = (Perceptron().solve(problem, LAM, max_passes=3, random_state=0).w for problem in problems)
    assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("scale", [0.1, 3.0])
def test_only_ratios_of_weights_matter(scale):
    weights = np.array([1, 2, 0, 0.5, 1])
    one, other = (
        Perceptron().solve(complete_pair(w).problem, LAM, max_passes=4, random_state=0).w
        for w in (weights, scale * weights)
    )
    assert one == pytest.approx(other, abs=1e-12)


def test_every_oracle_call_is_counted():
    structure = Complete()
    result = Perceptron(gap_every=3).solve(structure, LAM, max_passes=8)
    assert structure.asked["decode"] == 8 * 5  # steps
    assert structure.asked["max_oracle"] == 4 * 5  # records at 0, 3, 6, 8
    assert not structure.asked["exp_oracle"]
    assert result.n_oracle_calls == structure.asked.total()


def test_a_structure_that_cannot_decode_is_told_what_to_add():
    with pytest.raises((TypeError, ValueError), match="decode") as caught:
        Perceptron().solve(Subsets(), LAM)
    assert "Subsets" in str(caught.value) or "structure" in str(caught.value)
    assert BlockFrankWolfe().solve(Subsets(), LAM, max_passes=1).primal > 0  # others do not need it


BAD = {
    "sampling": {"sampling": "gap"},
    "sampling of another type": {"sampling": 3},
    "gap_every": {"gap_every": 0},
    "upper": {"upper": [1.0, 2.0]},
    "bounds": {"lower": 1.0, "upper": 0.5},
    "positive": {"positive": [99]},
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_parameters_are_named(kind):
    with pytest.raises(ValueError, match=kind.split()[0]):
        Perceptron(**BAD[kind]).solve(named_pair("chain").problem, LAM)
