"""Losses for any training loop: `StructuredHinge` and `CRFLoss`."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .._parameters import check_choice
from .batches import Batch
from .smoothing import as_smoothing, smoothed_max

REDUCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "mean": torch.mean,
    "sum": torch.sum,
    "none": lambda values: values,
}


class StructuredHinge(nn.Module):
    """The margin-rescaled structured hinge loss, ``max_y [L(y) + score(y)] - score(y_i)``, smoothed or not.

    Parameters
    ----------
    smoothing : {"entropy", "l2"} or None, default=None
        How the maximum is smoothed; None is the hinge itself, with subgradients.
    mu : float, default=1.0
        How strongly, in units of the loss.
    top_k : int, default=5
        For "l2": how many of the best outputs may share.
    loss : {"hamming", "hamming_sum"}, default="hamming"
        What an output costs where the call brings no costs: the share of wrong labels, or their number.
    reduction : {"mean", "sum", "none"}, default="mean"
        What becomes of the losses of a batch.

    Attributes
    ----------
    inexact : float
        Of the last batch, the share of samples whose `top_k` best outputs were not enough to know the smoothed loss.

    See Also
    --------
    CRFLoss : The negative log-likelihood.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.deep import Chains, StructuredHinge
    >>> node = torch.zeros(1, 4, 3, requires_grad=True)
    >>> loss = StructuredHinge()(Chains(node, torch.zeros(3, 3)), torch.zeros(1, 4, dtype=torch.long))
    >>> loss.backward()
    >>> loss.item(), node.grad[0, 0].tolist()
    (1.0, [-1.0, 1.0, 0.0])
    """

    def __init__(
        self,
        smoothing: str | None = None,
        mu: float = 1.0,
        top_k: int = 5,
        *,
        loss: str = "hamming",
        reduction: str = "mean",
    ):
        super().__init__()
        check_choice("loss", loss, ("hamming", "hamming_sum"))
        check_choice("reduction", reduction, REDUCTIONS)
        self.part = as_smoothing(smoothing, mu, top_k)
        self.loss, self.reduction = loss, reduction
        self.inexact = 0.0

    def forward(self, batch: Batch, y: Tensor, costs: Tensor | None = None) -> Tensor:
        """Find the loss of a batch.

        Parameters
        ----------
        batch : Chains, Trees or Candidates
            Potentials.
        y : tensor of shape (B, N), of Candidates (B,)
            True labels.
        costs : tensor of shape (B, N, K), of Candidates (B, C), or None, default=None
            What labels or outputs cost, 0 for the true ones; None: as `loss` says, and 1 for every wrong candidate.

        Returns
        -------
        loss : tensor
            Of shape (B,) without reduction.
        """
        costs = batch.wrong_labels(y, self.loss == "hamming") if costs is None else costs
        found = smoothed_max(batch.plus(costs), self.part)
        self.inexact = 1.0 - float(found.exact.double().mean())
        return REDUCTIONS[self.reduction](found.values - batch.score(y))


class CRFLoss(nn.Module):
    """The negative log-likelihood of a conditional random field, ``log sum_y exp(score(y)) - score(y_i)``.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, default="mean"
        What becomes of the losses of a batch.

    See Also
    --------
    StructuredHinge : What max-margin learning minimises.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.deep import Chains, CRFLoss
    >>> chains = Chains(torch.zeros(1, 4, 2), torch.zeros(2, 2))
    >>> loss = CRFLoss()(chains, torch.zeros(1, 4, dtype=torch.long))
    >>> bool(torch.isclose(loss, 4 * torch.log(torch.tensor(2.0))))
    True
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__()
        check_choice("reduction", reduction, REDUCTIONS)
        self.reduction = reduction

    def forward(self, batch: Batch, y: Tensor) -> Tensor:
        """Find the loss of a batch.

        Parameters
        ----------
        batch : Chains, Trees or Candidates
            Potentials.
        y : tensor of shape (B, N), of Candidates (B,)
            True labels.

        Returns
        -------
        loss : tensor
            Of shape (B,) without reduction.
        """
        return REDUCTIONS[self.reduction](batch.log_partition() - batch.score(y))
