"""Which block comes next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..._compile import helper, implements, verb
from ..._parameters import as_generator, check_count
from .choice import as_part


@verb
def pick(sampler, k):
    """Block of the k-th step of the chunk."""


@verb
def peek(sampler, k):
    """The block after that, as far as it is known before the step, else -1; to be asked once a step, if at all.

    Where blocks are drawn, it is drawn here.
    """


@verb
def observe(sampler, i, gap):
    """The gap of block i was just seen, or what is known to be no more than it."""


class Sampling(ABC):
    """How blocks are drawn, outside the kernels: a part that solvers take by name or as an object."""

    follows_gaps = False  # whether known gaps decide, so that no chunk may go on for long once they are used up
    draws_by_gaps = False  # whether each step does, by the gaps as they are then

    @abstractmethod
    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """The blocks of one pass, in order."""

    def sampler(self, draws: Draws, n_steps: int, unseen: int, gaps: np.ndarray) -> Any:
        """What a kernel picks the blocks of so many steps from; `unseen` blocks were not visited yet."""
        return Order(draws.take(self, n_steps))

    def plan(self, draws: Draws, n_steps: int, unseen: int, gaps: np.ndarray) -> Plan:
        """The same for several threads, which have some of the blocks each."""
        return Plan(draws.take(self, n_steps), np.empty((0, 2)))

    def steps_ahead(self, draws: Draws, unseen: int, gaps: np.ndarray) -> float:
        """So many steps may be asked for at once: how many there are must not matter to what is drawn."""
        return np.inf


class Plan(NamedTuple):
    """Blocks to visit, in order, and numbers in [0, 1) to draw others by, in proportion to their gaps.

    A step has two of these: for its own block, if that is not known yet, and for the one that follows.
    """

    first: np.ndarray
    uniforms: np.ndarray  # (steps, 2)


@dataclass(frozen=True)
class Uniform(Sampling):
    """Blocks drawn with replacement, all alike.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, Uniform
    >>> Uniform().draw(np.random.default_rng(0), 5).tolist()
    [4, 3, 2, 1, 1]
    >>> BlockFrankWolfe(sampling=Uniform())  # sampling="uniform" means the same
    BlockFrankWolfe(sampling=Uniform())
    """

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.integers(n, size=n)


@dataclass(frozen=True)
class Permutation(Sampling):
    """Each pass visits every block once, in a new order.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, Permutation
    >>> sorted(Permutation().draw(np.random.default_rng(0), 5).tolist())
    [0, 1, 2, 3, 4]
    >>> BlockFrankWolfe(sampling=Permutation())  # sampling="permutation" means the same
    BlockFrankWolfe(sampling=Permutation())
    """

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return rng.permutation(n)


@dataclass(frozen=True)
class ByGaps(Permutation):
    """Blocks in proportion to their last known gaps, once every block was visited.

    Each is drawn while the step before it is at work, among all others than the block of that step.

    Examples
    --------
    >>> from maxmargin.solvers import BlockFrankWolfe, ByGaps
    >>> BlockFrankWolfe(sampling=ByGaps())  # sampling="gap" means the same
    BlockFrankWolfe(sampling=ByGaps())
    """  # osokin16, Alg. 2

    follows_gaps = draws_by_gaps = True

    def sampler(self, draws: Draws, n_steps: int, unseen: int, gaps: np.ndarray) -> GapSampler:
        first, uniforms = self.plan(draws, n_steps, unseen, gaps)
        if draws.tree is None:
            draws.tree = sums_over(gaps)
        if len(first) > 0:
            draws.ahead[0] = -1
        return GapSampler(draws.tree, len(gaps), first, uniforms, draws.ahead)

    def plan(self, draws: Draws, n_steps: int, unseen: int, gaps: np.ndarray) -> Plan:
        if unseen >= len(gaps):  # what an earlier problem left would come twice, and other blocks never
            draws.left = draws.left[:0]
        first = draws.take(self, min(n_steps, unseen))
        return Plan(first, draws.rng.random((n_steps - len(first), 2)))


@dataclass(frozen=True)
class Active(Permutation):
    """Orders of all blocks, and between two of them orders of those alone that had a gap when they were last visited.

    Where most blocks have none, as with classes that can be told apart, it is what shrinking is to LIBLINEAR.

    Parameters
    ----------
    rounds : int, default=2
        Orders of blocks with a gap for each order of all.

    Examples
    --------
    >>> from maxmargin.solvers import Active, BlockFrankWolfe
    >>> BlockFrankWolfe(sampling=Active(rounds=4), step="optimal")
    BlockFrankWolfe(sampling=Active(rounds=4), step='optimal')
    """

    rounds: int = 2
    follows_gaps = True

    def steps_ahead(self, draws: Draws, unseen: int, gaps: np.ndarray) -> float:
        if unseen >= len(gaps):  # what an earlier problem left would come twice, and other blocks never
            draws.left = draws.left[:0]
        if len(draws.left) == 0:  # not before: which blocks have a gap, the steps until then tell
            active = np.flatnonzero(gaps > 0.0)
            orders = [draws.rng.permutation(active) for _ in range(self.rounds)] if unseen == 0 else []
            draws.left = np.concatenate([*orders, draws.drawn(self)])
        return len(draws.left)


@dataclass(frozen=True)
class Ranges(Sampling):
    """Each pass visits every block once, a few ranges of the samples at a time: those that are in memory.

    Ranges come in a new order each pass. So many of them `together` are cut into `bursts`, each in a new order, which
    mix: one range after the other would take more passes, and always the same order of ranges twice as many.

    Parameters
    ----------
    size : int or None, default=None
        Samples of a range. None: what fits into memory of samples on disk, and all of those in memory.
    together : int, default=4
        Ranges that are in memory at a time.
    bursts : int, default=16
        So often steps come back to a range before others take its place.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, Ranges
    >>> Ranges(size=3, together=1, bursts=1).draw(np.random.default_rng(0), 6).tolist()
    [2, 0, 1, 5, 4, 3]
    >>> BlockFrankWolfe(sampling=Ranges(size=3))  # sampling="ranges" is Ranges() as it comes
    BlockFrankWolfe(sampling=Ranges(size=3, together=4, bursts=16))
    """

    size: int | None = None
    together: int = 4
    bursts: int = 16

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        size = n if self.size is None else check_count("size", self.size)
        return self.between(np.append(np.arange(0, n, size), n)).draw(rng, n)

    def between(self, bounds: np.ndarray) -> Between:
        """The same for ranges between these bounds."""
        return Between(bounds, check_count("together", self.together), check_count("bursts", self.bursts))


@dataclass(frozen=True)
class Between(Sampling):
    """Ranges between bounds, see `Ranges`."""

    bounds: np.ndarray
    together: int
    bursts: int

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        order, drawn = rng.permutation(len(self.bounds) - 1), list[np.ndarray]()
        for first in range(0, len(order), self.together):
            some: list[np.ndarray] = []
            for k in order[first : first + self.together].tolist():
                begin, end = self.bounds[k], self.bounds[k + 1]
                some += np.array_split(begin + rng.permutation(end - begin), self.bursts)
            drawn += [some[at] for at in rng.permutation(len(some)).tolist()]
        return np.concatenate(drawn)


@dataclass(frozen=True)
class Drawn(Sampling):
    """Blocks of each pass as a function of your own gives them.

    Parameters
    ----------
    function : callable ``(rng, n) -> array of int``
        Given a NumPy generator and the number of blocks, those of one pass in order; n of them, each below n.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.solvers import BlockFrankWolfe, Drawn
    >>> from maxmargin.structures import make_multiclass_problem
    >>> problem = make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3)
    >>> backwards = Drawn(lambda rng, n: np.arange(n)[::-1])
    >>> backwards.draw(np.random.default_rng(0), 4).tolist()
    [3, 2, 1, 0]
    >>> print(BlockFrankWolfe(backwards, step="pairwise").solve(problem, 0.1, tol=1e-3).status)
    converged
    """

    function: Callable[[np.random.Generator, int], np.ndarray]

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        return self.function(rng, n)


SAMPLING: dict[str, Sampling] = {
    "uniform": Uniform(),
    "permutation": Permutation(),
    "gap": ByGaps(),
    "active": Active(),
    "ranges": Ranges(),
}


def as_sampling(given: Any, *, knows_gaps: bool) -> Sampling:
    """The sampling that a parameter means, for a solver whose steps find block gaps or do not."""
    fitting = {name: one for name, one in SAMPLING.items() if knows_gaps or not one.follows_gaps}
    is_part = isinstance(given, Sampling) and (knows_gaps or not given.follows_gaps)
    return as_part("sampling", given, fitting, is_part)


class Draws:
    """The blocks drawn for a run, pass by pass."""

    def __init__(self, n: int, random_state: Any):
        self.n, self.rng = n, as_generator(random_state)
        self.left = np.empty(0, np.int64)  # of a pass that was begun
        self.tree: np.ndarray | None = None  # sums of the known gaps
        self.ahead = np.full(1, -1)  # what was drawn by gaps and comes next, or -1

    def take(self, sampling: Sampling, wanted: int) -> np.ndarray:
        """So many blocks, first those left of an earlier pass."""
        while len(self.left) < wanted:
            self.left = np.concatenate([self.left, self.drawn(sampling)])
        taken, self.left = self.left[:wanted], self.left[wanted:]
        return taken

    def drawn(self, sampling: Sampling) -> np.ndarray:
        """The blocks of one more pass: a kernel takes them as they are, so that they must be blocks."""
        blocks = np.asarray(sampling.draw(self.rng, self.n))
        if blocks.ndim != 1 or len(blocks) == 0 or blocks.dtype.kind not in "iu":
            raise ValueError(
                f"sampling must draw a vector of at least one whole number, got {blocks.dtype} of shape {blocks.shape}"
            )
        if blocks.min() < 0 or blocks.max() >= self.n:
            raise ValueError(f"sampling must draw blocks 0 … {self.n - 1}, got {blocks.min()} … {blocks.max()}")
        return blocks.astype(np.int64)


class Order(NamedTuple):
    """Blocks in an order drawn outside the kernel."""

    blocks: np.ndarray


@implements(pick, Order)
def _(sampler, k):
    return sampler.blocks[k]


@implements(peek, Order)
def _(sampler, k):
    return sampler.blocks[k + 1] if k + 1 < sampler.blocks.shape[0] else -1


@implements(observe, Order)
def _(sampler, i, gap):
    return None


class GapSampler(NamedTuple):
    """Blocks with probability proportional to their last known gaps, in O(log n).

    The next one is drawn before the step on this one tells its gap, so that its memory may be fetched meanwhile.
    """  # osokin16, Alg. 2

    tree: np.ndarray  # see `sums_over`
    n: int
    first: np.ndarray  # blocks to visit before any is drawn
    uniforms: np.ndarray  # (steps, 2) drawn outside the kernel, see `Plan`
    ahead: np.ndarray  # (1,) what was drawn already, or -1


def sums_over(gaps: np.ndarray) -> np.ndarray:
    """(2m,) node p is the sum of nodes 2p and 2p + 1; leaf m + i is the gap of block i."""
    leaves = 1 << max(len(gaps) - 1, 0).bit_length()
    level = np.zeros(leaves)
    level[: len(gaps)] = np.maximum(gaps, 0.0)
    levels = [level]
    while len(level) > 1:
        level = level[::2] + level[1::2]
        levels.append(level)
    return np.concatenate([[0.0], *levels[::-1]])


@implements(pick, GapSampler)
def _(sampler, k):
    n_first = sampler.first.shape[0]
    if k < n_first:
        return sampler.first[k]
    if sampler.ahead[0] >= 0:
        return sampler.ahead[0]
    return drawn_leaf(sampler.tree, sampler.n, sampler.uniforms[k - n_first, 0])


@helper
def drawn_leaf(tree, n, uniform):
    """One of the first n leaves of a tree of sums, in proportion to them."""
    leaves = tree.shape[0] // 2
    if tree[1] <= 0.0:  # no block is known to have a gap: any may
        return int(uniform * n)
    p = 1
    if tree[1] == np.inf:  # a block was never seen: it comes first
        while p < leaves:
            p *= 2
            if tree[p] < np.inf:
                p += 1
        return p - leaves
    rest = uniform * tree[1]
    while p < leaves:
        p *= 2
        # rounding must not lead into a branch that holds nothing
        if rest >= tree[p] and tree[p + 1] > 0.0:
            rest -= tree[p]
            p += 1
    return p - leaves


@helper
def change_leaf(tree, leaf, gap):
    p = leaf + tree.shape[0] // 2
    tree[p] = max(gap, 0.0)
    p //= 2
    while p > 0:
        tree[p] = tree[2 * p] + tree[2 * p + 1]
        p //= 2


@helper
def other_leaf(tree, n, leaf, uniform):
    """Another leaf than that at hand, whose gap will soon be known better; -1 where no other one has a gap."""
    at = leaf + tree.shape[0] // 2
    known = tree[at]
    change_leaf(tree, leaf, 0.0)
    found = drawn_leaf(tree, n, uniform) if tree[1] > 0.0 else -1
    change_leaf(tree, leaf, known)
    return found


@implements(peek, GapSampler)
def _(sampler, k):
    n_first = sampler.first.shape[0]
    if k < n_first:
        return sampler.first[k + 1] if k + 1 < n_first else -1
    here = pick(sampler, k)
    sampler.ahead[0] = other_leaf(sampler.tree, sampler.n, here, sampler.uniforms[k - n_first, 1])
    return sampler.ahead[0]


@implements(observe, GapSampler)
def _(sampler, i, gap):
    change_leaf(sampler.tree, i, gap)


class OwnGapSampler(NamedTuple):
    """The same for a thread that has some of the blocks."""

    tree: np.ndarray  # sums over the gaps of its blocks
    blocks: np.ndarray  # (m,) which these are
    place: np.ndarray  # (n,) where among them a block is
    first: np.ndarray  # blocks to visit before any is drawn
    n_first: np.ndarray  # (1,) how many of them there are
    uniforms: np.ndarray
    ahead: np.ndarray  # (1,) where among its blocks that is which was drawn already, or -1


@implements(pick, OwnGapSampler)
def _(sampler, k):
    n_first = sampler.n_first[0]
    if k < n_first:
        return sampler.first[k]
    if sampler.ahead[0] >= 0:
        return sampler.blocks[sampler.ahead[0]]
    return sampler.blocks[drawn_leaf(sampler.tree, sampler.blocks.shape[0], sampler.uniforms[k - n_first, 0])]


@implements(peek, OwnGapSampler)
def _(sampler, k):
    n_first = sampler.n_first[0]
    if k < n_first:
        return sampler.first[k + 1] if k + 1 < n_first else -1
    here, m = sampler.place[pick(sampler, k)], sampler.blocks.shape[0]
    sampler.ahead[0] = other_leaf(sampler.tree, m, here, sampler.uniforms[k - n_first, 1])
    return sampler.blocks[sampler.ahead[0]] if sampler.ahead[0] >= 0 else -1


@implements(observe, OwnGapSampler)
def _(sampler, i, gap):
    change_leaf(sampler.tree, sampler.place[i], gap)
