"""Relaxations to be tested."""

import numpy as np
import pytest

from maxmargin.inference.lp import make_relaxed_plan
from reference.graph import Graph

interpreted = pytest.mark.usefixtures("no_compilation")


def make_grids():
    """Two grids, random and strong enough for gaps, in one plan; edges share one table."""
    rng, n_labels, offsets, ends = np.random.default_rng(3), 3, [0], []
    for height, width in ((3, 3), (2, 4)):
        numbers = np.arange(height * width).reshape(height, width)
        across, down = (numbers[:, :-1], numbers[:, 1:]), (numbers[:-1], numbers[1:])
        ends.append(np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, down)]))
        offsets.append(offsets[-1] + numbers.size)
    edge_offsets = np.cumsum([0, *map(len, ends)])
    plan = make_relaxed_plan(offsets, edge_offsets, *np.concatenate(ends).T, n_labels, shared=True)
    table = 2.0 * rng.normal(size=(n_labels, n_labels))
    nodes = [rng.normal(size=(size, n_labels)) for size in np.diff(offsets)]
    return plan, nodes, table, [Graph(list(x), e.tolist(), [table] * len(e)) for x, e in zip(nodes, ends, strict=True)]
