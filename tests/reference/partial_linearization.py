"""Block-coordinate partial linearization over every labeling (Mohapatra et al. 2016, Algorithm 1 as corrected).

The dual variables are written out, ``alpha_i(y)`` of every labeling. A structure of parts keeps marginals of cliques
only, and means by them the distribution of maximum entropy: after each step the mixture is put back there.

Corrected: the slope of step 10 is along the whole w, ``lam <w, w_i - w_s> - l_i + l_s``, and the length clipped to
[0, 1]; columns carry ``s_i/(lam S)``; step 6 starts from the potentials of the current alpha; ``l_i`` at the start is
the expected loss.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .enumeration import Array, EnumeratedProblem
from .first_order import softmax, tilted

Cliques = Sequence[Sequence[int]]  # each meets the earlier ones within a single one of them


@dataclass(frozen=True)
class Linearized:
    """Row k holds what is there after k steps (row 0: the start)."""

    w: Array
    dual: Array
    gammas: Array
    alpha: list[Array]


def partial_linearization(
    problem: EnumeratedProblem,
    lam: float,
    order: Iterable[int],
    tau: float,
    alpha0: Sequence[Array],
    cliques: Sequence[Cliques] | None = None,
) -> Linearized:
    """Step k visits block ``order[k]``; without cliques the dual variables are kept as they are (Propositions 1, 3)."""
    alpha, gammas = [np.array(a, float) for a in alpha0], []
    points, duals = [problem.weights_of(alpha, lam)], [problem.dual(alpha, lam)]
    for i in order:
        goal = tilted(problem, i, alpha[i], points[-1], 1.0 / tau)
        gammas.append(exact_length(problem, i, alpha[i], goal, points[-1], lam))
        mixture = (1.0 - gammas[-1]) * alpha[i] + gammas[-1] * goal
        alpha[i] = mixture if cliques is None else markov(mixture, problem.labelings[i], cliques[i])
        points.append(problem.weights_of(alpha, lam))
        duals.append(problem.dual(alpha, lam))
    return Linearized(np.array(points), np.array(duals), np.array(gammas), alpha)


def exact_length(problem: EnumeratedProblem, i: int, alpha: Array, goal: Array, w: Array, lam: float) -> float:
    """Where in [0, 1] the dual is highest on the way from alpha_i to the goal; 0 where it is level."""
    share, change = problem.shares[i], goal - alpha
    slope = share * (change @ problem.augmented(i, w))
    direction = share / lam * (change @ problem.psi[i])
    curvature = lam * (direction @ direction)
    if slope <= 0.0:
        return 0.0
    return 1.0 if slope >= curvature else float(slope / curvature)


def near_truth(problem: EnumeratedProblem, odds: float) -> list[Array]:
    """A true part is likelier than a wrong one by ``exp(odds)``: ``exp(-odds (wrong parts of y))``, normalised."""
    rows = zip(problem.labelings, problem.truth or [], strict=True)
    wrong = [np.sum(parts_of(labels) != parts_of(labels)[truth], axis=1) for labels, truth in rows]
    return [softmax(-odds * count) for count in wrong]


def parts_of(labelings: Sequence[Any]) -> Any:
    """(labelings, parts)."""
    return np.array([np.atleast_1d(y) for y in labelings])


def markov(alpha: Array, labelings: Sequence[Any], cliques: Cliques) -> Array:
    """The distribution of maximum entropy with these clique marginals: their product over that of the separators."""
    rows, result, seen = parts_of(labelings), np.ones(len(labelings)), set[int]()
    for clique in cliques:
        separator = sorted(seen & set(clique))
        above, below = marginal_of_rows(alpha, rows, list(clique)), marginal_of_rows(alpha, rows, separator)
        result *= np.divide(above, below, out=np.zeros_like(above), where=below > 0)
        seen |= set(clique)
    return result


def marginal_of_rows(alpha: Array, rows: Any, places: list[int]) -> Array:
    """Of every labeling, the probability of what it says at some places."""
    if not places:
        return np.ones(len(rows))
    groups = np.unique(rows[:, places], axis=0, return_inverse=True)[1].ravel()
    return np.bincount(groups, alpha)[groups]


def running_cliques(edges: Iterable[Sequence[int]], n_nodes: int) -> list[tuple[int, ...]]:
    """The cliques of a forest whose edges come in an order in which every one but the first of a tree meets another."""
    pairs = [tuple(int(node) for node in edge) for edge in edges]
    alone = set(range(n_nodes)) - {node for pair in pairs for node in pair}
    return [*pairs, *((node,) for node in sorted(alone))]
