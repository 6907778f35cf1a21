"""Data as a problem for solvers, and the way back from weights to a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..solvers import Solver, get_solver
from ._scaling import Units

SPARSE = "lbfgs"  # the solver for an L1 penalty


@dataclass(frozen=True)
class Encoded:
    """What an estimator makes of data: a problem that every solver takes, and how its weights become a model.

    Attributes
    ----------
    estimator : estimator
        That which has encoded the data; it is not changed.
    problem : structure
        What solvers take.
    units : Units
        The scaling of features and losses in the problem, and what ``lam=None`` means.
    fitted : dict
        Attributes of the model that do not depend on the weights.
    unpack : function
        Attributes from the flat weights.
    positive : array of int or None
        Indices of weights that must be >= 0, or the problem could not be solved.
    l1 : float
        Penalty of the sum of absolute weights.

    Examples
    --------
    >>> from maxmargin import MulticlassSVM
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> encoded = MulticlassSVM().encode([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    >>> result = encoded.solver(BlockFrankWolfe()).solve(encoded.problem, lam=0.1, tol=1e-3, random_state=0)
    >>> encoded.model(result.w).predict([[0.0], [2.0]]).tolist()
    ['a', 'b']
    """

    estimator: Any
    problem: Any
    units: Units
    fitted: dict[str, Any]
    unpack: Callable[[np.ndarray], dict[str, Any]]
    positive: np.ndarray | None = None
    l1: float = 0.0

    def attributes(self, w: np.ndarray) -> dict[str, Any]:
        """What a model with these weights has, but for its certificate."""
        return {**self.fitted, **self.unpack(w), "scaling_": self.units.scaling}

    def model(self, w: np.ndarray, **certificate: Any) -> Any:
        """A fitted copy of the estimator.

        Parameters
        ----------
        w : array
            Flat weights, as a solver gives them.
        **certificate
            Further attributes.

        Returns
        -------
        model : estimator
        """
        model = clone(self.estimator)
        model._become({**self.attributes(w), **certificate})
        return model

    def solver(self, solver: Any = "auto") -> Solver:
        """The solver itself, or the one that a name means, with the bounds and the penalty that go with the problem.

        Parameters
        ----------
        solver : str or solver object

        Returns
        -------
        solver : Solver
        """
        if self.l1:
            return self._with_penalty(solver)
        chosen = get_solver(solver, self.problem)
        if self.positive is None:
            return chosen
        if "positive" not in chosen.get_params():
            raise ValueError(
                f"weights must be >= 0 here, but {type(chosen).__name__} keeps no bounds: take another solver"
            )
        if not (chosen.lower is None and chosen.upper is None and chosen.positive is None):
            raise ValueError("weights are kept >= 0 here: leave lower, upper and positive of the solver out")
        return clone(chosen).set_params(positive=self.positive)

    def _with_penalty(self, solver: Any) -> Solver:
        chosen = get_solver(SPARSE if isinstance(solver, str) and solver == "auto" else solver, self.problem)
        if "l1" not in chosen.get_params():
            raise ValueError(
                f'l1={self.l1:g} is for solver="{SPARSE}", which "auto" then is: {type(chosen).__name__} has no such '
                "penalty"
            )
        if chosen.l1:
            raise ValueError("l1 is given by the estimator: leave it out of the solver")
        return clone(chosen).set_params(l1=self.l1)
