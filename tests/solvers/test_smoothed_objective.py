"""Smoothed objectives against all outputs written out: values, gradients, bounds, what top-K leaves out, refusals."""

import itertools

import numpy as np
import pytest

from maxmargin.inference import make_relaxed_plan
from maxmargin.solvers import smoothed_objective
from maxmargin.structures import EntropySmoothing, L2Smoothing, make_multiclass_problem
from maxmargin.structures.known import KnownProblem
from maxmargin.structures.pairwise import links_of, make_pairwise_problem, make_sites
from maxmargin.structures.relaxed import Relaxations
from maxmargin.structures.rows import KernelRows
from reference.smoothing import Entropy, Squares, floor_of, gap_at, smoothed
from structures.pairs import COST, K, Subsets, chain_pair, graph_pair, interpreted, multiclass_pair

from .smoothing_cases import (
    ENTROPY,
    L2,
    LISTED_ONLY,
    WITHOUT_LIST,
    Complete,
    Ranked,
    case,
    has_equal_weights,
    random_weights,
)

plain_python = pytest.mark.usefixtures("no_compilation")
MUS = (0.03, 0.5, 5.0)
ALL = 100  # more outputs than any of these has
EITHER = [*((name, "entropy") for name in ENTROPY), *((name, "l2") for name in L2)]
each_either = pytest.mark.parametrize(("name", "kind"), EITHER)
each_list = pytest.mark.parametrize("name", L2)


def smoothing_of(kind, mu, top_k=ALL):
    """The library's, and that of the reference."""
    return (EntropySmoothing(mu), Entropy(mu)) if kind == "entropy" else (L2Smoothing(mu, top_k), Squares(mu, top_k))


def both(name, w, lam, kind, mu, top_k=ALL):
    """What the library finds, and what the reference."""
    ours, theirs = smoothing_of(kind, mu, top_k)
    found = smoothed_objective(case(name).problem, w, lam, ours)
    return found, smoothed(case(name).reference, case(name).to_reference(w), lam, theirs)


def assert_same(name, found, expected):
    assert found.value == pytest.approx(expected.value, rel=1e-10, abs=1e-10)
    assert case(name).to_reference(found.gradient) == pytest.approx(expected.gradient, rel=1e-9, abs=1e-9)


def test_what_is_given_back():
    assert EntropySmoothing(0.5)._fields == ("mu",)
    assert L2Smoothing(0.5, 3)._fields == ("mu", "top_k")
    with interpreted():
        w = np.zeros(case("multiclass").reference.d)
        found = smoothed_objective(case("multiclass").problem, w, 0.1, EntropySmoothing(0.5))
    assert found._fields == ("value", "gradient", "inexact")
    assert isinstance(found.value, float) and isinstance(found.inexact, float)
    assert found.gradient.shape == w.shape and found.gradient.dtype == np.float64
    assert not np.any(w)


# values and gradients


@plain_python
@each_either
def test_values_and_gradients_are_those_of_the_reference(name, kind):
    rng = np.random.default_rng(0)
    for mu, scale in zip(MUS, (0.3, 1.0, 3.0), strict=True):
        w = random_weights(name, rng, scale)
        found, expected = both(name, w, 0.2, kind, mu)
        assert_same(name, found, expected)
        assert found.inexact == 0.0


@plain_python
@each_list
@pytest.mark.parametrize("top_k", [1, 2, 5])
def test_the_k_best_outputs_alone_are_those_of_the_reference(name, top_k):
    rng = np.random.default_rng(1)
    for mu in MUS:
        w = random_weights(name, rng)
        assert_same(name, *both(name, w, 0.2, "l2", mu, top_k))


@plain_python
@each_either
@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_gradients_by_finite_differences(name, kind, lam):
    rng, h = np.random.default_rng(2), 1e-6
    smoothings = [smoothing_of(kind, 0.7)[0], smoothing_of(kind, 2.0, 3)[0]]
    for smoothing in smoothings:
        w = random_weights(name, rng)
        gradient = smoothed_objective(case(name).problem, w, lam, smoothing).gradient
        for _ in range(3):
            along = rng.normal(size=len(w))
            along /= np.linalg.norm(along)
            if name.startswith("cut"):
                along[6:] = np.abs(along[6:])
            ends = [smoothed_objective(case(name).problem, w + s * h * along, lam, smoothing).value for s in (1, -1)]
            assert gradient @ along == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-6)


