"""Files that are broken at random: what a reader has to survive."""

import io
import re
from functools import partial

import numpy as np

from maxmargin.features.templates import read_templates
from maxmargin.formats import (
    FileFormatError,
    read_attributes,
    read_columns,
    read_multilabel,
    read_svmhmm,
    read_svmlight,
)

HOSTILE = [
    b"\t",
    b"\n",
    b"\n\n",
    b":",
    b" ",
    b"#",
    b"\\",
    b"\r",
    b"\0",
    b"\xff",
    b"\xc3",
    b"qid:",
    b"1e999",
    b"nan",
    b",",
    b"-",
]


def mutated(text, rng):
    """A few bytes changed, cut out, put in or repeated; or the end cut off."""
    data = bytearray(text)
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(0, len(data) + 1))
        what = rng.integers(0, 5)
        if what == 0 and at < len(data):
            data[at] = int(rng.integers(0, 256))
        elif what == 1:
            del data[at : at + int(rng.integers(1, 9))]
        elif what == 2:
            data[at:at] = HOSTILE[int(rng.integers(0, len(HOSTILE)))]
        elif what == 3:
            end = at + int(rng.integers(1, 30))
            data[at:at] = data[at:end]
        else:
            del data[len(data) - int(rng.integers(0, 8)) :]
    return bytes(data)


def outcomes(read, text, n, seed):
    """How many mutated files were read, and how many were refused; anything but a refusal that says where goes on."""
    rng, fine, refused = np.random.default_rng(seed), 0, 0
    for _ in range(n):
        data = mutated(text, rng)
        try:
            read(io.BytesIO(data))
            fine += 1
        except FileFormatError as error:
            refused += 1
            assert error.file == "file" and "\n" not in str(error), str(error)
            assert error.line is None or 1 <= error.line <= data.count(b"\n") + data.count(b"\r") + 1
            assert error.line is not None or re.search("no s|no template|compressed", str(error)), str(error)
    return fine, refused


READERS = {
    "columns": (
        read_columns,
        b"The DT B-NP\ncat NN I-NP\nsat VBD B-VP\n\nHi UH O\n\n-DOCSTART- -X- O\n\n\xc3\x84h UH O\n",
    ),
    "columns between tabs": (
        partial(read_columns, comments=True),
        b"# c\nThe\tDT\tB-NP\ncat\t\tI-NP\n\nHi\tUH\tO\n",
    ),
    "attributes": (read_attributes, b"B-NP\tw=the\tcap\nI-NP\tw=cat\tlen:3\tat\\:x:0.5\n\nO\ta\\\\b\n"),
    "templates": (
        partial(read_templates, n_columns=2),
        b"# words\nU00:%x[-1,0]/%x[0,1]\nU:end=%suffix3[0,0]\n\nB\nB01:%lower[0,0]\n",
    ),
    "svmlight": (read_svmlight, b"3 1:0.5 4:1 # a comment\n-1 2:2\n2 qid:3 1:1e-3 7:2\n"),
    "svmhmm": (read_svmhmm, b"1 qid:1 1:1\n2 qid:1 2:1 3:0.25\n1 qid:2 1:1 # x\n"),
    "multilabel": (read_multilabel, b"0,2 1:1\n 2:1\n1 3:0.5 9:1\n"),
}
