"""What the block gaps of a run say about it: how unequal they are, how stale, and what gap sampling can gain.

Functions of a problem and of the state of a block-coordinate run: ``Result.state``, or ``engine.state()`` between two
certificates (a result ends with one, so its remembered gaps are exact).
"""  # osokin16, Section 3 and Appendix E

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._compile import kernel
from ..structures import as_problem
from ..structures.directions import BetweenCorners
from ..structures.fingerprint import fingerprint
from ..structures.verbs import (
    measure,
    n_blocks,
    new_labelings,
    new_work,
    output_bound,
    take_away,
    take_corner,
)
from .block_coordinate import BlockEngine
from .engine import State, check_state
from .parts.memory import Memory, new_memory
from .passes import Passes


class CurvatureBounds(NamedTuple):
    """Bounds on the curvature constants of the blocks, as :func:`curvature_bounds` finds them.

    Parameters
    ----------
    lower : array of shape (n,)
        Never above the constants.
    upper : array of shape (n,)
        Estimates of upper bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers.diagnostics import CurvatureBounds
    >>> lower, upper = CurvatureBounds(lower=np.array([1.0, 2.0]), upper=np.array([4.0, 4.0]))
    >>> (upper / lower).tolist()
    [4.0, 2.0]
    """

    lower: np.ndarray
    upper: np.ndarray


def block_gaps(problem: Any, state: State) -> np.ndarray:
    """The exact gap of every block at the state's dual point; takes one pass of oracle calls.

    Parameters
    ----------
    problem : object
        A structure over data.
    state : State
        ``Result.state`` of a block-coordinate run on it.

    Returns
    -------
    gaps : array of shape (n,)
        Their sum is the duality gap of the dual point and its weights, where these have no bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, diagnostics
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = BlockFrankWolfe(step="pairwise").solve(problem, 0.1, tol=0.1, random_state=0)
    >>> gaps = diagnostics.block_gaps(problem, result.state)
    >>> gaps.shape, bool(gaps.min() >= 0)
    ((4,), True)
    """
    problem = _checked(problem, state)
    gaps = np.empty(n_blocks(problem))
    Passes(problem, None).gaps(state.blocks, state.w, gaps)
    return np.maximum(gaps, 0.0)  # by definition; rounding may leave -1e-17


def nonuniformity(x: Any) -> float:
    """``chi(x) = sqrt(1 + n^2 Var[x / sum x])``, from 1 (all equal) to sqrt(n) (all but one are 0).

    Parameters
    ----------
    x : array-like of shape (n,)
        Finite numbers >= 0, such as block gaps.

    Returns
    -------
    chi : float
        1 also where all of them are 0.

    Examples
    --------
    >>> from maxmargin.solvers.diagnostics import nonuniformity
    >>> nonuniformity([3, 3, 3, 3])
    1.0
    >>> nonuniformity([3, 0, 0, 0])
    2.0
    """
    x = np.asarray(x, np.float64)
    if x.ndim != 1 or len(x) == 0 or not np.all(np.isfinite(x)) or np.any(x < 0):
        raise ValueError("nonuniformity is that of a vector of finite numbers >= 0")
    top = x.max()
    if top == 0.0:
        return 1.0
    x = x / top  # squares of tiny gaps would vanish
    return float(np.sqrt(len(x)) * np.linalg.norm(x) / np.sum(x))  # osokin16, Lemma 6


def curvature_bounds(problem: Any, state: State) -> CurvatureBounds:
    """Bounds on ``C_f^(i) = c_i^2 / lam max_{y,z} |phi_i(y) - phi_i(z)|^2`` from the outputs a run remembers.

    Without a memory (Frank-Wolfe steps, no cache), two outputs a block stand for them: the oracle's at w = 0, which has
    the largest loss, and at the state's w. They take two passes of oracle calls.

    Parameters
    ----------
    problem : object
        A structure over data.
    state : State
        ``Result.state`` of a block-coordinate run on it.

    Returns
    -------
    bounds : CurvatureBounds
        `lower` is from the most distant pair found of remembered and true outputs, and never above the constant.
        `upper` is ``4 c_i^2 / lam R_i^2`` with R_i the largest ``|psi_i(y)|`` among the remembered outputs. With the
        largest of all outputs it would be a bound; so it is an estimate of one.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, diagnostics
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = BlockFrankWolfe(step="pairwise").solve(problem, 0.1, tol=0.1, random_state=0)
    >>> lower, upper = diagnostics.curvature_bounds(problem, result.state)
    >>> bool(np.all(lower <= upper))
    True
    """  # osokin16, Section 3.1
    problem = _checked(problem, state)
    n, work, memory = n_blocks(problem), new_work(problem), state.memory
    if not isinstance(memory, Memory):
        capacity = min(3, output_bound(problem))  # the true output is there already
        memory = new_memory(new_labelings(problem, capacity), n, capacity, capacity)
        for w in (np.zeros_like(state.w), state.w):
            Passes(problem, None).corners(w, memory=memory)
    radius, diameter = np.zeros(n), np.zeros(n)
    _distance_pass(problem, BetweenCorners(), state.blocks, work, memory, new_labelings(problem, 1), radius, diameter)
    scale = problem.weight**2 / state.lam
    return CurvatureBounds(scale * diameter, 4.0 * scale * radius)


