"""Chains on disk: a problem of which windows, ranges of samples, are in memory one at a time.

A window is a :class:`~..pairwise.PairwiseProblem` like any other, so that every kernel runs on it as it is: weights are
those of all samples, and so are the shares that samples have in the objective.

Neighbours in a file are often alike, and windows of such would each pull the weights their way. So samples count in
another order here: short runs of them, drawn from all over the file once and for all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._compile import implements
from ..masks import TransitionMask
from ..needs import Need
from ..pairwise import make_chains, make_pairwise_problem
from ..pairwise.layout import PairwiseProblem, gram_pairs, pairwise_work
from ..pairwise.links import link_width, n_link_rows
from ..pools import starts_of
from ..rows import DenseRows, SparseRows, sparse_rows
from ..verbs import dimension, new_work, offers
from .sequences import StoredSequences, even_ranges

RUN_BYTES, SEED = 1 << 16, 0  # of a run of samples that are read together, and of the order of these
LABEL_BYTES, SLOT_BYTES = 4, 16  # of an output that is remembered
PAIR_BYTES, PAIRS = 12, 6  # of a pair of labels with mass, and how many a position has, with room to grow


class Units(NamedTuple):
    """What features are divided by, after `center` is subtracted, if it is not None."""

    scale: float = 1.0
    center: np.ndarray | None = None

    def apply(self, rows: Any) -> Any:
        """Rows in these units: the arrays become theirs."""
        if isinstance(rows, SparseRows):
            if self.scale != 1.0:
                np.divide(rows.data, self.scale, out=rows.data)
            return rows
        if self.center is not None:
            np.subtract(rows.values, self.center, out=rows.values)
        if self.scale != 1.0:
            np.divide(rows.values, self.scale, out=rows.values)
        return rows


class StoredChains:
    """Sequences on disk with costs and weights: enough to learn, window by window.

    Parameters
    ----------
    samples : StoredSequences
        The samples, opened.
    intercept, boundary : bool
        Whether labels have biases, at all positions, and at first and last ones.
    mask : TransitionMask
        Allowed transitions.
    cost : array of shape (K, K)
        Loss of a label (column) where another (row) is true.
    normalize : bool
        Whether the loss of a sequence is divided by its length.
    sample_weight : array of shape (n,)
        Weights > 0.
    units : Units
        Of the features.
    """

    certifiable = True

    def __init__(
        self,
        samples: StoredSequences,
        *,
        intercept: bool,
        boundary: bool,
        mask: TransitionMask,
        cost: np.ndarray,
        normalize: bool,
        sample_weight: np.ndarray,
        units: Units,
    ):
        self.samples, self.cost, self.normalize, self.units = samples, cost, normalize, units
        self.places = shuffled_runs(samples.row_bytes)
        self.weight = (sample_weight / sample_weight.sum())[self.places]
        nothing = np.zeros((0, samples.n_features)), np.zeros(1, np.int64)
        self.sites, self.links, plan = make_chains(*nothing, intercept=intercept, boundary=boundary, mask=mask)
        self.longest = samples.header.longest
        self.plan = plan._replace(longest=self.longest)

    @property
    def n_labels(self) -> int:
        return len(self.cost)

    @property
    def lengths(self) -> np.ndarray:
        """(n,) of the sequences, in the order in which they count here."""
        return np.diff(self.samples.offsets)[self.places]

    def window(self, first: int, last: int, gram: np.ndarray | None = None) -> PairwiseProblem:
        """Samples from `first` up to `last`; Gram matrices that were found before need not be found again."""
        samples, places = self.samples, self.places[first:last]
        offsets = starts_of(samples.offsets[places + 1] - samples.offsets[places])
        cuts = np.flatnonzero(np.diff(places) != 1) + 1
        runs = [(int(run[0]), int(run[-1]) + 1) for run in np.split(places, cuts)]
        if samples.is_sparse:
            data, indices, indptr = samples.csr(*runs)
            rows: Any = sparse_rows(indptr, indices, data)
        else:
            rows = DenseRows(samples.rows(*runs))
        made = make_pairwise_problem(
            self.sites._replace(rows=self.units.apply(rows), offsets=offsets),
            self.links,
            self.plan._replace(offsets=offsets),
            samples.codes(*runs),
            self.n_labels,
            normalize=self.normalize,
            cost=self.cost,
            gram=gram,
        )
        return made._replace(weight=self.weight[first:last], longest=self.longest)

    def sample_bytes(self, n_states: int) -> np.ndarray:
        """(n,) what each sample takes in a window, with so many dual states, outputs that are remembered apart."""
        lengths = self.lengths
        gram = 8 * gram_pairs(lengths, self.samples.n_stored[self.places], self.n_labels)
        states = n_states * (8 * self.n_labels + PAIRS * PAIR_BYTES) * lengths
        return self.samples.row_bytes[self.places] + gram + states + 8 * lengths

    def output_bytes(self) -> np.ndarray:
        """(n,) what an output of each sample takes that is remembered."""
        return LABEL_BYTES * self.lengths + SLOT_BYTES

    def fingerprint_parts(self) -> tuple[np.ndarray, ...]:
        """What tells these data from others; the samples by the checksum that was written with them."""
        center = np.zeros(0) if self.units.center is None else self.units.center
        marks = np.array([self.samples.header.checksum, self.normalize, self.sites.n_rows, self.sites.first_row])
        return marks, self.weight, self.cost, np.array([self.units.scale]), center, *self.links, *self.plan[1:3]


def shuffled_runs(sizes: np.ndarray) -> np.ndarray:
    """Numbers of samples of these sizes: runs of neighbours, in an order drawn at random, always the same."""
    runs = even_ranges(sizes, RUN_BYTES)
    order = np.random.default_rng(SEED).permutation(len(runs)).tolist()
    return np.concatenate([np.arange(*runs[k]) for k in order])


@implements(dimension, StoredChains)
def _(problem):
    n_labels, links = problem.n_labels, problem.links
    return problem.sites.n_rows * n_labels + n_link_rows(links) * link_width(links, n_labels)


@implements(offers, StoredChains)
def _(problem):
    return frozenset({Need.HINGE, Need.BOUNDS})  # and not Need.IN_MEMORY


@implements(new_work, StoredChains)
def _(problem):
    return pairwise_work(problem.links, problem.plan, problem.longest, problem.n_labels, problem.sites.n_rows)
