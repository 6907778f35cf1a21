"""Solvers whose blocks are factors: the greedy direction method of multipliers, and soft constraints in their place."""

from __future__ import annotations

from typing import Any

from ..._parameters import check_choice, check_count, check_not_negative, check_positive
from ...structures.factors import LabelSets, factored
from ...structures.needs import Need
from ...structures.pairwise import PairwiseProblem
from ..base import Solver
from .engine import FactorEngine, Settings
from .label_sets import LabelSetEngine
from .site_links import SiteLinkEngine
from .steps import AwayOrToBest, Projected, ToBest

STEPS = {"bcfw": Projected(), "bgcd": Projected(), "afw": AwayOrToBest()}
SEARCHES = {"ordered": True, "exhaustive": False}
ENGINES: dict[type, type[FactorEngine]] = {PairwiseProblem: SiteLinkEngine, LabelSets: LabelSetEngine}


class FactorSolver(Solver):
    """Base of the two."""

    family = FactorEngine.family
    estimates = False
    nu: int
    search: str

    def requires(self) -> set[Need]:
        return {Need.IN_MEMORY, self.kind, Need.FACTORS}

    def make(self, problem: Any, lam: float, n_jobs: int | None, step: Any, rho: Any, eta: float) -> FactorEngine:
        check_count("nu", self.nu)
        if rho is not None:
            check_positive("rho", rho)
        check_choice("search", self.search, SEARCHES)
        settings = Settings(step, rho, float(eta), int(self.nu), SEARCHES[self.search])
        return ENGINES[type(factored(problem))](problem, lam, self.box(problem), n_jobs, settings)


class GDMM(FactorSolver):
    """Greedy direction method of multipliers: every site and every link learns by itself, and messages make them agree.

    A step asks no labeling of a whole sample, only the best label of a site and the best pair of a link, which are
    found without looking at all K^2 pairs: made for thousands of labels. Weights come with an exact primal value, and
    the gap with a dual point in which factors agree, made from what they say. The history has `violation`, what
    distributions of factors that share a site differ by in the mean, and `visited`, how many of K^2 pairs a search
    looks at where neither label is known of; with sets of labels, how many of their pairs a visit looks at. Primal
    values of sets and of graphs with cycles are those of the relaxation, up to rounding from above.

    Parameters
    ----------
    inner_solver : {"bcfw", "bgcd", "afw"}, default="bcfw"
        How the outputs known of a factor share its mass: all at once, by a projection, "bcfw" or "bgcd"; or by a step
        to the best one, or away from the worst, "afw". The paper's "bgcd" is what happens with sets of labels, of whose
        many pairs few have anything to say: a visit to a sample works on those, and lists more where they need to be.
    rho : float or None, default=None
        What disagreement costs, in units of scores. None: half of ``1/(lam n)``, a twentieth with sets of labels.
    eta : float, default=1.0
        How far multipliers move, of the disagreement; 1 is the plain method of multipliers.
    nu : int, default=1
        A site's search looks at one of so many parts of the labels, drawn anew each time; 1 with sets of labels.
    search : {"ordered", "exhaustive"}, default="ordered"
        Whether pairs are searched by bounds on what they can be, or all looked at.
    gap_every : float, default=10
        Passes between two certificates.

    References
    ----------
    Yen et al. (2016), Dual decomposed learning with factorwise oracles for structural SVMs of large output domain.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import GDMM
    >>> from maxmargin.structures import make_chain_problem
    >>> problem = make_chain_problem(np.eye(4), np.array([0, 2, 4]), np.array([0, 1, 2, 2]), 3)
    >>> result = GDMM().solve(problem, 0.1, tol=1e-3, random_state=0)
    >>> print(result.status, result.gap <= 1e-3)
    converged True
    """

    def __init__(
        self,
        inner_solver: str = "bcfw",
        rho: float | None = None,
        eta: float = 1.0,
        nu: int = 1,
        search: str = "ordered",
        gap_every: float = 10,
    ):
        self.inner_solver = inner_solver
        self.rho = rho
        self.eta = eta
        self.nu = nu
        self.search = search
        self.gap_every = gap_every

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> FactorEngine:
        check_not_negative("eta", self.eta)
        check_choice("inner_solver", self.inner_solver, STEPS)
        return self.make(problem, lam, n_jobs, STEPS[self.inner_solver], self.rho, self.eta)


class SoftBCFW(FactorSolver):
    """Block Frank-Wolfe over factors whose disagreement is only penalised: what :class:`GDMM` is compared with.

    Without multipliers factors never quite agree, and weights stop short of the optimum, the further the smaller rho
    is; the larger it is, the slower they get there. The certificate tells how far that is.

    Parameters
    ----------
    rho : float or None, default=None
        What disagreement costs, in units of scores. None: half of ``1/(lam n)``.
    nu : int, default=1
        A site's search looks at one of so many parts of the labels, drawn anew each time.
    search : {"ordered", "exhaustive"}, default="ordered"
        Whether pairs are searched by bounds on what they can be, or all looked at.
    gap_every : float, default=10
        Passes between two certificates.

    References
    ----------
    Meshi et al. (2015), Efficient training of structured SVMs via soft constraints.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import SoftBCFW
    >>> from maxmargin.structures import make_chain_problem
    >>> problem = make_chain_problem(np.eye(4), np.array([0, 2, 4]), np.array([0, 1, 2, 2]), 3)
    >>> result = SoftBCFW(rho=10.0).solve(problem, 0.1, tol=1e-2, max_passes=200, random_state=0)
    >>> print(result.gap >= 0.0)
    True
    """

    def __init__(self, rho: float | None = None, nu: int = 1, search: str = "ordered", gap_every: float = 10):
        self.rho = rho
        self.nu = nu
        self.search = search
        self.gap_every = gap_every

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> FactorEngine:
        return self.make(problem, lam, n_jobs, ToBest(), self.rho, 0.0)
