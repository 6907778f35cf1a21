"""What a solver may need of a structure that not every one has: named here, declared on both sides, checked once."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any


class Need(Enum):
    """A capability; its value is the error to raise where it is missing, and what to do then.

    Attributes
    ----------
    IN_MEMORY : Need
        All samples in memory, which those of a folder are not.
    HINGE : Need
        A maximum over outputs, as solvers of max-margin problems ask for it.
    LOG_LOSS : Need
        The logarithm of a sum over outputs in its place, see :class:`~maxmargin.structures.LogLoss`.
    EXPECTATIONS : Need
        Expectations over outputs, as exponentiated gradient asks for them.
    OPTIMA : Need
        The optimum of a block in closed form, as the optimal step asks for it.
    DECODING : Need
        Outputs found without losses, as the perceptron asks for them.
    BOUNDS : Need
        Weights that can be bounded.
    TOP_OUTPUTS : Need
        The best few outputs, as smoothing by squares asks for them.
    WEIGHTS : Need
        Weights of features that can be changed one by one, and may take any value.
    FACTORS : Need
        Samples that can be taken apart into sites and links, as GDMM asks for them.

    Examples
    --------
    >>> from maxmargin.solvers import ExponentiatedGradient
    >>> from maxmargin.structures.needs import Need
    >>> Need.EXPECTATIONS in ExponentiatedGradient().requires()
    True
    """

    IN_MEMORY = (
        TypeError,
        "all samples in memory, and these are on disk: take solver='auto', or BlockFrankWolfe(sampling='ranges') with "
        "steps to outputs ('fw', 'away', 'pairwise')",
    )
    HINGE = (
        TypeError,
        "the outputs that maximise, and a log-loss sums over all of them: take solver='auto', LBFGS() or "
        "BlockFrankWolfe(step='gibbs')",
    )
    LOG_LOSS = (
        TypeError,
        "the sum over outputs in place of the maximum: wrap the problem, maxmargin.structures.LogLoss(problem), or "
        "take another solver",
    )
    EXPECTATIONS = (
        TypeError,
        "expectations over outputs, which this structure does not give: a structure of your own needs "
        "exp_oracle(v, i, emphasis); elsewhere take another solver",
    )
    OPTIMA = (
        TypeError,
        "the optimum of a block in closed form, known for classes and label sets only: take step='pairwise' elsewhere",
    )
    DECODING = (
        TypeError,
        "outputs found without losses: give the structure a method decode(w, i) -> y, the output that maximises "
        "<w, joint_feature(i, y)>",
    )
    BOUNDS = (
        ValueError,
        "weights of features for lower, upper and positive to bound, and a model with a kernel has none: drop the "
        "bounds, or take kernel=None",
    )
    TOP_OUTPUTS = (
        TypeError,
        "the best few outputs, which this structure does not give: a structure of your own needs topk_oracle(w, i, k), "
        "the k outputs of highest loss(i, y) + <w, joint_feature(i, y)>, best first; or smooth by the entropy",
    )
    WEIGHTS = (
        ValueError,
        "weights of features that may take any value: a model with a kernel has none, and minimum cuts need weights of "
        "edges >= 0; take another solver",
    )
    FACTORS = (
        TypeError,
        "sites and links that can be learned one by one: chains and trees without edge features, masks and kernels, "
        "graphs learned by inference='lp', or sets of more than 16 labels that interact; take another solver",
    )


def check_needs(who: str, required: Iterable[Need], offered: Iterable[Need]) -> None:
    """Refuse a structure that lacks what a solver declares to require."""
    missing = set(required) - set(offered)
    for need in Need:  # in their order: what a problem is comes before what it can
        if need in missing:
            error, advice = need.value
            raise error(f"{who} needs {advice}")


def offered_if(**conditions: Any) -> frozenset[Need]:
    """The needs, by name, whose condition holds; and what all have but log-losses, and samples on disk."""
    return frozenset({Need.IN_MEMORY, Need.HINGE}) | frozenset(
        Need[name.upper()] for name, holds in conditions.items() if holds
    )
