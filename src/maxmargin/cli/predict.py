"""``maxmargin predict``: label a file."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .messages import OK, UsageError, note, refuse
from .options import add_comments, add_output, whole
from .writing import STDOUT, cannot_write, written

if TYPE_CHECKING:
    from .kinds import Data
    from .models import Fitted


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "predict",
        help="label a file with a model",
        description="Label a file. Of column files, every line comes back with the predicted label as a last column, "
        "with or without a column of true labels before; of others a line a label. A blank line ends a sentence.",
    )
    parser.add_argument("model", metavar="MODEL", help="a model file that fit has written")
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="what to label (default: standard input)")
    add_output(parser)
    add_comments(parser)
    more = parser.add_mutually_exclusive_group()
    more.add_argument(
        "--top-k",
        type=whole(1, 10**4),
        metavar="K",
        help="the K best labelings of each sentence, best first, each after a line '# rank score'",
    )
    more.add_argument(
        "--marginals", action="store_true", help="after the label a column 'label/probability' for every label"
    )
    parser.add_argument("--jobs", type=whole(1, 10**4), metavar="N", help="threads (default: 1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Load, read, predict, write."""
    from .models import load

    if arguments.output != STDOUT:
        refuse(cannot_write(arguments.output, arguments.model, arguments.file))
    fitted = load(arguments.model)
    option = "--top-k" if arguments.top_k else "--marginals"
    if (arguments.top_k or arguments.marginals) and not fitted.kind.is_sequential:
        raise UsageError(f"{option} is for models of sequences, this is one of --format {fitted.kind.name}")
    data = fitted.kind.read_new(arguments.file, arguments, fitted.encoder)
    lines = answers(fitted, data, arguments)
    with written(arguments.output) as out:
        out.writelines(lines)
    return OK


def answers(fitted: Fitted, data: Data, arguments: argparse.Namespace) -> Iterator[str]:
    """All lines of the answer."""
    from ..formats.source import name_of
    from .kinds import has_features

    rows, model = fitted.encoder.transform(data.X), fitted.model
    if not has_features(rows):
        source, kind = name_of(arguments.file), fitted.kind.name
        note(f"{source}: the model knows none of its features; is it what --format {kind} stands for?", "predict")
    if arguments.jobs is not None:
        model.set_params(n_jobs=arguments.jobs)
    if arguments.top_k:
        return ranked_lines(fitted, data, *model.predict_topk(rows, arguments.top_k))
    columns: Iterable[Any] | None = None
    if arguments.marginals:
        if not hasattr(model, "log_likelihood"):
            note("probabilities of an SVM only rank labels; those of --model crf mean what they say", "predict")
        columns = map(marginal_columns(fitted, data), model.predict_marginals(rows))
    return best_lines(fitted, data, model.predict(rows), columns)


def best_lines(fitted: Fitted, data: Data, labels: Iterable[Any], columns: Iterable[Any] | None) -> Iterator[str]:
    """Every sample with its best labels, and `columns` after them."""
    kind, end = fitted.kind, "\n" if fitted.kind.is_sequential else ""
    more = iter(columns) if columns is not None else None
    for (before, starts), own in zip(kind.beginnings(data), labels, strict=True):
        yield from asides(before)
        after = next(more) if more is not None else [""] * len(starts)
        for start, label, rest in zip(starts, kind.shown(own), after, strict=True):
            yield f"{start}{label}{rest}\n"
        yield end


def ranked_lines(fitted: Fitted, data: Data, labelings: Sequence[Any], scores: Sequence[Any]) -> Iterator[str]:
    """Every sample once for each of its best labelings."""
    for (before, starts), some, values in zip(fitted.kind.beginnings(data), labelings, scores, strict=True):
        yield from asides(before)
        for rank, (labels, score) in enumerate(zip(some, values, strict=True), 1):
            yield f"# {rank} {score:.6f}\n"
            for start, label in zip(starts, fitted.kind.shown(labels), strict=True):
                yield f"{start}{label}\n"
            yield "\n"


def marginal_columns(fitted: Fitted, data: Data) -> Any:
    """A function of the probabilities (T, K) of a sample: what its lines end with."""
    names, between = fitted.kind.shown(fitted.model.classes_), fitted.kind.separator(data)

    def columns(probabilities: Any) -> list[str]:
        return [
            between + between.join(f"{name}/{value:.6f}" for name, value in zip(names, row, strict=True))
            for row in probabilities.tolist()
        ]

    return columns


def asides(lines: list[str]) -> Iterator[str]:
    """Comments and starts of documents; the latter are sentences by themselves."""
    for line in lines:
        yield f"{line}\n" if line.startswith("#") else f"{line}\n\n"
