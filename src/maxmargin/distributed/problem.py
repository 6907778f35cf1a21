"""A problem whose samples lie elsewhere, in partitions."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._compile import implements
from ..structures.needs import Need
from ..structures.verbs import find_corner, new_work


class Partitioned:
    """Samples in partitions, in the hands of a team; :class:`~.solver.Rounds` solves it.

    Parameters
    ----------
    team : team
        Who holds the partitions, see ``partitions.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.distributed import Partitioned, Rounds
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> parts = [make_multiclass_problem(np.eye(4)[some], np.array([0, 1, 2, 2])[some], 3) for some in ([0, 1], [2, 3])]
    >>> result = Rounds().solve(Partitioned.of_problems(parts, [2.0, 2.0]), 0.1, tol=1e-4, random_state=0)
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> alone = BlockFrankWolfe(step="pairwise").solve(problem, 0.1, tol=1e-4, random_state=0)
    >>> print(result.status, abs(result.primal - alone.primal) <= 1e-4)
    converged True
    """

    def __init__(self, team: Any):
        self.team = team
        self.parts = team.describe()
        widths = {part.dimension for part in self.parts}
        if len(widths) > 1:
            raise ValueError(f"partitions must have the same weights to learn, but have {sorted(widths)} of them")
        total = sum(part.weight for part in self.parts)
        if not abs(total - 1.0) <= 1e-9:
            raise ValueError(f"the weights of all samples must sum to 1 over the partitions, but sum to {total:g}")
        self.n = sum(part.n for part in self.parts)
        self.certifiable = all(part.certifiable for part in self.parts)

    @classmethod
    def of_problems(cls, problems: Sequence[Any], totals: Sequence[float]) -> Partitioned:
        """Problems here, each of which has samples of its own.

        Parameters
        ----------
        problems : list of problems
            With sample weights that sum to 1 each, as they are made.
        totals : list of float
            The sum of the sample weights of each, as they were given; where there were none, the number of samples.

        Returns
        -------
        problem : Partitioned
        """
        from .partitions import Here

        shares = np.asarray(totals, float) / np.sum(totals)
        return cls(Here([with_share(problem, share) for problem, share in zip(problems, shares, strict=True)]))

    @property
    def weight(self) -> np.ndarray:
        """As many numbers as there are samples; what they are, partitions know."""
        return np.broadcast_to(1.0 / self.n, self.n)

    def n_blocks(self) -> int:
        return self.n

    def dimension(self) -> int:
        return self.parts[0].dimension

    def offers(self) -> frozenset[Need]:
        return frozenset.intersection(*(part.offered for part in self.parts))

    def fingerprint_parts(self) -> list[np.ndarray]:
        return [np.array([part.mark for part in self.parts], np.int64)]


@implements(find_corner, Partitioned)
@implements(new_work, Partitioned)
def _(problem, *args):
    raise TypeError("samples in partitions are solved in rounds: take maxmargin.distributed.Rounds")


def with_share(problem: Any, share: float) -> Any:
    """A problem as part of a larger one, where its samples have this share of all weight."""
    if isinstance(problem, tuple):
        return problem._replace(weight=share * problem.weight)  # type: ignore[attr-defined]
    scaled = copy.copy(problem)
    scaled.weight = share * problem.weight
    return scaled
