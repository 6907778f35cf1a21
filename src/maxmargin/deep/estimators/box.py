"""One of many proposed boxes by a network: `DeepBoxSVM`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from ..._parameters import check_count
from ...estimators.inputs.boxes import check_overlap, read_box_samples, read_boxes
from ...estimators.inputs.weights import check_sample_weight
from ...metrics import box_iou
from ...structures.boxes import BoxCandidates
from ...structures.fingerprint import fingerprint
from ..batches import Candidates
from ._base import DeepEstimator
from .samples import CandidateSamples
from .scorers import CandidateScorer


class DeepBoxSVM(DeepEstimator):
    """A network that finds the box of an object among proposed ones, trained to a large margin.

    Minimises ``lam/2 |w|^2 + (1/S) sum_i s_i H_i(w)`` over all weights w of the network with the margin-rescaled hinge
    loss. The loss of a box is how much lower its IoU with the true box is than that of the best proposal.

    Parameters
    ----------
    module : torch.nn.Module or callable
        Gives scores (B, C) or (B, C, 1) of boxes for their padded features (B, C, F). A copy is trained. A function of
        the number of features that makes such a module will do.
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
        The trained network: the copy of the module is its attribute `module`.
    n_features_in_ : int
        F, the number of features of a box.
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
    maxmargin.BoxSVM : Learns linear scores, to a certificate.

    Examples
    --------
    >>> import torch
    >>> from maxmargin import Proposals
    >>> from maxmargin.deep import DeepBoxSVM, ProxLinear
    >>> X = [Proposals([(0, 0, 4, 4), (2, 2, 6, 5)], [[1.0, 0.0], [0.0, 1.0]])]
    >>> def network(n_features):
    ...     return torch.nn.Linear(n_features, 1)
    >>> model = DeepBoxSVM(network, method=ProxLinear(), random_state=0).fit(X, [(2, 2, 6, 5)])
    >>> model.predict(X)
    array([[2., 2., 6., 5.]])
    """

    def __init__(
        self,
        module: Any,
        lam: float | None = None,
        *,
        method: Any = None,
        max_iterations: int = 20,
        max_seconds: float | None = None,
        tol: float = 0.0,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DeepBoxSVM:
        """Train the network.

        Parameters
        ----------
        X : list of Proposals
            Boxes (c, 4) and their features (c, F).
        y : array of shape (n, 4)
            True boxes (left, top, right, bottom).
        sample_weight : array of shape (n,) or None, default=None
            One weight a sample.

        Returns
        -------
        self : DeepBoxSVM
        """
        proposals, n_features = read_box_samples(X)
        if not isinstance(proposals[0], BoxCandidates):
            raise ValueError("X, sample 0: must be Proposals(boxes, features): networks score boxes by features")
        boxes = check_overlap(read_boxes(y, len(proposals)), proposals)
        weight = check_sample_weight(sample_weight, len(proposals))
        overlaps = [box_iou(sample.boxes, box) for sample, box in zip(proposals, boxes, strict=True)]
        costs, features = [one.max() - one for one in overlaps], [sample.features for sample in proposals]
        samples = CandidateSamples(features, costs, weight, torch.device(self.device), self._dtype())
        network = self._new_network(CandidateScorer, n_features)
        network.eval()
        with torch.no_grad():
            network(*samples.inputs(np.arange(1)))  # says at once where shapes do not fit
        fitted = {"n_features_in_": n_features}
        return self._train(network, samples, fitted, lambda: fingerprint((*features, *costs, weight)))

    def _top(self, X: Any, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        check_is_fitted(self, "module_")
        proposals, _ = read_box_samples(X, BoxCandidates, self.n_features_in_, type(self).__name__)
        features = [sample.features for sample in proposals]
        samples = CandidateSamples(features, None, np.ones(len(features)), torch.device(self.device), self._dtype())

        def ask(indices: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
            batch = Candidates(self.module_(*samples.inputs(indices)), torch.from_numpy(samples.sizes[indices]))
            places, values = (one.cpu().numpy() for one in batch.top(k))
            there = values > -np.inf
            rows = zip(indices, places, values, there, strict=True)
            return [(proposals[i].boxes[place[real]], value[real]) for i, place, value, real in rows]

        return self._in_batches(samples.sizes, ask)

    def predict(self, X: Any) -> np.ndarray:
        """Find the best box of each sample.

        Parameters
        ----------
        X : list of Proposals
            As in `fit`.

        Returns
        -------
        boxes : array of shape (n, 4)
        """
        return np.array([boxes[0] for boxes, _ in self._top(X, 1)], float).reshape(-1, 4)

    def predict_topk(self, X: Any, k: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Find the k best boxes of each sample, best first.

        Parameters
        ----------
        X : list of Proposals
            As in `fit`.
        k : int
            How many, at least 1.

        Returns
        -------
        boxes : list of arrays of shape (k, 4)
            With fewer rows where there are no more boxes.
        scores : list of arrays of shape (k,)
        """
        found = self._top(X, check_count("k", k))
        return [boxes for boxes, _ in found], [scores for _, scores in found]

    def decision_function(self, X: Any) -> np.ndarray:
        """Score the best box of each sample.

        Parameters
        ----------
        X : list of Proposals
            As in `fit`.

        Returns
        -------
        scores : array of shape (n,)
        """
        return np.array([scores[0] for _, scores in self._top(X, 1)])

    def score(self, X: Any, y: Any) -> float:
        """Measure the mean IoU of the predicted with the true boxes.

        Parameters
        ----------
        X : list of Proposals
            As in `fit`.
        y : array of shape (n, 4)
            True boxes.

        Returns
        -------
        score : float
            From 0 to 1.
        """
        predicted = self.predict(X)
        return float(box_iou(predicted, read_boxes(y, len(predicted))).mean())
