"""Ways to find the labelings of trees and graphs: each makes the plan, links, weights and problem that go together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._parameters import check_count
from ..inference import TooWide, make_cut_plan, make_junction_plan, make_relaxed_plan, make_tree_plan
from .known import KnownProblem
from .pairwise import PairwiseProblem, PairwiseWeights, links_of, potts_links_of
from .relaxed import Relaxations

# What may be asked of a labeling beside the best one.
TOP, MAX_MARGINALS, MARGINALS, BOUNDS = "the k best", "max-marginals", "marginals", "bounds"

# Labelings of a clique up to which "auto" is exact: a call takes some milliseconds then, ten times a relaxation's.
CHEAP_STATES = 2**18

WITHOUT_WIDTH = (
    '; or, without a transition_mask, take inference="lp", a relaxation for any graph, or inference="cut", for two '
    "labels where neighbours tend to be alike"
)


class Method(ABC):
    """One way to find labelings, and what has to be made for it."""

    answers: ClassVar[frozenset[str]] = frozenset({TOP, MAX_MARGINALS, MARGINALS})
    name: ClassVar[str]

    def settle(self, offsets: np.ndarray, edges: Any, n_labels: int, *, shared: bool) -> tuple[Method, Any]:
        """The way that is taken with these samples, and its plan; arguments as those of `make_plan`."""
        return self, self.make_plan(offsets, edges, n_labels, shared=shared)

    @abstractmethod
    def make_plan(self, offsets: np.ndarray, edges: Any, n_labels: int, *, shared: bool) -> Any:
        """The plan of samples whose nodes are at `offsets`; `shared`: all edges have the same scores.

        `edges` are the parents of all nodes in trees, else the offsets, tails and heads of all edges.
        """

    def check_edge_features(self, plan: Any, matrix: Any) -> None:  # noqa: B027  # any will do, but for cuts
        """Refuse features (E, F) of the plan's edges that cannot be."""

    def make_links(self, plan: Any, n_labels: int, allowed: np.ndarray | None, matrix: Any) -> Any:
        """The plan's edges with what is learned of them; `allowed` (K, K) are pairs of labels, `matrix` features."""
        return links_of(plan, n_labels, allowed, matrix)

    def make_weights(
        self, n_features: int, n_labels: int, *, intercept: bool, n_edge_features: int | None
    ) -> PairwiseWeights:
        """What the flat weights mean; None: edges come without features."""
        return PairwiseWeights(n_features, n_labels, intercept, n_edge_features=n_edge_features or 0)

    def make_problem(self, problem: PairwiseProblem) -> Any:
        """What a solver gets."""
        return problem


@dataclass(frozen=True)
class Trees(Method):
    """Dynamic programming from the leaves to the roots."""

    name = "tree"

    def make_plan(self, offsets: np.ndarray, edges: Any, n_labels: int, *, shared: bool) -> Any:
        return make_tree_plan(offsets, edges, n_labels, shared=shared)


@dataclass(frozen=True)
class Junction(Method):
    """Dynamic programming over junction trees, for graphs of low tree-width."""

    max_width: int = 8
    max_states: int = 2**22  # labelings of a clique, gigabytes beyond
    otherwise: str = WITHOUT_WIDTH  # what to do about graphs that are wider
    name = "junction"

    def make_plan(self, offsets: np.ndarray, edges: Any, n_labels: int, *, shared: bool) -> Any:
        width, (edge_offsets, tails, heads) = check_count("max_width", self.max_width), edges
        try:
            limits = {"max_width": width, "max_states": self.max_states}
            return make_junction_plan(offsets, edge_offsets, tails, heads, n_labels, shared=shared, **limits)
        except TooWide as error:
            raise TooWide(f"{error}{self.otherwise}") from error


@dataclass(frozen=True)
class Auto(Junction):
    """Junction trees where all graphs are narrow enough for them, else a linear relaxation, which learns the same.

    Never cuts: they keep weights of edges from favouring labels that differ, and so are another model.
    """

    def settle(self, offsets: np.ndarray, edges: Any, n_labels: int, *, shared: bool) -> tuple[Method, Any]:
        try:
            return Junction(self.max_width, CHEAP_STATES).settle(offsets, edges, n_labels, shared=shared)
        except TooWide:
            return LinearProgram().settle(offsets, edges, n_labels, shared=shared)


@dataclass(frozen=True)
class Cut(Method):
    """Minimum cuts, for two labels and edges that cost where the labels of their ends differ."""

    name = "cut"
    answers = frozenset({TOP, MAX_MARGINALS})  # marginals are #P-hard

    def make_plan(self, offsets: np.ndarray, edges: Any, n_labels: int, *, shared: bool) -> Any:
        if n_labels != 2:
            raise ValueError(f'inference="cut" is for two labels, and there are {n_labels}: take "junction" or "lp"')
        edge_offsets, tails, heads = edges
        return make_cut_plan(offsets, edge_offsets, tails, heads, shared=False)

    def check_edge_features(self, plan: Any, matrix: Any) -> None:
        lowest = (
            np.asarray(matrix.min(axis=1).todense()).ravel() if sp.issparse(matrix) else matrix.min(axis=1, initial=0.0)
        )
        if np.any(lowest < 0):
            e = int(np.argmax(lowest < 0))
            sample = int(np.searchsorted(plan.edge_offsets, e, side="right")) - 1
            raise ValueError(
                f"sample {sample}, edge {plan.tail[e]} -> {plan.head[e]}: edge_features must be >= 0 with "
                'inference="cut", or edges would not be submodular'
            )

    def make_links(self, plan: Any, n_labels: int, allowed: np.ndarray | None, matrix: Any) -> Any:
        if allowed is not None:
            raise ValueError('transition_mask does not go with inference="cut": a mask need not be submodular')
        return potts_links_of(plan, matrix)

    def make_weights(
        self, n_features: int, n_labels: int, *, intercept: bool, n_edge_features: int | None
    ) -> PairwiseWeights:
        return PairwiseWeights(n_features, n_labels, intercept, n_edge_features=n_edge_features or 0, differences=True)


@dataclass(frozen=True)
class LinearProgram(Method):
    """A linear relaxation, for any graph: labelings come with a bound on the score of the best."""

    name = "lp"
    answers = frozenset({BOUNDS})

    def make_plan(self, offsets: np.ndarray, edges: Any, n_labels: int, *, shared: bool) -> Any:
        edge_offsets, tails, heads = edges
        return make_relaxed_plan(offsets, edge_offsets, tails, heads, n_labels, shared=shared)

    def make_links(self, plan: Any, n_labels: int, allowed: np.ndarray | None, matrix: Any) -> Any:
        if allowed is not None:
            raise ValueError(
                'transition_mask does not go with inference="lp", whose bounds need finite scores: take "junction"'
            )
        return super().make_links(plan, n_labels, allowed, matrix)

    def make_problem(self, problem: PairwiseProblem) -> KnownProblem:
        return KnownProblem(Relaxations(problem))


# By name; only junction trees need the limit on their width.
GRAPH_METHODS: dict[str, Callable[[int], Method]] = {
    "auto": Auto,
    "junction": Junction,
    "cut": lambda max_width: Cut(),
    "lp": lambda max_width: LinearProgram(),
}
