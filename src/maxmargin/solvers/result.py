"""What every solver gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from .report import certificate_html, certificate_rows

COLUMNS = ("passes", "oracle_calls", "seconds", "primal", "dual", "gap")


class Status(StrEnum):
    """Why a solver stopped; a status is a string, and compares with one.

    Attributes
    ----------
    CONVERGED : "converged"
        The certified gap is at most the tolerance.
    MAX_PASSES : "max_passes"
        The passes allowed are done.
    MAX_SECONDS : "max_seconds"
        The time allowed is over.
    CALLBACK : "callback"
        A callback answered that it is enough.
    INTERRUPTED : "interrupted"
        By the keyboard.
    UNCERTIFIED : "uncertified"
        The passes are done, but there is no bound on the optimum: the oracle is approximate, or the solver has no dual
        values.

    Examples
    --------
    >>> from maxmargin.solvers import Status
    >>> Status.CONVERGED == "converged"
    True
    >>> print(Status("max_passes"))
    max_passes
    """

    CONVERGED = "converged"
    MAX_PASSES = "max_passes"
    MAX_SECONDS = "max_seconds"
    CALLBACK = "callback"
    INTERRUPTED = "interrupted"
    UNCERTIFIED = "uncertified"


@dataclass
class Record:
    """One row of the history, and the weights it certifies. Callbacks receive it; a true answer stops the solver.

    Parameters
    ----------
    passes : float
        Passes over the data so far.
    oracle_calls : int
        Calls of the oracle so far, those of the certificates included.
    seconds : float
        Since the solver began.
    primal : float
        Objective at `w`.
    dual : float
        The best dual value so far; NaN where there is none.
    gap : float
        ``primal - dual``; infinite where there is no dual value.
    w : array of shape (d,)
        The weights.
    extras : dict of str to float, default={}
        Further columns of the history, such as cache_hits.
    effective_passes : float, default=nan
        What was paid: all oracle calls so far, those of the certificates included, over the number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> def low_enough(record):
    ...     return record.primal < 0.2
    >>> result = BlockFrankWolfe(step="pairwise").solve(problem, 0.1, callbacks=[low_enough], random_state=0)
    >>> result.primal < 0.2
    True
    """

    passes: float
    oracle_calls: int
    seconds: float
    primal: float
    dual: float
    gap: float
    w: np.ndarray = field(repr=False)
    extras: dict[str, float] = field(default_factory=dict, repr=False)
    effective_passes: float = np.nan


@dataclass
class Result:
    """Weights and the certificate of how far from optimal they are.

    Parameters
    ----------
    w : array of shape (d,)
        The weights with the lowest primal value that was certified; where those are all 0, others that are nearly as
        good, if there are any.
    primal : float
        Objective at `w`; the optimum is not above it.
    dual : float
        The best dual value; the optimum is not below it.
    gap : float
        ``primal - dual``, at least the true suboptimality of `w`.
    dual_loss : float
        ``b'alpha`` of the dual point behind `dual`; with `dual_square` it makes the value under any other lam.
    dual_square : float
        ``|lam A alpha|^2`` of the same point.
    status : Status
        Why the solver stopped.
    n_passes : float
        Passes over the data, certificates not counted.
    n_oracle_calls : int
        Calls of the oracle, those of the certificates included.
    history : dict of str to array
        Columns of equal length, one entry a certificate: passes, oracle_calls, seconds, primal, dual, gap, and
        effective_passes, which count certificates, too; with a cache also cache_hits and cache_misses, accelerated also
        kappa, inner_passes and restarts.
    state : State
        Hand it to ``solve(..., state=)`` to go on from here.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> solver = BlockFrankWolfe(step="pairwise")
    >>> rough = solver.solve(problem, 0.1, tol=0.1, random_state=0)
    >>> fine = solver.solve(problem, 0.1, tol=1e-6, state=rough.state)  # goes on where the other one stopped
    >>> rough.dual <= fine.primal <= rough.primal and fine.gap <= 1e-6
    True
    >>> list(fine.history)
    ['passes', 'oracle_calls', 'seconds', 'primal', 'dual', 'gap', 'effective_passes']
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

    def _repr_html_(self) -> str:
        rows = certificate_rows(self.status, self.primal, self.dual, self.gap, self.n_passes, self.history)
        return certificate_html("Result", rows)


def row_of(record: Record) -> dict[str, float]:
    names = (*COLUMNS, "effective_passes")
    return {**{name: getattr(record, name) for name in names}, **record.extras}


def history_of(rows: list[dict[str, float]]) -> dict[str, np.ndarray]:
    return {column: np.array([row[column] for row in rows]) for column in rows[0]}
