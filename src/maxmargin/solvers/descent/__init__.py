"""Descent on the primal, without dual values: subgradient methods and the perceptron."""

from .perceptron import Perceptron
from .subgradient import Decay, Subgradient

__all__ = ["Decay", "Perceptron", "Subgradient"]
