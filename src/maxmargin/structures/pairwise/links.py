"""Links between sites whose pairs of labels have weights: which there are, and what learning does with them.

Links of one kind share a (K, K) table of weights, the row for the label of the tail, the column for that of the head;
their marginals need be known only as the sum over a block, see :mod:`.alike`. Links with features are in
:mod:`.featured`. The verbs are the links' parts of those in :mod:`~..verbs`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._compile import implements, verb
from ..rows import Rows

# More memory than this for the dual state is asked for by mistake.
MOST_BYTES = 64e9


@verb
def n_links(links, sites, i):
    """Number of links of sample i."""


@verb
def tail(links, i, e):
    """First site of link e of sample i, counted inside the sample."""


@verb
def head(links, i, e):
    """Second site of it."""


@verb
def n_link_rows(links):
    """Rows of weights."""


@verb
def link_width(links, n_labels):
    """Weights of a row: one for each pair of labels that has its own."""


@verb
def new_kept(links, n, n_labels):
    """Room for the marginals of the links of n samples, all zero: a part, with the verbs below that begin with it."""


@verb
def announce_links(kept, i):
    """Those of block i will be wanted soon."""


@implements(announce_links, object)
def _(kept, i):
    return None


@verb
def n_kept(links, sites, n_labels):
    """How many marginals there are then, with all mass on the true labels."""


@verb
def keeps_pairs(links):
    """Whether marginals are those of pairs of labels, as expectations find them."""


@verb
def is_one_table(links):
    """Whether links have one table of weights and no mask, so that each can be learned by itself."""


@verb
def n_pool_tables(links):
    """Tables of scores the largest sample needs room for."""


@verb
def new_link_buffer(links, n_pairs):
    """Room for what links are spread over, a row for each row of weights, where norms are summed there."""


@verb
def prepare_links(links, work, weights, i):
    """Find the scores of the links of sample i, where they are not the weights themselves."""


@verb
def link_scores(links, work, weights, i):
    """Those scores, masked: a flat array of tables."""


@verb
def score_labeling(links, sites, work, weights, i, labels):
    """The links' share of the score of a labeling, which the mask allows."""


@verb
def score_marginals(kept, links, work, weights, i):
    """``<theta, mu>`` of the links of block i. A forbidden pair has no mass, and -inf times 0 must not count."""


@verb
def link_norm(kept, direction, links, sites, work, i):
    """``|D|^2`` of a direction D in the features of the links."""


@verb
def move_links(kept, direction, links, sites, work, weights, i, gamma, scale):
    """As ``move``."""


@verb
def add_link_direction(kept, direction, links, sites, work, weights, i, scale):
    """As ``add_direction``."""


@verb
def settle_links(kept, expectation, links, i):
    """As ``settle_block``."""


@verb
def new_mixture_tables(links, n_labels):
    """Room for the marginals of the links of a sample, as they are kept, of a mixture of labelings."""


@verb
def clear_mixture(links, i, tables):
    """No labeling has any share."""


@verb
def mix_links(links, sites, i, labels, mass, tables):
    """A labeling gets a share."""


@verb
def most_link_ranges(links):
    """How many ranges of weights the links of a sample have at most."""


@verb
def list_link_ranges(links, i, first, width, support, count):
    """As ``list_ranges``, of the links of sample i."""


@verb
def accumulate_links(kept, totals, links, i, amount):
    """As ``accumulate``."""


@verb
def add_marginals(kept, links, sites, labels, work, i, scale, mass, weights):
    """As ``add_block``; `labels` are the true ones of the sample."""


@verb
def add_difference(links, sites, labels, work, i, scale, weights):
    """As ``add_corner``."""


@verb
def add_expected(links, sites, labels, expectation, work, i, scale, weights):
    """As ``add_expectation``; `labels` are the true ones of the sample."""


@verb
def ends_of(links, sites):
    """Of all links: the sample, and the tail and the head, counted over all sites. For Python only."""


@verb
def set_truth(kept, links, sites, labels):
    """All mass on the true labels, where there was none; returns what is kept then. For Python only."""


@verb
def n_tables(links, n):
    """Tables of scores that n samples have: one a sample, or one a link."""


@verb
def first_table(links, i):
    """Which of them is the first of sample i."""


