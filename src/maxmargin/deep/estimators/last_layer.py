"""The last layer of a network as a convex problem, solved to a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..._parameters import check_positive
from ...estimators import ChainSVM
from .samples import ChainSamples
from .scorers import ChainScorer

SAME = 1e-4  # outputs that differ by no more, relative to them, are those of the layer


def solve_last_layer(
    scorer: nn.Module, samples: ChainSamples, y: Any, classes: np.ndarray, options: dict[str, Any]
) -> ChainSVM:
    """A `ChainSVM` on the inputs of the last linear layer, which gets its weights, as transitions and boundary do."""
    if not isinstance(scorer, ChainScorer) or scorer.transitions is None or scorer.boundary is None:
        raise ValueError("the module gives scores of transitions itself, so that they are no part of the last layer")
    check_positive("lam", options["lam"])  # nothing is certified without
    layer = last_linear(scorer, samples)
    features = [inputs_of(scorer, layer, samples, i) for i in range(len(samples.sizes))]
    has_bias = layer.bias is not None
    model = ChainSVM(**{"scale": False, "fit_intercept": has_bias, **options}).fit(features, y)
    if not np.array_equal(model.classes_, classes):
        raise ValueError("y must hold every label that the network knows, and no other")
    with torch.no_grad():
        put(layer.weight, model.coef_)
        if has_bias:
            put(layer.bias, model.intercept_)
        put(scorer.transitions, model.transitions_)
        put(scorer.boundary, model.boundary_)
    return model


def put(weights: Tensor, values: np.ndarray) -> None:
    weights.copy_(torch.from_numpy(np.array(values)))


def last_linear(scorer: ChainScorer, samples: ChainSamples) -> nn.Linear:
    """The layer whose outputs the scores of labels are."""
    layers = [one for one in scorer.module.modules() if isinstance(one, nn.Linear)]
    if layers and layers[-1].out_features == scorer.n_labels:
        x, lengths = samples.inputs(np.arange(1))
        with torch.no_grad(), Watched(layers[-1]) as watched:
            scorer.eval()
            node = scorer(x, lengths)[0]
            given = layers[-1](watched.inputs[-1]) if watched.inputs else torch.zeros(())
            ends = torch.zeros_like(node)
            ends[:, 0] += scorer.boundary[0]  # type: ignore[index]
            ends[:, -1] += scorer.boundary[1]  # type: ignore[index]
        if given.shape == node.shape and torch.allclose(given, node - ends, rtol=SAME, atol=SAME):
            return layers[-1]
    raise ValueError(
        f"the module must end with a torch.nn.Linear of {scorer.n_labels} outputs, one a label, whose outputs are the "
        "scores, so that its last layer can be solved for"
    )


class Watched:
    """Keeps what a layer is given."""

    def __init__(self, layer: nn.Module):
        self.layer, self.inputs = layer, list[Tensor]()

    def __enter__(self) -> Watched:
        self.handle = self.layer.register_forward_pre_hook(lambda layer, given: self.inputs.append(given[0]))
        return self

    def __exit__(self, *error: Any) -> None:
        self.handle.remove()


def inputs_of(scorer: ChainScorer, layer: nn.Linear, samples: ChainSamples, i: int) -> np.ndarray:
    """(T, F) what the layer is given for a sample."""
    x, lengths = samples.inputs(np.array([i]))
    with torch.no_grad(), Watched(layer) as watched:
        scorer(x, lengths)
    return watched.inputs[-1][0].double().cpu().numpy()
