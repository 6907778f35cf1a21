"""Batches of potentials: `Chains`, `Trees` and `Candidates`, tensors that inference is asked of."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from .._parameters import check_count
from . import dispatch
from .checks import check_labels, check_parents, check_scores, read_edge, read_sizes
from .forests import Forest, real_nodes
from .sums import LogPartition


class Marginals(NamedTuple):
    """Probabilities under ``p(y) ~ exp(score(y))``.

    Parameters
    ----------
    node : tensor of shape (B, N, K)
        Of the labels of positions or nodes; 0 where there are none.
    edge : tensor of shape (B, 1, K, K) or (B, E, K, K)
        Of pairs of labels: of each edge where edges have scores of their own, and else the sum over all.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.deep import Chains
    >>> Chains(torch.zeros(1, 3, 2), torch.zeros(2, 2)).marginals().edge
    tensor([[[[0.5000, 0.5000],
              [0.5000, 0.5000]]]])
    """

    node: Tensor
    edge: Tensor


class Batch:
    """What batches of all structures answer. Values are differentiable by the scores that the batch was made of."""

    def best(self) -> Tensor:
        raise NotImplementedError

    def top(self, k: int) -> tuple[Tensor, Tensor]:
        raise NotImplementedError

    def score(self, labels: Tensor) -> Tensor:
        raise NotImplementedError

    def log_partition(self) -> Tensor:
        raise NotImplementedError

    def plus(self, costs: Tensor) -> Self:
        raise NotImplementedError

    def times(self, factor: float) -> Self:
        raise NotImplementedError

    def wrong_labels(self, y: Tensor, normalize: bool) -> Tensor:
        raise NotImplementedError

    def max(self) -> Tensor:
        """Scores of the best outputs.

        Returns
        -------
        values : tensor of shape (B,)
            Their gradient is that of the output that `best` finds: a subgradient where several are as good.
        """
        return self.score(self.best())

    def top_values(self, k: int) -> tuple[Tensor, Tensor]:
        """Scores of the k best outputs, differentiable, and which of them there are.

        Parameters
        ----------
        k : int
            How many.

        Returns
        -------
        values : tensor of shape (B, k)
            Best first, -inf where there are no more outputs.
        there : tensor of shape (B, k)
            Whether they are.
        """
        labels, found = self.top(k)
        there = found > -torch.inf
        first = labels[:, :1].expand_as(labels)
        own = there.reshape(there.shape + (1,) * (labels.dim() - 2))
        scores = self.score(torch.where(own, labels, first))
        return torch.where(there, scores, -torch.inf), there


class Sites(Batch):
    """Labels of nodes: what chains and trees share."""

    node: Tensor
    edge: Tensor
    sizes: Tensor
    parents: Tensor | None = None

    def _remade(self, node: Tensor, edge: Tensor) -> Self:
        made = object.__new__(type(self))
        made.node, made.edge, made.sizes, made.parents = node, edge, self.sizes, self.parents
        return made

    @property
    def mask(self) -> Tensor:
        """Which places of the batch are within their sample, shape (B, N)."""
        return real_nodes(self.sizes.to(self.node.device), self.node.shape[1])

    def forest(self) -> Forest:
        """As inference takes it."""
        return Forest(self.node.detach(), self.edge.detach(), self.sizes, self.parents)

    def best(self) -> Tensor:
        """Find the best labelings.

        Returns
        -------
        labels : tensor of shape (B, N)
            Of equally good ones that with the lowest label, at the last position or the root first; 0 where there are
            no nodes.
        """
        return dispatch.find_best(self.forest())

    def top(self, k: int) -> tuple[Tensor, Tensor]:
        """Find the k best labelings.

        Parameters
        ----------
        k : int
            How many, at least 1.

        Returns
        -------
        labels : tensor of shape (B, k, N)
            Distinct, best first.
        values : tensor of shape (B, k)
            Their scores, not differentiable (see `top_values`); -inf where there are no more.
        """
        return dispatch.find_top(self.forest(), check_count("k", k))

    def log_partition(self) -> Tensor:
        """Sum over all labelings.

        Returns
        -------
        values : tensor of shape (B,)
            Logarithms of the sums of ``exp(score(y))``. Gradients are marginals.
        """
        return LogPartition.apply(self.node, self.edge, self.sizes, self.parents)

    def marginals(self) -> Marginals:
        """Find probabilities of labels and of pairs.

        Returns
        -------
        marginals : Marginals
            Not differentiable.
        """
        forest = self.forest().with_own_edges()
        by = dispatch.sums_by(forest)
        return Marginals(*by.spread_down(forest, by.sum_up(forest), torch.ones_like(self.node[:, 0, 0])))

    def sample(self, n: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """Draw labelings from ``p(y) ~ exp(score(y))``.

        Parameters
        ----------
        n : int, default=1
            How many of each sample.
        generator : torch.Generator or None, default=None
            What to draw with; None is PyTorch's own.

        Returns
        -------
        labels : tensor of shape (B, n, N)
        """
        return dispatch.draw(self.forest(), check_count("n", n), generator)

    def score(self, labels: Tensor) -> Tensor:
        """Score labelings.

        Parameters
        ----------
        labels : tensor of shape (B, N) or (B, k, N)
            What lies outside of the samples is not looked at.

        Returns
        -------
        scores : tensor of shape (B,) or (B, k)
            Differentiable.
        """
        mask = self.mask
        many = labels if labels.dim() == 3 else labels[:, None]
        many = many.masked_fill(~mask[:, None], 0)
        check_labels(many, self.node.shape[2])
        own = self.node.gather(2, many.transpose(1, 2)).masked_fill(~mask[:, :, None], 0.0).sum(dim=1)
        if self.edge.shape[1] and self.node.shape[1] > 1:
            own = own + self._of_edges(many)
        return own if labels.dim() == 3 else own[:, 0]

    def _of_edges(self, labels: Tensor) -> Tensor:
        """Scores (B, k) of the pairs of labels (B, k, N)."""
        heads = self.forest().heads[:, None]  # (B, 1, N)
        above = labels.gather(2, heads.clamp(min=0).expand_as(labels))
        samples = torch.arange(len(labels), device=labels.device)[:, None, None] if len(self.edge) > 1 else 0
        nodes = torch.arange(labels.shape[2], device=labels.device).clamp(max=self.edge.shape[1] - 1)
        scores = self.edge[samples, nodes, labels, above]
        return scores.masked_fill(heads < 0, 0.0).sum(dim=2)

    def plus(self, costs: Tensor) -> Self:
        """The batch with costs (B, N, K) added to the scores of labels."""
        return self._remade(self.node + costs, self.edge)

    def times(self, factor: float) -> Self:
        """The batch with all scores multiplied."""
        return self._remade(self.node * factor, self.edge * factor)

    def wrong_labels(self, y: Tensor, normalize: bool) -> Tensor:
        """Costs (B, N, K) of 1 for every wrong label, or of one over the number of nodes."""
        y = y.masked_fill(~self.mask, 0)
        check_labels(y, self.node.shape[2])
        costs = torch.ones_like(self.node).scatter(2, y[:, :, None], 0.0)
        return costs / self.sizes.to(costs)[:, None, None] if normalize else costs


class Chains(Sites):
    """Sequences of positions with K labels each, padded to one length.

    A labeling scores the sum of the scores of its labels and of its pairs of neighbours.

    Parameters
    ----------
    node : tensor of shape (B, T, K)
        Scores of labels; -inf forbids.
    edge : tensor that broadcasts to (B, T - 1, K, K)
        Scores of a label (row) followed by another (column): (K, K) for all, (T - 1, K, K) for each pair of neighbours.
    lengths : tensor of shape (B,) or None, default=None
        Positions of each sequence; None: T.

    See Also
    --------
    Trees, Candidates : Other structures.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.deep import Chains
    >>> node = torch.tensor([[[1.0, 0.0], [0.0, 0.5], [1.0, 0.0]]], requires_grad=True)
    >>> chains = Chains(node, torch.eye(2))
    >>> chains.best()
    tensor([[0, 0, 0]])
    >>> chains.max().backward()
    >>> node.grad
    tensor([[[1., 0.],
             [1., 0.],
             [1., 0.]]])
    """

    def __init__(self, node: Tensor, edge: Tensor, lengths: Any = None):
        check_scores(node, "node", "(B, T, K)")
        self.node = node
        self.edge = read_edge(edge, node, node.shape[1] - 1)
        self.sizes = read_sizes(lengths, node, "lengths")


class Trees(Sites):
    """Trees and forests of nodes with K labels each, padded to one size.

    Parameters
    ----------
    node : tensor of shape (B, N, K)
        Scores of labels; -inf forbids.
    edge : tensor that broadcasts to (B, N, K, K)
        Scores of a label of a node (row) with one of its parent (column); what is there for roots is not looked at.
    parents : tensor of shape (B, N) or (N,)
        The parent of each node, -1 for roots.
    sizes : tensor of shape (B,) or None, default=None
        Nodes of each tree; None: N.

    Examples
    --------
    A root with two children, of which one has scores of its own; equal labels are worth 1:

    >>> import torch
    >>> from maxmargin.deep import Trees
    >>> node = torch.tensor([[[0.0, 0.0], [3.0, 0.0], [0.0, 0.5]]])
    >>> trees = Trees(node, torch.eye(2), torch.tensor([-1, 0, 0]))
    >>> trees.best(), trees.max()
    (tensor([[0, 0, 0]]), tensor([5.]))
    """

    def __init__(self, node: Tensor, edge: Tensor, parents: Tensor, sizes: Any = None):
        check_scores(node, "node", "(B, N, K)")
        self.node = node
        self.edge = read_edge(edge, node, node.shape[1])
        self.sizes = read_sizes(sizes, node, "sizes")
        self.parents = check_parents(parents, node, self.sizes)


class Candidates(Batch):
    """Outputs that are listed, such as boxes proposed in an image, padded to one number.

    Parameters
    ----------
    scores : tensor of shape (B, C)
        Of each output; -inf forbids.
    counts : tensor of shape (B,) or None, default=None
        Outputs of each sample; None: C.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.deep import Candidates
    >>> candidates = Candidates(torch.tensor([[1.0, 2.0, 9.0]]), counts=[2])
    >>> candidates.best(), candidates.max()
    (tensor([1]), tensor([2.]))
    """

    def __init__(self, scores: Tensor, counts: Any = None):
        check_scores(scores, "scores", "(B, C)")
        sizes = read_sizes(counts, scores, "counts").to(scores.device)
        self.scores = scores.masked_fill(~real_nodes(sizes, scores.shape[1]), -torch.inf)

    def _remade(self, scores: Tensor) -> Self:
        made = object.__new__(type(self))
        made.scores = scores
        return made

    def best(self) -> Tensor:
        """Find the best outputs.

        Returns
        -------
        labels : tensor of shape (B,)
            Their numbers; of equally good ones the first.
        """
        return self.scores.argmax(dim=1)

    def top(self, k: int) -> tuple[Tensor, Tensor]:
        """Find the k best outputs.

        Parameters
        ----------
        k : int
            How many, at least 1.

        Returns
        -------
        labels : tensor of shape (B, k)
            Distinct, best first, of equally good ones the first.
        values : tensor of shape (B, k)
            Their scores, not differentiable; -inf where there are no more.
        """
        k = check_count("k", k)
        found, places = torch.sort(self.scores.detach(), dim=1, descending=True, stable=True)
        missing = max(0, k - found.shape[1])
        pad = torch.nn.functional.pad
        return pad(places[:, :k], (0, missing)), pad(found[:, :k], (0, missing), value=-torch.inf)

    def score(self, labels: Tensor) -> Tensor:
        """Score outputs.

        Parameters
        ----------
        labels : tensor of shape (B,) or (B, k)
            Their numbers.

        Returns
        -------
        scores : tensor of shape (B,) or (B, k)
            Differentiable.
        """
        check_labels(labels, self.scores.shape[1])
        many = labels if labels.dim() == 2 else labels[:, None]
        found = self.scores.gather(1, many)
        return found if labels.dim() == 2 else found[:, 0]

    def log_partition(self) -> Tensor:
        """Sum over all outputs.

        Returns
        -------
        values : tensor of shape (B,)
            Logarithms of the sums of ``exp(score)``, differentiable.
        """
        return torch.logsumexp(self.scores, dim=1)

    def marginals(self) -> Tensor:
        """Find probabilities of the outputs.

        Returns
        -------
        probabilities : tensor of shape (B, C)
            Differentiable.
        """
        return torch.softmax(self.scores, dim=1)

    def sample(self, n: int = 1, generator: torch.Generator | None = None) -> Tensor:
        """Draw outputs from ``p(y) ~ exp(score(y))``.

        Parameters
        ----------
        n : int, default=1
            How many of each sample.
        generator : torch.Generator or None, default=None
            What to draw with; None is PyTorch's own.

        Returns
        -------
        labels : tensor of shape (B, n)
        """
        chances = self.marginals().detach()
        return torch.multinomial(chances, check_count("n", n), replacement=True, generator=generator)

    def plus(self, costs: Tensor) -> Self:
        """The batch with costs (B, C) added."""
        return self._remade(self.scores + costs)

    def times(self, factor: float) -> Self:
        """The batch with all scores multiplied."""
        return self._remade(self.scores * factor)

    def wrong_labels(self, y: Tensor, normalize: bool) -> Tensor:
        """Costs (B, C) of 1 for every output but the true one."""
        check_labels(y, self.scores.shape[1])
        return torch.ones_like(self.scores).scatter(1, y[:, None], 0.0)