@plain_python
def test_every_coordinate_of_a_gradient():
    rng, h = np.random.default_rng(3), 1e-6
    for name, kind in itertools.product(("chain masked", "multiclass weighted"), ("entropy", "l2")):
        smoothing, w = smoothing_of(kind, 0.7, 4)[0], random_weights(name, rng)
        values = [
            [smoothed_objective(case(name).problem, w + s * e, 0.1, smoothing).value for s in (h, -h)]
            for e in np.eye(len(w))
        ]
        slopes = [(up - down) / (2 * h) for up, down in values]
        found = smoothed_objective(case(name).problem, w, 0.1, smoothing)
        assert found.gradient == pytest.approx(slopes, abs=1e-6)


@plain_python
@each_either
def test_smoothing_adds_at_most_mu_d_and_the_more_the_larger_mu_is(name, kind):
    rng, reference, mus = np.random.default_rng(4), case(name).reference, [1e-6, 0.01, 0.3, 1.0, 10.0]
    for scale in (0.0, 1.0, 10.0):
        w = random_weights(name, rng, scale)
        hinge = reference.primal(case(name).to_reference(w), 0.2)
        values = [smoothed_objective(case(name).problem, w, 0.2, smoothing_of(kind, mu)[0]).value for mu in mus]
        floors = [floor_of(reference, smoothing_of(kind, mu)[1]) for mu in mus]
        rounding = 1e-11 * max(1.0, hinge)
        assert np.all(np.diff([hinge, *values]) >= -rounding)
        assert np.all(np.array(values) - hinge <= np.array(floors) + rounding)
        # Prop. 2 between two levels
        assert np.all(np.diff(values) <= np.diff(floors) + rounding)


@plain_python
@each_list
def test_fewer_outputs_smooth_less(name):
    w = random_weights(name, np.random.default_rng(5))
    hinge = case(name).reference.primal(case(name).to_reference(w), 0.2)
    values = [smoothed_objective(case(name).problem, w, 0.2, L2Smoothing(3.0, k)).value for k in (1, 2, 3, 6, ALL)]
    assert values[0] == pytest.approx(hinge, abs=1e-11)  # of one output nothing is smoothed
    assert np.all(np.diff(values) >= -1e-11)


@plain_python
@pytest.mark.parametrize("kind", ["entropy", "l2"])
@pytest.mark.parametrize("name", ["chain", "chain masked", "multiclass weighted", "cycle", "ranked"])
@pytest.mark.parametrize("mu", [1e-12, 1e-7])
def test_almost_no_smoothing_is_the_hinge_objective(name, kind, mu):
    # beside scores over mu of 1e16, the 1 that a projection shares out is lost in rounding
    pair = case(name)
    w = random_weights(name, np.random.default_rng(6), 3.0)
    found, _ = both(name, w, 0.2, kind, mu, 5)
    v = pair.to_reference(w)
    assert found.value == pytest.approx(pair.reference.primal(v, 0.2), abs=1e-4)
    corners = [pair.reference.psi[i][pair.reference.oracle(i, v)] for i in range(pair.reference.n)]
    assert pair.to_reference(found.gradient) == pytest.approx(0.2 * v - pair.reference.shares @ corners, abs=1e-9)


@plain_python
@pytest.mark.parametrize("kind", ["entropy", "l2"])
@pytest.mark.parametrize("name", ["chain", "multiclass", "tree featured", "ranked"])
def test_strong_smoothing_is_the_mean_of_all_outputs(name, kind):
    pair = case(name)
    w = random_weights(name, np.random.default_rng(7))
    found = smoothed_objective(pair.problem, w, 0.2, smoothing_of(kind, 1e9)[0])
    means = [np.mean(psi, axis=0) for psi in pair.reference.psi]
    expected = 0.2 * pair.to_reference(w) - pair.reference.shares @ means
    assert pair.to_reference(found.gradient) == pytest.approx(expected, abs=1e-6)


