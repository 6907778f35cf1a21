"""Labels of sites with links between them: chains, trees, graphs."""

# they register the verbs
from . import alike, blocks, changes, expectations, featured, labelings, moves, pairs, ranges, smoothed, sums
from .chain import make_chain_problem, make_chains
from .decoding import (
    decode,
    decode_log_probabilities,
    decode_marginals,
    decode_max_marginals,
    decode_top,
    decoding_work,
)
from .graph import links_of, potts_links_of
from .layout import PairwiseProblem, make_pairwise_problem
from .sites import make_sites
from .weights import PairwiseWeights

__all__ = [
    "PairwiseProblem",
    "PairwiseWeights",
    "alike",
    "blocks",
    "changes",
    "decode",
    "decode_log_probabilities",
    "decode_marginals",
    "decode_max_marginals",
    "decode_top",
    "decoding_work",
    "expectations",
    "featured",
    "labelings",
    "links_of",
    "make_chain_problem",
    "make_chains",
    "make_pairwise_problem",
    "make_sites",
    "moves",
    "pairs",
    "potts_links_of",
    "ranges",
    "smoothed",
    "sums",
]
