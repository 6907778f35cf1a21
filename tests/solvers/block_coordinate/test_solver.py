"""Every combination of sampling, step, cache, averaging and box against the QP; compiled; going on; bad parameters."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, Cache
from maxmargin.solvers.driver import Limits, drive
from maxmargin.solvers.tolerance import as_goal
from maxmargin.structures.verbs import mean_loss
from structures.pairs import COST, chain_pair, interpreted, multiclass_pair, subsets_pair

from ..test_box import EXACT, bounds_of, boxed_optimum
from ..test_engine import flat
from ..test_two_speeds import assert_close

LAM = 0.5

PROBLEMS = {
    "chain": lambda: chain_pair(cost=COST, repeats=[0, 1, 3]),
    "multiclass": lambda: multiclass_pair(cost=COST),
    "custom": lambda: subsets_pair(),
}
SAMPLINGS = ["uniform", "permutation", "gap", "active"]
STEPS = {
    "fw": {"step": "fw"},
    "away": {"step": "away"},
    "pairwise": {"step": "pairwise"},
    "safeguard": {"step": "pairwise", "safeguard": True},
}
CACHES = {"asked": {}, "cached": {"cache": True}}
AVERAGES = {"last": {}, "averaged": {"averaging": "weighted"}}
BOXES = {"free": {}, "positive": {"positive": slice(None, None, 2)}, "boxed": {"lower": -0.05, "upper": 0.1}}


@cache
def pair_of(name):
    with interpreted():
        return PROBLEMS[name]()


@cache
def best_of(name, box, lam=LAM):
    pair = pair_of(name)
    if box == "free":
        return pair.reference.solve(lam)[1]
    return boxed_optimum(pair, lam, *bounds_of(BOXES[box], pair.reference.d))


def solver_of(sampling, step, cached="asked", averaged="last", box="free", **options):
    return BlockFrankWolfe(
        sampling, **STEPS[step] | CACHES[cached] | AVERAGES[averaged] | BOXES[box] | {"gap_every": 10} | options
    )


def watched(solver, problem, tol, max_passes):
    """The result, and the iterate of every certificate."""
    engine, iterates = solver.start(problem, LAM, None, 0, None), []
    certify = engine.certify

    def noted():
        found = certify()
        iterates.append(found[0])
        return found

    engine.certify = noted
    return drive(engine, Limits(as_goal(tol), max_passes, None, solver.gap_every)), iterates


def check_certificates(pair, box, history, best):
    assert np.all(history["dual"] <= best + EXACT)
    assert np.all(history["primal"] >= best - EXACT)
    assert np.all(history["primal"] - best <= history["gap"] + EXACT)
    assert np.all(history["gap"] >= 0)


def rate(pair, passes, best):
    """What block-coordinate Frank-Wolfe promises."""  # lacoste13, Thm. 2; in expectation
    reference = pair.reference
    diameters = [np.max(np.linalg.norm(psi[:, None] - psi, axis=2)) for psi in reference.psi]
    curvature = np.sum((reference.shares * diameters) ** 2) / LAM
    return 6 * (curvature + best) / (passes + 1)


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("averaged", AVERAGES)
@pytest.mark.parametrize("cached", CACHES)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_combination_finds_the_optimum(name, sampling, step, cached, averaged, box):
    pair, best = pair_of(name), best_of(name, box)
    # stale gaps of so few blocks soon say nothing
    solver = solver_of(sampling, step, cached, averaged, box, gap_every=2 if sampling == "gap" else 10)
    result, iterates = watched(solver, pair.problem, 1e-6, 40 if step == "fw" else 3000)
    history = result.history
    check_certificates(pair, box, history, best)
    assert np.all(np.diff([iterate.dual for iterate in iterates]) >= -1e-12)
    lower, upper = bounds_of(BOXES[box], pair.reference.d)
    assert np.all(lower <= result.w) and np.all(result.w <= upper)
    assert pair.reference.primal(pair.to_reference(result.w), LAM) == pytest.approx(result.primal, abs=1e-11)
    assert np.all(history["gap"] <= rate(pair, history["passes"], best))
    if cached == "cached":
        assert np.array_equal(
            history["cache_hits"] + history["cache_misses"], np.round(history["passes"] * pair.reference.n)
        )
    if step != "fw":
        assert result.status == "converged"
        assert result.primal == pytest.approx(best, abs=1e-6 + EXACT)


def test_the_boxes_bind():
    for name in PROBLEMS:
        for box in ("positive", "boxed"):
            assert best_of(name, box) > best_of(name, "free") + 1e-4, (name, box)


# sampling is a different kernel by gaps only; a bound is a bound
TYPES = (["chain", "multiclass"], ["permutation", "gap"], ["fw", "away", "safeguard"], *map(list, (CACHES, AVERAGES)))
TYPES = (*TYPES, ["free", "boxed"])
COVERING = [
    ("chain", "permutation", "safeguard", "asked", "averaged", "boxed"),
    ("chain", "permutation", "away", "cached", "last", "boxed"),
    ("chain", "gap", "fw", "cached", "averaged", "free"),
    ("multiclass", "gap", "fw", "asked", "averaged", "boxed"),
    ("multiclass", "permutation", "fw", "asked", "last", "free"),
    ("multiclass", "gap", "away", "asked", "averaged", "free"),
    ("multiclass", "gap", "safeguard", "cached", "last", "free"),
]


def test_every_two_kinds_of_parts_are_compiled_together():
    for one, other in combinations(range(len(TYPES)), 2):
        assert {(row[one], row[other]) for row in COVERING} == set(product(TYPES[one], TYPES[other]))


@pytest.mark.parametrize("row", COVERING, ids=" ".join)
def test_compiled_agrees_with_interpreted(row):
    # gaps that are rounding would draw blocks at random: certificates often, steps few
    problem, solver = pair_of(row[0]).problem, solver_of(*row[1:], gap_every=1)
    options = {"tol": 1e-10, "max_passes": 8, "random_state": 0}
    with interpreted():
        plain = solver.solve(problem, LAM, **options)
    compiled = solver.solve(problem, LAM, **options)
    assert_close(compiled, plain)
    assert compiled.state.gaps == pytest.approx(plain.state.gaps, abs=1e-9)
    if hasattr(plain.state.memory, "mass"):
        assert np.array_equal(compiled.state.memory.filled, plain.state.memory.filled)
        assert compiled.state.memory.mass == pytest.approx(plain.state.memory.mass, abs=1e-9)


GOING_ON = {
    "gap": ("gap", "fw"),
    "gap averaged": ("gap", "fw", "asked", "averaged"),
    "cached": ("permutation", "fw", "cached"),
    "away": ("uniform", "away"),
    "pairwise boxed": ("permutation", "pairwise", "asked", "last", "boxed"),
    "all": ("gap", "safeguard", "cached", "averaged", "positive"),
}
each_kind = pytest.mark.parametrize("kind", GOING_ON)
each_problem = pytest.mark.parametrize("name", PROBLEMS)


def run(name, solver, passes, lam=LAM, **options):
    return solver.solve(pair_of(name).problem, lam, tol=0, max_passes=passes, **options)


@pytest.mark.usefixtures("no_compilation")
@each_kind
@each_problem
def test_ten_and_ten_passes_are_twenty(name, kind):
    solver = solver_of(*GOING_ON[kind])
    first = run(name, solver, 10, random_state=0)
    before = flat(first.state)
    second = run(name, solver, 10, state=first.state)
    whole = run(name, solver, 20, random_state=0)
    assert flat(second.state) == flat(whole.state)
    assert np.array_equal(second.w, whole.w)
    assert (second.primal, second.dual) == (whole.primal, whole.dual)
    assert flat(first.state) == before


def dual_of(pair, state, lam, box):
    """The dual value of a state's distribution: the least over the box of the Lagrangian."""
    lower, upper = bounds_of(BOXES[box], pair.reference.d)
    v = state.w.copy()
    if hasattr(state.box, "cut"):
        v[state.box.indices] += state.box.cut
    v *= state.lam / lam
    w = np.clip(v, lower, upper)
    return mean_loss(pair.problem, state.blocks) + lam * (0.5 * w @ w - w @ v)


