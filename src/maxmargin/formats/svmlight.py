"""Files of numbered features: ``label [qid:N] index:value ... # comment``.

SVM^light and LIBSVM write a sample a line; SVM^hmm a token a line, where ``qid`` says to which sequence it belongs;
multilabel files have labels with commas between them. Lines are parsed by scikit-learn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .errors import FileFormatError, shown
from .source import Source, name_of, numbered_lines, pieces

LARGEST = np.iinfo(np.int32).max
EXPECTED = "a line is 'label index:value ...', indices ascending"
QID = re.compile(rb"\s*(\S+)\s+qid:(-?\d{1,18})(?!\S)")


@dataclass(frozen=True)
class NumberedFile:
    """Samples with numbered features.

    Parameters
    ----------
    X : CSR matrix of shape (N, F), or list of these
        One row a sample, column f holds feature f as the file numbers them; one matrix a sequence in files with qid.
    y : array of shape (N,), list of arrays, or list of lists
        Labels: a number a sample; an array a sequence; or for label sets the labels of each sample.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_svmlight
    >>> file = read_svmlight(io.BytesIO(b"3 1:0.5 4:1 # a comment\\n-1 2:2\\n"))
    >>> file.y, file.X.toarray()
    (array([ 3, -1]), array([[0. , 0.5, 0. , 0. , 1. ],
           [0. , 0. , 2. , 0. , 0. ]]))
    """

    X: Any
    y: Any


def read_svmlight(source: Source) -> NumberedFile:
    """Read one class a sample, as SVM^light and LIBSVM write them; a qid is not looked at.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.

    Returns
    -------
    file : NumberedFile
        Labels are integers where all are whole.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_svmlight
    >>> read_svmlight(io.BytesIO(b"1 1:1\\n2 1:3\\n")).y
    array([1, 2])
    """
    lines = _Lines(source)
    X, y = _load(lines)
    return NumberedFile(X, _whole(y, lines))


def read_svmhmm(source: Source) -> NumberedFile:
    """Read sequences of labels: lines with the same qid, one after the other, are a sequence.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.

    Returns
    -------
    file : NumberedFile

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_svmhmm
    >>> read_svmhmm(io.BytesIO(b"1 qid:1 1:1\\n2 qid:1 2:1\\n1 qid:2 1:1\\n")).y
    [array([1, 2]), array([1])]
    """
    return _sequences(_SequenceLines(source, {}))


def iterate_svmhmm(source: Source) -> Iterator[NumberedFile]:
    """Read sequences of labels some megabytes at a time.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.

    Returns
    -------
    files : iterator of NumberedFile
        Whole sequences; matrices are as wide as these need.

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import iterate_svmhmm
    >>> [some.y for some in iterate_svmhmm(io.BytesIO(b"1 qid:1 1:1\\n2 qid:1 2:1\\n1 qid:2 1:1\\n"))]
    [[array([1, 2]), array([1])]]
    """
    seen: dict[int, int] = {}
    for piece in pieces(source, _ends_sequence, lambda line: bool(line.partition(b"#")[0].strip())):
        yield _sequences(_SequenceLines(piece, seen))


def _ends_sequence(line: bytes, following: bytes) -> bool:
    own, other = QID.match(line), QID.match(following)
    return own is not None and other is not None and own[2] != other[2]


def _sequences(lines: _SequenceLines) -> NumberedFile:
    X, y = _load(lines)
    begins = lines.begins()
    labels = _whole(y, lines)
    cuts = list(pairwise([*begins, len(labels)]))
    return NumberedFile([X[a:b] for a, b in cuts], [labels[a:b] for a, b in cuts])


def read_multilabel(source: Source) -> NumberedFile:
    """Read sets of labels, ``label,label index:value ...``; a line that starts with a space has no label.

    Parameters
    ----------
    source : path-like or binary file
        The file, which may be gzipped; "-" is standard input.

    Returns
    -------
    file : NumberedFile

    Examples
    --------
    >>> import io
    >>> from maxmargin.formats import read_multilabel
    >>> read_multilabel(io.BytesIO(b"0,2 1:1\\n 2:1\\n")).y
    [[0, 2], []]
    """
    lines = _Lines(source)
    X, y = _load(lines, multilabel=True)
    sizes = [len(labels) for labels in y]
    flat = _whole(np.array([label for labels in y for label in labels]), lines, np.repeat(np.arange(len(y)), sizes))
    cuts = np.cumsum([0, *sizes])
    return NumberedFile(X, [sorted(set(flat[a:b].tolist())) for a, b in pairwise(cuts)])


class _Lines:
    """Lines as scikit-learn asks for them, which remember how far it has come."""

    def __init__(self, source: Source):
        self.source, self.name = source, name_of(source)
        self.numbers: list[int] = []  # of lines that hold a sample
        self.last = b""

    def read(self) -> None:
        """Never called: it says that this is a file."""

    def __iter__(self) -> Iterator[bytes]:
        for number, line in numbered_lines(self.source):
            told = line.partition(b"#")[0]
            if told.strip():
                self.numbers.append(number)
                self.last = self.without_qid(told)
                yield self.last

    def without_qid(self, told: bytes) -> bytes:
        """scikit-learn skips it."""
        return told


class _SequenceLines(_Lines):
    """The same, each with a qid, which scikit-learn would collect in quadratic time."""

    def __init__(self, source: Source, seen: dict[int, int]):
        super().__init__(source)
        self.qids: list[int] = []
        self.seen = seen  # where sequences began, those of other pieces included

    def without_qid(self, told: bytes) -> bytes:
        found = QID.match(told)
        if not found:
            problem = f"no qid in {shown(told)}: a line is 'label qid:sequence index:value ...'"
            raise FileFormatError(problem, self.name, self.numbers[-1])
        self.qids.append(int(found[2]))
        return found[1] + b" " + told[found.end() :]

    def begins(self) -> list[int]:
        """The first row of each sequence; one whose lines lie apart is refused: nobody means that."""
        rows = [0, *(row + 1 for row, (a, b) in enumerate(pairwise(self.qids)) if a != b)]
        seen = self.seen
        for row in rows:
            qid, number = self.qids[row], self.numbers[row]
            if qid in seen:
                problem = f"qid:{qid} again, which began in line {seen[qid]}: lines of a sequence follow each other"
                raise FileFormatError(problem, self.name, number)
            seen[qid] = number
        return rows


def _load(lines: _Lines, **how: bool) -> Any:
    from sklearn.datasets import load_svmlight_file

    try:
        X, *others = load_svmlight_file(lines, zero_based=True, **how)
    except FileFormatError:
        raise
    except (ValueError, OverflowError) as error:
        number = lines.numbers[-1] if lines.numbers else None
        raise FileFormatError(f"{_complaint(lines.last, **how)}; {EXPECTED}", lines.name, number) from error
    if not lines.numbers:
        raise FileFormatError("no sample: the file is empty, or holds blank lines only", lines.name)
    if not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.argmax(~np.isfinite(X.data)), side="right")) - 1
        raise FileFormatError("a value is not a finite number", lines.name, lines.numbers[row])
    return X, *others


def _complaint(line: bytes, multilabel: bool = False) -> str:
    """What is wrong with a line that scikit-learn refuses."""
    label, *fields = line.split()
    if multilabel and b":" in label:
        label, fields = b"", [label, *fields]
    for one in label.split(b",") if multilabel and label else [label] * (not multilabel):
        if not _is_number(one):
            return f"the label {shown(one)} is not a number"
    last = -1
    for one in fields:
        index, colon, value = one.partition(b":")
        if not colon:
            return f"{shown(one)} is not index:value"
        if not index.isdigit() or int(index) > LARGEST:
            return f"the index {shown(index)} is not a whole number from 0 to {LARGEST}"
        if int(index) <= last:
            return f"the index {int(index)} does not come after {last}"
        if not _is_number(value):
            return f"the value {shown(value)} is not a number"
        last = int(index)
    return f"{shown(line)} cannot be read"


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _whole(labels: np.ndarray, lines: _Lines, rows: np.ndarray | None = None) -> np.ndarray:
    """Labels as integers where they all are."""
    wrong = ~np.isfinite(labels) | (np.abs(labels) > LARGEST)
    if wrong.any():
        at = int(np.argmax(wrong))
        number = lines.numbers[at if rows is None else int(rows[at])]
        raise FileFormatError(f"the label {labels[at]:g} is no number that names a class", lines.name, number)
    return labels.astype(np.int64) if (labels == np.trunc(labels)).all() else labels
