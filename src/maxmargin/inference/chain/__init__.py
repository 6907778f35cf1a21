"""Linear chains: exact inference along sequences, the verbs of `verbs` for a ChainPlan."""

from .answers import ChainScratch
from .plan import ChainPlan

__all__ = ["ChainPlan", "ChainScratch"]