@pytest.mark.usefixtures("no_compilation")
@each_kind
@each_problem
@pytest.mark.parametrize(("lam", "box"), [(0.1, None), (2.0, None), (LAM, "positive"), (LAM, "boxed"), (0.2, "free")])
def test_state_under_another_lam_or_box(name, kind, lam, box):
    pair, parts = pair_of(name), GOING_ON[kind]
    own_box = parts[4] if len(parts) == 5 else "free"
    box = own_box if box is None else box
    state = run(name, solver_of(*parts), 10, random_state=0).state
    result = run(name, solver_of(*parts, **other_bounds(own_box, box)), 10, lam, state=state)
    check_certificates(pair, box, result.history, best_of(name, box, lam))
    assert result.history["dual"][0] >= dual_of(pair, state, lam, box) - 1e-12
    if box != own_box:  # nothing else is known then
        assert result.history["dual"][0] == pytest.approx(dual_of(pair, state, lam, box), abs=1e-11) or (
            len(parts) > 3 and parts[3] == "averaged"
        )
    lower, upper = bounds_of(BOXES[box], pair.reference.d)
    assert np.all(lower <= result.w) and np.all(result.w <= upper)


def other_bounds(old, new):
    return dict.fromkeys(BOXES[old]) | BOXES[new]


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("step", ["away", "pairwise", "safeguard"])
@each_problem
def test_from_steps_without_memory_to_steps_with_it(name, step):
    pair, best = pair_of(name), best_of(name, "free")
    state = run(name, solver_of("permutation", "fw"), 5, random_state=0).state
    engine = solver_of("gap", step, "cached").start(pair.problem, LAM, state, None, None)
    assert not engine.memory.mass.any()
    duals = []
    for _ in range(10):
        iterate = engine.certify()[0]
        duals.append(iterate.dual)
        assert iterate.dual - EXACT <= best <= iterate.primal + EXACT
        engine.advance(2 * engine.n)
    assert duals[0] == pytest.approx(dual_of(pair, state, LAM, "free"), abs=1e-12)
    assert np.all(np.diff(duals) >= -1e-13)
    back = run(name, solver_of("permutation", "fw"), 5, state=engine.state())
    assert back.history["dual"][0] >= duals[-1] - 1e-12
    check_certificates(pair, "free", back.history, best)


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize(
    "step",
    [
        "away",
        "pairwise",
        "safeguard",
    ],
)
@pytest.mark.parametrize("name", ["chain", "multiclass"])
def test_converges_from_a_state_without_memory(name, step):
    state = run(name, solver_of("permutation", "fw"), 10, 0.1, random_state=0).state
    result = solver_of("permutation", step).solve(pair_of(name).problem, 0.1, tol=0.01, max_passes=500, state=state)
    assert result.status == "converged"


