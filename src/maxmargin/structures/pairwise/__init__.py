"""Labels of sites with links between them: chains, trees, graphs."""

from . import blocks, featured, labelings  # they register the verbs
from .chain import make_chain_problem, make_chains
from .decoding import decode, decode_marginals, decode_max_marginals, decode_top
from .layout import PairwiseProblem, pairwise_work

__all__ = [
    "PairwiseProblem",
    "blocks",
    "decode",
    "decode_marginals",
    "decode_max_marginals",
    "decode_top",
    "featured",
    "labelings",
    "make_chain_problem",
    "make_chains",
    "pairwise_work",
]
