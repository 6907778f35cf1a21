"""Inference on PyTorch tensors, and networks trained through it; everything but `gpu` on a CPU, one thread.

- `speed`: batched inference on chains against a plain PyTorch loop over positions.
- `gpu`: the same on a CUDA device, where there is one.
- `convex`: with a linear network, prox-linear steps against the certified optimum of `ChainSVM`.
- `boxes`: white blood cells among proposed windows, scored by the ELU head of the paper on fixed features: objective
  and test scores against oracle calls and seconds, for prox-linear steps with Casimir inside and for stochastic
  subgradient steps, all tuned alike; what smoothing, eta, the budget and the warm start change (Figures 4, 6 and 7).
- `taggers`: dates with a convolutional network, and WNUT-17 with a BiLSTM.

Oracle calls count every sample whose smoothed or plain hinge a method asks for, full gradients and the objective that a
step is judged by included. Run: python -m benchmarks.deep [--quick] [PART ...]
"""  # pillutla18, Sections 6 and 7

from __future__ import annotations

import argparse
import os

import torch
from threadpoolctl import threadpool_limits

from .._report import Bar, finish
from . import boxes, convex, gpu, speed, taggers

PARTS = {"speed": speed, "gpu": gpu, "convex": convex, "boxes": boxes, "taggers": taggers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them if none")
    parser.add_argument("--quick", action="store_true", help="a small version, under a minute")
    given = parser.parse_args()
    unknown = set(given.parts) - PARTS.keys()
    if unknown:
        parser.error(f"no part is called {min(unknown)}; there are {', '.join(PARTS)}")
    bars: list[Bar] = []
    for name in given.parts or PARTS:
        print(f"\n{name}", flush=True)
        bars += PARTS[name].measure(given.quick)
    finish(bars)


if __name__ == "__main__":
    os.environ.setdefault("TQDM_DISABLE", "1")
    torch.set_num_threads(1)
    with threadpool_limits(1):  # waiting threads count as CPU seconds
        main()