@pytest.mark.usefixtures("no_compilation")
def test_steps_with_memory_go_on_from_cached_ones():
    # a cache knows the masses already, so that pairwise steps can take them all
    state = run("multiclass", solver_of("permutation", "fw", "cached"), 10, random_state=0).state
    engine = solver_of("permutation", "pairwise").start(pair_of("multiclass").problem, LAM, state, None, None)
    assert engine.memory.mass.sum(axis=1) == pytest.approx(np.ones(engine.n), abs=1e-12)
    result = solver_of("permutation", "pairwise").solve(pair_of("multiclass").problem, LAM, tol=1e-6, state=state)
    assert result.status == "converged"


BAD = {
    "step": {"step": "sideways"},
    "step of another type": {"step": 3},
    "sampling": {"sampling": "gaps"},
    "averaging": {"averaging": "mean"},
    "cache": {"cache": 7},
    "cache as a class": {"cache": Cache},
    "cache None": {"cache": None},
    "capacity": {"cache": Cache(capacity=1)},
    "capacity with away steps": {"cache": Cache(capacity=0), "step": "away"},
    "F": {"cache": Cache(F=-1)},
    "F NaN": {"cache": Cache(F=np.nan)},
    "nu": {"cache": Cache(nu=-0.1)},
    "max_bytes": {"cache": Cache(max_bytes=10)},
    "line_search with pairwise steps": {"line_search": False, "step": "pairwise"},
    "line_search with away steps": {"line_search": False, "step": "away"},
    "gap_every": {"gap_every": 0},
}


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("kind", BAD)
def test_bad_parameters_are_named(kind):
    with pytest.raises(ValueError, match=kind.split()[0]):
        BlockFrankWolfe(**BAD[kind]).solve(pair_of("chain").problem, LAM)


FRACTIONAL = {"capacity": Cache(capacity=2.5), "max_bytes": Cache(max_bytes="1MB"), "F": Cache(F="much")}


@pytest.mark.usefixtures("no_compilation")
@pytest.mark.parametrize("named", FRACTIONAL)
def test_bad_types_in_a_cache_are_named(named):
    with pytest.raises(ValueError, match=named):
        BlockFrankWolfe(cache=FRACTIONAL[named]).solve(pair_of("chain").problem, LAM)
