"""One text at two speeds: generic verbs, compiled for registered NamedTuples, interpreted for everything else.

A *verb* is a generic function dispatched on the type of its first argument. Built-in structures and solver parts are
NamedTuples of arrays; their implementations are registered with :func:`implements` and serve both speeds: called from
Python they run as they are, called from a compiled loop Numba compiles them in. An object of any other class brings
its own method of the verb's name, and the loop around it runs interpreted. A *kernel* is such a loop.

The rooms: ``verbs`` (verbs and the functions they call), ``kernels`` (the loops), ``references`` (how NamedTuples
reach compiled code: one pointer each), ``parts`` (their types and what their fields may be), ``loads`` (how compiled
code reads them), ``inner`` (how what kernels call is compiled), ``folders`` and ``disk`` (where and how kernels are
kept).
"""

from .kernels import Kernel, kernel, runs_compiled
from .parts import PartType, plain
from .references import Reference
from .verbs import FAST, OPTIONS, helper, implements, routine, verb

__all__ = [
    "FAST",
    "OPTIONS",
    "Kernel",
    "PartType",
    "Reference",
    "helper",
    "implements",
    "kernel",
    "plain",
    "routine",
    "runs_compiled",
    "verb",
]
