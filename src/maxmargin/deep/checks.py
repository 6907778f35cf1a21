"""Tensors as users hand them over: checked, and brought into one shape."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .forests import depths


class NoNumbers(ValueError):
    """Scores that are NaN or +inf, which would make labelings out of nothing."""


def check_scores(scores: Any, name: str, shape: str) -> None:
    if not isinstance(scores, Tensor) or not scores.is_floating_point():
        kind = f"a tensor of {scores.dtype}" if isinstance(scores, Tensor) else f"a {type(scores).__name__}"
        raise ValueError(f"{name} must be a tensor of floating-point numbers of shape {shape}, got {kind}")
    if scores.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"{name} must be float32 or float64, got {scores.dtype}: call .float() on it")
    if scores.dim() != shape.count(",") + 1 or not all(scores.shape):
        raise ValueError(f"{name} must have the shape {shape}, none of them 0, got {tuple(scores.shape)}")
    check_numbers(scores, name)


def check_numbers(scores: Tensor, name: str) -> None:
    largest = scores.detach().amax() if scores.numel() else scores.new_zeros(())  # NaN if there is one
    if not bool(largest < torch.inf):
        raise NoNumbers(f"{name} holds {float(largest):g}: scores are numbers, or -inf where something is forbidden")


def read_edge(edge: Any, node: Tensor, n_edges: int) -> Tensor:
    """(1 or B, 1 or E, K, K)."""
    if not isinstance(edge, Tensor) or edge.dtype != node.dtype or edge.device != node.device:
        got = f"a tensor of {edge.dtype} on {edge.device}" if isinstance(edge, Tensor) else f"a {type(edge).__name__}"
        raise ValueError(f"edge must be a tensor of {node.dtype} on {node.device}, as node is, got {got}")
    n_samples, n_labels = node.shape[0], node.shape[2]
    own = edge if edge.dim() == 4 else edge.reshape((1,) * (4 - edge.dim()) + tuple(edge.shape))
    fits = own.dim() == 4 and own.shape[2:] == (n_labels, n_labels)
    if not (fits and own.shape[0] in (1, n_samples) and own.shape[1] in (1, n_edges)):
        raise ValueError(
            f"edge has the shape {tuple(edge.shape)}, which does not broadcast to "
            f"{(n_samples, n_edges, n_labels, n_labels)} (samples, edges, labels, labels) for a node of shape "
            f"{tuple(node.shape)}"
        )
    check_numbers(own, "edge")
    return own


def read_sizes(sizes: Any, scores: Tensor, name: str) -> Tensor:
    """(B,) whole numbers from 1 to what there is room for, on the CPU."""
    n_samples, most = scores.shape[:2]
    if sizes is None:
        return torch.full((n_samples,), most)
    own = torch.as_tensor(sizes)
    if own.dtype == torch.bool:
        raise ValueError(f"{name} must be whole numbers, one a sample, got truth values: sum a mask over its positions")
    if own.shape != (n_samples,) or own.is_floating_point() or own.is_complex():
        raise ValueError(f"{name} must be {n_samples} whole numbers, one a sample, got shape {tuple(own.shape)}")
    own = own.to("cpu", torch.int64)
    if not bool(((own >= 1) & (own <= most)).all()):
        sample = int(((own < 1) | (own > most)).long().argmax())
        raise ValueError(f"{name}, sample {sample}: {int(own[sample])}, but must be from 1 to {most}")
    return own


def check_parents(parents: Any, node: Tensor, sizes: Tensor) -> Tensor:
    n_samples, n_nodes = node.shape[:2]
    own = torch.as_tensor(parents, device=node.device)
    if own.shape not in ((n_nodes,), (n_samples, n_nodes)) or own.is_floating_point() or own.dtype == torch.bool:
        raise ValueError(f"parents must be whole numbers of shape {(n_samples, n_nodes)}, got {tuple(own.shape)}")
    own = own.long().expand(n_samples, n_nodes)
    limit = sizes.to(node.device)[:, None]
    places = torch.arange(n_nodes, device=node.device)
    wrong = (places < limit) & ((own < -1) | (own >= limit) | (own == places))
    if bool(wrong.any()):
        sample, v = (int(one) for one in torch.nonzero(wrong)[0])
        raise ValueError(
            f"sample {sample}: the parent of node {v} is {int(own[sample, v])}, which is no other node of it; "
            "roots have -1"
        )
    depths(torch.where(places < limit, own, -1))  # of trees: it refuses circles
    return own


def check_labels(labels: Any, n_labels: int) -> None:
    if not isinstance(labels, Tensor) or labels.dtype != torch.int64:
        got = labels.dtype if isinstance(labels, Tensor) else type(labels).__name__
        raise ValueError(f"labels must be a tensor of torch.int64, got {got}")
    if labels.numel() and not bool(((labels >= 0) & (labels < n_labels)).all()):
        wrong = labels[(labels < 0) | (labels >= n_labels)][0]
        raise ValueError(f"label {int(wrong)} is outside of 0 to {n_labels - 1}")
