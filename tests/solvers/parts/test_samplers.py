"""Which block comes next: draws in proportion to the gaps, first passes, and what that is worth."""

import numpy as np
import pytest
from scipy import stats

from maxmargin.solvers import BlockFrankWolfe, Cache
from maxmargin.solvers.parts.samplers import (
    Active,
    Draws,
    GapSampler,
    Order,
    OwnGapSampler,
    observe,
    peek,
    pick,
    sums_over,
)
from maxmargin.structures import CustomProblem
from structures.pairs import Subsets

from ..conftest import LAM, named_pair

pytestmark = pytest.mark.usefixtures("no_compilation")

SIZES = [1, 2, 3, 5, 8, 13, 64, 100]  # powers of two and others
NEARLY_ONE = np.nextafter(1.0, 0.0)


def sampler_over(gaps, uniforms=(), first=()):
    tree, both = sums_over(np.asarray(gaps, float)), np.stack([uniforms, uniforms], axis=1)
    return GapSampler(tree, len(gaps), np.array(first, np.int64), both, np.full(1, -1))


def draws(gaps, n_draws=20_000, seed=0):
    sampler = sampler_over(gaps, np.random.default_rng(seed).random(n_draws))
    return np.array([pick(sampler, k) for k in range(n_draws)])


def assert_proportional(found, gaps):
    counts = np.bincount(found, minlength=len(gaps))
    expected = len(found) * np.maximum(gaps, 0.0) / np.sum(np.maximum(gaps, 0.0))
    assert len(counts) == len(gaps)
    assert not counts[expected == 0].any()
    if np.sum(expected > 0) > 1:
        assert stats.chisquare(counts[expected > 0], expected[expected > 0]).pvalue > 1e-3


@pytest.mark.parametrize("n", SIZES)
def test_draws_are_in_proportion_to_the_gaps(n):
    gaps = np.random.default_rng(n).uniform(0.05, 1.0, n)
    assert_proportional(draws(gaps), gaps)


def test_gaps_of_very_different_size():
    gaps = np.array([1e-3, 1.0, 1e-9, 0.2, 1e-2])
    found = draws(gaps)
    assert_proportional(found[found != 2], gaps * [1, 1, 0, 1, 1])


@pytest.mark.parametrize("n", [2, 5, 8, 13])
def test_zero_gaps_are_never_drawn(n):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        gaps = rng.exponential(size=n) * 10.0 ** rng.integers(-300, 3, size=n) * (rng.random(n) < 0.4)
        gaps[rng.integers(n)] = 1e-300
        gaps[rng.integers(n)] -= 1e-17  # a gap below 0 is rounding
        uniforms = np.concatenate([[0.0, 5e-324, NEARLY_ONE], rng.random(200)])
        if not np.any(gaps > 0):
            continue
        sampler = sampler_over(gaps, uniforms)
        assert all(gaps[pick(sampler, k)] > 0 for k in range(len(uniforms)))


@pytest.mark.parametrize("n", SIZES)
def test_no_gap_anywhere_draws_any_block(n):
    found = draws(np.zeros(n))
    assert found.max() < n
    assert_proportional(found, np.ones(n))
    assert [pick(sampler_over(np.zeros(n), [u]), 0) for u in (0.0, NEARLY_ONE)] == [0, n - 1]


@pytest.mark.parametrize("n", SIZES)
def test_sums_stay_exact_after_updates(n):
    rng = np.random.default_rng(n)
    gaps = rng.exponential(size=n)
    sampler = sampler_over(gaps)
    for _ in range(300):
        i = int(rng.integers(n))
        gaps[i] = rng.choice([0.0, -1e-18, rng.exponential(), 1e-12 * rng.random(), 1e6])
        observe(sampler, i, gaps[i])
        assert np.array_equal(sampler.tree, sampler_over(gaps).tree)
    leaves = len(sampler.tree) // 2
    assert leaves & (leaves - 1) == 0
    assert leaves // 2 < n <= leaves
    assert sampler.tree[1] == pytest.approx(np.maximum(gaps, 0).sum(), rel=1e-14)


def test_draws_follow_updates():
    gaps = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0])
    sampler = sampler_over(gaps[::-1], np.random.default_rng(0).random(20_000))
    for i, gap in enumerate(gaps):
        observe(sampler, i, gap)
    assert_proportional(np.array([pick(sampler, k) for k in range(20_000)]), gaps)


