"""``maxmargin evaluate``: scores of predictions."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .messages import OK, UsageError
from .options import add_comments, whole


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="scores of predictions: accuracy, entity F1 by type",
        description="Compare predictions with the truth: those of a column file whose last two columns are the true "
        "and the predicted label, as predict writes it; or those of a model for a file. Entities are counted as the "
        "CoNLL script conlleval does.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="[MODEL] FILE", help="a file with predictions, or a model and a file with labels"
    )
    add_comments(parser)
    parser.add_argument("--jobs", type=whole(1, 10**4), metavar="N", help="threads (default: 1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, compare, print."""
    if len(arguments.files) > 2:
        raise UsageError(f"expected a file, or a model and a file, got {len(arguments.files)} names")
    truth, predicted = tagged(arguments) if len(arguments.files) == 1 else by_model(arguments)
    for line in report(truth, predicted):
        print(line)
    return OK


def tagged(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """The last two columns of a file."""
    from ..formats import FileFormatError, read_columns
    from ..formats.source import name_of

    (source,) = arguments.files
    sentences = read_columns(source, comments=arguments.comments)
    if len(sentences.columns) < 2:
        wanted = "expected true and predicted labels in the last two columns; or name a model, too"
        raise FileFormatError(f"1 column: {wanted}", name_of(source))
    others, predicted = sentences.split_labels()
    return others.split_labels()[1], predicted


def by_model(arguments: argparse.Namespace) -> tuple[Any, Any]:
    """The labels of a file, and what a model predicts."""
    from ..formats import FileFormatError
    from ..formats.source import name_of
    from .models import load

    model_file, source = arguments.files
    fitted = load(model_file)
    data = fitted.kind.read_new(source, arguments, fitted.encoder)
    if data.y is None:
        raise FileFormatError("there are no labels to compare with: the last column is missing", name_of(source))
    if arguments.jobs is not None:
        fitted.model.set_params(n_jobs=arguments.jobs)
    return data.y, fitted.model.predict(fitted.encoder.transform(data.X))


def report(truth: Any, predicted: Any) -> Iterator[str]:
    """Lines of scores, for what kind of labels there are."""
    import numpy as np
    from scipy.sparse import issparse

    from ..metrics import names_chunks
    from .kinds import counted

    if issparse(truth):
        yield from set_rows(truth, predicted)
        return
    sequential = isinstance(truth, list)
    flat_truth, flat_predicted = (np.hstack(each) if sequential else np.asarray(each) for each in (truth, predicted))
    right = flat_truth == flat_predicted
    if sequential:
        bounds = np.cumsum([0, *map(len, truth)])
        all_right = sum(bool(right[a:b].all()) for a, b in pairwise(bounds))
        yield f"{counted(len(truth), 'sequence')}, {all_right / len(truth):.2%} all right"
    yield f"{counted(len(right), 'token' if sequential else 'sample')}, accuracy {right.mean():.2%}"
    labels = np.unique(np.concatenate([flat_truth, flat_predicted])).tolist()
    yield ""
    in_chunks = sequential and names_chunks(labels)
    yield from chunk_rows(truth, predicted) if in_chunks else label_rows(flat_truth, flat_predicted, labels)


HEAD = f"{'':<16}{'precision':>10}{'recall':>10}{'F1':>10}{'true':>10}{'predicted':>11}{'right':>10}"


def row(name: Any, precision: float, recall: float, f1: float, n_true: int, n_pred: int, n_both: int) -> str:
    scores = "".join(f"{100 * value:>10.2f}" for value in (precision, recall, f1))
    return f"{name!s:<16}{scores}{n_true:>10}{n_pred:>11}{n_both:>10}"


def chunk_rows(truth: Any, predicted: Any) -> Iterator[str]:
    """Entities: all of them, and those of each type."""
    from ..metrics import chunk_counts, chunk_scores, chunk_scores_by_type

    n_both, n_true, n_pred = chunk_counts(truth, predicted).sum(axis=0).tolist()
    yield HEAD
    yield row("all entities", *chunk_scores(truth, predicted), n_true, n_pred, n_both)
    for kind, one in chunk_scores_by_type(truth, predicted).items():
        yield row(kind, *one.scores, one.n_true, one.n_pred, one.n_both)


def label_rows(truth: Any, predicted: Any, labels: list[Any]) -> Iterator[str]:
    """Labels, each by itself."""
    from sklearn.metrics import precision_recall_fscore_support

    scores = precision_recall_fscore_support(truth, predicted, labels=labels, zero_division=0.0)
    yield HEAD
    for label, precision, recall, f1, n_true in zip(labels, *scores, strict=True):
        own = predicted == label
        yield row(label, precision, recall, f1, int(n_true), int(own.sum()), int((own & (truth == label)).sum()))


def set_rows(truth: Any, predicted: Any) -> Iterator[str]:
    """Sets of labels: all pairs of sample and label together, and the mean over labels."""
    import numpy as np
    from scipy.sparse import csr_matrix

    predicted = csr_matrix(predicted)
    width = max(truth.shape[1], predicted.shape[1])
    truth, predicted = (csr_matrix(one, shape=(one.shape[0], width)) for one in (truth, predicted))
    both = truth.multiply(predicted)
    n_true, n_pred, n_both = (np.asarray(one.sum(axis=0)).ravel() for one in (truth, predicted, both))
    same = np.diff(abs(truth - predicted).tocsr().indptr) == 0
    present = n_true + n_pred > 0
    macro = float(np.mean(2 * n_both[present] / (n_true + n_pred)[present])) if present.any() else 0.0
    totals = [int(one.sum()) for one in (n_true, n_pred, n_both)]
    precision, recall = (totals[2] / max(one, 1) for one in (totals[1], totals[0]))
    yield f"{truth.shape[0]:,} samples, {same.mean():.2%} with just their labels; F1 of labels on average {macro:.2%}"
    yield ""
    yield HEAD
    yield row("all labels", precision, recall, 2 * totals[2] / max(totals[0] + totals[1], 1), *totals)
