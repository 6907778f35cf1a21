"""What a run remembers of each block: masses that make up the dual state, slots that make room, cached corners."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, Cache, PairwiseStep, RepeatedStep
from maxmargin.solvers.parts import cache
from maxmargin.solvers.parts.cache import FIRST_SLOTS
from maxmargin.solvers.parts.memory import doubled, needs_room, new_memory, remember, shift_mass, worst_slot
from maxmargin.solvers.parts.samplers import SAMPLING, Drawn
from maxmargin.solvers.parts.steps import HITS, MISSES
from maxmargin.structures import make_chain_problem, make_multiclass_problem
from maxmargin.structures.numbered import widened
from maxmargin.structures.pairwise import layout
from maxmargin.structures.verbs import find_potentials, mean_loss, new_labelings, new_work, output_bound, output_bytes
from structures.pairs import COST, Subsets, as_tables, chain_pair, multiclass_pair
from structures.test_labelings import remembered_row

from ..conftest import LAM, PROBLEMS, named_pair, optimum
from ..test_engine import flat

pytestmark = pytest.mark.usefixtures("no_compilation")

STEPS = {
    "fw": {"step": "fw", "cache": True},
    "away": {"step": "away"},
    "pairwise": {"step": "pairwise"},
    "safeguard": {"step": "pairwise", "safeguard": True},
    "away cached": {"step": "away", "cache": Cache(F=0.1, nu=0.0)},
    "pairwise cached": {"step": "pairwise", "cache": True},
}
each_step = pytest.mark.parametrize("step", STEPS)
each_problem = pytest.mark.parametrize("name", ["chain", "chain masked", "multiclass weighted", "custom"])


def started(pair, lam=LAM, seed=0, **options):
    """An engine whose gaps are known."""
    engine = BlockFrankWolfe(**options).start(pair.problem, lam, None, seed, None)
    engine.certify()
    return engine


def alpha_of(pair, memory):
    """The distribution over labelings that labels and masses stand for."""
    alpha = [np.zeros_like(losses) for losses in pair.reference.losses]
    for i, own in enumerate(alpha):
        rows = [remembered_row(pair, memory.labelings, i, j) for j in range(memory.filled[i])]
        assert len(set(rows)) == len(rows)  # no output twice
        own[rows] = memory.mass[i, : memory.filled[i]]
        assert not memory.mass[i, memory.filled[i] :].any()
    return alpha


def check_marginals(pair, blocks, alpha):
    """The marginals of a chain, a class or a feature against the distribution, summed by hand."""
    for i, own in enumerate(alpha):
        expected = own @ pair.phi[i]
        if hasattr(blocks, "feature"):
            found = np.zeros_like(expected)
            blocks.feature[i].add_to(found, 1.0)
            assert found == pytest.approx(expected, abs=1e-12)
        elif hasattr(blocks, "links"):
            labels = np.array(pair.reference.labelings[i])
            node, edge = np.zeros((labels.shape[1], 3)), np.zeros((3, 3))
            for mass, y in zip(own, labels, strict=True):
                np.add.at(node, (np.arange(len(y)), y), mass)
                np.add.at(edge, (y[:-1], y[1:]), mass)
            begin, end = pair.problem.sites.offsets[i : i + 2]
            assert blocks.node[begin:end] == pytest.approx(node, abs=1e-12)
            assert as_tables(blocks.links, len(alpha), 3)[i] == pytest.approx(edge, abs=1e-12)
        else:
            assert blocks.node[i] == pytest.approx(own, abs=1e-12)
        assert blocks.loss[i] == pytest.approx(own @ pair.reference.losses[i], abs=1e-12)


def check_masses(pair, engine):
    alpha, reference = alpha_of(pair, engine.memory), pair.reference
    assert reference.is_feasible(alpha, tol=1e-12)
    check_marginals(pair, engine.blocks, alpha)
    assert mean_loss(pair.problem, engine.blocks) == pytest.approx(reference.ell_of(alpha), abs=1e-12)
    weights = engine.dual_point().vector / engine.lam
    assert pair.to_reference(weights) == pytest.approx(reference.weights_of(alpha, engine.lam), abs=1e-11)


@each_step
@each_problem
def test_masses_are_the_dual_state(name, step):
    pair = named_pair(name)
    engine = started(pair, **STEPS[step])
    check_masses(pair, engine)
    for k in range(90):
        engine.advance(1)
        if k % 10 == 9:
            check_masses(pair, engine)
    assert np.any(np.count_nonzero(engine.memory.mass, axis=1) > 1)


@pytest.mark.parametrize("step", ["away", "safeguard"])
def test_masses_are_the_dual_state_without_gram_matrix(step, monkeypatch):
    monkeypatch.setattr(layout, "GRAM_PAIRS_PER_NONZERO", 0)
    pair = chain_pair(is_sparse=True, cost=COST)
    assert len(pair.problem.gram) == 0
    engine = started(pair, **STEPS[step])
    engine.advance(100)
    check_masses(pair, engine)


@pytest.mark.parametrize("step", ["away", "pairwise", "safeguard", "away cached", "pairwise cached"])
@each_problem
def test_drop_steps_drop(name, step):
    pair, drops = named_pair(name), 0
    engine = started(pair, **STEPS[step])
    for _ in range(150):
        before = engine.memory.mass.copy()
        engine.advance(1)
        after = engine.memory.mass
        before = widened(before, after.shape[1])
        drops += np.sum((before > 0) & (after == 0)) > 0
        assert np.all(after >= 0)
        assert np.all((after == 0) | (after > 1e-13))  # what is dropped leaves nothing
        assert np.sum(np.any(before != after, axis=1)) <= 1
        if step.startswith("pairwise"):
            assert np.sum(np.abs(before - after) > 1e-12) in (0, 2)
    assert drops > 0


@pytest.mark.parametrize("step", STEPS)
@each_problem
def test_full_steps_reset_the_masses(name, step):
    # with so much regularisation every step is a full one
    pair = named_pair(name)
    engine = started(pair, lam=1e4, sampling="permutation", **STEPS[step])
    for _ in range(2 * engine.n):
        engine.advance(1)
        assert set(np.unique(engine.memory.mass)) == {0.0, 1.0}
        assert np.array_equal(engine.memory.mass.sum(axis=1), np.ones(engine.n))
    assert np.any(engine.memory.mass[:, 0] == 0)
    check_masses(pair, engine)


def small_memory(slots, n_labels=6, **options):
    """The memory of two samples of six classes, and a way to have an output remembered."""
    problem = make_multiclass_problem(np.eye(2), np.array([0, 1]), n_labels)
    memory, work = new_memory(new_labelings(problem, slots), 2, slots, slots)._replace(**options), new_work(problem)

    def note(label, k, i=0):
        work.label[0] = label
        return remember(memory, problem, work, i, k)

    return memory, note


def test_outputs_are_remembered_once():
    memory, note = small_memory(4)
    assert [note(label, k) for k, label in enumerate([2, 0, 3, 2, 2, 3, 5, 0])] == [1, 0, 2, 1, 1, 2, 3, 0]
    assert memory.filled.tolist() == [4, 1]
    assert memory.last_used[0].tolist() == [7, 4, 5, 6]
    assert memory.labelings.tolist() == [[0, 2, 3, 5], [1, 0, 0, 0]]
    assert note(0, 8, i=1) == 1


def test_the_output_without_mass_used_least_recently_makes_room():
    memory, note = small_memory(4)
    for k, label in enumerate([2, 3, 4]):
        note(label, k)
    memory.mass[0] = [0.0, 0.5, 0.0, 0.5]
    note(0, 3)  # the truth was used after 3
    assert note(5, 4) == 2
    assert memory.labelings[0].tolist() == [0, 2, 5, 4]
    assert memory.mass[0].tolist() == [0.0, 0.5, 0.0, 0.5]
    assert note(3, 5) == 0  # now the truth is the oldest without mass
    assert memory.filled[0] == 4


def test_the_output_with_the_least_mass_makes_room_if_all_have_some():
    memory, note = small_memory(3)
    note(2, 0), note(3, 1)
    memory.mass[0] = [0.5, 0.2, 0.3]
    assert note(5, 2) == 1
    assert memory.mass[0].tolist() == [0.5, 0.0, 0.3]
    memory.mass[0] = [0.25, 0.25, 0.5]
    memory.last_used[0] = [7, 6, 8]
    assert note(4, 9) == 1  # of equal masses, the older


def test_slots_beyond_the_capacity_are_for_mass():
    memory, note = small_memory(4, capacity=2)
    assert [note(2, 0), note(3, 1), note(2, 2)] == [1, 1, 1]  # the output without mass makes room
    memory.mass[0, :2] = 0.5
    assert note(3, 3) == 2
    assert note(4, 4) == 2
    memory.mass[0] = [0.5, 0.0, 0.5, 0.0]
    assert note(5, 5) == 1
    assert memory.labelings[0].tolist() == [0, 5, 4, 0]
    assert memory.filled.tolist() == [3, 1]


def test_there_are_few_slots_at_first_and_always_enough_for_a_visit():
    memory, note = small_memory(5, capacity=10, limit=20)
    assert not needs_room(memory, 0, 4)
    note(2, 0)
    assert [needs_room(memory, i, 4) for i in range(2)] == [True, False]  # whatever their mass
    problem = make_multiclass_problem(np.eye(2), np.array([0, 1]), 6)
    slots = [memory.mass.shape[1]]
    while slots[-1] < memory.limit:
        memory = doubled(memory, problem)
        slots.append(memory.mass.shape[1])
    assert slots == [5, 10, 20]
    assert memory.labelings[0, :3].tolist() == [0, 2, 0]


def test_runs_do_not_depend_on_how_many_slots_there_are_at_first(monkeypatch):
    rng, found = np.random.default_rng(921864), []  # where lists of the average lacked room within a visit, or did not
    lengths = rng.integers(1, 6, 3)
    X, y = rng.normal(size=(lengths.sum(), 3)), rng.integers(0, 6, lengths.sum())
    problem = make_chain_problem(X, np.concatenate([[0], np.cumsum(lengths)]), y, 6)
    solver = BlockFrankWolfe("permutation", "weighted", step=RepeatedStep(PairwiseStep(safeguard=True), 3))
    for slots in (2, FIRST_SLOTS, 100):
        monkeypatch.setattr(cache, "FIRST_SLOTS", slots)
        found.append(solver.solve(problem, 0.3, tol=0, max_passes=9, random_state=0))
    assert len({result.w.tobytes() for result in found}) == 1
    assert found[0].state.memory.mass.shape[1] < found[-1].state.memory.mass.shape[1]


def test_room_is_needed_where_all_slots_hold_mass():
    memory, note = small_memory(3, limit=5)
    note(2, 0), note(3, 1)
    memory.mass[0] = [0.5, 0.0, 0.5]
    assert not needs_room(memory, 0, 4)
    memory.mass[0] = [0.5, 0.25, 0.25]
    assert [needs_room(memory, i, 4) for i in range(2)] == [True, False]
    problem = make_multiclass_problem(np.eye(2), np.array([0, 1]), 6)
    larger = doubled(memory, problem)
    assert not needs_room(larger, 0, 4)
    assert larger.labelings.tolist() == [[0, 2, 3, 0, 0], [1, 0, 0, 0, 0]]
    assert larger.mass.tolist() == [[0.5, 0.25, 0.25, 0, 0], [1, 0, 0, 0, 0]]
    assert larger.last_used.tolist() == [[0, 0, 1, 0, 0], [0, 0, 0, 0, 0]]
    assert larger.filled is memory.filled
    larger.mass[0], larger.filled[0] = 0.2, 5
    assert not needs_room(larger, 0, 4)  # there is no more


def test_mass_moves_along_a_step():
    memory, note = small_memory(4)
    note(2, 0), note(3, 1)
    shift_mass(memory, 0, 1, 0.25)
    assert memory.mass[0].tolist() == [0.75, 0.25, 0.0, 0.0]
    shift_mass(memory, 0, 1, -1 / 3)  # away from it, as far as it goes
    assert memory.mass[0] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-15)
    shift_mass(memory, 0, 2, 1.0)
    assert memory.mass[0].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert memory.mass[1].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_worst_slot_has_mass():
    pair = multiclass_pair(cost=COST)
    memory, work = new_memory(new_labelings(pair.problem, 3), 6, 3, 3), new_work(pair.problem)
    memory.labelings[:] = [0, 1, 2]
    memory.filled[:] = 3
    rng = np.random.default_rng(0)
    for _ in range(50):
        i, w = int(rng.integers(6)), rng.normal(size=pair.reference.d)
        memory.mass[i] = rng.random(3) * (rng.random(3) < 0.5)
        find_potentials(pair.problem, work, w, i)
        values = np.where(memory.mass[i] > 0, pair.reference.losses[i] + pair.phi[i] @ w, np.inf)
        expected = int(np.argmin(values)) if memory.mass[i].any() else -1
        assert worst_slot(memory, pair.problem, work, w, i) == expected


def room_for(problem, slots):
    """The bytes of so many slots."""
    return slots * (output_bytes(problem) + 16 * len(problem.weight))


GROWING = {step: STEPS[step] for step in ("away", "pairwise", "safeguard")} | {
    "pairwise cached": {"step": "pairwise", "cache": Cache(capacity=2)},
    "by gaps": {"step": "pairwise", "sampling": "gap"},
    "averaged": {"step": "pairwise", "averaging": "weighted"},
}
each_growing = pytest.mark.parametrize("step", GROWING)


def growing(step, **options):
    """A solver that begins with two slots a block; without a cache that takes a rule that never hits."""
    return BlockFrankWolfe(**{"cache": Cache(1e300, 1e300, capacity=2)} | GROWING[step] | options)


@each_growing
@each_problem
def test_memory_grows_with_the_mass(name, step):
    pair = named_pair(name)
    engine = growing(step).start(pair.problem, LAM, None, 0, None)
    engine.certify()
    assert engine.memory.mass.shape[1] == 2
    for _ in range(10):
        engine.advance(9)
        check_masses(pair, engine)  # nothing is forgotten
        slots = engine.memory.mass.shape[1]
        held = np.count_nonzero(engine.memory.mass, axis=1)
        assert np.all(engine.memory.filled <= slots)
    assert slots > 2
    assert held.max() > 2
    if name.startswith("multiclass"):
        assert slots == 3  # there are no more outputs


@each_growing
@each_problem
def test_growth_depends_on_steps_only(name, step):
    whole, single, parts = (growing(step).start(named_pair(name).problem, LAM, None, 0, None) for _ in range(3))
    for engine in (whole, single, parts):
        engine.certify()
    whole.advance(90)
    for _ in range(90):
        single.advance(1)
    for chunk in (1, 30, 7, 2, 50):
        parts.advance(chunk)
    assert whole.memory.mass.shape[1] > 2
    for other in (single, parts):
        assert flat(other.state()) == flat(whole.state())
        assert other.oracle_calls == whole.oracle_calls


@each_growing
@each_problem
def test_a_grown_memory_is_carried_on(name, step):
    def run(passes, **options):
        return growing(step).solve(named_pair(name).problem, LAM, tol=0, max_passes=passes, **options)

    first, whole = run(10, random_state=0), run(20, random_state=0)
    assert first.state.memory.mass.shape[1] > 2
    second = run(10, state=first.state)
    assert flat(second.state) == flat(whole.state)


def test_another_cache_changes_room_and_limit_of_a_carried_memory():
    problem = named_pair("chain").problem
    state = growing("pairwise").solve(problem, LAM, tol=0, max_passes=3, random_state=0).state
    slots = state.memory.mass.shape[1]
    for capacity in (2, 3 * slots):
        cache = Cache(capacity=capacity, max_bytes=room_for(problem, capacity))
        memory = BlockFrankWolfe(step="pairwise", cache=cache).start(problem, LAM, state, None, None).memory
        # what is known stays known, whatever the limit
        assert memory.mass.shape[1] == max(slots, min(FIRST_SLOTS, capacity))
        assert (memory.capacity, memory.limit) == (capacity, capacity)
        assert memory.mass[:, :slots].tolist() == state.memory.mass.tolist()


def test_frank_wolfe_steps_need_no_masses_and_no_growth():
    engine = started(named_pair("chain"), cache=Cache(capacity=2))
    engine.advance(200)
    assert engine.memory.mass.shape[1] == 2


def test_memory_without_a_limit_of_its_own():
    problem = named_pair("chain").problem
    limits = [
        BlockFrankWolfe(step=step).start(problem, LAM, None, 0, None).memory.limit for step in ("away", "pairwise")
    ]
    assert limits == [min(int(1e9 / room_for(problem, 1)), output_bound(problem))] * 2
    endless = BlockFrankWolfe(step="away", cache=Cache(max_bytes=np.inf)).start(problem, LAM, None, 0, None)
    assert endless.memory.limit == output_bound(problem)


@pytest.mark.parametrize("step", ["away", "pairwise", "safeguard", "fw"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_forgotten_mass_leaves_the_certificate_valid(name, step):
    pair, best = named_pair(name), optimum(name)
    options = {key: value for key, value in STEPS[step].items() if key != "cache"}
    engine = started(pair, cache=Cache(max_bytes=room_for(pair.problem, 2.9)), **options)
    duals = []
    for _ in range(40):
        engine.advance(engine.n)
        iterate = engine.certify()[0]
        duals.append(iterate.dual)
        assert iterate.dual - 1e-8 <= best <= iterate.primal + 1e-8
        assert np.sum(engine.gaps) == pytest.approx(iterate.primal - iterate.dual, abs=1e-11)
        assert np.all(engine.memory.mass >= 0)
        assert np.all(engine.memory.mass.sum(axis=1) <= 1 + 1e-12)
        assert engine.memory.mass.shape[1] == 2
    assert np.all(np.diff(duals) >= -1e-13)
    if name != "custom weighted":
        assert np.any(engine.memory.mass.sum(axis=1) < 1 - 1e-3)  # something was forgotten


@pytest.mark.parametrize(
    "step",
    ["pairwise", "safeguard"],
)
@pytest.mark.parametrize("name", ["chain", "custom"])
def test_converges_though_mass_was_forgotten(name, step):
    problem = named_pair(name).problem
    solver = BlockFrankWolfe("permutation", **STEPS[step] | {"cache": Cache(max_bytes=room_for(problem, 2))})
    result = solver.solve(problem, LAM, tol=0.01, max_passes=1000, random_state=0)
    assert result.gap <= 0.01


def test_a_hit_asks_no_oracle():
    structure = Subsets(n_samples=4)
    solver = BlockFrankWolfe(cache=True, gap_every=3)
    seen = []
    result = solver.solve(structure, LAM, tol=0, max_passes=30, random_state=0, callbacks=[seen.append])
    history = result.history
    hits, misses = history["cache_hits"], history["cache_misses"]
    assert hits[-1] > 0 and misses[-1] > 0
    assert np.array_equal(hits + misses, np.round(history["passes"] * 4))
    assert np.array_equal(history["oracle_calls"], misses + 4 * np.arange(1, len(hits) + 1))
    assert result.n_oracle_calls == structure.calls
    assert [record.extras["cache_hits"] for record in seen] == hits.tolist()
    assert "cache_hits" not in BlockFrankWolfe(step="away").solve(structure, LAM, max_passes=2).history


@pytest.mark.parametrize(
    "rule", [Cache(), Cache(F=0.0, nu=0.0), Cache(F=1.0), Cache(F=0.0, nu=2.0), Cache(F=0.5, nu=0)]
)
@pytest.mark.parametrize("name", ["chain", "multiclass", "custom"])
def test_hits_follow_the_rule(name, rule, monkeypatch):
    pair = named_pair(name)
    n, reference = pair.reference.n, pair.reference
    order = np.random.default_rng(0).integers(n, size=(15, n))
    rest = iter(order)
    monkeypatch.setitem(SAMPLING, "given", Drawn(lambda rng, n: next(rest)))
    engine = started(pair, sampling="given", step="away", cache=rule)
    total = np.sum(engine.gaps)
    hits = 0
    for k, i in enumerate(order.ravel()):
        if k % (3 * n) == 0:  # the total gap is as old as the last certificate
            engine.certify()
            total = np.sum(engine.gaps)
        alpha, values = alpha_of(pair, engine.memory)[i], reference.augmented(i, pair.to_reference(engine.w))
        rows = [remembered_row(pair, engine.memory.labelings, i, j) for j in range(engine.memory.filled[i])]
        promise = reference.shares[i] * (np.max(values[rows]) - alpha @ values)
        bar = max(rule.F * engine.gaps[i], rule.nu / n * total)
        known, tally = engine.gaps[i], engine.tally.copy()
        engine.advance(1)
        is_hit, is_miss = engine.tally - tally
        assert is_hit + is_miss == 1
        hits += is_hit
        if abs(promise - bar) > 1e-9 and abs(promise) > 1e-12:
            assert is_hit == (promise > bar)
        exact = reference.shares[i] * (np.max(values) - alpha @ values)
        assert engine.gaps[i] == (known if is_hit else pytest.approx(exact, abs=1e-12))
    assert engine.tally[HITS] == hits
    assert engine.tally[MISSES] == order.size - hits
    assert engine.oracle_calls == order.size - hits + n * 6


def test_capacity_is_respected_and_no_larger_than_the_number_of_outputs():
    chains, classes = named_pair("chain").problem, named_pair("multiclass").problem
    for capacity in (2, 3, 7):
        engine = BlockFrankWolfe("permutation", cache=Cache(capacity=capacity)).start(chains, LAM, None, 0, None)
        engine.certify()
        engine.advance(200)
        assert engine.memory.mass.shape == (4, capacity)
        assert engine.memory.filled.max() == capacity
        assert engine.memory.labelings.codes.shape == (len(chains.labels) * capacity,)
    assert BlockFrankWolfe(cache=True).start(classes, LAM, None, 0, None).memory.mass.shape == (6, 3)


def test_max_bytes_lowers_the_capacity():
    problem = named_pair("chain").problem
    for capacity in (2, 5, 9):
        slot = output_bytes(problem) + 16 * 4
        for extra in (0, slot - 1):
            cache = Cache(max_bytes=capacity * slot + extra)
            memory = BlockFrankWolfe(cache=cache).start(problem, LAM, None, 0, None).memory
            assert (memory.capacity, memory.limit) == (capacity, capacity)
            while memory.mass.shape[1] < capacity:
                memory = doubled(memory, problem)
            taken = memory.labelings.codes.nbytes + memory.mass.nbytes + memory.last_used.nbytes
            assert taken <= cache.max_bytes
    assert (
        BlockFrankWolfe(cache=Cache(capacity=3, max_bytes=1e9)).start(problem, LAM, None, 0, None).memory.mass.shape[1]
        == 3
    )
    for too_little in (0, slot, 2 * slot - 1):
        with pytest.raises(ValueError, match="max_bytes"):
            BlockFrankWolfe(cache=Cache(max_bytes=too_little)).start(problem, LAM, None, 0, None)


class Reused(Subsets):
    """Answers in an array of its own, written over the next time."""

    def max_oracle(self, w, i):
        self.answer = getattr(self, "answer", np.zeros(3, int))
        self.answer[:] = super().max_oracle(w, i)
        return self.answer


class Nested(Subsets):
    """Outputs that hold arrays: tuples of them have no truth value when compared."""

    def __init__(self):
        super().__init__()
        self.y = [(np.array(y),) for y in self.y]

    def joint_feature(self, i, y):
        return super().joint_feature(i, y[0])

    def loss(self, i, y):
        return float(self.price[i] @ (y[0] != self.y[i][0]))

    def max_oracle(self, w, i):
        candidates = [(np.array(y),) for y in self.outputs]
        return max(candidates, key=lambda y: self.loss(i, y) + w @ self.joint_feature(i, y))


@pytest.mark.parametrize("step", ["fw", "away", "pairwise", "pairwise cached"])
@pytest.mark.parametrize("structure", [Reused, Nested])
def test_outputs_of_any_kind(structure, step):
    solver = BlockFrankWolfe(**STEPS[step] | ({"cache": False} if step == "fw" else {}))
    result = solver.solve(structure(), LAM, tol=1e-6, max_passes=100, random_state=0)
    best = optimum("custom")
    assert result.dual - 1e-8 <= best <= result.primal + 1e-8
    assert step == "fw" or result.gap <= 1e-6
