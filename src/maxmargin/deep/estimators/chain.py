"""Sequence labelling by a network: `DeepChainSVM`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from ..._parameters import check_count
from ...estimators import ChainSVM
from ...estimators.inputs.labels import encode_labels, stack_labels, unstack
from ...estimators.inputs.weights import check_loss, check_sample_weight
from ...structures.fingerprint import fingerprint
from ..batches import Chains
from ._base import DeepEstimator
from .inputs import read_sequences
from .last_layer import solve_last_layer
from .samples import ChainSamples
from .scorers import ChainScorer, gives_edges


class DeepChainSVM(DeepEstimator):
    """A network that labels sequences, trained to a large margin.

    Minimises ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` over all weights w of the network with the margin-rescaled hinge
    loss. The problem is not convex: there is no certificate, but for the last layer (`solve_last_layer`).

    Parameters
    ----------
    module : torch.nn.Module or callable
        Gives scores (B, T, K) of labels for padded inputs (B, T, F), or (B, T) of whole numbers; or a pair of them and
        scores of transitions, which broadcast to (B, T - 1, K, K). Without these, there are weights of transitions. If
        its forward method has a parameter `lengths`, it is given those. A copy is trained. A function of the numbers of
        features (or of the largest whole number, plus 1) and of labels that makes such a module will do.
    lam : float or None, default=None
        Regularisation of all weights, >= 0. None: one over the number of samples.
    method : ProxLinear, GradientSteps or None, default=None
        How to train. None: ``GradientSteps()``, Adam.
    max_iterations : int, default=20
        Epochs, or prox-linear steps.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    tol : float, default=0.0
        With `ProxLinear`: stop where the norm of the prox-gradient is at most this.
    loss : {"hamming", "hamming_sum"}, default="hamming"
        The share of wrong labels of a sample, or their number.
    device : str or torch.device, default="cpu"
        Where to train and predict.
    dtype : {"float32", "float64"}, default="float32"
        Of all weights.
    deterministic : bool, default=True
        Whether to ask PyTorch for operations that give the same each time.
    random_state : int, RandomState, Generator or None, default=None
        Seed of batches, of dropout, and of a module that is made.
    verbose : int, default=0
        1 shows a progress bar with the objective.
    warm_start : bool, default=False
        Whether a second `fit` goes on with the network of the first one.
    checkpoint : str, path or None, default=None
        A file that keeps the run of `fit`, so that one that was cut off goes on from there; one file a fit.
    checkpoint_every : float, default=60.0
        Seconds between two writes of it, at least.

    Attributes
    ----------
    module_ : torch.nn.Module
        The trained network: the copy of the module is its attribute `module`, beside `transitions` and `boundary`.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_features_in_ : int
        F; of whole numbers, one more than the largest.
    lam_ : float
        The regularisation learned with.
    objective_ : float
        The training objective reached.
    history_ : dict of arrays
        One entry an iteration: iteration, oracle_calls, seconds, objective, and what else the method tells.
    status_ : str
        Why training stopped.
    n_oracle_calls_ : int
        Samples whose hinge the method asked for.

    See Also
    --------
    maxmargin.ChainSVM : Learns linear scores, to a certificate.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.datasets import load_dates
    >>> from maxmargin.deep import DeepChainSVM
    >>> dates = load_dates(n_train=20, n_test=20)
    >>> def network(n_features, n_labels):
    ...     return torch.nn.Sequential(torch.nn.Linear(n_features, 32), torch.nn.ELU(), torch.nn.Linear(32, n_labels))
    >>> reader = DeepChainSVM(network, max_iterations=5, random_state=0).fit(dates.X_train, dates.y_train)
    >>> reader.predict(dates.X_test)[0].shape
    (8,)
    """

    loss: str

    def __init__(
        self,
        module: Any,
        lam: float | None = None,
        *,
        method: Any = None,
        max_iterations: int = 20,
        max_seconds: float | None = None,
        tol: float = 0.0,
        loss: str = "hamming",
        device: Any = "cpu",
        dtype: str = "float32",
        deterministic: bool = True,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ):
        self._keep(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DeepChainSVM:
        """Train the network.

        Parameters
        ----------
        X : list of arrays of shape (T, F), or of T whole numbers each
            Sequences.
        y : list of T labels each
            Strings or integers.
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.

        Returns
        -------
        self : DeepChainSVM
        """
        normalize = check_loss(self.loss)
        features, kind = read_sequences(X)
        codes, classes = self._codes(y, features)
        weight = check_sample_weight(sample_weight, len(features))
        samples = ChainSamples(features, codes, weight, torch.device(self.device), self._dtype(), normalize)
        make = partial(self._scorer, samples.inputs(np.arange(1)), len(classes))
        network = self._new_network(make, kind[1], len(classes))
        fitted = {"classes_": classes, "n_features_in_": kind[1], "_kind": kind}
        return self._train(network, samples, fitted, lambda: fingerprint((*features, *codes, weight)))

    def _codes(self, y: Any, features: list[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in features])])
        known = self.classes_ if self.warm_start and hasattr(self, "module_") else None
        codes, classes = encode_labels(stack_labels(y, offsets), offsets, known)
        if codes.min() < 0:
            raise ValueError("y holds labels that the network was not made for: warm_start goes on with the same ones")
        return unstack(codes.astype(np.int64), offsets), classes

    def _scorer(self, inputs: Any, n_labels: int, module: nn.Module) -> nn.Module:
        x, lengths = inputs
        module = module.to(torch.device(self.device), self._dtype())
        return ChainScorer(module, n_labels, gives_edges=gives_edges(module, x, lengths, n_labels))

    def _samples(self, X: Any) -> ChainSamples:
        check_is_fitted(self, "module_")
        features, _ = read_sequences(X, self._kind)
        return ChainSamples(features, None, np.ones(len(features)), torch.device(self.device), self._dtype())

    def _chains(self, samples: ChainSamples, indices: np.ndarray) -> Chains:
        x, lengths = samples.inputs(indices)
        node, edge = self.module_(x, lengths)
        return Chains(node, edge, lengths)

    def predict(self, X: Any) -> list[np.ndarray]:
        """Find the best labeling of each sequence.

        Parameters
        ----------
        X : list of arrays
            As in `fit`.

        Returns
        -------
        labels : list of arrays of shape (T,)
        """
        samples = self._samples(X)

        def ask(indices: np.ndarray) -> list[np.ndarray]:
            best = self._chains(samples, indices).best().cpu().numpy()
            return [self.classes_[row[:size]] for row, size in zip(best, samples.sizes[indices], strict=True)]

        return self._in_batches(samples.sizes, ask)

    def predict_topk(self, X: Any, k: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Find the k best labelings of each sequence, best first.

        Parameters
        ----------
        X : list of arrays
            As in `fit`.
        k : int
            How many, at least 1.

        Returns
        -------
        labels : list of arrays of shape (k, T)
            With fewer rows where there are no more labelings.
        scores : list of arrays of shape (k,)
        """
        samples, k = self._samples(X), check_count("k", k)

        def ask(indices: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
            labels, values = (one.cpu().numpy() for one in self._chains(samples, indices).top(k))
            there = values > -np.inf
            rows = zip(labels, values, there, samples.sizes[indices], strict=True)
            return [(self.classes_[own[real, :size]], value[real]) for own, value, real, size in rows]

        found = self._in_batches(samples.sizes, ask)
        return [labels for labels, _ in found], [scores for _, scores in found]

    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Find probabilities of the labels of each position, ``p(y) ~ exp(score(y))``.

        Parameters
        ----------
        X : list of arrays
            As in `fit`.

        Returns
        -------
        probabilities : list of arrays of shape (T, K)
        """
        samples = self._samples(X)

        def ask(indices: np.ndarray) -> list[np.ndarray]:
            shares = self._chains(samples, indices).marginals().node.cpu().numpy()
            return [row[:size] for row, size in zip(shares, samples.sizes[indices], strict=True)]

        return self._in_batches(samples.sizes, ask)

    def score(self, X: Any, y: Any) -> float:
        """Measure the share of labels that are right.

        Parameters
        ----------
        X : list of arrays
            As in `fit`.
        y : list of T labels each
            True labels.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        predicted = self.predict(X)
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in predicted])])
        return float(np.mean(np.concatenate(predicted) == stack_labels(y, offsets)))

    def solve_last_layer(self, X: Any, y: Any, **options: Any) -> ChainSVM:
        """Solve for the weights of the last layer, the others fixed, to a certificate: a convex problem.

        The last linear layer of the module, the transitions and the boundary get the weights of a `ChainSVM` on the
        inputs of that layer, with the same `lam` and loss; its ``gap_`` says how far from the best ones they are.

        Parameters
        ----------
        X : list of arrays
            As in `fit`.
        y : list of T labels each
            True labels.
        **options
            For the `ChainSVM`, such as `tol`, `max_passes` or `lam`.

        Returns
        -------
        model : ChainSVM
            With its certificate. It predicts from the features of the last layer.
        """
        samples = self._samples(X)
        given = {"lam": self.lam_, "loss": self.loss, "random_state": self.random_state, **options}
        return solve_last_layer(self.module_, samples, y, self.classes_, given)
