"""Linear chains: layout, scoring, dual state of the blocks, remembered labelings."""

from . import blocks, labelings  # they register the verbs
from .layout import ChainProblem, Chains, chain_work, make_chain_problem, make_chains
from .scoring import decode, decode_max_marginals

__all__ = [
    "ChainProblem",
    "Chains",
    "blocks",
    "chain_work",
    "decode",
    "decode_max_marginals",
    "labelings",
    "make_chain_problem",
    "make_chains",
]
