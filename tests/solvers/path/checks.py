"""Tiny problems under every lam: their optimum, solvers for them, and what a path promises."""

from functools import cache

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, Cache, Catalyst, FrankWolfe

from ..block_coordinate import test_solver as family
from ..conftest import named_pair
from ..test_box import EXACT, bounds_of, boxed_optimum

COSTLY = " with costs"

BOXES = {"free": {}, "positive": {"positive": slice(None, None, 2)}, "negative": {"upper": 0.0}}
SOLVERS = {
    "batch": FrankWolfe,
    "fw": BlockFrankWolfe,
    "gap": lambda **box: BlockFrankWolfe("gap", gap_every=2, **box),
    "pairwise": lambda **box: BlockFrankWolfe("permutation", step="pairwise", **box),
    "away": lambda **box: BlockFrankWolfe("gap", step="away", **box),
    "cached": lambda **box: BlockFrankWolfe("gap", step="pairwise", cache=Cache(capacity=4), **box),
    "averaged": lambda **box: BlockFrankWolfe("permutation", "weighted", **box),
    "catalyst": lambda **box: BlockFrankWolfe("gap", "weighted", step="pairwise", acceleration="catalyst", **box),
    "catalyst stiff": lambda **box: BlockFrankWolfe(acceleration=Catalyst(kappa=0.3), **box),
    "auto": lambda **box: "auto",
}
PAIRWISE = BlockFrankWolfe("permutation", step="pairwise")

LAMS = np.exp(np.random.default_rng(0).uniform(np.log(5e-3), np.log(25.0), 200)).tolist()


def pair_of(name):
    return family.pair_of(name.removesuffix(COSTLY)) if name.endswith(COSTLY) else named_pair(name)


@cache
def best(name, lam, box="free"):
    """The optimum of a problem from an independent QP solver, exact to 1e-8."""
    pair = pair_of(name)
    if box == "free":
        return pair.reference.solve(lam)[1]
    return boxed_optimum(pair, lam, *bounds_of(BOXES[box], pair.reference.d))


def served(path, lams):
    """Those of the lams that the path serves, and where its weights serve least: at both ends of their range."""
    ends = [lam * (1 + 1e-9) for lam in (*path.breakpoints[1:], path.lam_end) if lam > 1e-4]
    own = [lam for lam in path.breakpoints if lam > 1e-4]
    return [lam for lam in lams if path.lam_end <= lam <= 3 * path.breakpoints[0]] + own + ends


def check_lam(path, name, lam, box="free"):
    """The weights for lam are as good as they are certified to be; returns what is certified."""
    pair, optimum = pair_of(name), best(name, lam, box)
    w, gap = path.coef_at(lam), path.gap_at(lam)
    value = pair.reference.primal(pair.to_reference(w), lam)
    assert value - optimum <= gap + EXACT
    assert gap <= path.worst_gap + 1e-12
    assert path.dual_at(lam) <= optimum + EXACT
    if lam <= path.breakpoints[0]:
        assert path.primal_at(lam) == pytest.approx(value, abs=1e-10)
    else:
        assert path.primal_at(lam) >= value - 1e-10
        assert w == pytest.approx(path.weights(0) * (path.breakpoints[0] / lam), rel=1e-12, abs=0)
    lower, upper = bounds_of(BOXES[box], pair.reference.d)
    assert np.all(lower <= w) and np.all(w <= upper)
    return gap


def check_path(path, name, eps, lams=LAMS, box="free"):
    """What `regularization_path` promises."""
    assert np.all(np.diff(path.breakpoints) < 0)
    assert path.lam_end < path.breakpoints[-1]
    gaps = [check_lam(path, name, lam, box) for lam in served(path, lams)]
    assert max(gaps) <= eps
    assert path.worst_gap <= eps
    assert np.all(path.gaps <= eps)


def same_paths(one, other):
    same = np.array_equal(one.breakpoints, other.breakpoints) and one.lam_end == other.lam_end
    return same and all(np.array_equal(one.weights(j), other.weights(j)) for j in range(len(one)))
