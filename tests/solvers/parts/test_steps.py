"""Step by step against the textbook versions, in the same order of blocks and with the same choice among ties."""

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, FrankWolfe
from maxmargin.solvers.parts.samplers import SAMPLING, Drawn
from reference import batch_frank_wolfe, block_frank_wolfe

from ..conftest import LAM, PROBLEMS, named_pair

pytestmark = pytest.mark.usefixtures("no_compilation")

STEP = {True: "line_search", False: "fixed"}


def check_iterate(pair, certified, w, dual):
    assert pair.to_reference(certified.w) == pytest.approx(w, abs=1e-10)
    assert certified.dual == pytest.approx(dual, abs=1e-11)
    assert certified.primal == pytest.approx(pair.reference.primal(w, LAM), abs=1e-9)


@pytest.mark.parametrize("line_search", [True, False])
@pytest.mark.parametrize("name", PROBLEMS)
def test_block_steps_and_their_average(name, line_search, monkeypatch):
    pair, n_passes = named_pair(name), 6
    n = pair.reference.n
    order = np.random.default_rng(0).integers(n, size=n_passes * n)
    rest = iter(order.reshape(n_passes, n))
    monkeypatch.setitem(SAMPLING, "given", Drawn(lambda rng, n: next(rest)))
    run = block_frank_wolfe(pair.reference, LAM, order, step=STEP[line_search], oracle=pair.oracle)
    engine = BlockFrankWolfe("given", "weighted", line_search).start(pair.problem, LAM, None, None, None)
    assert len(engine.certify()) == 1  # nothing averaged yet
    duals = [0.0]
    for k in range(1, len(order) + 1):
        engine.advance(1)
        iterate, average = engine.certify()
        check_iterate(pair, iterate, run.w[k], run.dual[k])
        check_iterate(pair, average, run.w_avg[k], run.dual_avg[k])
        duals.append(iterate.dual)
    if line_search:
        assert np.all(np.diff(duals) >= -1e-13)
        assert duals[-1] > 0


@pytest.mark.parametrize("chunk", [3, 100])
def test_steps_in_chunks_and_lazy_averages(chunk, monkeypatch):
    # without a certificate in between, blocks are added up only when they change
    pair = named_pair("chain")
    order = np.random.default_rng(1).integers(4, size=40)
    rest = iter(order.reshape(10, 4))
    monkeypatch.setitem(SAMPLING, "given", Drawn(lambda rng, n: next(rest)))
    run = block_frank_wolfe(pair.reference, LAM, order, oracle=pair.oracle)
    engine = BlockFrankWolfe("given", "weighted").start(pair.problem, LAM, None, None, None)
    while engine.steps < 40:
        engine.advance(min(chunk, 40 - engine.steps))
    iterate, average = engine.certify()
    check_iterate(pair, iterate, run.w[-1], run.dual[-1])
    check_iterate(pair, average, run.w_avg[-1], run.dual_avg[-1])


@pytest.mark.parametrize("line_search", [True, False])
@pytest.mark.parametrize("name", PROBLEMS)
def test_batch_steps(name, line_search):
    pair = named_pair(name)
    run = batch_frank_wolfe(pair.reference, LAM, 20, step=STEP[line_search], oracle=pair.oracle)
    engine = FrankWolfe(line_search).start(pair.problem, LAM, None, None, None)
    duals = []
    for k in range(21):
        (iterate,) = engine.certify()
        check_iterate(pair, iterate, run.w[k], run.dual[k])
        duals.append(iterate.dual)
        engine.advance(engine.n)
    if line_search:
        assert np.all(np.diff(duals) >= -1e-13)


@pytest.mark.parametrize(
    ("sampling", "sorted_pass"), [("permutation", True), ("uniform", False)], ids=["permutation", "uniform"]
)
def test_sampling(sampling, sorted_pass):
    draw, rng = SAMPLING[sampling].draw, np.random.default_rng(0)
    passes = np.array([draw(rng, 5) for _ in range(400)])
    assert (np.sort(passes, axis=1) == np.arange(5)).all() == sorted_pass
    shares = np.bincount(passes[:, 0], minlength=5) / 400
    assert shares == pytest.approx(np.full(5, 0.2), abs=0.08)
    assert len({tuple(order) for order in passes.tolist()}) > 50
