"""Batched inference on chains, float32 on a CPU: ours against a loop over positions in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from maxmargin.deep import Chains

from .._report import Bar, time_in_turn

SIZES = ((256, 128, 8), (256, 128, 32), (64, 128, 128), (32, 128, 256), (4, 128, 1024))
QUICK = SIZES[:3]
VITERBI, LOG_PARTITION, EXACT = 0.5, 0.7, 1e-6  # bars: times of the loop's, and the relative error


def loop_viterbi(node: Tensor, edge: Tensor) -> Tensor:
    scores, back = node[:, 0], []
    for t in range(1, node.shape[1]):
        best, origin = (scores[:, :, None] + edge).max(dim=1)
        back.append(origin)
        scores = best + node[:, t]
    labels = [scores.argmax(dim=1)]
    for origin in reversed(back):
        labels.append(origin.gather(1, labels[-1][:, None])[:, 0])
    return torch.stack(labels[::-1], dim=1)


def loop_log_partition(node: Tensor, edge: Tensor) -> Tensor:
    scores = node[:, 0]
    for t in range(1, node.shape[1]):
        scores = torch.logsumexp(scores[:, :, None] + edge, dim=1) + node[:, t]
    return torch.logsumexp(scores, dim=1)


def loop_by_products(node: Tensor, edge: Tensor) -> Tensor:
    """A matrix product a step, as careful users write it."""
    shift = edge.max().detach()
    table, scores = (edge - shift).exp(), node[:, 0]
    for t in range(1, node.shape[1]):
        largest = scores.max(dim=1, keepdim=True).values.detach()
        scores = ((scores - largest).exp() @ table).log() + largest + shift + node[:, t]
    return torch.logsumexp(scores, dim=1)


def with_gradient(value: Callable[[], Tensor], *leaves: Tensor) -> Callable[[int], None]:
    def call(turn: int) -> None:
        torch.autograd.grad(value().sum(), leaves)

    return call


def compare(n_samples: int, length: int, n_labels: int, rounds: int) -> tuple[dict[str, float], float]:
    """Milliseconds, and the relative error of the log-partition function."""
    generator = torch.Generator().manual_seed(0)
    node = torch.randn(n_samples, length, n_labels, generator=generator)
    edge = torch.randn(n_labels, n_labels, generator=generator)
    exact = Chains(node.double(), edge.double()).log_partition()
    error = float(((Chains(node, edge).log_partition() - exact) / exact).abs().max())
    assert (Chains(node, edge).best() == loop_viterbi(node, edge)).double().mean() > 0.999  # float32 has ties
    leaves = node.requires_grad_(), edge.requires_grad_()
    calls = {
        "viterbi, loop": lambda turn: loop_viterbi(node.detach(), edge.detach()),
        "viterbi": lambda turn: Chains(node, edge).best(),
        "top 5": lambda turn: Chains(node, edge).top(5),
        "sum, loop": with_gradient(lambda: loop_log_partition(node, edge), *leaves),
        "products, loop": with_gradient(lambda: loop_by_products(node, edge), *leaves),
        "sum": with_gradient(lambda: Chains(node, edge).log_partition(), *leaves),
        "sample": lambda turn: Chains(node.detach(), edge.detach()).sample(),
    }
    seconds = time_in_turn(calls, rounds, warm_up=1)
    return {name: 1e3 * float(np.min(found)) for name, found in seconds.items()}, error


def measure(quick: bool) -> list[Bar]:
    found = {size: compare(*size, rounds=3 if quick else 5) for size in (QUICK if quick else SIZES)}
    names = next(iter(found.values()))[0]
    print("CPU milliseconds; sums with their gradients" + "".join(f"{f'{b} x {t} x {k}':>15}" for b, t, k in found))
    for name in names:
        print(f"{name:43}" + "".join(f"{times[name]:15.1f}" for times, _ in found.values()))
    print(f"{'relative error of the sum':43}" + "".join(f"{error:15.1e}" for _, error in found.values()))
    viterbi = max(times["viterbi"] / times["viterbi, loop"] for times, _ in found.values())
    sums = max(times["sum"] / min(times["sum, loop"], times["products, loop"]) for times, _ in found.values())
    return [
        Bar("Viterbi over a loop in PyTorch, CPU seconds, worst size", viterbi, VITERBI),
        Bar("log-partition and gradient over the better loop, worst size", sums, LOG_PARTITION),
        Bar("log-partition, relative error of float32", max(error for _, error in found.values()), EXACT),
    ]
