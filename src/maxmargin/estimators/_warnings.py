"""What a fit says of a model that is not what was asked for."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..solvers import Result, Status

# A primal value this near to that of no weights, relative to it, is no better.
NO_BETTER = 1e-3

# The user's call: below it, the methods `fit`, `_fit` and `_learn`, the wrapper for callbacks, and the functions here.
STACKLEVEL = 7


def warn_of(result: Result, lam: float, goal: float) -> None:
    """Warn where a run stopped before its goal, and where nothing was learned."""
    if result.status == Status.INTERRUPTED:
        _warn(
            f"stopped by Ctrl-C after {_effort(result)}{_gap(result)}; the model is what was reached so far. "
            "Press Ctrl-C twice to break off instead"
        )
    elif result.status in GOALS and result.gap < np.inf:
        _warn(
            f"stopped after {_effort(result)}{_gap(result)}, above the goal of {goal:g}. "
            f"Raise {GOALS[result.status]}, tol or lam; the model is what was reached so far"
        )
    if not np.any(result.w):
        _warn(f"all weights are 0: every output scores the same, so that predictions are arbitrary. {_advice(result)}")
    elif result.status != Status.UNCERTIFIED and _is_no_better(result):
        _warn(
            f"no weights were found that do better than none: with lam={lam:g} the objective is {result.primal:.6g}, "
            f"and {result.history['primal'][0]:.6g} with all weights 0. Predictions follow the best direction "
            "found; lower lam if it is too large for these data, or look whether the features tell the labels at all"
        )


GOALS = {Status.MAX_PASSES: "max_passes", Status.MAX_SECONDS: "max_seconds"}


def _advice(result: Result) -> str:
    if result.n_passes == 0 and result.status in (Status.MAX_SECONDS, Status.INTERRUPTED):
        return "There was no time for a single pass: raise max_seconds, or let it run"
    if result.status == Status.CONVERGED:
        return "Nothing better is to be had under this lam and tol: lower them, or look whether features are all 0"
    return "Raise max_passes or max_seconds, or look whether features are all 0"


def _is_no_better(result: Result) -> bool:
    """Known where a run began without weights."""
    passes, primal = result.history["passes"], result.history["primal"]
    return len(primal) > 1 and passes[0] == 0.0 and result.primal >= (1.0 - NO_BETTER) * primal[0] > 0.0


def _effort(result: Result) -> str:
    history, passes = result.history, "pass" if result.n_passes == 1 else "passes"
    return (
        f"{result.n_passes:g} {passes} ({history['effective_passes'][-1]:.1f} with certificates) "
        f"and {history['seconds'][-1]:.3g} seconds"
    )


def _gap(result: Result) -> str:
    return f" with a duality gap of {result.gap:.2e}" if result.gap < np.inf else ""


def _warn(message: str) -> None:
    warnings.warn(message, ConvergenceWarning, stacklevel=STACKLEVEL)
