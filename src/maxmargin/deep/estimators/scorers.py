"""Networks as scorers: what a module of a user gives, checked, and the weights that it lacks."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor, nn


class ChainScorer(nn.Module):
    """Scores of the labels of positions, and of pairs of neighbours.

    Where the module gives scores of labels alone, there are weights of transitions, and of labels at the first and the
    last position, 0 at first.
    """

    def __init__(self, module: nn.Module, n_labels: int, *, gives_edges: bool):
        super().__init__()
        self.module, self.n_labels = module, n_labels
        self.takes_lengths = "lengths" in inspect.signature(module.forward).parameters
        self.transitions = None if gives_edges else nn.Parameter(torch.zeros(n_labels, n_labels))
        self.boundary = None if gives_edges else nn.Parameter(torch.zeros(2, n_labels))

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        given = self.module(x, lengths=lengths) if self.takes_lengths else self.module(x)
        if self.transitions is None or self.boundary is None:
            node, edge = given
            check_node(node, x, self.n_labels)
            return node, edge
        check_node(given, x, self.n_labels)
        places = torch.arange(x.shape[1], device=x.device)
        ends = torch.stack([(places == 0).expand(len(x), -1), places == (lengths.to(x.device) - 1)[:, None]], dim=2)
        return given + ends.to(given) @ self.boundary, self.transitions


def gives_edges(module: nn.Module, x: Tensor, lengths: Tensor, n_labels: int) -> bool:
    """Whether a module gives scores of pairs, too; found out by a call."""
    scorer = ChainScorer(module, n_labels, gives_edges=False)
    module.eval()
    with torch.no_grad():
        given = module(x, lengths=lengths) if scorer.takes_lengths else module(x)
    if isinstance(given, Tensor):
        check_node(given, x, n_labels)
        return False
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise ValueError(
            f"the module must give a tensor (B, T, {n_labels}) of scores of labels, or a pair of it and scores of "
            f"transitions, got {type(given).__name__}"
        )
    check_node(given[0], x, n_labels)
    return True


def check_node(node: Any, x: Tensor, n_labels: int) -> None:
    wanted = (x.shape[0], x.shape[1], n_labels)
    if not isinstance(node, Tensor) or tuple(node.shape) != wanted:
        got = tuple(node.shape) if isinstance(node, Tensor) else type(node).__name__
        raise ValueError(
            f"the module must give scores of shape {wanted} (samples, positions, labels) for an input of shape "
            f"{tuple(x.shape)}, got {got}: its last layer must have as many outputs as there are labels"
        )


class CandidateScorer(nn.Module):
    """Scores of candidates by their features."""

    def __init__(self, module: nn.Module):
        super().__init__()
        self.module = module

    def forward(self, x: Tensor) -> Tensor:
        given = self.module(x)
        if isinstance(given, Tensor) and given.shape == (*x.shape[:2], 1):
            given = given[..., 0]
        if not isinstance(given, Tensor) or given.shape != x.shape[:2]:
            got = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
            raise ValueError(
                f"the module must give scores of shape {tuple(x.shape[:2])} (samples, candidates) for an input of "
                f"shape {tuple(x.shape)}, got {got}: its last layer must have one output"
            )
        return given
