"""Learning from samples that come in parts."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

from .._parameters import count_threads
from ..solvers import Solver, get_solver
from ..solvers.joining import check_joinable, earlier, solver_for_more
from ..solvers.presets import PRESETS
from ._base import MaxMarginEstimator
from ._encoded import Encoded
from ._kernels import PRECOMPUTED


class LearnsInParts(MaxMarginEstimator):
    """Base of estimators with ``partial_fit``: samples, once read, are kept, and others join them.

    After every part the objective is that of `fit` on all samples so far, lam and units included. Dual variables are
    distributions over the outputs of single samples, which know neither: those of earlier samples stay, see
    docs/continued_training.md.
    """

    _samples: Any
    _chooses_lam = False  # by cross-validation, whatever `lam` says

    @abstractmethod
    def _read(self, X: Any, y: Any, classes: Any, first: Any, /, *args: Any, **given: Any) -> Any:
        """Check samples, which join the `first` ones if there are any, and lay them out; `joined` adds others."""

    @abstractmethod
    def _pose(self, samples: Any) -> Encoded:
        """Make a problem of all samples."""

    def encode(self, X: Any, y: Any, *args: Any, **given: Any) -> Encoded:
        return self._pose(self._read(X, y, None, None, *args, **given))

    def _fit_part(self, X: Any, y: Any, classes: Any, **given: Any) -> None:
        """Let samples join those of earlier calls, and solve the problem of all."""
        count_threads(self.n_jobs)
        first = getattr(self, "_samples", None)
        self._refuse_parts(first)
        more = self._read(X, y, classes, first, **given)
        samples = more if first is None else first.joined(more)
        encoded = self._pose(samples)
        solver = solver_for_more(encoded.solver(self.solver), encoded.problem)
        state = None if first is None else earlier(self._state, solver, encoded.problem)
        self._learn(encoded, solver, self._regularization(encoded), state, None, {"_samples": samples}, X, y, **given)

    def _refuse_parts(self, first: Any) -> None:
        if isinstance(self.lam, str):
            raise ValueError('lam="cv" is chosen by all samples at once: give partial_fit a number, or None')
        if self.checkpoint is not None:
            raise ValueError("checkpoint is for fit: a file has one run, and every part is another one")
        if first is None and self.__sklearn_is_fitted__():
            warnings.warn(
                "fit keeps no samples for others to join, nor do model files: partial_fit begins anew, with these; to "
                "go on later, begin with partial_fit, and keep the model or a pickle of it",
                UserWarning,
                stacklevel=5,
            )


def takes_parts(model: Any) -> bool:
    """Whether a model's solver can go on where samples join; an error that says why not."""
    if model._chooses_lam:
        raise ValueError("cross-validation chooses lam by all samples at once")
    kernel = getattr(model, "kernel", None)
    if isinstance(kernel, str) and kernel == PRECOMPUTED:
        raise ValueError('kernel="precomputed" has a column for each training sample: give the function instead')
    if getattr(model, "l1", 0.0):
        raise ValueError("an L1 penalty is for L-BFGS, which has no dual variables of single samples")
    if isinstance(model.solver, Solver) or (isinstance(model.solver, str) and model.solver in PRESETS):
        check_joinable(get_solver(model.solver))  # what is no solver, solving refuses
    return True
