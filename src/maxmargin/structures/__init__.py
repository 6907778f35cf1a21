"""Structures: data laid out for learning, and what solvers may ask of it."""

from typing import Any

from . import stored  # noqa: F401  (says what of it may be in model files)
from .custom import CustomProblem
from .likelihood import LogLoss, make_log_loss
from .masks import TransitionMask, bio_mask
from .multiclass import MulticlassProblem, make_multiclass_problem
from .multilabel import MultilabelProblem, make_multilabel_problem
from .on_disk import StoredChains
from .pairwise import PairwiseProblem, make_chain_problem
from .smoothing import EntropySmoothing, L2Smoothing
from .verbs import find_corner

__all__ = [
    "CustomProblem",
    "EntropySmoothing",
    "L2Smoothing",
    "LogLoss",
    "MulticlassProblem",
    "MultilabelProblem",
    "PairwiseProblem",
    "TransitionMask",
    "as_problem",
    "bio_mask",
    "make_chain_problem",
    "make_log_loss",
    "make_multiclass_problem",
    "make_multilabel_problem",
]

BY_THEMSELVES = (CustomProblem, StoredChains)  # problems whose kernels run on something else


def as_problem(structure: Any) -> Any:
    """A problem as it is; a user's own structure with the verbs added.

    Parameters
    ----------
    structure : object
        A problem that is built in, a `CustomProblem`, or a structure that can become one.

    Returns
    -------
    problem : object
        What solvers take.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.structures import as_problem, make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> as_problem(problem) is problem
    True
    >>> class Signs:  # outputs are -1 and 1
    ...     n_samples, n_features, x, y = 3, 1, [2.0, -1.0, 3.0], [1, -1, 1]
    ...     def joint_feature(self, i, y): return np.array([y * self.x[i]])
    ...     def loss(self, i, y): return float(y != self.y[i])
    ...     def max_oracle(self, w, i): return max((-1, 1), key=lambda y: self.loss(i, y) + y * self.x[i] * w[0])
    >>> type(as_problem(Signs())).__name__
    'CustomProblem'
    """
    if type(structure) in find_corner.table or isinstance(structure, BY_THEMSELVES):  # type: ignore[attr-defined]
        return structure
    return CustomProblem(structure)
