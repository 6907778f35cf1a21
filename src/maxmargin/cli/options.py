"""Options that commands share, and how their values are read."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .messages import UsageError

FORMATS = {
    "columns": "a token a line, columns between tabs or spaces, the label last (CoNLL, CRF++)",
    "crfsuite": "a token a line: label TAB attribute[:value] TAB ...",
    "svmhmm": "a token a line: label qid:sequence index:value ...",
    "svmlight": "a sample a line: label index:value ... (SVM^light, LIBSVM)",
    "multilabel": "a sample a line: label,label,... index:value ...",
}


def whole(low: int, high: int) -> Callable[[str], int]:
    """A whole number within bounds."""

    def parse(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
        return int(text)

    return parse


def positive(text: str) -> float:
    """A number > 0."""
    number = _number(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number > 0")
    return number


def share(text: str) -> float:
    """A number between 0 and 1."""
    number = _number(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 1")
    return number


def not_negative(text: str) -> float:
    """A number >= 0."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number >= 0")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How files are read."""
    group = parser.add_argument_group("the file")
    listed = "; ".join(f"{name}: {about}" for name, about in FORMATS.items())
    group.add_argument("--format", choices=FORMATS, default="columns", help=f"{listed} (default: columns)")
    add_comments(group)


def add_comments(group: argparse._ActionsContainer) -> None:
    group.add_argument("--comments", action="store_true", help="lines of column files that start with # are comments")


def add_features(parser: argparse.ArgumentParser) -> None:
    """Which features there are."""
    group = parser.add_argument_group("features")
    group.add_argument(
        "--features",
        choices=("full", "window"),
        default=None,
        help="of column files: full (default) is a window of all columns and case, shape, beginnings and ends of words "
        "(column 0), window the window alone",
    )
    group.add_argument("--template", metavar="FILE", help="a template file as CRF++ has them, instead of --features")
    group.add_argument(
        "--min-count",
        type=whole(1, 10**9),
        metavar="N",
        help="leave out features that occur less often (default: 2 for templates, 1 for attributes)",
    )


def add_model(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """What is learned, and how far."""
    from ..solvers.presets import PRESETS

    group = parser.add_argument_group("the model")
    group.add_argument("--model", choices=("svm", "crf"), default="svm", help="max-margin (default) or likelihood")
    names = sorted(PRESETS)
    group.add_argument("--solver", choices=names, metavar="NAME", help=f"{', '.join(names)}; see docs/solvers.md")
    group.add_argument("--max-passes", type=positive, metavar="N", help="at most so many passes over the data")
    group.add_argument("--max-seconds", type=positive, metavar="S", help="at most so many seconds of training")
    group.add_argument("--jobs", type=whole(1, 10**4), metavar="N", help="threads (default: 1)")
    group.add_argument("--seed", type=whole(0, 2**32 - 1), default=0, help="the same seed, the same model (default: 0)")
    group.add_argument("--bio", action="store_true", help="never I-X after anything but B-X or I-X (also BIOES, BILOU)")
    group.add_argument("--quiet", action="store_true", help="no progress")
    return group


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Runs that may be cut off."""
    group = parser.add_argument_group("runs that may be cut off")
    group.add_argument("--checkpoint", metavar="FILE", help="keeps the run, so that it can go on with --resume")
    group.add_argument(
        "--checkpoint-every", type=not_negative, metavar="S", help="seconds between two writes of it (default: 60)"
    )
    group.add_argument("--resume", action="store_true", help="go on from --checkpoint, if it is there")


def checkpoint_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """As estimators take them; one that is there is not written over unless the run goes on from it."""
    path = arguments.checkpoint
    if path is None:
        if arguments.resume or arguments.checkpoint_every is not None:
            raise UsageError("--resume and --checkpoint-every go with --checkpoint FILE")
        return {}
    others = (getattr(arguments, name, None) for name in ("file", "dev", "output"))
    if os.path.realpath(path) in {os.path.realpath(other) for other in others if other}:
        raise UsageError(f"--checkpoint {path} is what is read or written besides: give it a file of its own")
    if Path(path).is_file() and not arguments.resume:
        raise UsageError(f"{path} is there already: give --resume to go on from it, or delete it")
    return {"checkpoint": path, "checkpoint_every": arguments.checkpoint_every}


def add_output(parser: argparse.ArgumentParser) -> None:
    """Where results go that may go into a pipe."""
    parser.add_argument("--output", "-o", default="-", metavar="FILE", help="instead of standard output")


def picture(text: str) -> Path:
    """The name of a picture; .png where it has no suffix."""
    path = Path(text)
    return path if path.suffix or path.is_dir() else path.with_suffix(".png")
