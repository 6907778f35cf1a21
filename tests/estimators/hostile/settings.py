"""Weights and parameters out of range, of another type, or at the edge of what is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from trials import Subject, Trial, fitted, is_number, same_optimum

from maxmargin.solvers import BlockFrankWolfe


def weights(subject: Subject) -> Iterator[Trial]:
    n, data = subject.n_samples, (subject.X, subject.y)
    last = np.arange(n) == n - 1
    bad: dict[str, Any] = {
        "below 0": np.where(last, -1.0, 1.0),
        "NaN": np.where(last, np.nan, 1.0),
        "infinity": np.where(last, np.inf, 1.0),
        "minus infinity": np.where(last, -np.inf, 1.0),
        "all 0": np.zeros(n),
        "0": 0,
        "too many": np.ones(n + 1),
        "too few": np.ones(n - 1),
        "columns": np.ones((n, 1)),
        "rows": np.ones((1, 1, n)),
        "text": ["1"] * n,
        "one text": "balanced",
        "None inside": [None] * n,
        "complex": np.ones(n) + 0j,
        "a dict": {0: 1.0},
        "ragged": [[1.0], *[[1.0, 2.0]] * n],
        "infinite sum": np.full(n, 1.7e308 if n > 1 else np.inf),
        "beyond float64": np.full(n, np.longdouble("1e4000")),
        "dates": np.full(n, np.datetime64("2020-01-01")),
    }
    for name, weight in bad.items():
        for method in ("fit", "score"):
            yield Trial(
                f"weights: {name}, {method}", method, lambda: data, "sample_weight", given={"sample_weight": weight}
            )
    good: dict[str, Any] = {
        "ones": np.ones(n),
        "a list": [1.0] * n,
        "a tuple": (1,) * n,
        "bool": np.ones(n, bool),
        "int8": np.ones(n, np.int8),
        "float16": np.ones(n, np.float16),
        "a number": 1,
        "read-only": np.broadcast_to(1.0, n),
        "tiny": np.full(n, 1e-3),
        "large": np.full(n, 1e3),
    }
    for name, weight in good.items():
        given = {"sample_weight": weight}
        yield Trial(f"weights: {name}, fit", "fit", lambda: data, same_optimum, given=given)
        yield Trial(f"weights: {name}, score", "score", lambda: data, is_number, given=given)


class Odd:
    """An object that no parameter is."""

    def __repr__(self):
        return "Odd()"


NUMBERS = {
    "lam": (0, -1.0, np.nan, np.inf, -np.inf, "big", True, [0.1], {}, 1j, Odd()),
    "l1": (-1e-3, np.nan, np.inf, "sparse", True, [0.1], None, 1j),
    "tol": (-1e-3, np.nan, "small", [0.1], 1j),
    "max_passes": (0, -1, np.nan, "many", None, [5], True),
    "max_seconds": (0, -1.0, np.nan, "long", [5], True),
    "n_jobs": (0, 1.5, "all", True, [1]),
    "max_width": (0, -1, 2.5, None, "wide"),
    "n_types": (0, -1, 1.5, None, "two"),
    "n_words": (0, -1, 1.5, "many", 5),
}
CHOICES = {
    "solver": ("newton", "", None, 3, BlockFrankWolfe, Odd(), ["bcfw"]),
    "loss": ("squared", 3, ["hamming"], "HAMMING"),
    "inference": ("none", None, 3, ["lp"], ""),
    "kernel": ("cubic", 3, ["rbf"], "", "precomputed"),
    "random_state": ("zero", -1, 1.5, [1.5], Odd()),
    "scale": ("yes", 2, [True], np.nan),
    "verbose": ("loud", None, [1]),
}
TABLES = {
    "class_weight": (
        "heavy",
        3,
        [1.0, 2.0],
        {"a": -1.0},
        {"a": np.nan},
        {"a": np.inf},
        {"a": "x"},
        {"a": None},
        {"a": [1, 2]},
        {"z": 1.0},
        {"a": 1j},
    ),
    "transition_mask": (
        "iob",
        "bio",
        3,
        np.ones((9, 9), bool),
        np.ones(3, bool),
        np.zeros((3, 3), bool),
        np.full((3, 3), np.nan),
        np.full((3, 3), "a"),
        [[True, True, True], [True, True, True], [True]],
        {"a": 1},
        np.full((3, 3), None),
    ),
    "cost_matrix": (
        1.0,
        "cost",
        np.zeros((9, 9)),
        np.zeros(3),
        np.ones((3, 3)),
        np.full((3, 3), np.nan),
        np.full((3, 3), "a"),
        -1.0 + np.eye(3),
        [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0]],
        np.full((3, 3), 1j),
        {"a": 1},
    ),
    "parents": ([0, 0], [1, 0], [-1], [-1, 5], [-1, -2], "tree", [0.5, -1], [-1, None], 3, [[-1, 0]]),
    "radius": (0, -1.0, np.nan, np.inf, "wide", None, True, (0, 9), (0.5, 1), (0,), (-1, 0)),
}


def shown(value: Any) -> str:
    return " ".join(str(value).split())[:40]


def parameters(subject: Subject) -> Iterator[Trial]:
    taken = subject.make().get_params(deep=False)
    for name, values in {**NUMBERS, **CHOICES, **TABLES}.items():
        for value in values if name in taken else ():
            yield Trial(f"{name}={shown(value)}", "fit", lambda: (subject.X, subject.y), name, {name: value})
    with_kernel = [("gamma", v) for v in (-1.0, np.nan, np.inf, "big", None, True)]
    with_kernel += [("degree", v) for v in (-1, 1.5, None, "two", True)]
    with_kernel += [("coef0", v) for v in (np.nan, np.inf, None, "zero", True)]
    for name, value in with_kernel if "kernel" in taken else ():
        params = {"kernel": "poly", name: value}
        yield Trial(f"{name}={shown(value)}", "fit", lambda: (subject.X, subject.y), name, params)


EDGES = {
    "lam": (1e-3, 1, np.float32(0.5), 1e6),
    "l1": (0, 1e-3, 1, np.float32(0.5)),
    "tol": (0, 10.0, np.inf, None),
    "max_passes": (1, 0.5, np.int64(3)),
    "max_seconds": (1e-9, 100, np.inf),
    "n_jobs": (1, 2, -1, np.int64(1), 99),
    "random_state": (0, np.random.RandomState(0), np.random.default_rng(0), 2**32 - 1),
    "fit_intercept": (False, 0),
    "scale": (True, False, None),
    "class_weight": ("balanced", {"a": 0.0}, {"a": 2, "b": 1.5}),
    "loss": ("hamming_sum",),
    "warm_start": (True,),
}


def parameters_at_the_edge(subject: Subject) -> Iterator[Trial]:
    taken = subject.make().get_params(deep=False)
    for name, values in EDGES.items():
        for value in values if name in taken else ():
            params = {"max_passes": 5, name: value}
            yield Trial(f"{name}={shown(value)} is fine", "fit", lambda: (subject.X, subject.y), fitted, params)
