"""Block-coordinate methods: one loop over parts."""

from .engine import BlockEngine, Parts
from .solver import BlockFrankWolfe

__all__ = ["BlockEngine", "BlockFrankWolfe", "Parts"]