@verb
def tables_of(links, i):
    """How many it has; tables of scores are as many."""


@verb
def gather_marginals(links, sites, expectation, i):
    """`expectation.every_edge`, the marginals of each link, as the tables that are kept."""


@verb
def put_marginals(kept, links, i, tables):
    """The marginals of block i, which has all room, become these, (K, K) for each link."""


class Successive(NamedTuple):
    """Each site is linked to the next one: a chain."""

    mask: np.ndarray  # (K, K) 0 or -inf, or empty


class Joined(NamedTuple):
    """Each site is linked to the next one, in pieces of chains that see their neighbours; see :mod:`.pieces`."""

    mask: np.ndarray  # empty
    offsets: np.ndarray  # (n + 1,) of the pieces
    follows: np.ndarray  # (n + 1,) bool: whether a piece goes on where the one before ends
    node: np.ndarray  # (N, K) marginals of all sites: the memory of the dual state


@implements(n_links, Successive, Joined)
def _(links, sites, i):
    return sites.offsets[i + 1] - sites.offsets[i] - 1


@implements(tail, Successive, Joined)
def _(links, i, e):
    return e


@implements(head, Successive, Joined)
def _(links, i, e):
    return e + 1


class Alike(NamedTuple):
    """Links as listed, all with the same weights."""

    mask: np.ndarray  # (K, K) 0 or -inf, or empty
    offsets: np.ndarray  # (n + 1,)
    tails: np.ndarray  # (E,) int32, counted inside the sample
    heads: np.ndarray  # (E,) int32


class Featured(NamedTuple):
    """Links as listed, with features; each has a score table and marginals of its own, see :mod:`.featured`."""

    mask: np.ndarray  # (K, K) 0 or -inf, or empty
    offsets: np.ndarray  # (n + 1,)
    tails: np.ndarray  # (E,) int32, counted inside the sample
    heads: np.ndarray  # (E,) int32
    rows: Rows  # (E, R)
    n_rows: int  # R
    most: int  # links of the largest sample


class Potts(NamedTuple):
    """Links as listed whose features count where the labels of their ends differ, whatever they are."""

    mask: np.ndarray  # empty
    offsets: np.ndarray  # (n + 1,)
    tails: np.ndarray  # (E,) int32, counted inside the sample
    heads: np.ndarray  # (E,) int32
    rows: Rows  # (E, R)
    n_rows: int  # R
    most: int  # links of the largest sample


@implements(n_kept, Successive, Joined)
def _(links, sites, n_labels):
    return sites.offsets[-1] - len(sites.offsets) + 1


@implements(n_kept, Alike, Potts)
def _(links, sites, n_labels):
    return len(links.tails)


@implements(n_kept, Featured)
def _(links, sites, n_labels):
    return len(links.tails) * n_labels**2


@implements(ends_of, Successive, Joined)
def _(links, sites):
    lengths = np.diff(sites.offsets)
    tails = np.delete(np.arange(sites.offsets[-1]), sites.offsets[1:] - 1)
    return np.repeat(np.arange(len(lengths)), lengths - 1), tails, tails + 1


@implements(ends_of, Alike, Featured, Potts)
def _(links, sites):
    samples = np.repeat(np.arange(len(links.offsets) - 1), np.diff(links.offsets))
    first = sites.offsets[samples]
    return samples, first + links.tails, first + links.heads


@implements(n_links, Alike, Featured, Potts)
def _(links, sites, i):
    return links.offsets[i + 1] - links.offsets[i]


@implements(tail, Alike, Featured, Potts)
def _(links, i, e):
    return links.tails[links.offsets[i] + e]


@implements(head, Alike, Featured, Potts)
def _(links, i, e):
    return links.heads[links.offsets[i] + e]


@implements(link_width, Successive, Joined, Alike, Featured)
def _(links, n_labels):
    return n_labels * n_labels


@implements(link_width, Potts)
def _(links, n_labels):
    return 1


@implements(keeps_pairs, Successive, Joined, Alike, Featured)
def _(links):
    return True


@implements(keeps_pairs, Potts)
def _(links):
    return False


@implements(is_one_table, Successive, Alike)
def _(links):
    return links.mask.shape[0] == 0


@implements(is_one_table, Joined, Featured, Potts)
def _(links):
    return False