@plain_python
@pytest.mark.parametrize("kind", ["entropy", "l2"])
@pytest.mark.parametrize("name", ["chain masked", "multiclass", "cycle"])
def test_huge_scores_stay_finite(name, kind):
    w = random_weights(name, np.random.default_rng(8), 1e8)
    found, expected = both(name, w, 0.0, kind, 1e-3, 5)
    assert found.value == pytest.approx(expected.value, rel=1e-9)
    assert case(name).to_reference(found.gradient) == pytest.approx(expected.gradient, abs=1e-6)


@plain_python
@pytest.mark.parametrize("kind", ["entropy", "l2"])
def test_a_mu_whose_inverse_overflows_is_refused_or_right(kind):
    w = random_weights("multiclass", np.random.default_rng(9))
    smoothing = smoothing_of(kind, 1e-310)[0]
    try:
        found = smoothed_objective(case("multiclass").problem, w, 0.1, smoothing)
    except ValueError as error:
        assert "mu" in str(error)
    else:
        assert found.value == pytest.approx(case("multiclass").reference.primal(w, 0.1))
        assert np.all(np.isfinite(found.gradient))


@plain_python
@pytest.mark.parametrize("kind", ["entropy", "l2"])
def test_an_integer_weight_is_repetition_and_0_is_removal(kind):
    rng, smoothing = np.random.default_rng(10), smoothing_of(kind, 0.8, 3)[0]
    pairs = [
        (chain_pair(cost=COST, sample_weight=[2, 0, 1, 3]), chain_pair(cost=COST, repeats=[0, 0, 2, 3, 3, 3])),
        (multiclass_pair(sample_weight=[1, 2, 0, 1, 3, 1]), multiclass_pair(repeats=[0, 1, 1, 3, 4, 4, 4, 5])),
    ]
    for weighted, repeated in pairs:
        w = rng.normal(size=weighted.reference.d)
        one, other = (smoothed_objective(pair.problem, w, 0.3, smoothing) for pair in (weighted, repeated))
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.gradient == pytest.approx(other.gradient, abs=1e-12)


# a certificate from the gradient


@plain_python
@each_either
def test_value_and_gradient_make_the_gap(name, kind):
    # sum_i c_i E_u H_i from the gradient: E_u H = E_u L - <w, psi_u>; the gap is that of a feasible dual point
    pair, lam = case(name), 0.4
    w = random_weights(name, np.random.default_rng(11))
    v = pair.to_reference(w)
    for top_k in (1, 3, ALL):
        found, expected = both(name, w, lam, kind, 0.6, top_k)
        gap = gap_at(pair.reference, v, lam, smoothing_of(kind, 0.6, top_k)[1])
        dual_weights = v - pair.to_reference(found.gradient) / lam
        assert dual_weights == pytest.approx(pair.reference.weights_of(expected.u, lam), abs=1e-9)
        dual = pair.reference.primal(v, lam) - gap
        loss = pair.reference.ell_of(expected.u)
        assert dual == pytest.approx(loss - lam / 2 * dual_weights @ dual_weights, abs=1e-9)


# where top-K is not enough


@plain_python
@each_list
def test_the_share_of_samples_that_need_more_outputs(name):
    rng, reference = np.random.default_rng(12), case(name).reference
    seen = []
    for mu, scale, top_k in itertools.product((0.05, 1.0, 20.0), (0.3, 3.0), (1, 2, 5)):
        w = random_weights(name, rng, scale)
        found = smoothed_objective(case(name).problem, w, 0.1, L2Smoothing(mu, top_k))
        scores = [reference.augmented(i, case(name).to_reference(w)) for i in range(reference.n)]
        more = np.array([np.count_nonzero(Squares(mu).distribution(z)) > top_k for z in scores])
        assert 0.0 <= found.inexact <= 1.0
        if has_equal_weights(name):
            assert found.inexact == pytest.approx(np.mean(more), abs=1e-12)
        assert found.inexact > 0 or not np.any(more[reference.weights > 0])
        assert found.inexact == 0 or np.any(more)
        seen.append(found.inexact)
    assert min(seen) == 0.0 or "matching" in name or "cut" in name
    assert max(seen) > 0.0


