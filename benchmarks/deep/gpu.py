"""Batched inference on chains on a CUDA device, float32: milliseconds, and the bars they are to keep."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from maxmargin.deep import Chains

from .._report import Bar

N_SAMPLES, LENGTH = 256, 128
EXACT = 1e-6  # relative error of the log-partition function, against float64
REPEATS = 20


class Limits(NamedTuple):
    viterbi: float  # ms
    log_partition: float


LIMITS = {32: Limits(0.1, 0.2), 256: Limits(1.0, 1.0), 1024: Limits(5.0, 4.0)}
MARGINALS, TOP = 3.0, 6.0  # times of the log-partition's, and of Viterbi's


def milliseconds(call: Callable[[], Any]) -> float:
    """The median, launches and all; kernels are compiled and checked before."""
    for _ in range(3):
        call()
    found = []
    for _ in range(REPEATS):
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end))
    return statistics.median(found)


def gradient(chains: Chains, *leaves: torch.Tensor) -> Callable[[], Any]:
    return lambda: torch.autograd.grad(Chains(*leaves, chains.sizes).log_partition().sum(), leaves)


def compare(n_labels: int) -> dict[str, float]:
    """Milliseconds of each verb, the relative error, and the share of labels that are those of the CPU."""
    generator = torch.Generator().manual_seed(0)
    node = torch.randn(N_SAMPLES, LENGTH, n_labels, generator=generator)
    edge = torch.randn(n_labels, n_labels, generator=generator)
    few = Chains(node[:8].double(), edge.double())
    chains = Chains(node.cuda(), edge.cuda())
    exact = few.log_partition()
    calls: dict[str, Callable[[], Any]] = {
        "viterbi": chains.best,
        "top 5": lambda: chains.top(5),
        "log-partition": lambda: chains.log_partition(),
        "marginals": chains.marginals,
        "gradient": gradient(chains, chains.node.clone().requires_grad_(), edge.cuda().requires_grad_()),
    }
    found = {name: milliseconds(call) for name, call in calls.items()}
    found["error"] = float(((chains.log_partition()[:8].cpu() - exact) / exact).abs().max())
    found["same labels"] = float((chains.best()[:8].cpu() == few.best()).double().mean())
    return found


def measure(quick: bool) -> list[Bar]:
    if not torch.cuda.is_available():
        print("there is no CUDA device: nothing is measured")
        return [bar for n_labels in LIMITS for bar in bars_of(n_labels, {})]
    print(f"{torch.cuda.get_device_name()}, milliseconds, {N_SAMPLES} x {LENGTH} x K")
    bars: list[Bar] = []
    for n_labels in list(LIMITS)[: 1 if quick else None]:
        found = compare(n_labels)
        print(f"K = {n_labels:5}  " + "  ".join(f"{name} {value:.4g}" for name, value in found.items()), flush=True)
        bars += bars_of(n_labels, found)
    return bars


def bars_of(n_labels: int, found: dict[str, float]) -> list[Bar]:
    """Without figures, what would be measured."""

    def ratio(one: str, other: str) -> float | None:
        return found[one] / found[other] if found else None

    limits, name = LIMITS[n_labels], f"K = {n_labels}: "
    return [
        Bar(name + "Viterbi with backtrace, ms", found.get("viterbi"), limits.viterbi),
        Bar(name + "log-partition, ms", found.get("log-partition"), limits.log_partition),
        Bar(name + "log-partition, relative error", found.get("error"), EXACT),
        Bar(name + "marginals over log-partition", ratio("marginals", "log-partition"), MARGINALS),
        Bar(name + "top 5 over Viterbi", ratio("top 5", "viterbi"), TOP),
    ]
