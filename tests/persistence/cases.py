"""Models of every kind, fitted for a moment on tiny data, and what it means that two of them are the same."""

from __future__ import annotations

import functools
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone

from maxmargin import ChainSVM, ChainSVMCV, MulticlassSVM, MulticlassSVMCV, MultilabelSVM
from maxmargin.compilation.recipes import QUESTIONS, RECIPES
from structures.pairs import interpreted

LEFT_OUT = {"_state", "_skl_callbacks"}


class Fitted(NamedTuple):
    model: Any
    X: Any


def of_recipes() -> dict[str, Any]:
    cases = {f"{model}, {kind}": list(make()) for model, kinds in RECIPES.items() for kind, make in kinds.items()}
    return {f"{name}, {i}": case for name, many in cases.items() for i, case in enumerate(many)}


NODES = [np.random.default_rng(i).normal(size=(4, 3)) for i in range(6)]
LABELS = [["B-X", "I-X", "O", "O"], ["O", "B-X", "I-X", "O"]] * 3
WORDS = [[{"w": f"w{(3 * i + t) % 5}", "n": float(t), 7: "odd", "ü": ["a", "b"]} for t in range(4)] for i in range(6)]
ATTRIBUTES = [[[f"w={(3 * i + t) % 5}", f"t={t}"] for t in range(4)] for i in range(6)]
ROWS, CLASSES = np.vstack(NODES), np.array(["x", "y", "zz"] * 8)
SETS = np.arange(72).reshape(24, 3) % 2

OTHERS: dict[str, tuple[Any, Any, Any]] = {
    "dicts": (ChainSVM(), WORDS, LABELS),
    "attributes": (ChainSVM(transition_mask="bio"), ATTRIBUTES, LABELS),
    "lists of labels that are long": (ChainSVM(), NODES, [[f"{label}{'x' * 70}" for label in y] for y in LABELS]),
    "whole numbers": (ChainSVM(class_weight={1: 2.0, 3: 1.0}), NODES, [[1, 3, 1, 3]] * 6),
    "truth values": (ChainSVM(), NODES, [np.array([True, False, True, True])] * 6),
    "cross-validated chains": (ChainSVMCV(cv=2, lams=(1.0, 0.1)), NODES, LABELS),
    "lam by cross-validation": (MulticlassSVM(lam="cv"), ROWS, CLASSES),
    "cross-validated classes": (MulticlassSVMCV(cv=2, lams=np.array([1.0, 0.1])), ROWS, CLASSES),
    "sparse support": (MulticlassSVM(kernel="rbf"), sp.csr_matrix(ROWS), CLASSES),
    "a precomputed kernel": (MulticlassSVM(kernel="precomputed"), ROWS @ ROWS.T, CLASSES),
    "costs": (MulticlassSVM(cost_matrix=1.0 - np.eye(3)), ROWS, CLASSES),
    "sparse sets": (MultilabelSVM(), ROWS, sp.csr_matrix(SETS)),
}
NAMES = [*of_recipes(), *OTHERS]


@functools.cache
def fitted(name: str) -> Fitted:
    if name in OTHERS:
        estimator, X, y = OTHERS[name]
    else:
        estimator, X, y, *_ = of_recipes()[name]
    with warnings.catch_warnings(), interpreted():
        warnings.simplefilter("ignore")
        return Fitted(clone(estimator).set_params(max_passes=2, random_state=0).fit(X, y), X)


def answers(model: Any, X: Any) -> dict[str, Any]:
    """What a model says to all that may be asked."""
    with warnings.catch_warnings(), interpreted():
        warnings.simplefilter("ignore")
        return {name: getattr(model, name)(X, *given) for name, given in QUESTIONS.items() if hasattr(model, name)}


def differences(one: Any, other: Any, where: str = "model") -> list[str]:
    """Where two values differ, their types included."""
    if type(one) is not type(other) and not isinstance(one, np.generic):
        return [f"{where}: {type(one)} {type(other)}"]
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return [] if same else [where]
    if sp.issparse(one):
        return differences(one.toarray(), other.toarray(), where)
    if isinstance(one, dict):
        keys = [] if one.keys() == other.keys() else [f"{where}: keys"]
        return keys + [
            d for key in one.keys() & other.keys() for d in differences(one[key], other[key], f"{where}[{key!r}]")
        ]
    if isinstance(one, list | tuple):
        lengths = [] if len(one) == len(other) else [f"{where}: lengths"]
        return lengths + [d for i, both in enumerate(zip(one, other)) for d in differences(*both, f"{where}[{i}]")]  # noqa: B905
    if isinstance(one, BaseEstimator):
        state = [{name: value for name, value in vars(model).items() if name not in LEFT_OUT} for model in (one, other)]
        return differences(*state, where)
    return [] if one == other or (one != one and other != other) else [where]
