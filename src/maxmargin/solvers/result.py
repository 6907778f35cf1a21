"""What every solver gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

COLUMNS = ("passes", "oracle_calls", "seconds", "primal", "dual", "gap")


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    MAX_PASSES = "max_passes"
    MAX_SECONDS = "max_seconds"
    CALLBACK = "callback"
    INTERRUPTED = "interrupted"
    UNCERTIFIED = "uncertified"  # the passes are done, but the oracle is approximate and gives no bound


@dataclass
class Record:
    """One row of the history, and the weights it certifies. Callbacks receive it; a true answer stops the solver."""

    passes: float
    oracle_calls: int
    seconds: float
    primal: float
    dual: float
    gap: float
    w: np.ndarray = field(repr=False)
    extras: dict[str, float] = field(default_factory=dict, repr=False)


@dataclass
class Result:
    """Weights and the certificate of how far from optimal they are.

    Attributes
    ----------
    w : the weights with the lowest primal value that was certified
    primal, dual : objective at `w`, and the best dual value; the optimum lies between them
    gap : ``primal - dual``, at least the true suboptimality of `w`
    dual_loss, dual_square : ``b'alpha`` and ``|lam A alpha|^2`` of the dual point behind `dual`, which make its value
        under any other lam
    status : why the solver stopped
    n_passes, n_oracle_calls : effort; oracle calls include those of the certificates
    history : dict of equally long arrays, one entry a certificate: passes, oracle_calls, seconds, primal, dual, gap;
        with a cache also cache_hits and cache_misses, accelerated also kappa, inner_passes and restarts
    state : hand it to ``solve(..., state=)`` to go on from here
    """

    w: np.ndarray = field(repr=False)
    primal: float
    dual: float
    gap: float
    dual_loss: float
    dual_square: float
    status: Status
    n_passes: float
    n_oracle_calls: int
    history: dict[str, np.ndarray] = field(repr=False)
    state: Any = field(repr=False)


def row_of(record: Record) -> dict[str, float]:
    return {**{column: getattr(record, column) for column in COLUMNS}, **record.extras}


def history_of(rows: list[dict[str, float]]) -> dict[str, np.ndarray]:
    return {column: np.array([row[column] for row in rows]) for column in rows[0]}
