"""The data sets, each with its estimator and its score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin import BoxSVM, ChainSVM, GraphSVM, MatchingSVM, MulticlassSVM, PoseSVM, TreeSVM, datasets

from ..graphs import strips
from ..wordalign import pairs_of
from .scores import Count, boxes_right, chunks_right, labels_right, links_right


class Task(NamedTuple):
    """What is learned and how it is judged."""

    model: Any  # without a lam
    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    count: Count
    given: dict[str, Any] = {}  # noqa: RUF012  (what else fit takes; never changed)

    def cut(self, n: int) -> Task:
        """Fewer training samples."""
        given = {name: part[:n] for name, part in self.given.items()}
        return self._replace(X_train=self.X_train[:n], y_train=self.y_train[:n], given=given)


def of(data: Any, model: Any, count: Count, *more: str) -> Task:
    """A task of parts of the data, several for a sample where there are `more`."""

    def inputs(split: str) -> Any:
        if not more:
            return data[f"X_{split}"]
        return list(zip(*(data[f"{name}_{split}"] for name in ("X", *more)), strict=True))

    return Task(model, inputs("train"), data.y_train, inputs("test"), data.y_test, count)


def chunks(data: Any) -> Task:
    return of(data, ChainSVM(), chunks_right)


def labels(data: Any) -> Task:
    return of(data, ChainSVM(), labels_right)


def classes(data: Any) -> Task:
    return of(data, MulticlassSVM(), labels_right)


def alignments(languages: Any) -> Task:
    train, test = (pairs_of(datasets.fetch_wordalign(languages), part) for part in ("train", "test"))
    truth = list(zip(test.sure, test.possible, strict=True))
    return Task(MatchingSVM(), train.X, train.y, test.X, truth, links_right, {"ignored": train.ignored})


def snakes() -> Task:
    data = datasets.fetch_snakes()
    return Task(GraphSVM(), *strips(data, "train"), *strips(data, "test"), labels_right)


def figures() -> Task:
    data = datasets.make_figures(80, random_state=1)
    near = 3.0  # pixels, a limb's width

    def parts_right(true: Any, found: Any) -> np.ndarray:
        away = np.linalg.norm(np.asarray(true) - np.asarray(found), axis=2)
        return np.stack([(away <= near).sum(axis=1), np.full(len(away), away.shape[1])], axis=1)

    return Task(PoseSVM(), data.X[:40], data.y[:40], data.X[40:], data.y[40:], parts_right)


CHAINS: dict[str, Callable[[], Task]] = {
    "dates": lambda: labels(datasets.load_dates()),
    "OCR-small": lambda: labels(datasets.fetch_ocr("small")),
    "OCR-large": lambda: labels(datasets.fetch_ocr("large")),
    "WNUT-17": lambda: chunks(datasets.fetch_wnut17()),
    "CoNLL-2000": lambda: chunks(datasets.fetch_conll2000()),
    "BC2GM": lambda: chunks(datasets.fetch_bc2gm()),
    "EWT, universal tags": lambda: labels(datasets.fetch_ewt("upos")),
    "EWT, Penn tags": lambda: labels(datasets.fetch_ewt("xpos")),
}
CLASSES: dict[str, Callable[[], Task]] = {
    "USPS": lambda: classes(datasets.fetch_usps()),
    "MNIST": lambda: classes(datasets.fetch_mnist()),
}
OTHERS: dict[str, Callable[[], Task]] = {
    "EWT, trees": lambda: of(datasets.fetch_ewt(), TreeSVM(), labels_right, "heads"),
    "horses": lambda: of(datasets.fetch_horses(), GraphSVM(inference="cut"), labels_right, "edges", "edge_features"),
    "snakes, strips": snakes,
    "English-French": lambda: alignments("en-fr"),
    "Romanian-English": lambda: alignments("ro-en"),
    "BCCD": lambda: of(datasets.fetch_bccd(), BoxSVM(), boxes_right),
    "figures": figures,
}
