"""Whole inputs to disk in one call: batches as they come, and files as they lie about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..features import TemplateEncoder
from ..formats import TokenColumns, iterate_attributes, iterate_columns, iterate_svmhmm
from ..formats.source import STDIN
from .writer import SequenceWriter

Files = Sequence[str | os.PathLike[str]]


def write_samples(
    folder: str | os.PathLike[str], batches: Iterable[tuple[Any, Any]], *, min_count: int = 1, numbered: bool = False
) -> None:
    """Write batches of sequences with labels to a folder.

    Parameters
    ----------
    folder : str or path
        Where to; there must be nothing yet.
    batches : iterable of tuples (X, y)
        Each as `ChainSVM.fit` takes them; one of everything, ``[(X, y)]``, or a generator of what fits into memory.
    min_count : int, default=1
        Of feature dicts: features with fewer occurrences have no column.
    numbered : bool, default=False
        Whether columns of sparse rows are numbers of features as a file has them, so that batches may differ in width;
        those that occur get columns.

    See Also
    --------
    SequenceWriter : Adds one batch after the other.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from maxmargin.storage import open_samples, write_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_samples(f"{folder}/samples", (([np.full((2, 1), k)], [["a", "b"]]) for k in range(5)))
    ...     len(open_samples(f"{folder}/samples"))
    5
    """
    with SequenceWriter(folder, min_count=min_count, numbered=numbered) as out:
        for X, y in batches:
            out.add(X, y)


def convert_columns(
    files: Files,
    folder: str | os.PathLike[str],
    *,
    templates: str | Sequence[str] = "full",
    min_count: int = 2,
    comments: bool = False,
) -> None:
    """Write the sentences of column files (CoNLL, CRF++) to a folder, encoded by templates.

    Files are read three times or more, some megabytes at a time: what strings there are, which features are frequent,
    and their rows. The encoder is kept in the folder.

    Parameters
    ----------
    files : sequence of str or path
        Column files, the label last; they may be gzipped.
    folder : str or path
        Where to; there must be nothing yet.
    templates : str or list of str, default="full"
        As :class:`~maxmargin.TemplateEncoder` takes them.
    min_count : int, default=2
        Features with fewer occurrences have no column.
    comments : bool, default=False
        Whether lines that start with ``#`` are comments.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maxmargin.storage import convert_columns, open_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "train.txt").write_text("the DT\\ncat NN\\n\\na DT\\ncat NN\\n")
    ...     convert_columns([f"{folder}/train.txt"], f"{folder}/samples", templates=["U:w=%x[0,0]"])
    ...     open_samples(f"{folder}/samples").encoder.get_feature_names_out().tolist()
    ['w=cat']
    """
    if any(file == STDIN for file in files):
        raise ValueError("column files are read several times, and standard input can be read once: give a file")
    encoder = TemplateEncoder(templates, min_count=min_count)
    encoder.fit_batches(lambda: (some.split_labels()[0] for some in _sentences(files, comments)))
    if encoder.encoders()[1].n_attributes:
        raise ValueError("samples on disk have no features of transitions: leave templates out that begin with B")
    with SequenceWriter(folder, encoder=encoder) as out:
        for some in _sentences(files, comments):
            X, y = some.split_labels()
            out.add(encoder.transform(X), y)


def _sentences(files: Files, comments: bool) -> Iterator[TokenColumns]:
    n_columns: list[int] | None = None
    for file in files:
        for some in iterate_columns(file, n_columns=n_columns, comments=comments):
            n_columns = [len(some.columns)]
            yield some


def convert_attributes(files: Files, folder: str | os.PathLike[str], *, min_count: int = 1) -> None:
    """Write the sentences of CRFsuite's attribute files to a folder.

    Parameters
    ----------
    files : sequence of str or path
        Attribute files, which may be gzipped; "-" is standard input.
    folder : str or path
        Where to; there must be nothing yet.
    min_count : int, default=1
        Attributes with fewer occurrences have no column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maxmargin.storage import convert_attributes, open_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "train.txt").write_text("DT\\tw=the\\nNN\\tw=cat\\n\\n")
    ...     convert_attributes([f"{folder}/train.txt"], f"{folder}/samples")
    ...     open_samples(f"{folder}/samples").encoder.feature_names_
    ['w=cat', 'w=the']
    """
    pieces = (piece for file in files for piece in iterate_attributes(file))
    write_samples(folder, ((piece.X, piece.y) for piece in pieces), min_count=min_count)


def convert_svmhmm(files: Files, folder: str | os.PathLike[str]) -> None:
    """Write the sequences of SVM^hmm's files to a folder.

    Parameters
    ----------
    files : sequence of str or path
        Files of numbered features with qid, which may be gzipped; "-" is standard input.
    folder : str or path
        Where to; there must be nothing yet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from maxmargin.storage import convert_svmhmm, open_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "train.txt").write_text("1 qid:1 1:1\\n2 qid:1 7:1\\n")
    ...     convert_svmhmm([f"{folder}/train.txt"], f"{folder}/samples")
    ...     open_samples(f"{folder}/samples").encoder.indices_.tolist()
    [1, 7]
    """
    pieces = (piece for file in files for piece in iterate_svmhmm(file))
    write_samples(folder, ((piece.X, piece.y) for piece in pieces), numbered=True)
