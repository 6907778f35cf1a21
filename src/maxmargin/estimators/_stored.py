"""What of estimators is in model files, and how what comes out of one is checked.

Files may come from anywhere, and compiled code trusts sizes: whatever decides where it reads is compared here.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..features import DictEncoder
from ..persistence import storable
from ..persistence.registry import Stored, by_arguments, is_fine, register
from ..structures.graphs import GRAPH_METHODS
from ..structures.masks import TransitionMask
from ..structures.pairwise import PairwiseWeights
from ..structures.stored import check_finite
from ..structures.weights import Layout, MulticlassWeights, MultilabelWeights, Weights
from ._kernels import PARAMETERS, PRECOMPUTED, KernelFunction
from ._scaling import Scaling
from .box import STRUCTURES, BoxSVM
from .chain import ChainSVM
from .chain_crf import ChainCRF
from .cv import ChainSVMCV, MulticlassSVMCV
from .graph import GraphSVM
from .graph_crf import GraphCRF
from .inputs.poses import check_parents
from .matching import MatchingSVM
from .multiclass import MulticlassSVM
from .multilabel import MultilabelSVM
from .pose import PoseSVM
from .tree import TreeSVM
from .tree_crf import TreeCRF

# Not there: the state of the solver, which a model does not need (`_state`), and callbacks.
CERTIFICATE = (
    "lam_",
    "scaling_",
    "primal_",
    "dual_",
    "gap_",
    "status_",
    "solver_",
    "n_passes_",
    "n_oracle_calls_",
    "history_",
    "lams_",
    "scores_",
    "path_passes_",
    "path_oracle_calls_",
)
LABELS = ("classes_", "n_features_in_", "_weights")
NODES = (*LABELS, "n_edge_features_in_", "vectorizer_", "transition_mask_", "temperature_")
KERNEL = ("_kernel", "support_", "dual_coef_", "support_vectors_")
PAIRS = ("n_features_in_", "coef_", "intercept_")


def require(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(f"{what}: it does not go with the rest of the model")


def check_labels(model: Any, kind: type[Layout]) -> Any:
    """The layout of weights, one row or column for each of the labels."""
    require(type(model._weights) is Weights and type(model._weights.layout) is kind, "_weights")
    require(type(model.n_features_in_) is int and model.n_features_in_ >= 0, "n_features_in_")
    layout, classes = model._weights.layout, model.classes_
    require(isinstance(classes, np.ndarray) and classes.shape == (layout.n_labels,), "classes_")
    require(len(set(classes.tolist())) == len(classes), "classes_")
    return layout


def check_kernel(model: Any, n_labels: int, values: bool) -> None:
    function, coefficients = model._kernel, model.dual_coef_
    require(type(function) is KernelFunction and isinstance(function.kernel, str), "_kernel")
    require(function.kernel == PRECOMPUTED or function.parameters.keys() == set(PARAMETERS[function.kernel]), "_kernel")
    n = len(model.support_)
    require(model.support_.shape == (n,) and model.support_.dtype.kind == "i", "support_")
    require(coefficients.dtype == np.float64 and coefficients.shape == (n, n_labels), "dual_coef_")
    check_finite(coefficients, values)
    if function.precomputed:
        require(not n or 0 <= model.support_.min() <= model.support_.max() < model.n_features_in_, "support_")
    else:
        require(model.support_vectors_.shape == (n, model.n_features_in_), "support_vectors_")


def check_sites(model: Any, values: bool, mask_fits: Callable[[Any, int], bool]) -> Any:
    """What models that label sites have in common; the answer is their layout."""
    layout, n_features = check_labels(model, PairwiseWeights), model.n_features_in_
    kernel = getattr(model, "_kernel", None)
    require(layout.n_features == (n_features if kernel is None else None), "n_features_in_")
    require((model.n_edge_features_in_ or 0) == layout.n_edge_features, "n_edge_features_in_")
    require(type(model.n_edge_features_in_) in (int, type(None)), "n_edge_features_in_")
    if kernel is not None:
        check_kernel(model, layout.n_labels, values)
    encoder = model.vectorizer_
    require(encoder is None or (type(encoder) is DictEncoder and encoder._width == n_features), "vectorizer_")
    require(mask_fits(model.transition_mask_, layout.n_labels), "transition_mask_")
    return layout


def check_chains(model: Any, values: bool) -> None:
    layout = check_sites(model, values, is_chain_mask)
    require(not layout.differences, "_weights")


def is_chain_mask(mask: Any, n_labels: int) -> bool:
    shapes = ((n_labels, n_labels), (n_labels,), (n_labels,))
    return type(mask) is TransitionMask and all(map(is_mask, mask, shapes))


def is_mask(mask: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == shape


def is_pair_mask(mask: Any, n_labels: int) -> bool:
    return mask is None or is_mask(mask, (n_labels, n_labels))


def check_trees(model: Any, values: bool) -> None:
    layout = check_sites(model, values, is_pair_mask)
    require(not layout.boundary and not layout.differences, "_weights")


def check_graphs(model: Any, values: bool) -> None:
    layout = check_sites(model, values, is_pair_mask)
    require(model.inference_ in GRAPH_METHODS.keys() - {"auto"}, "inference_")
    require(not layout.boundary and layout.differences == (model.inference_ == "cut"), "_weights")
    require(not layout.differences or layout.n_labels <= 2, "classes_")


def check_classes(model: Any, values: bool) -> None:
    layout = check_labels(model, MulticlassWeights)
    require(layout.n_features == (model.n_features_in_ if model._kernel is None else 0), "n_features_in_")
    if model._kernel is not None:
        check_kernel(model, layout.n_labels, values)


def check_label_sets(model: Any, values: bool) -> None:
    layout = check_labels(model, MultilabelWeights)
    require(layout.n_features == model.n_features_in_ and layout.n_labels == model.n_labels_, "n_features_in_")
    require(model.inference_ in (None, "exact", "lp"), "inference_")
    require(layout.interactions == (model.inference_ is not None), "inference_")
    thresholds = model.thresholds_
    require(thresholds.shape == (layout.n_labels,) and thresholds.dtype == np.float64, "thresholds_")


def check_pairs(model: Any, values: bool) -> None:
    coef = model.coef_
    require(coef.shape == (model.n_features_in_,) and coef.dtype == np.float64, "coef_")
    require(type(model.intercept_) is float and np.isfinite(model.intercept_), "intercept_")
    check_finite(coef, values)


def check_boxes(model: Any, values: bool) -> None:
    check_pairs(model, values)
    require(model._kind in STRUCTURES, "_kind")


def check_poses(model: Any, values: bool) -> None:
    coef, n_parts = model.coef_, len(model.parents_)
    require(coef.shape == (n_parts, model.n_features_in_) and coef.dtype == np.float64, "coef_")
    require(model.springs_.bias.shape[0] == n_parts, "springs_")
    check_parents(model.parents_, n_parts)
    check_finite(coef, values)


def store(cls: type, state: tuple[str, ...], check: Callable[[Any, bool], None]) -> None:
    """Store parameters, certificate and state of an estimator; one that was not fitted has nothing to check."""
    names = (*CERTIFICATE, *state)

    def check_fitted(model: Any, values: bool) -> None:
        if not vars(model).keys().isdisjoint(names):
            check(model, values)

    storable(cls, names, check=check_fitted)


for chains in (ChainSVM, ChainSVMCV, ChainCRF):
    store(chains, (*NODES, *KERNEL), check_chains)
for trees in (TreeSVM, TreeCRF):
    store(trees, NODES, check_trees)
for graphs in (GraphSVM, GraphCRF):
    store(graphs, (*NODES, "inference_"), check_graphs)
for classes in (MulticlassSVM, MulticlassSVMCV):
    store(classes, (*LABELS, "feature_names_in_", *KERNEL), check_classes)
store(
    MultilabelSVM,
    (*LABELS, "feature_names_in_", "n_labels_", "thresholds_", "inference_", "sparse_output_"),
    check_label_sets,
)
store(MatchingSVM, (*PAIRS, "_perfect"), check_pairs)
store(BoxSVM, (*PAIRS, "_kind"), check_boxes)
store(PoseSVM, ("n_features_in_", "coef_", "parents_", "springs_"), check_poses)
storable(Scaling)
storable(KernelFunction)


def take_csr(matrix: Any) -> dict[str, Any]:
    return {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}


def make_csr(cls: type, values: dict[str, Any]) -> Any:
    matrix: Any = cls((values["data"], values["indices"], values["indptr"]), shape=values["shape"])
    matrix.check_format(full_check=True)  # code that trusts indices works on it
    return matrix


def check_steps(pipeline: Any, values: bool) -> None:
    require(isinstance(pipeline.steps, list), "steps")
    require(all(type(step) is tuple and len(step) == 2 and type(step[0]) is str for step in pipeline.steps), "steps")


def store_csr(cls: type) -> None:
    place = (cls.__module__, cls.__name__)
    register(Stored(f"scipy.{cls.__name__}", place, lambda: cls, take_csr, make_csr, is_fine))


store_csr(sp.csr_matrix)
store_csr(sp.csr_array)
pipeline = ("sklearn.pipeline", "Pipeline")  # imports half of scikit-learn: only who has one pays
register(
    Stored("sklearn.Pipeline", pipeline, lambda: import_module(pipeline[0]).Pipeline, *by_arguments(), check_steps)
)
