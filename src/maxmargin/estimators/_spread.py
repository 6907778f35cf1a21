"""Fits to samples in partitions on a cluster: what labels, features and units are, all partitions agree on first."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..distributed.problem import Partitioned, with_share
from ..distributed.samples import current_client, pieces_of
from ..distributed.solver import as_rounds
from ..distributed.travel import Whole
from ..features import DictEncoder
from ._encoded import Encoded
from ._labeling import LabelingEstimator
from ._losses import LogLikelihood
from ._scaling import PLAIN, Units, wants_scaling
from ._sizes import Sizes, sizes_of, units_from
from .multiclass import MulticlassSVM


class Survey(NamedTuple):
    """What the samples of a partition are."""

    totals: dict[Any, float]  # weight of all positions with a label
    kind: np.dtype  # of the labels
    vectorizer: DictEncoder | None
    named: dict[str, Any]  # attributes of a model


class Agreed(NamedTuple):
    """What all partitions are read with."""

    classes: np.ndarray
    vectorizer: DictEncoder | None
    named: dict[str, Any]
    class_weight: Any
    units: Units | None = None


class Posed(NamedTuple):
    """A partition as a problem, the weight of its samples, and what makes a model of weights."""

    problem: Any
    total: float
    encoded: Encoded  # without the problem


class Settler:
    """Stands for the choice of units by the samples of one partition: keeps what they are, and gives those of all."""

    sizes: Sizes

    def __init__(self, units: Units | None):
        self.units = Units(PLAIN, np.nan) if units is None else units

    def __call__(self, *told: Any) -> Units:
        self.sizes = sizes_of(*told)
        return self.units


def look_at(estimator: Any, given: dict[str, Any]) -> Survey:
    """Read the samples of a partition by themselves."""
    samples = estimator._read(given["X"], given["y"], None, None, **_others(given))
    named = {"n_features_in_": samples.rows.shape[1], **getattr(samples, "named", {})}
    weight = samples.weight
    if isinstance(estimator, LabelingEstimator):
        edges = samples.split.edge_features if hasattr(samples, "split") else samples.edge_matrix
        named["n_edge_features_in_"] = (
            None if edges is None else (edges[0] if isinstance(edges, list) else edges).shape[1]
        )
        weight = np.repeat(weight, np.diff(samples.offsets))
    count = np.bincount(samples.codes, weight, len(samples.classes))
    labels = dict(zip(samples.classes.tolist(), count.tolist(), strict=True))
    return Survey(labels, samples.classes.dtype, getattr(samples, "vectorizer", None), named)


def _others(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in ("X", "y")}


def agree(estimator: Any, surveys: list[Survey]) -> Agreed:
    """What suits all partitions."""
    totals: dict[Any, float] = {}
    for survey in surveys:
        for label, count in survey.totals.items():
            totals[label] = totals.get(label, 0.0) + count
    try:
        labels = sorted(totals)
        classes = np.array(labels, np.result_type(*(survey.kind for survey in surveys)))
    except TypeError as error:
        raise TypeError("y must have labels of one kind in all partitions, strings or numbers") from error
    encoders = [survey.vectorizer for survey in surveys if survey.vectorizer is not None]
    if len(encoders) not in (0, len(surveys)):
        raise ValueError("X must hold feature dicts in all partitions, or in none")
    vectorizer, named = None, surveys[0].named
    if encoders:
        vectorizer = DictEncoder.of_parts(encoders)
        named = named | {"n_features_in_": len(vectorizer.feature_names_)}
    else:
        widths = sorted({survey.named["n_features_in_"] for survey in surveys})
        if len(widths) > 1:
            raise ValueError(f"X must have the same features in all partitions, but has {widths} of them")
    class_weight = getattr(estimator, "class_weight", None)
    if isinstance(class_weight, str) and class_weight == "balanced":
        mean = sum(totals.values()) / len(totals)
        class_weight = {label: mean / total if total > 0.0 else 1.0 for label, total in totals.items()}
    return Agreed(classes, vectorizer, named, class_weight)


def _read(estimator: Any, given: dict[str, Any], agreed: Agreed) -> tuple[Encoded, Settler]:
    """The samples of a partition, read as if others had been there before."""
    reader, settler = clone(estimator), Settler(agreed.units)
    vars(reader).update(agreed.named)
    if "class_weight" in reader.get_params(deep=False):
        reader.class_weight = agreed.class_weight
    reader._settle_units = settler
    samples = reader._read(given["X"], given["y"], None, agreed, **_others(given))
    return reader._pose(samples), settler


def find_sizes(estimator: Any, given: dict[str, Any], agreed: Agreed) -> Sizes:
    """How large features and losses of a partition are."""
    return _read(estimator, given, agreed)[1].sizes


def pose(estimator: Any, given: dict[str, Any], agreed: Agreed) -> Whole:
    """Make a problem of a partition."""
    encoded, settler = _read(estimator, given, agreed)
    return Whole(Posed(encoded.problem, settler.sizes.total, replace(encoded, problem=None, estimator=None)))


def total_of(posed: Whole) -> float:
    return posed.value.total


def encoded_of(posed: Whole) -> Whole:
    return Whole(posed.value.encoded)


def problem_of(posed: Whole, total: float) -> Whole:
    return Whole(with_share(posed.value.problem, posed.value.total / total))


def encode_spread(estimator: Any, X: Any, y: Any, given: dict[str, Any]) -> Encoded:
    """Samples in partitions as a problem that :class:`~maxmargin.distributed.Rounds` solves."""
    check_spreadable(estimator)
    pieces, client = pieces_of(X, y, given), current_client()
    from ..distributed.dask_team import DaskTeam, on_each  # not before it is asked for

    data = pieces(client)
    plain = clone(estimator).set_callbacks()  # which may know what cannot be sent
    agreed = agree(plain, on_each(client, look_at, plain, data))
    if plain.lam is None or wants_scaling(plain):
        sizes = on_each(client, find_sizes, plain, data, agreed)
        agreed = agreed._replace(units=units_from(plain, reduce(Sizes.joined, sizes)))
    posed = [client.submit(pose, plain, one, agreed, pure=False) for one in data]
    total = sum(client.gather([client.submit(total_of, one, pure=False) for one in posed]))
    encoded = client.submit(encoded_of, posed[0], pure=False).result().value
    problems = [client.submit(problem_of, one, total, pure=False) for one in posed]

    def load_again(client: Any) -> list[Any]:
        anew = [client.submit(pose, plain, one, agreed, pure=False) for one in pieces(client)]
        return [client.submit(problem_of, one, total, pure=False) for one in anew]

    return replace(encoded, estimator=estimator, problem=Partitioned(DaskTeam(client, problems, load_again)))


def check_spreadable(estimator: Any) -> None:
    """Refuse what no cluster can learn."""
    name = type(estimator).__name__
    if isinstance(estimator, LogLikelihood) or not isinstance(estimator, (LabelingEstimator, MulticlassSVM)):
        raise TypeError(
            f"{name} does not learn on a cluster: ChainSVM, TreeSVM, GraphSVM and MulticlassSVM do; give it all "
            "samples here, as lists and arrays"
        )
    if getattr(estimator, "kernel", None) is not None:
        raise ValueError("kernels need all samples in one place: on a cluster take kernel=None")
    if isinstance(estimator.lam, str) or getattr(estimator, "_chooses_lam", False):
        raise ValueError(f"{name} chooses lam by all samples in one place: on a cluster give a number, or None")


def fit_spread(estimator: Any, X: Any, y: Any, given: dict[str, Any]) -> None:
    """Learn from samples in partitions."""
    encoded = encode_spread(estimator, X, y, given)
    solver = encoded.solver(as_rounds(estimator.solver))
    state = estimator._earlier_state(encoded.problem, solver)
    lam = estimator._regularization(encoded)
    estimator._learn(encoded, solver, lam, state, estimator.checkpoint, {}, X, y, **given)
