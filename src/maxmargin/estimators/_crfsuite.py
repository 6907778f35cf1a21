"""A fitted chain from a model file of CRFsuite's."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..features import DictEncoder
from ..persistence import ModelFileError
from ..persistence.crfsuite import read_crfsuite
from ..structures.masks import TransitionMask
from ..structures.pairwise import PairwiseWeights
from ..structures.weights import Weights
from .inputs.labels import WIDEST_TEXT


def attributes_from(path: str | os.PathLike, separator: str) -> dict[str, Any]:
    """What a fitted model has; labels and attributes sorted, as if it had been fitted here."""
    found = read_crfsuite(path)
    labels, names = sorted(found.labels), sorted(found.attributes)
    label_of, row_of = _places(labels, found.labels), _places(names, found.attributes)
    n_labels, n_features = len(labels), len(names)
    layout = PairwiseWeights(n_features, n_labels, intercept=False)
    try:
        weights = layout.blank()
    except MemoryError as error:
        raise ModelFileError(f"{os.fspath(path)}: {layout.size} weights do not fit into memory") from error
    parts = layout.unpack(weights)
    states, transitions = found.states, found.transitions
    parts["coef"][label_of[states["target"]], row_of[states["source"]]] = states["weight"]
    parts["transitions"][label_of[transitions["source"]], label_of[transitions["target"]]] = transitions["weight"]
    return {
        "classes_": np.array(labels, object if max(map(len, labels)) > WIDEST_TEXT else str),
        "n_features_in_": n_features,
        "n_edge_features_in_": None,
        "vectorizer_": DictEncoder(separator=separator).know(names),
        "transition_mask_": TransitionMask.everything(n_labels),
        "_kernel": None,
        "_weights": Weights(layout, weights),
    }


def _places(order: list[str], names: list[str]) -> np.ndarray:
    """Where names are in another order of them."""
    place = {name: k for k, name in enumerate(order)}
    return np.array([place[name] for name in names])
