"""Samples of sites and links laid out flat: problems to learn, dual state, scratch.

Flat weights are ``[sites (F + extras, K) | links (R, K, K)]``, the latter (R,) for Potts links. With kernel rows theirs
stand for the F features, see :class:`~..rows.KernelRows`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, plain
from ..._thin import thin_zeros
from ..._threads import sweep
from ...inference.verbs import can_sum, forget_tables, is_tight, needs_submodular, new_scratch
from ..needs import offered_if
from ..rows import flat_inner, has_features, stored
from ..verbs import (
    check_weights,
    dimension,
    forget_weights,
    inner,
    lacks_room,
    lacks_room_to_add,
    n_blocks,
    new_blocks,
    new_totals,
    new_work,
    offers,
    with_all_room,
    with_room,
    with_room_to_add,
)
from .links import (
    MOST_BYTES,
    is_one_table,
    keeps_pairs,
    link_width,
    n_kept,
    n_link_rows,
    n_pool_tables,
    new_kept,
    new_link_buffer,
    set_truth,
)
from .room import links_lack_room, links_with_all_room, links_with_room, sums_lack_room, sums_with_room
from .sites import Sites, fill_gram

# A block's Gram matrix is kept while its pairs of sites number at most this many times its non-zeros.
GRAM_PAIRS_PER_NONZERO = 4
# And while making it costs no more than some passes: T^2 F / 2 against T F K.
GRAM_LENGTH_PER_LABEL = 16


# Rows are zero from the number of labels to a multiple of this, so that loops over them have no odd end.
LANES = 16


class PairwiseProblem(NamedTuple):
    """Samples of sites and links with their true labels and costs: enough to learn.

    :func:`make_chain_problem` lays chains out; N counts the sites of all n samples.

    Parameters
    ----------
    sites : Sites
        Features of the sites, and where samples begin.
    links : Successive, Alike, Featured or Potts
        Which pairs of sites have weights, see links.py.
    plan : ChainPlan or another plan
        Finds labelings, see inference/verbs.py.
    labels : array of int32 of shape (N,)
        True labels.
    cost : array of shape (K, K)
        Loss of a label (column) at a site where another (row) is true, class weight included.
    loss_scale : array of shape (n,)
        ``1 / T`` or 1.
    weight : array of shape (n,)
        Sample weights over their sum, ``s_i / S``.
    gram : array
        Upper triangles of the blocks' Gram matrices of site features, extras included.
    gram_offsets : array of int64 of shape (n + 1,)
        Where those of a block begin; an empty range: too long a block, its norms come from feature space.
    longest : int
        Sites of the longest sample.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.structures import make_chain_problem
    >>> problem = make_chain_problem(np.eye(3), np.array([0, 2, 3]), np.array([0, 1, 1]), 2)
    >>> problem.longest, problem.loss_scale.tolist(), problem.weight.tolist()
    (2, [0.5, 1.0], [0.5, 0.5])
    """

    sites: Sites
    links: Any
    plan: Any
    labels: np.ndarray
    cost: np.ndarray
    loss_scale: np.ndarray
    weight: np.ndarray
    gram: np.ndarray
    gram_offsets: np.ndarray
    longest: int


class PairwiseBlocks(NamedTuple):
    node: np.ndarray  # (N, K)
    links: Any  # marginals of the links, as `new_kept` makes room for them
    loss: np.ndarray  # (n,)


class PairwiseWork(NamedTuple):
    node: np.ndarray  # (longest, K) loss-augmented site scores
    edge: np.ndarray  # (tables K^2,) link scores
    scratch: Any  # of the plan
    labels: np.ndarray  # (longest,) int32, the corner
    away: np.ndarray  # (longest,) int32, the away corner
    active: np.ndarray  # (K,) labels with a non-zero entry, and the entries
    values: np.ndarray  # (K,)
    counts: np.ndarray  # (K, K) zero between calls
    changed: np.ndarray  # (longest,) sites that change along a direction, counted inside the sample
    changes: np.ndarray  # (longest + 1, width) and what their marginals change by; see LANES
    weighted: np.ndarray  # (width,)
    buffer: np.ndarray  # (n_rows, K) zero between calls, or empty where every block has its Gram matrix
    pairs: np.ndarray  # (K^2 + 1,) pairs of labels with a non-zero entry, and the entries
    masses: np.ndarray  # (K^2 + 1,)
    link_buffer: np.ndarray  # (R, K^2) zero between calls, or empty where links have no features


def make_pairwise_problem(
    sites: Sites,
    links: Any,
    plan: Any,
    labels: np.ndarray,
    n_labels: int,
    *,
    normalize: bool = True,
    cost: np.ndarray | None = None,
    class_weight: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    gram: np.ndarray | None = None,
) -> PairwiseProblem:
    """Add what learning needs.

    Parameters
    ----------
    sites : Sites
        Features of the sites, and where samples begin.
    links : Successive, Alike, Featured or Potts
        Which pairs of sites have weights.
    plan : ChainPlan or another plan
        Finds labelings.
    labels : array of int of shape (N,)
        True labels, in ``range(n_labels)``.
    n_labels : int
        K, the number of labels.
    normalize : bool, default=True
        Divide the loss of a sample by the number of its sites.
    cost : array of shape (K, K) or None, default=None
        Loss of a label (column) at a site where another (row) is true; None: 1 for every wrong label.
    class_weight : array of shape (K,) or None, default=None
        Multiplies the row of the true label.
    sample_weight : array of shape (n,) or None, default=None
        Weights of the samples, >= 0; None: all alike.
    gram : array or None, default=None
        Gram matrices of the blocks, where an earlier problem of the same sites has them.

    Returns
    -------
    problem : PairwiseProblem
    """
    n, lengths = len(sites.offsets) - 1, np.diff(sites.offsets)
    cost = 1.0 - np.eye(n_labels) if cost is None else cost
    if class_weight is not None:
        cost = cost * np.asarray(class_weight)[:, None]
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)

    entries = stored(sites.rows, sites.offsets)
    if has_features(sites.rows):
        pairs = gram_pairs(lengths, entries, n_labels)
    else:  # a kernel has no feature space for norms to come from
        pairs = lengths * (lengths + 1) // 2
    gram_offsets = np.concatenate([[0], np.cumsum(pairs)]).astype(np.int64)
    if gram is None:
        gram = np.empty(gram_offsets[-1])
        share = float(np.sum(entries)) / max(1, n * int(np.sum(lengths)))  # in floats, which do not overflow
        read = float(np.sum(pairs)) * share  # of a sample, on average
        sweep(n, int(read), lambda first, last: fill_gram(sites, gram_offsets, gram, first, last))
    return PairwiseProblem(
        sites=sites,
        links=links,
        plan=plan,
        labels=plain(labels, np.int32),
        cost=plain(cost, np.float64),
        loss_scale=1.0 / lengths if normalize else np.ones(n),
        weight=weight / weight.sum(),
        gram=gram,
        gram_offsets=gram_offsets,
        longest=int(lengths.max()),
    )


def gram_pairs(lengths: np.ndarray, n_stored: np.ndarray, n_labels: int) -> np.ndarray:
    """How many entries the Gram matrix of each sample has; 0 where it is not kept."""
    pairs = lengths * (lengths + 1) // 2
    pairs[pairs > GRAM_PAIRS_PER_NONZERO * (n_stored + lengths)] = 0
    pairs[lengths > GRAM_LENGTH_PER_LABEL * n_labels] = 0
    return pairs


@helper
def link_weights(links, sites, n_labels, w):
    return w[sites.n_rows * n_labels :].reshape((-1, link_width(links, n_labels)))


@implements(dimension, PairwiseProblem)
def _(problem):
    n_labels = problem.cost.shape[0]
    return problem.sites.n_rows * n_labels + n_link_rows(problem.links) * link_width(problem.links, n_labels)


@implements(inner, PairwiseProblem)
def _(problem, u, v):
    return flat_inner(problem.sites.rows, problem.cost.shape[0], u, v)


@implements(offers, PairwiseProblem)
def _(problem):
    expects = can_sum(problem.plan) and keeps_pairs(problem.links)
    linear = has_features(problem.sites.rows)
    return offered_if(
        bounds=linear,
        weights=linear and not needs_submodular(problem.plan),
        decoding=True,
        expectations=expects,
        top_outputs=True,
        factors=linear and is_one_table(problem.links) and is_tight(problem.plan),
    )


@implements(check_weights, PairwiseProblem)
def _(problem, w):
    of_links = link_weights(problem.links, problem.sites, problem.cost.shape[0], w)
    if needs_submodular(problem.plan) and np.any(of_links < 0.0):
        raise ValueError("weights of edges must be >= 0 for minimum cuts: others are not submodular")


@implements(new_blocks, PairwiseProblem)
def _(problem):
    blocks = _zero_blocks(problem)
    blocks.node[np.arange(len(problem.labels)), problem.labels] = 1.0
    return blocks._replace(links=set_truth(blocks.links, problem.links, problem.sites, problem.labels))


@implements(new_totals, PairwiseProblem)
def _zero_blocks(problem):
    n, n_labels = n_blocks(problem), problem.cost.shape[0]
    wanted = 8 * (n_labels * len(problem.labels) + n_kept(problem.links, problem.sites, n_labels))
    if wanted > MOST_BYTES:
        raise MemoryError(
            f"the dual state of {n} samples with {n_labels} labels takes {wanted / 1e9:.0f} GB "
            "(a number for each label of a site, or pair of labels of a link with features): merge rare labels, or "
            "take fewer samples"
        )
    return PairwiseBlocks(
        node=np.zeros((len(problem.labels), n_labels)),
        links=new_kept(problem.links, n, n_labels),
        loss=np.zeros(n),
    )


@implements(lacks_room, PairwiseProblem)
def _(problem, blocks, i):
    return links_lack_room(blocks.links, problem.links, problem.sites, i)


@implements(lacks_room_to_add, PairwiseProblem)
def _(problem, totals, blocks, i):
    return sums_lack_room(totals.links, blocks.links, i)


@implements(with_room, PairwiseProblem)
def _(problem, blocks):
    return blocks._replace(links=links_with_room(blocks.links, problem.links, problem.sites))


@implements(with_room_to_add, PairwiseProblem)
def _(problem, totals, blocks):
    return totals._replace(links=sums_with_room(totals.links, blocks.links))


@implements(with_all_room, PairwiseProblem)
def _(problem, blocks):
    return blocks._replace(links=links_with_all_room(blocks.links))


@implements(new_work, PairwiseProblem)
def _(problem):
    all_in_gram = np.all(np.diff(problem.gram_offsets) > 0)
    return pairwise_work(
        problem.links, problem.plan, problem.longest, problem.cost.shape[0], 0 if all_in_gram else problem.sites.n_rows
    )


@implements(forget_weights, PairwiseProblem)
def _(problem, work):
    forget_tables(work.scratch)


def pairwise_work(links: Any, plan: Any, longest: int, n_labels: int, buffer_rows: int) -> PairwiseWork:
    """Scratch of one thread."""
    n_pairs, width = n_labels * n_labels, -(-n_labels // LANES) * LANES
    of_link = link_width(links, n_labels)
    return PairwiseWork(
        node=np.zeros((longest, n_labels)),
        edge=np.zeros(n_pool_tables(links) * n_pairs),
        scratch=new_scratch(plan, 1),
        labels=np.zeros(longest, np.int32),
        away=np.zeros(longest, np.int32),
        active=np.zeros(n_labels, np.int64),
        values=np.zeros(n_labels),
        counts=thin_zeros((n_labels, n_labels)),
        changed=np.zeros(longest, np.int64),
        changes=np.zeros((longest + 1, width)),
        weighted=np.zeros(width),
        buffer=np.zeros((buffer_rows, n_labels)),
        pairs=thin_zeros(n_pairs + 1, np.int64),
        masses=thin_zeros(n_pairs + 1),
        link_buffer=new_link_buffer(links, of_link),
    )
