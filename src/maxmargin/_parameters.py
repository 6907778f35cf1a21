"""Parameters as users give them: checked, and turned into what code needs."""

from __future__ import annotations

import numbers
import os
from collections.abc import Iterable
from typing import Any

import numpy as np


def check_limits(max_passes: Any, max_seconds: Any) -> None:
    check_positive("max_passes", max_passes)
    if max_seconds is not None:
        check_positive("max_seconds", max_seconds)


def check_positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not float(value) > 0:
        raise ValueError(f"{name} must be a number > 0, got {value!r}")


def check_not_negative(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not float(value) >= 0:
        raise ValueError(f"{name} must be a number >= 0, got {value!r}")


def check_finite(name: str, value: float) -> None:
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, got {value!r}")


def check_count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}")
    return int(value)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}, got {value!r}")


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator for any of scikit-learn's ways to say `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be None, an integer >= 0, a RandomState or a Generator, got {random_state!r}"
        ) from error


def check_verbose(verbose: Any) -> int:
    """How much is said: a whole number, or a truth value."""
    if not isinstance(verbose, (numbers.Integral, np.bool_)):
        raise ValueError(f"verbose must be an integer, got {verbose!r}")
    return int(verbose)


def count_threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's `n_jobs`: None is 1, -1 is all cores."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a non-zero integer or None, got {n_jobs!r}")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
