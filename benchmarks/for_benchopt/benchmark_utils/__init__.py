"""What the benchopt files of this folder share; benchopt puts it on the path under this name."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from benchopt import BaseDataset, BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion

from maxmargin.structures.verbs import offers

ROOT = Path(__file__).resolve().parents[3]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # benchopt's command does not look into the current folder

from benchmarks._trials import Trial, load_trial  # noqa: E402
from benchmarks.figures.peers import CrfSuite, fitted_svc, packed  # noqa: E402, F401

TOL = 1e-8


class TrialDataset(BaseDataset):
    """A data set of `benchmarks._trials`, or its first samples."""

    def trial_name(self) -> str:
        return self.name

    def get_data(self) -> dict[str, Trial]:
        return {"trial": load_trial(self.trial_name(), self.n_samples)}


class MaxMarginSolver(BaseSolver):
    """One of our solvers, looked at after each of its certificates; a subclass makes it."""

    sampling_strategy = "callback"
    # the best primal value so far stays that of no weights at all for a while, where steps are long at first
    stopping_criterion = SufficientProgressCriterion(strategy="callback", patience=20)
    requirements = ["pip::maxmargin"]

    def make(self, problem: Any, lam: float) -> Any:
        raise NotImplementedError

    def skip(self, trial: Trial, lam: float) -> tuple[bool, str | None]:
        missing = self.make(trial.problem, lam).requires() - offers(trial.problem)
        return bool(missing), f"the structure does not offer {', '.join(need.name.lower() for need in missing)}"

    def set_objective(self, trial: Trial, lam: float) -> None:
        self.problem, self.lam = trial.problem, lam
        self.seed = self.get_seed(use_repetition=True)

    def warm_up(self) -> None:
        self.run_once()  # kernels compile

    def run(self, callback: Any) -> None:
        def look(record: Any) -> bool:
            self.w = record.w
            return not callback()

        self.make(self.problem, self.lam).solve(
            self.problem, self.lam, tol=TOL, max_passes=np.inf, callbacks=[look], random_state=self.seed
        )

    def get_result(self) -> dict[str, Any]:
        return {"w": self.w}
