"""The k best labelings in plain PyTorch operations: lists of the k best of every label go up the trees.

A list of a node's label holds the best ways to label all below it. A child sends, for each label of its parent, the k
best of its own lists; the parent's list takes the k best of all pairs of its entries and those. Where an entry came
from is kept, and labelings are read off from the roots down.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .forests import Forest
from .plain import no_table, rows_of, table_of


def find_top(forest: Forest, k: int) -> tuple[Tensor, Tensor]:
    """(B, k, N) labelings, best first, and their scores (B, k), -inf where there are no more."""
    n_samples, n_nodes, n_labels = forest.node.shape
    rows = rows_of(forest)
    lists = torch.full((n_samples, n_nodes, n_labels, k), -torch.inf, dtype=forest.node.dtype, device=rows.device)
    lists[..., 0] = forest.node
    sent, joined = [], []  # of every step: which entry of the node a message is, and which pair an entry of the head
    for node in () if no_table(forest) else forest.steps:
        head = forest.heads[rows, node]
        ways = lists[rows, node][:, :, :, None] + table_of(forest, node)[:, :, None, :]
        message, origin = best_entries(ways.flatten(1, 2).transpose(1, 2), k)  # (B, K of the head, k)
        into = lists[rows, head.clamp(min=0)]
        merged, pair = best_entries((into[:, :, :, None] + message[:, :, None, :]).flatten(2), k)
        lists[rows, head.clamp(min=0)] = torch.where((head >= 0)[:, None, None], merged, into)
        sent.append(origin)
        joined.append(pair)
    values, picks = join_roots(forest, lists, k)
    return read_off(forest, picks, sent, joined, k), values


def best_entries(entries: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of the last axis and where they are, filled up with -inf."""
    found, places = torch.topk(entries, min(k, entries.shape[-1]), dim=-1)
    missing = k - found.shape[-1]
    return (
        torch.nn.functional.pad(found, (0, missing), value=-torch.inf),
        torch.nn.functional.pad(places, (0, missing)),
    )


def join_roots(forest: Forest, lists: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Scores (B, k) of whole labelings, and (B, k, N) which entry of which label each takes of the roots."""
    n_samples, n_nodes, n_labels = forest.node.shape
    roots = forest.real & (forest.heads < 0)
    values = torch.full((n_samples, k), -torch.inf, dtype=lists.dtype, device=lists.device)
    values[:, 0] = 0.0
    picks = torch.zeros(n_samples, k, n_nodes, dtype=torch.long, device=lists.device)
    for v in torch.nonzero(roots.any(dim=0)).flatten().tolist():
        is_root, of_root = roots[:, v], lists[:, v].flatten(1)  # (B, K k)
        found, places = best_entries((values[:, :, None] + of_root[:, None, :]).flatten(1), k)
        before, entry = places // (n_labels * k), places % (n_labels * k)
        taken = picks.gather(1, before[:, :, None].expand(-1, -1, n_nodes))
        taken[:, :, v] = entry
        picks = torch.where(is_root[:, None, None], taken, picks)
        values = torch.where(is_root[:, None], found, values)
    return values, picks


def read_off(forest: Forest, picks: Tensor, sent: list[Tensor], joined: list[Tensor], k: int) -> Tensor:
    """Labels (B, k, N) of the entries picked."""
    rows = rows_of(forest)
    labels, slots = picks // k, picks % k
    for step in reversed(range(len(sent))):
        node = forest.steps[step]
        head = forest.heads[rows, node]
        has_head, place = (head >= 0)[:, None], head.clamp(min=0)
        above, slot = labels[rows, :, place], slots[rows, :, place]  # (B, k)
        pair = joined[step][rows[:, None], above, slot]
        entry = sent[step][rows[:, None], above, pair % k]
        slots[rows, :, place] = torch.where(has_head, pair // k, slot)
        labels[rows, :, node] = torch.where(has_head, entry // k, labels[rows, :, node])
        slots[rows, :, node] = torch.where(has_head, entry % k, slots[rows, :, node])
    return labels * forest.real[:, None]
