"""Block-coordinate Frank-Wolfe: one loop, exchangeable parts."""

from .engine import BlockState
from .solver import BlockFrankWolfe, Cache

__all__ = ["BlockFrankWolfe", "BlockState", "Cache"]
