"""Greedy direction method of multipliers on chains, by the book: dense tables, exact oracles, one factor after another.

Duals are probabilities: a site's q_j over labels, a link's q_f over pairs, all mass on the truth at first. With
``c_i = s_i / S`` the dual is ``lam/2 |w|^2 - sum_i c_i <loss, q_j>`` with ``w = 1/lam sum_i c_i (phi(y_i) - E_q phi)``,
and consistency, ``M_jf q_f = q_j``, is weighed by ``rho c_i``: the unit of rho is that of scores.
"""  # yen16, Alg. 1 with Alg. 4

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np


def project(point: np.ndarray) -> np.ndarray:
    """The nearest distribution."""
    ordered = np.sort(point)[::-1]
    sums = np.cumsum(ordered) - 1.0
    count = np.count_nonzero(ordered * np.arange(1, len(point) + 1) > sums)
    return np.maximum(point - sums[count - 1] / count, 0.0)


@dataclass
class Chain:
    """One sample and its duals."""

    x: np.ndarray  # (T, F)
    y: np.ndarray  # (T,)
    loss: np.ndarray  # (T, K)
    share: float  # c_i
    node: np.ndarray = field(init=False)  # (T, K)
    edge: np.ndarray = field(init=False)  # (T - 1, K, K)
    multiplier: np.ndarray = field(init=False)  # (T - 1, 2, K), scaled
    spare: np.ndarray = field(init=False)  # (T,) by how much labels with mass are better than others

    def __post_init__(self) -> None:
        length, n_labels = self.loss.shape
        self.node, self.edge = np.eye(n_labels)[self.y], np.zeros((length - 1, n_labels, n_labels))
        self.edge[np.arange(length - 1), self.y[:-1], self.y[1:]] = 1.0
        self.multiplier, self.spare = np.zeros((length - 1, 2, n_labels)), np.zeros(length)

    def violation(self, t: int) -> np.ndarray:
        """(2, K) ``M_jf q_f - q_j`` of link t at its two ends."""
        return np.stack([self.edge[t].sum(axis=1) - self.node[t], self.edge[t].sum(axis=0) - self.node[t + 1]])

    def message(self, t: int) -> np.ndarray:
        return self.violation(t) + self.multiplier[t]


@dataclass
class GDMM:
    """Sites lend to links, and factors rest, as `solvers.factorwise.settling` tells."""

    chains: list[Chain]
    lam: float
    rho: float
    eta: float = 1.0
    longest_rest: int = 3

    def __post_init__(self) -> None:
        n_labels = self.chains[0].loss.shape[1]
        self.unary, self.pairs = np.zeros((n_labels, self.chains[0].x.shape[1])), np.zeros((n_labels, n_labels))
        # what is known of: labels of every site, which include those of its links' pairs, and pairs of every link
        self.labels = [[{(label,)} for label in chain.y] for chain in self.chains]
        self.outputs = [[{pair} for pair in pairwise(chain.y)] for chain in self.chains]
        self.calm, self.rest = Counter(), Counter()

    def visit(self, factor: tuple, update: Callable, *args: object) -> None:
        """A factor rests after visits that change nothing."""
        if self.rest[factor] > 0:
            self.rest[factor] -= 1
            return
        self.calm[factor] = 0 if np.any(update(*args)) else self.calm[factor] + 1
        self.rest[factor] = min(self.calm[factor], self.longest_rest)

    def a_pass(self, order: np.ndarray) -> None:
        for i in order:
            for t in range(len(self.chains[i].y)):
                self.visit(("site", i, t), self.update_site, self.chains[i], t, self.labels[i][t])
            for t, active in enumerate(self.outputs[i]):
                self.visit(("link", i, t), self.update_link, self.chains[i], t, active)
                self.labels[i][t] |= {(a,) for a, _ in active}
                self.labels[i][t + 1] |= {(b,) for _, b in active}
        for chain in self.chains:
            for t in range(len(chain.y) - 1):
                chain.multiplier[t] += self.eta * chain.violation(t)

    def update_site(self, chain: Chain, t: int, known: set) -> np.ndarray:
        degree, pull = 0, np.zeros(len(chain.node[t]))
        for link, end in ((t, 0), (t - 1, 1)):
            if 0 <= link < len(chain.edge):
                pull += chain.message(link)[end]
                degree += 1
        scores = self.unary @ chain.x[t] + chain.loss[t] + self.rho * pull
        stiff = chain.share / self.lam * (chain.x[t] @ chain.x[t]) + self.rho * degree
        unknown = scores.copy()
        unknown[[k for (k,) in known]] = -np.inf
        new = set() if np.all(unknown == -np.inf) else {(int(np.argmax(unknown)),)}
        change = share_mass(chain.node[t], scores, stiff, known | new)
        known |= {k for k in new if chain.node[t][k] > 0.0}
        self.unary -= chain.share / self.lam * np.outer(change, chain.x[t])
        after, has_mass = scores - stiff * change, chain.node[t] > 0.0
        most = max(np.max(unknown), np.max(after[~has_mass], initial=-np.inf))
        chain.spare[t] = 0.0 if most == -np.inf else max(np.min(after[has_mass]) - most, 0.0)
        return change

    def update_link(self, chain: Chain, t: int, known: set) -> np.ndarray:
        scores, outputs = self.link_scores(chain, t), set(known)
        best = tuple(map(int, np.unravel_index(np.argmax(scores), scores.shape)))
        if best not in known:
            need = scores[best] - max(scores[pair] for pair in known)
            for end in (0, 1):
                need -= self.lend(chain, t, end, best[end], need)
            outputs |= {best} if need > 0.0 else set()
        scores = self.link_scores(chain, t)
        many = sum(np.bincount([pair[end] for pair in outputs]).max() for end in (0, 1))
        change = share_mass(chain.edge[t], scores, chain.share / self.lam + self.rho * many, outputs)
        known.clear()
        known |= {pair for pair in outputs if chain.edge[t][pair] > 0.0 or pair == (chain.y[t], chain.y[t + 1])}
        self.pairs -= chain.share / self.lam * change
        return change

    def link_scores(self, chain: Chain, t: int) -> np.ndarray:
        message = chain.message(t)
        return self.pairs - self.rho * (message[0][:, None] + message[1])

    def lend(self, chain: Chain, t: int, end: int, label: int, need: float) -> float:
        """Labels with mass at an end of link t give up a part of what they are better by, if another one is wanted."""
        node = chain.node[t + end]
        part = 0.0 if node[label] > 0.0 else min(need, chain.spare[t + end])
        chain.spare[t + end] -= part
        chain.multiplier[t, end, node > 0.0] -= part / self.rho
        return part


def share_mass(masses: np.ndarray, scores: np.ndarray, stiff: float, outputs: set) -> np.ndarray:
    """Masses of some outputs as one projected step says; returns what changed."""
    places, before = tuple(np.array(sorted(outputs)).T), masses.copy()
    masses[places] = project(masses[places] + scores[places] / stiff)
    return masses - before
