"""Sets of labels with all pairs of interactions: the solvers of Figure 3, by what they reach in some seconds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

from maxmargin import MultilabelSVM, datasets
from maxmargin.solvers import GDMM, BlockFrankWolfe, SoftBCFW, Subgradient, get_solver

from .runs import AUTO, BCFW, GDMM_ALL, GDMM_EXACT, SOFT, SOFT_RHOS, SSG, Run, follow

SHARES = (1.0, 0.1)  # above the lowest value known; a certificate of the others takes an oracle call a sample


class SetTask(NamedTuple):
    """A problem over sets of labels, by the rule for lam, and samples to test on."""

    encoded: Any
    X_test: Any
    y_test: np.ndarray
    error: None = None  # of every look: prediction would take longer than learning

    @property
    def problem(self) -> Any:
        return self.encoded.problem

    @property
    def lam(self) -> float:
        return self.encoded.units.lam

    def scores(self, w: np.ndarray) -> tuple[float, float]:
        """Hamming loss and micro-F1."""
        found = self.encoded.model(w).predict(self.X_test).toarray()
        return float(np.mean(found != self.y_test)), float(f1_score(self.y_test, found, average="micro"))


def label_sets(name: str, n_train: int, n_test: int) -> SetTask:
    data = datasets.fetch_multilabel(name)
    encoded = MultilabelSVM(interactions="pairwise", inference="lp").encode(
        data.X_train[:n_train], data.y_train[:n_train]
    )
    return SetTask(encoded, data.X_test[:n_test], data.y_test[:n_test].toarray())


def set_solvers(task: SetTask) -> dict[str, Any]:
    unit = 1.0 / (task.lam * len(task.problem.weight))
    return {
        GDMM_EXACT: GDMM(),
        GDMM_ALL: GDMM(search="exhaustive"),
        **{SOFT.format(rho): SoftBCFW(rho=rho * unit) for rho in SOFT_RHOS},
        BCFW: BlockFrankWolfe(averaging="weighted"),
        AUTO: get_solver("auto", task.problem),
        SSG: Subgradient(),
    }


def set_table(name: str, task: SetTask, limit: float, most: int) -> dict[str, Run]:
    """All solvers on a problem; values are those of the relaxation."""
    found = {
        solver: follow(one, task.problem, task, limit=limit, most=most) for solver, one in set_solvers(task).items()
    }
    known = GDMM().solve(task.problem, task.lam, tol=1e-4, max_seconds=4 * limit, max_passes=10 * most, random_state=0)
    best = min(known.primal, *(run.primal[-1] for run in found.values()))
    n, n_labels = task.problem.structure.present.shape
    print(f"\n{name}: {n} sets of {n_labels} labels; lowest value known {best:.5f}, dual bound {known.dual:.5f}")
    goals = "".join(f"{f's to {share:.0%}':>10}" for share in SHARES)
    print(f"{'':16}{'passes':>8}{'s a pass':>10}{goals}{'primal':>10}{'Hamming':>10}{'micro-F1':>10}")
    for solver, run in found.items():
        times = "".join(f"{run.time_to((1 + share) * best):10.2f}" for share in SHARES)
        wrong, f1 = task.scores(run.w.weights())
        ends = f"{run.passes[-1]:8.1f}{run.seconds[-1] / run.passes[-1]:10.3f}"
        print(f"{solver:16}{ends}{times}{run.primal[-1]:10.4f}{wrong:10.4f}{f1:10.3f}", flush=True)
    return found
