"""Kinds of files: how they are read, what makes rows of them, which models learn from them, how answers are written."""

from __future__ import annotations

import argparse
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .. import storage
from ..estimators import ChainCRF, ChainSVM, MulticlassSVM, MultilabelSVM
from ..features import DictEncoder, IndexEncoder, TemplateEncoder
from ..features.templates import read_templates
from ..formats import FileFormatError, read_attributes, read_columns, read_multilabel, read_svmhmm, read_svmlight
from ..formats.source import name_of
from .messages import UsageError

MOST_LABELS = 100_000


class Data(NamedTuple):
    """What a file holds."""

    X: Any  # as the encoder takes it
    y: Any  # as estimators take it; None where the file has no labels
    summary: str
    first_lines: np.ndarray | None = None  # of samples, where they are known


def counted(n: int, unit: str) -> str:
    """So many of them."""
    return f"{n:,} {unit}" if n == 1 else f"{n:,} {unit}s"


def sizes(n_sentences: int, n_tokens: int) -> str:
    return f"{counted(n_sentences, 'sentence')}, {counted(n_tokens, 'token')}"


@contextmanager
def placed(source: str, data: Data) -> Iterator[None]:
    """What is wrong with a sample is said with its file and line."""
    try:
        yield
    except ValueError as error:
        found = re.match(r"[Xy], sample (\d+)(?:, position (\d+))?: (.*)", str(error), re.DOTALL)
        if found is None:
            raise
        sample, position, problem = int(found[1]), int(found[2] or 0), found[3]
        line = None if data.first_lines is None else int(data.first_lines[sample]) + position
        raise FileFormatError(problem, name_of(source), line) from error


class Kind(ABC):
    """A kind of files."""

    name: str
    models: dict[str, type]
    is_sequential = True

    def check_options(self, arguments: argparse.Namespace) -> None:
        """Refuse options that mean nothing here: files that come with features need no templates."""
        for option in ("template", "features"):
            if getattr(arguments, option) is not None:
                raise UsageError(f"--{option} is for --format columns: files of --format {self.name} have features")

    @abstractmethod
    def encoder(self, arguments: argparse.Namespace, data: Data) -> Any:
        """What makes rows of what was read, unfitted."""

    @abstractmethod
    def read(self, source: str, arguments: argparse.Namespace) -> Data:
        """Read a file with labels."""

    def read_new(self, source: str, arguments: argparse.Namespace, encoder: Any) -> Data:
        """Read a file to predict; labels may be missing where the format lets them."""
        return self.read(source, arguments)

    def store(self, files: list[str], arguments: argparse.Namespace) -> None:
        """Write files to a folder, piece by piece."""
        raise UsageError(f"folders hold sequences, not what --format {self.name} stands for: give the file to fit")

    def beginnings(self, data: Data) -> Iterator[tuple[list[str], list[str]]]:
        """For every sample: lines before it, and what its lines start with before the label."""
        lengths = [len(labels) for labels in data.y] if self.is_sequential else [1] * len(data.y)
        return (([], [""] * length) for length in lengths)

    def separator(self, data: Data) -> str:
        """What stands before further columns."""
        return "\t"

    def shown(self, labels: Any) -> Sequence[str]:
        """Labels as text, those of one sample."""
        return [str(label) for label in np.atleast_1d(labels).tolist()]


class Columns(Kind):
    """Column files; features by templates."""

    name, models = "columns", {"svm": ChainSVM, "crf": ChainCRF}

    def check_options(self, arguments: argparse.Namespace) -> None:
        if arguments.template is not None and arguments.features is not None:
            raise UsageError("--template and --features exclude each other")

    def encoder(self, arguments: argparse.Namespace, data: Data) -> TemplateEncoder:
        return TemplateEncoder(self.templates(arguments, len(data.X.columns)), **given(min_count=arguments.min_count))

    def templates(self, arguments: argparse.Namespace, n_columns: int | None = None) -> Any:
        """As `TemplateEncoder` takes them."""
        if arguments.template is None:
            return arguments.features or "full"
        return read_templates(arguments.template, n_columns)

    def store(self, files: list[str], arguments: argparse.Namespace) -> None:
        storage.convert_columns(
            files,
            arguments.output,
            templates=self.templates(arguments),
            comments=arguments.comments,
            **given(min_count=arguments.min_count),
        )

    def read(self, source: str, arguments: argparse.Namespace) -> Data:
        sentences = read_columns(source, comments=arguments.comments)
        if len(sentences.columns) < 2:
            raise FileFormatError("1 column: expected a word and, in the last column, its label", name_of(source))
        return self._data(*sentences.split_labels())

    def read_new(self, source: str, arguments: argparse.Namespace, encoder: TemplateEncoder) -> Data:
        n = encoder.n_columns_
        sentences = read_columns(source, n_columns=(n, n + 1), comments=arguments.comments)
        return self._data(*sentences.split_labels()) if len(sentences.columns) == n + 1 else self._data(sentences, None)

    def _data(self, X: Any, y: Any) -> Data:
        return Data(X, y, sizes(len(X), X.n_tokens), X.first_lines)

    def beginnings(self, data: Data) -> Iterator[tuple[list[str], list[str]]]:
        columns = [column.strings() for column in data.X.columns]
        if data.y is not None:
            columns.append(np.concatenate(data.y).astype(object))
        between = data.X.separator
        lines = np.array([between.join(token) + between for token in zip(*columns, strict=True)], dtype=object)
        before: dict[int, list[str]] = {}
        for at, text in data.X.asides:
            before.setdefault(at, []).append(text)
        for i, own in enumerate(data.X.cut(lines)):
            yield before.get(i, []), own.tolist()

    def separator(self, data: Data) -> str:
        return data.X.separator


