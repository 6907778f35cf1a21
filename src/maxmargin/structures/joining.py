"""Dual states of the first samples of a problem, where others have joined them.

A block is a distribution over the outputs of its sample: what units features and losses come in does not matter to it,
nor what other samples there are. So the blocks of the first samples stay what they were, and those that joined begin
where all blocks begin; losses, and the weights that blocks make, are found anew under the problem as it is now.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compile import implements, verb
from .likelihood import LogLoss
from .multiclass import MulticlassProblem
from .multilabel import MultilabelProblem
from .pairwise import PairwiseProblem
from .pairwise.pairs import Pairs
from .pairwise.room import list_kept, put_listed
from .verbs import new_blocks


@verb
def with_first(new, old):
    """What is kept of all samples, at its beginning, with that of the first ones as it was. For Python only."""


@implements(with_first, object)
def _(new, old):
    return new._make(map(with_first, new, old))


@implements(with_first, np.ndarray)
def _(new, old):
    new[: len(old)] = old
    return new


@implements(with_first, int)
def _(new, old):
    return new


@implements(with_first, Pairs)
def _(new, old):
    """Lists of the first blocks, and then those of the others; all have the room that new ones have."""
    samples, *others = list_kept(new)
    joined = samples >= len(old.filled)
    both = [np.concatenate([a, b[joined]]) for a, b in zip(list_kept(old), (samples, *others), strict=True)]
    first, filled, room = np.zeros((3, len(new.filled)), np.int64)
    empty = new._replace(pair=new.pair[:0], mass=new.mass[:0], first=first, filled=filled, room=room)
    return put_listed(empty, *both)


@verb
def losses_of(problem, blocks):
    """The expected losses of all blocks, or their entropies. For Python only."""


@implements(losses_of, MulticlassProblem)
def _(problem, blocks):
    return np.einsum("ik,ik->i", problem.cost[problem.labels], blocks.node)


@implements(losses_of, MultilabelProblem)
def _(problem, blocks):
    missed, wrong = problem.present * (1.0 - blocks.node), (1 - problem.present) * blocks.node
    return missed @ problem.missed + wrong @ problem.wrong


@implements(losses_of, PairwiseProblem)
def _(problem, blocks):
    of_sites = np.empty(len(problem.labels))
    for label, costs in enumerate(problem.cost):  # not all costs of all sites at once
        its = problem.labels == label
        of_sites[its] = blocks.node[its] @ costs
    return problem.loss_scale * np.add.reduceat(of_sites, problem.sites.offsets[:-1])


@implements(losses_of, LogLoss)
def _(problem, blocks):
    return blocks.loss  # entropies know no units


def blocks_with_first(problem: Any, old: Any) -> Any:
    """The blocks of a problem, whose first samples have the blocks `old`."""
    blocks = with_first(new_blocks(problem), old)
    blocks.loss[:] = losses_of(problem, blocks)
    return blocks


def can_join(problem: Any) -> bool:
    """Whether the blocks of a problem are such."""
    return type(problem) in losses_of.table  # type: ignore[attr-defined]
