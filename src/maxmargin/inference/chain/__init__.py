"""Linear chains: exact inference along sequences, the verbs of `verbs` for a ChainPlan and a SparseChainPlan."""

from .answers import ChainScratch
from .plan import ChainPlan, SparseChainPlan

__all__ = ["ChainPlan", "ChainScratch", "SparseChainPlan"]
