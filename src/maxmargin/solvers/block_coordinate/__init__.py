"""Block-coordinate Frank-Wolfe: one loop, exchangeable parts."""

from .solver import BlockFrankWolfe, BlockState

__all__ = ["BlockFrankWolfe", "BlockState"]
