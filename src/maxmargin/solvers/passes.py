"""Passes over all blocks that solvers share: exact hinges, sums of corners, weights from marginals."""

from __future__ import annotations

from .._compile import kernel
from ..structures.verbs import (
    accumulate,
    add_block,
    add_corner,
    block_value,
    corner_loss,
    direction_norm,
    find_corner,
    find_potentials,
    truth_value,
    upper_value,
)


@kernel(n_parts=2)
def hinge_pass(problem, work, w, first, last, hinges):
    """``hinges[i] = max_y H_i(y; w)``."""
    for i in range(first, last):
        find_potentials(problem, work, w, i)
        value = find_corner(problem, work, w, i)
        hinges[i] = upper_value(problem, work, w, i, value) - truth_value(problem, work, w, i)


@kernel(n_parts=3)
def gap_pass(problem, blocks, work, w, first, last, hinges, gaps):
    """Hinges, and the block gaps of the dual state at w."""
    for i in range(first, last):
        find_potentials(problem, work, w, i)
        value = find_corner(problem, work, w, i)
        hinges[i] = upper_value(problem, work, w, i, value) - truth_value(problem, work, w, i)
        gaps[i] = problem.weight[i] * (value - block_value(problem, blocks, work, w, i))


@kernel(n_parts=2)
def corner_pass(problem, work, w, hinges, losses, vector):
    """Hinges and the losses of all corners s; ``lam A s`` is added to `vector`."""
    for i in range(hinges.shape[0]):
        find_potentials(problem, work, w, i)
        value = find_corner(problem, work, w, i)
        hinges[i] = upper_value(problem, work, w, i, value) - truth_value(problem, work, w, i)
        losses[i] = corner_loss(problem, work, i)
        add_corner(problem, work, i, problem.weight[i], vector)


@kernel(n_parts=3)
def weights_pass(problem, blocks, work, n, lam, mass, w):
    """Add ``A alpha`` to w, where the blocks' marginals sum to `mass`."""
    for i in range(n):
        add_block(problem, blocks, work, i, problem.weight[i] / (lam * mass), mass, w)


@kernel(n_parts=3)
def settle_pass(problem, totals, blocks, counted, weight):
    """Bring lazily kept sums up to date."""
    for i in range(counted.shape[0]):
        accumulate(problem, totals, blocks, i, weight - counted[i])
        counted[i] = weight


@kernel(n_parts=3)
def norm_pass(problem, blocks, work, w, some, norms):
    """``norms[j] = |phi_i(corner) - E phi_i|^2`` of the j-th block i of some."""
    for j in range(some.shape[0]):
        find_potentials(problem, work, w, some[j])
        find_corner(problem, work, w, some[j])
        norms[j] = direction_norm(problem, blocks, work, some[j])
