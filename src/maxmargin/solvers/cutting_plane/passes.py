"""Passes that make constraints: with the oracle, or of outputs that are remembered."""

from __future__ import annotations

from ..._compile import kernel
from ...structures.verbs import add_corner, corner_loss, find_corner, find_potentials, truth_value, upper_value
from ..block_coordinate.memory import corner_from_memory, remember


@kernel(n_parts=3)
def oracle_pass(problem, work, memory, w, k, hinges, losses, vector):
    """Hinges and losses of all corners, which are remembered; ``lam A s`` is added to `vector`."""
    for i in range(hinges.shape[0]):
        find_potentials(problem, work, w, i)
        value = find_corner(problem, work, w, i)
        hinges[i] = upper_value(problem, work, w, i, value) - truth_value(problem, work, w, i)
        losses[i] = corner_loss(problem, work, i)
        add_corner(problem, work, i, problem.weight[i], vector)
        remember(memory, problem, work, i, k)


@kernel(n_parts=3)
def memory_pass(problem, work, memory, w, hinges, losses, vector):
    """The same with the best outputs that are remembered."""
    for i in range(hinges.shape[0]):
        find_potentials(problem, work, w, i)
        hinges[i] = corner_from_memory(memory, problem, work, w, i) - truth_value(problem, work, w, i)
        losses[i] = corner_loss(problem, work, i)
        add_corner(problem, work, i, problem.weight[i], vector)