def test_what_follows_is_known_in_a_given_order():
    order = Order(np.array([2, 0, 1]))
    assert [pick(order, k) for k in range(3)] == [2, 0, 1]
    assert [peek(order, k) for k in range(3)] == [0, 1, -1]
    observe(order, 0, 1.0)


def own_over(gaps, uniforms=(), first=()):
    """That of a thread which has every other block, from the last one on."""
    blocks = np.arange(len(gaps))[::-1] * 2
    place = np.full(2 * len(gaps), -1)
    place[blocks] = np.arange(len(gaps))
    tree, both = sums_over(np.asarray(gaps, float)[::-1]), np.stack([uniforms, uniforms], axis=1)
    n_first = np.array([len(first)])
    return OwnGapSampler(tree, blocks, place, 2 * np.array(first, np.int64), n_first, both, np.full(1, -1))


@pytest.mark.parametrize("make", [sampler_over, own_over])
def test_what_follows_is_drawn_ahead_in_proportion_to_the_gaps_of_others(make):
    gaps, n_draws = np.array([3.0, 1.0, 0.0, 4.0, 1.0]), 20_000
    sampler = make(gaps, np.random.default_rng(0).random(n_draws))
    tree, unit, found = sampler.tree.copy(), 2 if make is own_over else 1, np.zeros((5, 5))
    for k in range(n_draws - 1):
        here, following = pick(sampler, k), peek(sampler, k)
        assert pick(sampler, k + 1) == following  # as often as it is asked
        found[here // unit, following // unit] += 1
    assert np.array_equal(sampler.tree, tree)  # nobody observed anything
    assert not found[2].any() and not np.any(np.diagonal(found))
    for here in (0, 1, 3, 4):
        others = np.where(np.arange(5) == here, 0.0, gaps)
        assert_proportional(np.repeat(np.arange(5), found[here].astype(int)), others)


@pytest.mark.parametrize("make", [sampler_over, own_over])
def test_nothing_follows_where_no_other_block_has_a_gap(make):
    sampler = make([0.0, 2.0, 0.0], [0.3] * 3)
    for k in range(3):
        here = pick(sampler, k)
        assert here == (2 if make is own_over else 1) and peek(sampler, k) == -1
    first = make([0.0, 2.0, 1.0], [0.3], [1, 0])
    assert peek(first, 0) == 0 and peek(first, 1) == -1  # what comes first is known, and after that nothing yet


def test_blocks_that_come_first_are_visited_before_any_is_drawn():
    sampler = sampler_over([0.0, 1.0, 0.0], [0.1, 0.9], [2, 0, 2])
    assert [pick(sampler, k) for k in range(5)] == [2, 0, 2, 1, 1]


class Diary(Subsets):
    """Notes whom it was asked for."""

    def max_oracle(self, w, i):
        self.asked = [*getattr(self, "asked", []), i]
        return super().max_oracle(w, i)


@pytest.mark.parametrize("chunk", [1, 2, 100])
@pytest.mark.parametrize("n", [1, 5, 6])
def test_gap_sampling_visits_every_block_once_before_it_samples(n, chunk):
    for seed in range(3):
        diary = Diary(n_samples=n)
        engine = BlockFrankWolfe("gap").start(CustomProblem(diary), LAM, None, seed, None)
        while engine.steps < 2 * n:
            engine.advance(chunk)
        assert sorted(diary.asked[:n]) == list(range(n))
        assert engine.steps == len(diary.asked)


def test_the_order_of_the_first_pass_is_random():
    firsts = set()
    for seed in range(20):
        diary = Diary()
        BlockFrankWolfe("gap").start(CustomProblem(diary), LAM, None, seed, None).advance(5)
        firsts.add(tuple(diary.asked))
    assert len(firsts) > 10


def test_steps_are_drawn_by_the_gaps_of_the_certificate():
    problem, solver = named_pair("chain").problem, BlockFrankWolfe("gap")
    state = solver.solve(problem, LAM, tol=0, max_passes=5, random_state=0).state
    engine = solver.start(problem, LAM, state, 0, None)
    iterate = engine.certify()[0]
    assert np.sum(engine.gaps) == pytest.approx(iterate.primal - iterate.dual, abs=1e-12)
    found = [pick(engine.sampling.sampler(engine.draws, 1, 0, engine.gaps), 0) for _ in range(2000)]
    assert_proportional(np.array(found), engine.gaps)


class Toy:
    """One sample with K errors to unlearn, the others alike and learned at the first visit."""  # osokin16, App. C

    def __init__(self, n=200, k=50):
        self.n_samples, self.n_features, self.k = n, k + 1, k
        self.y = [0] * n

    def joint_feature(self, i, y):
        if y == 0:
            return np.empty(0, np.int64), np.empty(0)
        return ([y - 1], [-np.sqrt(0.5)]) if i == 0 else ([self.k], [-1.0])

    def loss(self, i, y):
        return float(y != 0)

    def max_oracle(self, w, i):
        if i > 0:
            return int(w[self.k] < 1.0)
        worst = int(np.argmin(w[: self.k]))
        return worst + 1 if w[worst] * np.sqrt(0.5) < 1.0 else 0


class TestToy:
    toy = Toy()
    n, k = toy.n_samples, toy.k
    optimum = (1 - 1 / (4 * k)) / n + 1 / (2 * n)  # the dual (15) at alpha_1 = 1/K and u = 1

    def calls(self, tol, **options):
        result = BlockFrankWolfe(**options).solve(self.toy, 1 / self.n, tol=tol, max_passes=1000, random_state=0)
        assert result.status == "converged"
        assert result.dual - 1e-12 <= self.optimum <= result.primal + 1e-12
        return result.n_oracle_calls

    def test_curvatures_are_equal(self):
        def feature(i, y):
            vector = np.zeros(self.k + 1)
            indices, values = self.toy.joint_feature(i, y)
            vector[indices] = values
            return vector

        for i in (0, 1):
            points = np.array([feature(i, y) for y in range(self.k + 1)])
            assert np.max(np.sum((points[:, None] - points) ** 2, axis=2)) == pytest.approx(1.0)

    @pytest.mark.parametrize("step", ["fw", "away", "pairwise"])
    def test_gap_sampling_asks_n_plus_k_times(self, step):
        tol, n, k = 1 / (4 * self.n * self.k), self.n, self.k
        # a first pass and K steps of the hard sample, then the certificate
        assert self.calls(tol, sampling="gap", step=step, gap_every=(n + k) / n) <= 3 * (n + k)

    @pytest.mark.parametrize("sampling", ["uniform", "permutation"])
    def test_other_sampling_asks_n_times_k_times(self, sampling):
        assert self.calls(1 / (4 * self.n * self.k), sampling=sampling) >= self.n * self.k / 2

    def test_a_cache_leaves_the_easy_samples_alone(self):
        tol, n, k = 1 / (4 * self.n * self.k), self.n, self.k
        assert self.calls(tol, sampling="gap", cache=Cache(), gap_every=(n + k) / n) <= 3 * (n + k)


def test_active_blocks_come_more_often():
    draws, gaps, sampling = Draws(6, 0), np.array([0.0, 1.0, 0.0, 2.0, -1e-18, 0.5]), Active(rounds=3)
    assert sampling.steps_ahead(draws, 6, gaps) == 6
    first = sampling.sampler(draws, 6, 6, gaps).blocks
    assert sorted(first) == list(range(6))  # every block once before its gap is believed
    assert sampling.steps_ahead(draws, 0, gaps) == 15
    later = [sampling.sampler(draws, count, 0, gaps).blocks for count in (4, 5)]
    assert sampling.steps_ahead(draws, 0, np.zeros(6)) == 6  # what was drawn stays drawn
    later = np.concatenate([*later, sampling.sampler(draws, 6, 0, gaps).blocks])
    assert all(sorted(later[k : k + 3]) == [1, 3, 5] for k in (0, 3, 6)) and sorted(later[9:]) == list(range(6))
    nothing, none = Draws(3, 0), np.zeros(3)
    assert sampling.steps_ahead(nothing, 0, none) == 3  # no block is known to have a gap: all may
    assert sorted(sampling.sampler(nothing, 3, 0, none).blocks) == [0, 1, 2]