@plain_python
@each_list
def test_as_many_as_there_are_is_exact_and_one_less_may_not_be(name):
    # at w = 0 and a strong smoothing, all outputs have a share
    reference = case(name).reference
    w, most = np.zeros(reference.d), max(map(len, reference.losses))
    for top_k in (most, most + 1, ALL):
        found = smoothed_objective(case(name).problem, w, 0.1, L2Smoothing(1e4, top_k))
        assert found.inexact == 0.0
        assert_same(name, found, smoothed(reference, w, 0.1, Squares(1e4)))
    assert smoothed_objective(case(name).problem, w, 0.1, L2Smoothing(1e4, most - 1)).inexact > 0.0


@plain_python
@each_list
def test_ties_are_no_proof_of_exactness_and_any_choice_among_them_is_a_subgradient(name):
    # F with the K best alone is a maximum over all distributions on K outputs: convex, whatever ties are chosen
    reference, rng = case(name).reference, np.random.default_rng(13)
    w = np.zeros(reference.d)
    for mu, top_k in itertools.product((1e-6, 0.31), (1, 2, 4)):
        found = smoothed_objective(case(name).problem, w, 0.0, L2Smoothing(mu, top_k))
        expected = smoothed(reference, w, 0.0, Squares(mu, top_k))
        assert found.value == pytest.approx(expected.value, abs=1e-11)
        if has_equal_weights(name):
            assert found.inexact == pytest.approx(expected.inexact, abs=1e-12)
        slope = case(name).to_reference(found.gradient)
        for scale in (1e-3, 1.0):
            v = scale * rng.normal(size=reference.d)
            above = smoothed(reference, v, 0.0, Squares(mu, top_k)).value
            assert above >= found.value + slope @ v - 1e-10


@plain_python
@pytest.mark.parametrize("name", ENTROPY)
def test_ties_share_alike_where_all_outputs_count(name):
    reference = case(name).reference
    w = np.zeros(reference.d)
    for kind in ("entropy", "l2"):
        assert_same(name, *both(name, w, 0.1, kind, 0.4))


@plain_python
@pytest.mark.parametrize("name", ENTROPY)
def test_entropy_is_always_exact(name):
    w = random_weights(name, np.random.default_rng(14))
    assert smoothed_objective(case(name).problem, w, 0.1, EntropySmoothing(100.0)).inexact == 0.0


# structures of users


@plain_python
def test_a_structure_that_tells_no_sum_has_a_gradient_and_no_value():
    w = np.random.default_rng(15).normal(size=6)
    found = smoothed_objective(Complete(1), w, 0.1, EntropySmoothing(0.5))
    expected = smoothed_objective(Ranked(1), w, 0.1, EntropySmoothing(0.5))
    assert np.isnan(found.value) and np.isfinite(expected.value)
    assert found.gradient == pytest.approx(expected.gradient, abs=1e-12)
    assert found.inexact == expected.inexact == 0.0


@plain_python
@pytest.mark.parametrize("smoothing", [L2Smoothing(0.5, 2), EntropySmoothing(0.5)], ids=str)
def test_a_structure_that_lacks_the_oracle_is_told_its_name(smoothing):
    oracle = "topk_oracle" if isinstance(smoothing, L2Smoothing) else "exp_oracle"
    with pytest.raises(TypeError, match=oracle):
        smoothed_objective(Subsets(), np.zeros(6), 0.1, smoothing)


@plain_python
@pytest.mark.parametrize("name", WITHOUT_LIST)
def test_expectations_are_no_list(name):
    with pytest.raises(TypeError, match="topk_oracle"):
        smoothed_objective(case(name).problem, np.zeros(6), 0.1, L2Smoothing(0.5, 2))


@plain_python
@pytest.mark.parametrize("name", [name for name in LISTED_ONLY if name != "proposals"])
def test_structures_without_expectations_have_no_entropy(name):
    with pytest.raises(TypeError, match=r"expectation|exp_oracle"):
        smoothed_objective(case(name).problem, np.zeros(case(name).reference.d), 0.1, EntropySmoothing(0.5))


@plain_python
def test_one_output_more_than_is_used_is_asked_for_once_a_sample():
    structure, asked = Ranked(1), []
    answer = structure.topk_oracle
    structure.topk_oracle = lambda w, i, k: asked.append((i, k)) or answer(w, i, k)
    smoothed_objective(structure, np.ones(6), 0.1, L2Smoothing(0.5, 3))
    assert sorted(asked) == [(i, 4) for i in range(5)]


