"""Slow textbook references, written from the mathematics alone: tests compare the library with them."""

from .chain import (
    brute_force_argmax,
    brute_force_edge_max_marginals,
    brute_force_max_marginals,
    chain_potentials,
    score_labelings,
)
from .enumeration import (
    EnumeratedProblem,
    chain_joint_feature,
    chain_labelings,
    chain_loss,
    enumerate_chain,
    enumerate_multiclass,
    from_callables,
    multiclass_joint_feature,
)
from .first_order import Iterates, perceptron, softmax, subgradient_descent, tilted
from .frank_wolfe import Trajectory, batch_frank_wolfe, block_frank_wolfe
from .graph import (
    Graph,
    chain_graph,
    graph_log_partition,
    graph_marginals,
    graph_max_marginals,
    score_graph_labelings,
)
from .multilabel import enumerate_multilabel, label_sets, multilabel_joint_feature

__all__ = [
    "EnumeratedProblem",
    "Graph",
    "Iterates",
    "Trajectory",
    "batch_frank_wolfe",
    "block_frank_wolfe",
    "brute_force_argmax",
    "brute_force_edge_max_marginals",
    "brute_force_max_marginals",
    "chain_graph",
    "chain_joint_feature",
    "chain_labelings",
    "chain_loss",
    "chain_potentials",
    "enumerate_chain",
    "enumerate_multiclass",
    "enumerate_multilabel",
    "from_callables",
    "graph_log_partition",
    "graph_marginals",
    "graph_max_marginals",
    "label_sets",
    "multiclass_joint_feature",
    "multilabel_joint_feature",
    "perceptron",
    "score_graph_labelings",
    "score_labelings",
    "softmax",
    "subgradient_descent",
    "tilted",
]
