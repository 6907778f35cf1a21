"""Potentials of padded trees, as inference takes them: chains are trees whose nodes follow each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor


@dataclass(frozen=True)
class Forest:
    """Trees, or chains, of a batch. All tensors are detached; node v has a table with its parent, its row v.

    Parameters
    ----------
    node : tensor of shape (B, N, K)
    edge : tensor of shape (1 or B, 1 or E, K, K)
        Rows are labels of a node, columns those of its parent. E is N, or N - 1 where the last node has no parent.
    sizes : tensor of shape (B,)
        How many nodes are real, on the CPU.
    parents : tensor of shape (B, N) or None
        -1 for roots; None: of a chain, each node's is the next one.
    """

    node: Tensor
    edge: Tensor
    sizes: Tensor
    parents: Tensor | None = None

    @property
    def shares_table(self) -> bool:
        """Whether all edges of a sample have one table."""
        return self.edge.shape[1] == 1

    @property
    def is_chain(self) -> bool:
        return self.parents is None

    @cached_property
    def table_range(self) -> tuple[float, float]:
        """The least and the largest score of the table that all edges share; a GPU is waited for."""
        least, largest = torch.stack(self.edge[0, 0].aminmax()).tolist()
        return least, largest

    @cached_property
    def real(self) -> Tensor:
        """(B, N) which nodes are."""
        return real_nodes(self.sizes.to(self.node.device), self.node.shape[1])

    @cached_property
    def heads(self) -> Tensor:
        """(B, N) the parent of each node, -1 for roots and for what is no node."""
        if self.parents is not None:
            return self.parents.masked_fill(~self.real, -1)
        follows = torch.arange(1, self.node.shape[1] + 1, device=self.node.device)
        has_next = follows < self.sizes.to(self.node.device)[:, None]
        return torch.where(has_next, follows, -1)

    @cached_property
    def steps(self) -> Tensor:
        """(N, B) nodes in an order in which all come after their children."""
        n_samples, n_nodes = self.node.shape[:2]
        if self.is_chain:
            return torch.arange(n_nodes, device=self.node.device)[:, None].expand(n_nodes, n_samples)
        return torch.argsort(depths(self.heads), dim=1, descending=True, stable=True).T

    def with_own_edges(self) -> Forest:
        """The same, with tables of its own for each sample."""
        return replace(self, edge=self.edge.expand(len(self.node), -1, -1, -1))


def real_nodes(sizes: Tensor, n_nodes: int) -> Tensor:
    """(B, N) whether a place of a padded batch is within its sample."""
    return torch.arange(n_nodes, device=sizes.device) < sizes[:, None]


def depths(heads: Tensor) -> Tensor:
    """(B, N) edges between each node and its root, by paths that double in length each round."""
    n_nodes = heads.shape[1]
    above = torch.nn.functional.pad(torch.where(heads < 0, n_nodes, heads), (0, 1), value=n_nodes)
    depth = (above != n_nodes).long()
    for _ in range(n_nodes.bit_length()):
        depth, above = depth + depth.gather(1, above), above.gather(1, above)
    if bool((above != n_nodes).any()):
        sample = int((above != n_nodes).any(dim=1).long().argmax())
        raise ValueError(f"sample {sample}: the parents lead in a circle, so that this is no tree")
    return depth[:, :-1]