class Reordered(Ranked):
    def topk_oracle(self, w, i, k):
        return super().topk_oracle(w, i, k)[::-1]


class Lengthy(Ranked):
    def topk_oracle(self, w, i, k):
        return super().topk_oracle(w, i, k + 3)


class Repeating(Ranked):
    def topk_oracle(self, w, i, k):
        return [super().topk_oracle(w, i, 1)[0]] * k


@plain_python
@pytest.mark.parametrize("kind", [Reordered, Lengthy, Repeating])
def test_lists_out_of_order_too_long_or_with_repetitions_are_refused_or_put_right(kind):
    w = np.random.default_rng(16).normal(size=6)
    expected = smoothed_objective(Ranked(1), w, 0.1, L2Smoothing(5.0, 3))
    try:
        found = smoothed_objective(kind(1), w, 0.1, L2Smoothing(5.0, 3))
    except ValueError as error:
        assert "sample 0" in str(error) and "topk_oracle" in str(error)
    else:
        assert kind is not Repeating or found.inexact == 1.0  # one output is all that is known
        assert found.value == pytest.approx(expected.value) or kind is Repeating
        assert found.value <= expected.value + 1e-12


BROKEN = {
    "nothing": lambda w, i, k: [],
    "None": lambda w, i, k: None,
    "no list": lambda w, i, k: 3,
    "only bad ones": lambda w, i, k: sorted(Ranked.outputs, key=lambda y: Ranked(1).value(w, i, y))[:k],
}


@plain_python
@pytest.mark.parametrize("kind", BROKEN)
def test_bad_lists_name_the_sample(kind):
    structure = Ranked(1)
    structure.topk_oracle = BROKEN[kind]
    with pytest.raises((ValueError, TypeError), match=r"sample \d: .*topk_oracle"):
        smoothed_objective(structure, np.ones(6), 0.1, L2Smoothing(0.5, 3))


@plain_python
def test_an_error_of_the_users_own_names_the_sample():
    structure = Ranked(1)

    def topk_oracle(w, i, k):
        raise KeyError("verb")

    structure.topk_oracle = topk_oracle
    with pytest.raises(KeyError, match="verb") as caught:
        smoothed_objective(structure, np.ones(6), 0.1, L2Smoothing(0.5, 3))
    assert any("sample 0" in note and "topk_oracle" in note for note in caught.value.__notes__)


@plain_python
def test_users_cannot_write_to_the_weights():
    structure = Ranked(1)
    answer = structure.topk_oracle

    def topk_oracle(w, i, k):
        found = answer(w, i, k)
        w[0] = 1e3
        return found

    structure.topk_oracle = topk_oracle
    w = np.ones(6)
    with pytest.raises(ValueError, match="read-only"):
        smoothed_objective(structure, w, 0.1, L2Smoothing(0.5, 3))
    assert np.array_equal(w, np.ones(6))


# what is refused


BAD_MU = [0, -1.0, np.nan, np.inf, "little", None, True, [0.1]]
BAD_TOP_K = [0, -1, 2.5, np.nan, "all", None, True, [3]]


@plain_python
@pytest.mark.parametrize("mu", BAD_MU, ids=str)
def test_bad_mu_is_named(mu):
    for smoothing in (EntropySmoothing(mu), L2Smoothing(mu, 3)):
        with pytest.raises(ValueError, match="mu"):
            smoothed_objective(case("multiclass").problem, np.zeros(15), 0.1, smoothing)


@plain_python
@pytest.mark.parametrize("top_k", BAD_TOP_K, ids=str)
def test_bad_top_k_is_named(top_k):
    with pytest.raises(ValueError, match="top_k"):
        smoothed_objective(case("multiclass").problem, np.zeros(15), 0.1, L2Smoothing(0.5, top_k))


@plain_python
@pytest.mark.parametrize("lam", [-0.1, np.nan, np.inf, "small"], ids=str)
def test_bad_lam_is_named(lam):
    with pytest.raises(ValueError, match="lam"):
        smoothed_objective(case("multiclass").problem, np.zeros(15), lam, EntropySmoothing(1.0))


