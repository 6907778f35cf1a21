"""Incremental methods on smoothed hinges: SVRG, and Casimir, which accelerates it."""  # pillutla18

from .passes import SmoothedObjective, smoothed_objective
from .solver import SVRG, Casimir

__all__ = ["SVRG", "Casimir", "SmoothedObjective", "smoothed_objective"]