class Attributes(Kind):
    """CRFsuite's files; features are there already."""

    name, models = "crfsuite", {"svm": ChainSVM, "crf": ChainCRF}

    def encoder(self, arguments: argparse.Namespace, data: Data) -> DictEncoder:
        return DictEncoder(**given(min_count=arguments.min_count))

    def store(self, files: list[str], arguments: argparse.Namespace) -> None:
        storage.convert_attributes(files, arguments.output, **given(min_count=arguments.min_count))

    def read(self, source: str, arguments: argparse.Namespace) -> Data:
        file = read_attributes(source)
        return Data(file.X, file.y, sizes(len(file.y), sum(map(len, file.y))))


class Numbered(Kind):
    """Files of numbered features."""

    def check_options(self, arguments: argparse.Namespace) -> None:
        super().check_options(arguments)
        if arguments.min_count is not None:
            raise UsageError(f"--min-count is for features that have names, not for --format {self.name}")

    def encoder(self, arguments: argparse.Namespace, data: Data) -> IndexEncoder:
        return IndexEncoder()


class Sequences(Numbered):
    """SVM^hmm's files."""

    name, models = "svmhmm", {"svm": ChainSVM, "crf": ChainCRF}

    def store(self, files: list[str], arguments: argparse.Namespace) -> None:
        storage.convert_svmhmm(files, arguments.output)

    def read(self, source: str, arguments: argparse.Namespace) -> Data:
        file = read_svmhmm(source)
        return Data(file.X, file.y, sizes(len(file.y), sum(map(len, file.y))))


class Classes(Numbered):
    """One class a sample."""

    name, models, is_sequential = "svmlight", {"svm": MulticlassSVM}, False

    def read(self, source: str, arguments: argparse.Namespace) -> Data:
        file = read_svmlight(source)
        return Data(file.X, file.y, counted(len(file.y), "sample"))


class LabelSets(Numbered):
    """A set of labels a sample: columns of y are the numbers of labels."""

    name, models, is_sequential = "multilabel", {"svm": MultilabelSVM}, False

    def read(self, source: str, arguments: argparse.Namespace) -> Data:
        file = read_multilabel(source)
        labels = [label for own in file.y for label in own]
        wrong = [label for label in labels if not (isinstance(label, int) and 0 <= label < MOST_LABELS)]
        if wrong:
            raise FileFormatError(
                f"the label {wrong[0]} is not a whole number from 0 to {MOST_LABELS - 1}, as label sets have them",
                name_of(source),
            )
        indptr = np.cumsum([0, *map(len, file.y)])
        width = max(labels, default=0) + 1
        y = sp.csr_matrix((np.ones(len(labels), np.int64), labels, indptr), shape=(len(file.y), width))
        return Data(file.X, y, counted(len(file.y), "sample"))

    def beginnings(self, data: Data) -> Iterator[tuple[list[str], list[str]]]:
        return (([], [""]) for _ in range(data.y.shape[0]))

    def shown(self, labels: Any) -> Sequence[str]:
        return [",".join(map(str, sp.csr_matrix(labels).indices.tolist()))]


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Columns(), Attributes(), Sequences(), Classes(), LabelSets())}
ENCODERS: dict[Any, tuple[str, ...]] = {
    TemplateEncoder: ("columns",),
    DictEncoder: ("crfsuite",),
    IndexEncoder: ("svmhmm", "svmlight", "multilabel"),
}


def kind_of(encoder: Any, model: Any) -> Kind | None:
    """The kind of files that a fitted model is for."""
    kinds = (KINDS[name] for name in ENCODERS.get(type(encoder), ()))
    return next((kind for kind in kinds if type(model) in kind.models.values()), None)


def kind_of_folder(samples: Any) -> Kind:
    """The kind of files that a folder of samples was made of."""
    kind = None if samples.encoder is None else kind_of(samples.encoder, ChainSVM())
    if kind is None:
        raise ValueError(f"{samples.folder}: it has no encoder of files: learn from it in Python, ChainSVM().fit(...)")
    return kind


def rows_of(data: Data, encoder: Any, source: str) -> Any:
    """Encoded samples, after which the encoder is fitted; a ValueError where they have no features."""
    rows = encoder.fit_transform(data.X)
    if not n_features(rows):
        counts = getattr(encoder, "min_count", 1) > 1
        why = (
            "no feature occurs often enough; lower --min-count" if counts else "no features: is it of another --format?"
        )
        raise ValueError(f"{source}: {why}")
    return rows


def n_features(rows: Any) -> int:
    """How many columns encoded samples have."""
    return _matrices(rows)[0].shape[1]


def has_features(rows: Any) -> bool:
    """Whether any sample has a feature that is known."""
    return any(one.nnz for one in _matrices(rows))


def _matrices(rows: Any) -> list[Any]:
    """Those of positions or samples, without what belongs to transitions."""
    if not isinstance(rows, list):
        return [rows]
    return [one[0] if isinstance(one, tuple) else one for one in rows]


def given(**options: Any) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in options.items() if value is not None}