def predicted_speedup(gaps: Any, curvatures: Any) -> float:
    """``chi(gaps)^3 / chi(curvatures)``: how much better the bound of exact gap sampling is than that of uniform.

    Parameters
    ----------
    gaps : array-like of shape (n,)
        Block gaps, see :func:`block_gaps`.
    curvatures : array-like of shape (n,)
        Curvature constants of the blocks, or bounds on them, see :func:`curvature_bounds`.

    Returns
    -------
    speedup : float
        Above 1, gap sampling is the better one.

    Examples
    --------
    >>> from maxmargin.solvers.diagnostics import predicted_speedup
    >>> predicted_speedup(gaps=[1, 0, 0, 0], curvatures=[1, 1, 1, 1])
    8.0
    """
    return nonuniformity(gaps) ** 3 / nonuniformity(curvatures)  # osokin16, Theorem 2


def staleness(problem: Any, state: State) -> float:
    """Sum of the remembered block gaps over the exact one: below 1, the run believes itself better than it is.

    Takes one pass of oracle calls.

    Parameters
    ----------
    problem : object
        A structure over data.
    state : State
        ``Result.state`` of a block-coordinate run on it.

    Returns
    -------
    ratio : float
        Infinite as long as a block was never visited.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, diagnostics
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = BlockFrankWolfe(step="pairwise").solve(problem, 0.1, tol=0.1, random_state=0)
    >>> round(diagnostics.staleness(problem, result.state), 6)  # a run ends with exact gaps
    1.0
    """
    exact, remembered = float(np.sum(block_gaps(problem, state))), float(np.sum(np.maximum(state.gaps, 0.0)))
    if exact == 0.0:
        return 1.0 if remembered == 0.0 else np.inf
    return remembered / exact


def cache_hit_rate(history: Mapping[str, Any]) -> np.ndarray:
    """Share of the steps since the record before that the cache served.

    Parameters
    ----------
    history : mapping of str to array
        ``Result.history`` of a run with a cache.

    Returns
    -------
    rates : array
        One a record; 0 where there were no steps.

    Examples
    --------
    >>> from maxmargin.solvers.diagnostics import cache_hit_rate
    >>> cache_hit_rate({"cache_hits": [0, 3, 12], "cache_misses": [4, 5, 6]}).tolist()
    [0.0, 0.75, 0.9]
    """
    if "cache_hits" not in history:
        raise ValueError("the history is that of a run without cache")
    hits = np.diff(np.asarray(history["cache_hits"], np.float64), prepend=0.0)
    steps = hits + np.diff(np.asarray(history["cache_misses"], np.float64), prepend=0.0)
    return hits / np.maximum(steps, 1.0)


def _checked(problem: Any, state: Any) -> Any:
    problem = as_problem(problem)
    check_state(state, BlockEngine.family, fingerprint(problem))
    return problem


@kernel
def _distance_pass(problem, direction, blocks, work, memory, truths, radius, diameter):
    """Squared distances in feature space: the largest from the truth, and the largest from the output that has it."""
    for i in range(radius.shape[0]):
        farthest = -1
        take_away(problem, truths, work, i, 0)
        for j in range(memory.filled[i]):
            take_corner(problem, memory.labelings, work, i, j)
            norm = measure(problem, direction, blocks, work, i).norm
            if norm > radius[i]:
                radius[i], farthest = norm, j
        diameter[i] = radius[i]
        if farthest >= 0:
            take_away(problem, memory.labelings, work, i, farthest)
            for j in range(memory.filled[i]):
                take_corner(problem, memory.labelings, work, i, j)
                diameter[i] = max(diameter[i], measure(problem, direction, blocks, work, i).norm)
