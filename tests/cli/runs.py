"""Commands run within the process of the tests, and small files for them."""

import contextlib
import io
import sys
from typing import NamedTuple

from maxmargin import cli

TAGGED = "the/DT a/DT cat/NN dog/NN bird/NN sees/VB hears/VB likes/VB old/JJ"
WORDS = dict(pair.split("/") for pair in TAGGED.split())
SENTENCES = [
    "the cat sees the dog",
    "a bird hears the old cat",
    "the dog likes a bird",
    "a cat likes the old dog",
    "birds",
]
LABELS = {"DT": "B-NP", "JJ": "I-NP", "NN": "I-NP", "VB": "B-VP", "NNS": "B-NP"}


def column_text(separator=" ", labels=True, sentences=SENTENCES):
    """Small sentences as a column file."""
    lines = []
    for sentence in sentences:
        for word in sentence.split():
            tag = WORDS.get(word, "NNS")
            lines.append(separator.join([word, tag, LABELS[tag]] if labels else [word, tag]))
        lines.append("")
    return "\n".join(lines) + "\n"


ATTRIBUTES = (
    "B-NP\tw=the\tfirst\nI-NP\tw=cat\nB-VP\tw=sees\n\n"
    "B-NP\tw=a\tfirst\nI-NP\tw=dog\n\n"
    "B-NP\tw=the\tfirst\nI-NP\tw=dog\n"
)
SEQUENCES = "1 qid:1 1:1\n2 qid:1 2:1\n1 qid:2 1:1\n2 qid:2 2:1 7:0.5\n1 qid:3 1:2\n"
CLASSES = "1 1:1\n2 2:1\n1 1:2 3:1\n2 2:2\n3 4:1\n3 4:2\n"
LABEL_SETS = "0,2 1:1 3:1\n1 2:1\n0 1:1\n2 3:1\n 4:1\n1,2 2:1 3:1\n"
TEXTS = {
    "columns": column_text(),
    "crfsuite": ATTRIBUTES,
    "svmhmm": SEQUENCES,
    "svmlight": CLASSES,
    "multilabel": LABEL_SETS,
}


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def run(*arguments, given=None):
    """Exit code, standard output and standard error of a command; `given` are bytes of standard input."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        if given is not None:
            stack.enter_context(_stdin(given))
        try:
            code = cli.main([*map(str, arguments)])
        except SystemExit as stopped:
            code = stopped.code
    return Ran(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def _stdin(given):
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given))
    try:
        yield
    finally:
        sys.stdin = before
