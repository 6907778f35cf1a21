"""What of runs in rounds may be in files: their solver in those of models, their states in checkpoints."""

from __future__ import annotations

from ..persistence import storable
from ..solvers.known import CLASSES
from .local import LocalState
from .pace import Pace
from .solver import Rounds

storable(Rounds)
CLASSES.know(LocalState, Pace)
