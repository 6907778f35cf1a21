"""The block-coordinate solver: parameters to parts."""

from __future__ import annotations

from typing import Any

from ...structures.needs import Need
from ...structures.verbs import offers
from ..base import Solver
from ..catalyst import Catalyst, as_catalyst
from ..engine import Engine
from ..parts.averaging import check_averaging
from ..parts.cache import Cache, as_cache, memory_for, rule_of
from ..parts.choice import as_part
from ..parts.gibbs_step import GibbsStep
from ..parts.inner_steps import INNER_STEPS, ExpectationStep
from ..parts.lengths import FixedLength
from ..parts.samplers import Ranges, Sampling, as_sampling
from ..parts.steps import STEPS, FrankWolfeStep, PairwiseStep, traits
from .engine import BlockEngine, Parts
from .pieces import PiecesEngine
from .windows import WindowsEngine
from .working_set import WorkingSetEngine


class BlockFrankWolfe(Solver):
    """Block-coordinate Frank-Wolfe: one sample a step, exact line search, certified duality gap.

    Parameters
    ----------
    sampling : {"uniform", "permutation", "gap", "active", "ranges"} or Sampling, default="uniform"
        Blocks drawn with replacement, each pass a new order of all, in proportion to the last known block gaps,
        orders of all with orders of those alone that had a gap between them, or orders of all in which a few ranges
        come at a time, as samples on disk need them.
    averaging : {None, "weighted"}, default=None
        Whether to keep the average of the iterates, too, weighted towards the late ones. The iterate or the average is
        returned, whichever has the lower primal value.
    line_search : bool, default=True
        The exact step; False takes ``2n / (k + 2n)``, with Frank-Wolfe steps only.
    gap_every : float, default=10
        Passes between two certificates.
    step : {"fw", "away", "pairwise", "optimal", "expectation", "exponentiated", "gibbs"} or a step, default="fw"
        Away and pairwise steps know the outputs that hold dual mass, and converge linearly. The optimal step, for
        classes, makes a block as good as it can be while the others stay. Expectation and exponentiated steps begin
        inside the simplex and go to expectations over outputs. Gibbs steps are those of log-losses.
    cache : bool or Cache, default=False
        Whether to ask remembered outputs before the oracle.
    safeguard : bool, default=False
        With pairwise and expectation steps, take the Frank-Wolfe step where it gains more.
    lower : float, array or None, default=None
        Lower bounds on w, a number or one for each weight.
    upper : float, array or None, default=None
        Upper bounds on w.
    positive : indices, mask, slice or None, default=None
        Weights that must be >= 0.
    acceleration : {None, "catalyst"} or Catalyst, default=None
        Solve a sequence of proximal problems, which are easier where lam is small. Averages, if wanted, are then those
        of the late iterates.
    working_set : bool, default=False
        For structures in plain Python: ask the oracle for all samples, list what it answers, and work through the
        outputs listed, by compiled steps, before it is asked again. Passes are then those of the oracle, and each comes
        with an exact value.
    pieces : int or None, default=None
        For chains: cut those that are longer into pieces of so many positions, about, each a block of its own. The
        certificate stays that of the whole. After some passes cuts move to where labels are sure, and when the gap
        stops falling, pieces become longer.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> result = BlockFrankWolfe(sampling="permutation", step="pairwise").solve(problem, 0.1, tol=1e-6, random_state=0)
    >>> print(result.status, result.gap <= 1e-6, f"{result.primal:.4f}")
    converged True 0.1267
    """

    @property
    def family(self) -> str:  # type: ignore[override]
        if self.working_set:
            return WorkingSetEngine.family
        return BlockEngine.family if self.pieces is None else PiecesEngine.family

    def __init__(
        self,
        sampling: str | Sampling = "uniform",
        averaging: str | None = None,
        line_search: bool = True,
        gap_every: float = 10,
        *,
        step: Any = "fw",
        cache: bool | Cache = False,
        safeguard: bool = False,
        lower: Any = None,
        upper: Any = None,
        positive: Any = None,
        acceleration: str | Catalyst | None = None,
        working_set: bool = False,
        pieces: int | None = None,
    ):
        self.sampling = sampling
        self.averaging = averaging
        self.line_search = line_search
        self.gap_every = gap_every
        self.step = step
        self.cache = cache
        self.safeguard = safeguard
        self.lower = lower
        self.upper = upper
        self.positive = positive
        self.acceleration = acceleration
        self.working_set = working_set
        self.pieces = pieces

    @property
    def kind(self) -> Need:  # type: ignore[override]
        return traits(self.chosen_step()).kind

    def requires(self) -> set[Need]:
        needs = super().requires() | traits(self.chosen_step()).requires
        return needs - {Need.IN_MEMORY} if self.takes_windows else needs

    @property
    def takes_windows(self) -> bool:
        """Whether a few ranges of the samples are enough to have in memory at a time."""
        in_ranges = isinstance(as_sampling(self.sampling, knows_gaps=True), Ranges)
        to_outputs = traits(self.chosen_step()).takes_outputs
        return in_ranges and to_outputs and not self.working_set and self.pieces is None

    def engine(self, problem: Any, lam: float, n_jobs: int | None) -> Engine:
        self.check_together()
        if Need.IN_MEMORY not in offers(problem):
            parts = self.parts(problem.window(0, 1))
            return WindowsEngine(problem, lam, self.box(problem), n_jobs, parts, as_cache(self.cache))
        if self.working_set:
            return WorkingSetEngine(problem, lam, self.box(problem), n_jobs, self.parts, self.gap_every)
        if self.pieces is not None:
            return PiecesEngine(problem, lam, self.box(problem), n_jobs, self.parts, self.pieces)
        return BlockEngine(problem, lam, self.box(problem), n_jobs, self.parts(problem))

    def parts(self, problem: Any) -> Parts:
        """What the parameters mean for a problem."""
        return self.parts_with(memory_for(problem, self.chosen_step(), as_cache(self.cache)))

    def parts_with(self, memory: Any) -> Parts:
        """The same with a memory of outputs that is there already."""
        return Parts(
            sampling=as_sampling(self.sampling, knows_gaps=True),
            step=self.chosen_step(),
            cache=rule_of(as_cache(self.cache)),
            memory=memory,
            averages=self.averaging is not None,
            acceleration=as_catalyst(self.acceleration),
        )

    @property
    def estimates(self) -> bool:  # type: ignore[override]
        return traits(self.chosen_step()).finds_corners

    def check_together(self) -> None:
        """Refuse parts that do not go with the step."""
        check_averaging(self.averaging)
        step, rule = self.chosen_step(), as_cache(self.cache)
        able, sampling = traits(step), as_sampling(self.sampling, knows_gaps=True)
        if self.acceleration is not None and isinstance(getattr(step, "length", None), FixedLength):
            raise ValueError("line_search=False goes without acceleration: its steps know one problem only")
        refusals = {
            "a cache goes with steps to outputs": rule is not None and not able.takes_outputs,
            "acceleration goes with steps that find corners": self.acceleration is not None and not able.finds_corners,
            "sampling by gaps goes with steps that find them": not able.knows_gaps and sampling.follows_gaps,
            "working sets go with steps to outputs": self.working_set and able.begins_inside,
            "pieces go with steps to outputs": self.pieces is not None and able.begins_inside,
        }
        for reason, refused in refusals.items():
            if refused:
                raise ValueError(f"{reason}, not with step={self.step!r}")

    def chosen_step(self) -> Any:
        """The step part that `step`, `line_search`, `safeguard` and `acceleration` mean together."""
        named = STEPS | INNER_STEPS | {"gibbs": GibbsStep()}
        step = as_part("step", self.step, named, type(self.step) in traits.table)  # type: ignore[attr-defined]
        if not self.line_search:
            if not isinstance(step, FrankWolfeStep):
                raise ValueError(f"line_search=False goes with Frank-Wolfe steps only, not with step={self.step!r}")
            step = step._replace(length=FixedLength())
        if self.safeguard:
            if not isinstance(step, PairwiseStep | ExpectationStep):
                raise ValueError(
                    f"safeguard=True goes with pairwise and expectation steps only, not with step={self.step!r}"
                )
            step = step._replace(safeguard=True)
        if self.acceleration is not None and isinstance(step, ExpectationStep):
            step = step._replace(safeguard=True)  # whether a proximal problem is solved, exact gaps alone say
        return step
