"""What a user's own structure answers, checked: whatever is wrong, and the user's own errors, name the sample."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any

import numpy as np

from .sparse_vector import SparseVector, as_sparse_vector

REQUIRED = {
    "n_samples": "the number of samples",
    "n_features": "the length of joint_feature's vector",
    "max_oracle": "max_oracle(w, i) -> y, the output that maximises loss(i, y) + <w, joint_feature(i, y)>",
    "joint_feature": "joint_feature(i, y) -> vector: dense, sparse, or a pair (indices, values)",
    "loss": "loss(i, y) -> float, 0 for the true output",
}

# What rounding may do to losses, and to values relative to them.
ROUNDING, ROUGHLY = 1e-9, 1e-6


class Asked:
    """A user's structure, asked with care."""

    def __init__(self, structure: Any):
        missing = [f"{name} ({meaning})" for name, meaning in REQUIRED.items() if not hasattr(structure, name)]
        if not hasattr(structure, "y") and not hasattr(structure, "truth"):
            missing.append("y (the true outputs, y[i]) or truth(i)")
        if missing:
            raise TypeError(f"{type(structure).__name__} cannot be learned; it lacks " + "; ".join(missing))
        self.structure = structure
        self.n, self.d = _count(structure, "n_samples"), _count(structure, "n_features")
        weight = np.ones(self.n) if getattr(structure, "sample_weight", None) is None else structure.sample_weight
        try:
            self.weight = np.asarray(weight, np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight must be {self.n} finite numbers >= 0: {error}") from error
        if self.weight.shape != (self.n,) or not np.all(self.weight >= 0) or not 0 < self.weight.sum() < np.inf:
            raise ValueError(f"sample_weight must be {self.n} finite numbers >= 0 with a positive sum")
        self.weight = self.weight / self.weight.sum()
        self.exact = bool(getattr(structure, "exact_oracle", True))
        self.certifiable = self.exact or hasattr(structure, "upper_bound")

    def true_output(self, i: int) -> Any:
        if hasattr(self.structure, "truth"):
            with self.asking("truth", i):
                return self.structure.truth(i)
        try:
            return self.structure.y[i]
        except (LookupError, TypeError) as error:
            raise ValueError(
                f"sample {i}: there is no true output y[{i}], but n_samples is {self.n}; y must hold one a sample"
            ) from error

    @contextmanager
    def asking(self, method: str, i: int) -> Iterator[None]:
        """Within, an error is the user's own: it stays as it is, and names the sample."""
        try:
            yield
        except Exception as error:
            error.add_note(f"sample {i}: raised in {type(self.structure).__name__}.{method}")
            raise

    def true_feature(self, i: int) -> SparseVector:
        y = self.true_output(i)
        if self.loss(i, y) != 0.0:
            raise ValueError(f"sample {i}: the loss of the true output must be 0, got {self.loss(i, y)}")
        return self.feature(i, y)

    def feature(self, i: int, y: Any) -> SparseVector:
        with self.asking("joint_feature", i):
            vector = self.structure.joint_feature(i, y)
        return self.as_feature(vector, i, "joint_feature")

    def as_feature(self, vector: Any, i: int, name: str) -> SparseVector:
        try:
            return as_sparse_vector(vector, self.d)
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample {i}: {name} {error}") from error

    def loss(self, i: int, y: Any) -> float:
        with self.asking("loss", i):
            loss = self.structure.loss(i, y)
        loss = _finite(loss, i, "loss must be a finite number")
        if loss < -ROUNDING:
            raise ValueError(
                f"sample {i}: loss must be >= 0, got {loss:g}: it is 0 for the true output, and larger the worse an "
                "output is; for a score or a gain, return the largest one possible less it"
            )
        return max(loss, 0.0)

    def ask(self, w: np.ndarray, i: int, emphasis: float) -> Any:
        """The output that maximises ``emphasis loss + <w, feature>``."""
        shown = read_only(w if emphasis in (0.0, 1.0) else w / emphasis)
        if emphasis == 0.0:
            with self.asking("decode", i):
                return self.structure.decode(shown, i)
        with self.asking("max_oracle", i):
            return self.structure.max_oracle(shown, i)

    def expected(self, v: np.ndarray, i: int, emphasis: float) -> tuple[SparseVector, float, float]:
        """The expected joint feature and loss, and the log of the sum over outputs, NaN where it is not told."""
        with self.asking("exp_oracle", i):
            answer = self.structure.exp_oracle(v, i, emphasis)
        if not isinstance(answer, tuple | list) or len(answer) not in (2, 3):
            raise ValueError(
                f"sample {i}: exp_oracle must give the expected joint feature and the expected loss, and may give the "
                f"log of the sum over outputs, got {answer!r}"
            )
        feature = self.as_feature(answer[0], i, "the expected joint feature of exp_oracle")
        loss = _finite(answer[1], i, "exp_oracle must give a finite expected loss")
        log_sum = _finite(answer[2], i, "the log of the sum of exp_oracle must be finite") if answer[2:] else math.nan
        return feature, loss, log_sum

    def best_few(self, w: np.ndarray, i: int, k: int) -> list[Any]:
        """The k outputs of highest loss and score, best first; fewer where there are no more."""
        with self.asking("topk_oracle", i):
            found = list(self.structure.topk_oracle(read_only(w), i, k))
        if not 1 <= len(found) <= k:
            raise ValueError(f"sample {i}: topk_oracle must give between 1 and k = {k} outputs, got {len(found)}")
        if any(_are_same(one, other) for one, other in combinations(found, 2)):
            raise ValueError(f"sample {i}: topk_oracle must give different outputs, and one comes twice")
        return found

    def bound(self, w: np.ndarray, i: int) -> float:
        """What no output's value is above, as the user knows."""
        with self.asking("upper_bound", i):
            bound = self.structure.upper_bound(read_only(w), i)
        return _finite(bound, i, "upper_bound must be a finite number")


def read_only(w: np.ndarray) -> np.ndarray:
    """The loop's own w for a user's method: one that wrote into it would falsify the certificate."""
    shown = w.view()
    shown.flags.writeable = False
    return shown


def _are_same(one: Any, other: Any) -> bool:
    try:
        return bool(np.array_equal(one, other))
    except (TypeError, ValueError):  # outputs of the user's own kind need not be comparable
        return False


def _finite(value: Any, i: int, rule: str) -> float:
    if not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise ValueError(f"sample {i}: {rule}, got {value!r}")
    return float(value)


def _count(structure: Any, name: str) -> int:
    count = getattr(structure, name)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ValueError(f"{type(structure).__name__}.{name} must be a positive integer, got {count!r}")
    return int(count)
