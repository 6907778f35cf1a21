"""A linear network: the problem is convex, and its optimum certified."""

from __future__ import annotations

import time

import numpy as np
import torch

from maxmargin import ChainSVM
from maxmargin.deep import DeepChainSVM, ProxLinear

from .._report import Bar

LAM, CLOSE = 0.5, 1e-4
METHOD = ProxLinear(eta=1e3, mu=0.01, budget=150, batch_size=20)


def sequences(n: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Labels that linear scores decide about, with noise."""
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(4, 3))
    X = [rng.normal(size=(rng.integers(2, 6), 4)) for _ in range(n)]
    return X, [(x @ coef + 0.7 * rng.normal(size=(len(x), 3))).argmax(axis=1) for x in X]


def measure(quick: bool) -> list[Bar]:
    X, y = sequences(20)
    best = ChainSVM(LAM, loss="hamming", scale=False, tol=1e-6, random_state=0).fit(X, y)
    began = time.process_time()
    model = DeepChainSVM(
        lambda n_features, n_labels: torch.nn.Linear(n_features, n_labels),
        LAM,
        method=METHOD,
        max_iterations=10,
        dtype="float64",
        random_state=0,
    ).fit(X, y)
    seconds = time.process_time() - began
    print(f"{len(X)} sequences, lam = {LAM}: ChainSVM certifies {best.primal_:.6f} (gap {best.gap_:.1e})")
    print(f"prox-linear steps, {seconds:.1f} CPU s: passes of oracle calls, and how far above")
    for calls, value in zip(model.history_["oracle_calls"], model.history_["objective"], strict=True):
        print(f"{calls / len(X):10.0f}{value - best.primal_:12.2e}")
    return [Bar("objective of a linear network above the certified optimum", model.objective_ - best.primal_, CLOSE)]
