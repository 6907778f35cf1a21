"""Flows against SciPy's."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from maxmargin._compile import kernel
from maxmargin.inference import verbs
from maxmargin.inference.cut import make_cut_plan
from maxmargin.inference.cut.flow import send_flow


@kernel
def send(plan, scratch, side):
    """Flow through the network of the only sample of a plan, as `scratch` holds it."""
    level, turn, queue, path = scratch.level, scratch.turn, scratch.queue, scratch.path
    excess, residual, first, to, back = scratch.excess, scratch.residual, plan.first, plan.to, plan.back
    return send_flow(first, to, back, residual, excess, side, -1, np.inf, level, turn, queue, path)


def cut_capacity(reached, edges, there, back, excess):
    """What leaves the nodes that are reached from the source, and what the source sends to others."""
    a, b = np.transpose(edges)
    across = there[reached[a] & ~reached[b]].sum() + back[reached[b] & ~reached[a]].sum()
    return across + np.maximum(excess, 0)[~reached].sum() + np.maximum(-excess, 0)[reached].sum()


@pytest.mark.parametrize("seed", range(30))
def test_flow_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    n, m, largest = int(rng.integers(2, 80)), int(rng.integers(1, 250)), int(rng.choice([1, 5, 10000]))
    tail = rng.integers(0, n, m)
    edges = np.stack([tail, (tail + rng.integers(1, n, m)) % n], axis=1)
    there, back, excess = rng.integers(0, largest + 1, m), rng.integers(0, 3, m), rng.integers(-largest, largest + 1, n)
    plan = make_cut_plan([0, n], [0, m], *edges.T, shared=True)
    ends = np.arange(n)
    rows = np.concatenate([edges[:, 0], edges[:, 1], np.where(excess > 0, n, ends)])
    columns = np.concatenate([edges[:, 1], edges[:, 0], np.where(excess > 0, ends, n + 1)])
    capacities = np.concatenate([there, back, np.abs(excess)]).astype(np.int32)
    expected = maximum_flow(csr_array((capacities, (rows, columns)), shape=(n + 2, n + 2)), n, n + 1).flow_value
    for side in (1, -1):
        scratch = verbs.new_scratch(plan, 1)
        scratch.excess[:], scratch.residual[plan.arc], scratch.residual[plan.back[plan.arc]] = excess, there, back
        assert send.uncached(plan, scratch, side) == expected
        assert (scratch.residual >= 0).all() and (scratch.excess * excess >= 0).all()
        reached = scratch.level > 0 if side > 0 else scratch.level == 0
        assert cut_capacity(reached, edges, there, back, excess) == expected
