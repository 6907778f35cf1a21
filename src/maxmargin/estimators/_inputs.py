"""What users hand over, as flat arrays: sequences, labels, sample weights."""

from maxmargin.estimators._inputs_graphs import (
    Graph,
    Split,
    Tree,
    split_chains,
    split_samples,
    stack_edge_features,
    stack_edges,
    stack_heads,
)
from maxmargin.estimators._inputs_labels import check_sample_weight, encode_labels, stack_labels, unstack
from maxmargin.estimators._inputs_matchings import (
    Bipartite,
    as_numbers,
    leave_out,
    read_candidates,
    read_ignored,
    read_links,
)
from maxmargin.estimators._inputs_poses import check_parents, read_grids, read_positions, read_radius
from maxmargin.estimators._inputs_sequences import Stacked, needs_vectorizer, stack_sequences

__all__ = [
    "Bipartite",
    "Graph",
    "Split",
    "Stacked",
    "Tree",
    "as_numbers",
    "check_parents",
    "check_sample_weight",
    "encode_labels",
    "leave_out",
    "needs_vectorizer",
    "read_candidates",
    "read_grids",
    "read_ignored",
    "read_links",
    "read_positions",
    "read_radius",
    "split_chains",
    "split_samples",
    "stack_edge_features",
    "stack_edges",
    "stack_heads",
    "stack_labels",
    "stack_sequences",
    "unstack",
]
