"""Graphs learned through the linear relaxation: outputs are points of the local polytope, shares of labels and pairs.

The hinge of a sample is ``max_mu loss(mu) + <w, phi(mu) - phi(y_i)>`` over the polytope, never less than that over
labelings and equal to it in trees (yen16, eq. 5). Score and loss are linear in the shares, so this is a structural SVM
like any other, with corners that may be fractional. The relaxation's bound certifies it, solved exactly or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._compile import kernel
from ..inference.lp import Relaxed, bound_by_messages, new_messages, relax
from .pairwise.decoding import decoding_work, score_sample
from .pairwise.layout import PairwiseProblem, link_weights
from .pairwise.links import link_scores, put_marginals
from .verbs import add_block, dimension, find_potentials_with, n_blocks, new_totals, new_work, with_all_room

# A corner this near to the relaxation's bound, as a share of its size, will do: it adds no more to a certified gap.
TOLERANCE = 1e-7
# Shares of a linear program fit together up to rounding, so that they may score more than a bound by this.
ROUNDING = 1e-9


class Shares(NamedTuple):
    """A point of a sample's local polytope."""

    node: np.ndarray  # (T, K)
    edge: np.ndarray  # (m, K, K)


class Relaxations:
    """Samples whose outputs are `Shares`; a structure for `KnownProblem` over a `PairwiseProblem` with a relaxed plan.

    Sweeps start without messages, so that an answer depends on w alone: measured on snakes, going on from those of the
    last call saved a tenth. They are kept for the bound, which they give at any w, and best at that of the call.
    """

    exact_oracle = False

    def __init__(self, problem: PairwiseProblem):
        self.problem = problem
        self.n_samples, self.n_features = n_blocks(problem), dimension(problem)
        self.sample_weight = problem.weight
        self.n_labels = problem.cost.shape[0]
        self.messages = [new_messages(problem.plan, i) for i in range(self.n_samples)]
        self.work, self.room = new_work(problem), with_all_room(problem, new_totals(problem))

    def factored(self) -> PairwiseProblem:
        return self.problem

    def truth(self, i: int) -> Shares:
        sites, links, eye = self.problem.sites, self.problem.links, np.eye(self.n_labels)
        labels = self.problem.labels[sites.offsets[i] : sites.offsets[i + 1]]
        tail, head = (ends[links.offsets[i] : links.offsets[i + 1]] for ends in (links.tails, links.heads))
        return Shares(eye[labels], eye[labels[tail], :, None] * eye[labels[head], None, :])

    def max_oracle(self, w: np.ndarray, i: int) -> Shares:
        self.messages[i][:] = 0.0
        return self.best(w, i, 1.0, self.messages[i])

    def decode(self, w: np.ndarray, i: int) -> Shares:
        return self.best(w, i, 0.0)

    def best(self, w: np.ndarray, i: int, emphasis: float, messages: np.ndarray | None = None) -> Shares:
        found = relax(self.problem.plan, i, *self.scores(w, i, emphasis), messages=messages, tol=TOLERANCE)
        return Shares(found.node.reshape(-1, self.n_labels), found.edge.reshape(-1, self.n_labels, self.n_labels))

    def upper_bound(self, w: np.ndarray, i: int) -> float:
        bound = bound_by_messages(self.problem.plan, i, *self.scores(w, i), self.messages[i])
        return bound + ROUNDING * (1.0 + abs(bound))

    def joint_feature(self, i: int, y: Shares) -> np.ndarray:
        out = np.zeros(self.n_features)
        add_features(self.problem, self.room, self.work, i, y.node, y.edge, out)
        return out

    def loss(self, i: int, y: Shares) -> float:
        begin, end = self.problem.sites.offsets[i], self.problem.sites.offsets[i + 1]
        costs = self.problem.cost[self.problem.labels[begin:end]]
        return float(self.problem.loss_scale[i] * np.sum(costs * y.node))

    def data(self) -> list[Any]:
        return list(self.problem)

    def scores(self, w: np.ndarray, i: int, emphasis: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Of the nodes and edges of sample i, with `emphasis` times the loss."""
        return score_augmented(self.problem, self.work, np.array(w), i, emphasis)  # not w: it may be read-only


@kernel
def score_augmented(problem, work, w, i, emphasis):
    """Node and edge scores of sample i with `emphasis` times the loss, copies."""
    find_potentials_with(problem, work, w, i, emphasis)
    n_labels = problem.cost.shape[0]
    size = (problem.sites.offsets[i + 1] - problem.sites.offsets[i]) * n_labels
    edge = link_scores(problem.links, work, link_weights(problem.links, problem.sites, n_labels, w), i)
    return work.node.reshape(work.node.size)[:size].copy(), edge.copy()


@kernel
def score_alone(sites, links, plan, work, w, i):
    """Node and edge scores of sample i without a loss, copies."""
    node, edge = score_sample(sites, links, work, w, i)
    return node.copy(), edge.copy()


def sample_scores(sites: Any, links: Any, plan: Any, w: np.ndarray, n_labels: int) -> Iterator[Any]:
    """Node and edge scores of one sample after the other under w."""
    work = decoding_work(links, plan, int(np.diff(sites.offsets).max()), n_labels)
    return (score_alone(sites, links, plan, work, w, i) for i in range(len(sites.offsets) - 1))


def relax_samples(sites: Any, links: Any, plan: Any, w: np.ndarray, n_labels: int) -> list[Relaxed]:
    """What the relaxation says of each sample under w, without a loss."""
    scores = sample_scores(sites, links, plan, w, n_labels)
    return [relax(plan, i, *of_sample) for i, of_sample in enumerate(scores)]


@kernel
def add_features(problem, room, work, i, node, edge, out):
    """``out += phi_i(mu)``; `room` is overwritten where it is of sample i."""
    room.node[problem.sites.offsets[i] : problem.sites.offsets[i + 1]] = node
    put_marginals(room.links, problem.links, i, edge)
    add_block(problem, room, work, i, -1.0, 0.0, out)