@plain_python
@pytest.mark.parametrize("w", [np.zeros(14), np.zeros((15, 1)), np.full(15, np.nan), np.full(15, np.inf)], ids=repr)
def test_bad_weights_are_named(w):
    with pytest.raises(ValueError, match=r"\bw\b|weights"):
        smoothed_objective(case("multiclass").problem, w, 0.1, EntropySmoothing(1.0))


@plain_python
def test_integer_weights_and_lists_are_weights():
    expected = smoothed_objective(case("multiclass").problem, np.ones(15), 0.1, EntropySmoothing(1.0))
    for w in ([1] * 15, np.ones(15, int), np.ones(30)[::2]):
        found = smoothed_objective(case("multiclass").problem, w, 0.1, EntropySmoothing(1.0))
        assert found.value == expected.value and np.array_equal(found.gradient, expected.gradient)


@plain_python
@pytest.mark.parametrize("smoothing", ["l2", "entropy", 3, None, EntropySmoothing], ids=str)
def test_smoothing_by_a_word_needs_a_mu(smoothing):
    with pytest.raises((TypeError, ValueError), match="smoothing"):
        smoothed_objective(case("multiclass").problem, np.zeros(15), 0.1, smoothing)


@plain_python
@pytest.mark.parametrize("smoothing", [L2Smoothing(0.5, 2), EntropySmoothing(0.5)], ids=str)
def test_kernels_are_refused(smoothing):
    problem = make_multiclass_problem(KernelRows(np.eye(4)), np.arange(4) % K, K)
    with pytest.raises((TypeError, ValueError), match="kernel"):
        smoothed_objective(problem, np.zeros(1), 0.1, smoothing)


def relaxed_problem():
    sites = make_sites(np.eye(2), np.array([0, 2]), intercept=True, boundary=False)
    plan = make_relaxed_plan([0, 2], [0, 1], [0], [1], 2, shared=True)
    problem = make_pairwise_problem(sites, links_of(plan, 2, None, None), plan, np.array([0, 1]), 2)
    return KnownProblem(Relaxations(problem)), 10


@plain_python
@pytest.mark.parametrize("smoothing", [L2Smoothing(0.5, 2), EntropySmoothing(0.5)], ids=str)
def test_relaxations_have_no_smoothing(smoothing):
    problem, d = relaxed_problem()
    with pytest.raises(TypeError, match=r"oracle|expectations|outputs"):
        smoothed_objective(problem, np.zeros(d), 0.1, smoothing)


@plain_python
def test_cuts_are_not_asked_where_they_would_be_wrong():
    # edges that favour different labels: a minimum cut answers something else, and the value would be too low
    reference = case("cut").reference
    w = np.zeros(reference.d)
    w[6:] = -5.0
    try:
        found = smoothed_objective(case("cut").problem, w, 0.1, L2Smoothing(0.5, 4))
    except ValueError as error:
        assert "submodular" in str(error) or "cut" in str(error)
    else:
        assert found.value >= reference.primal(w, 0.1) - 1e-9


# two speeds


MAKE = {
    "chain": lambda: chain_pair(cost=COST),
    "multiclass": lambda: multiclass_pair(is_sparse=True, cost=COST),
    "cycle": lambda: graph_pair("cycle", n_edge_features=2),
}


@pytest.mark.parametrize(
    ("name", "smoothing"),
    [
        ("chain", L2Smoothing(0.8, 4)),
        ("chain", EntropySmoothing(0.8)),
        ("multiclass", L2Smoothing(0.8, 2)),
        ("cycle", L2Smoothing(0.8, 4)),
    ],
    ids=str,
)
def test_compiled_agrees_with_interpreted(name, smoothing):
    with interpreted():
        pair = MAKE[name]()
        w = np.random.default_rng(17).normal(size=pair.reference.d)
        plain = smoothed_objective(pair.problem, w, 0.1, smoothing)
    compiled = smoothed_objective(pair.problem, w, 0.1, smoothing)
    assert compiled.value == pytest.approx(plain.value, abs=1e-11)
    assert compiled.gradient == pytest.approx(plain.gradient, abs=1e-11)
    assert compiled.inexact == plain.inexact
