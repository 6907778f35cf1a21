"""``maxmargin convert``: files to a folder that `fit` learns from in less memory."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .messages import OK, Teller, UsageError
from .options import add_features, add_reading


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "convert",
        help="write files to a folder, to learn from in less memory",
        description="Read files of sequences piece by piece and write them to a folder, which fit takes in place of a "
        "file. The folder appears when it is whole.",
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="what to read, gzipped or not")
    parser.add_argument("--output", "-o", required=True, metavar="FOLDER", help="where to write it; must not be there")
    add_reading(parser)
    add_features(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, encode and write, piece by piece."""
    from ..storage import open_samples
    from .kinds import KINDS

    kind, teller = KINDS[arguments.format], Teller(arguments.quiet)
    if Path(arguments.output).exists():
        raise UsageError(f"{arguments.output} is there already: delete it, or name another folder")
    kind.check_options(arguments)
    kind.store(arguments.files, arguments)
    samples = open_samples(arguments.output)
    size = sum(path.stat().st_size for path in samples.folder.iterdir())
    teller.tell(
        f"{arguments.output}: {len(samples):,} sequences, {samples.header.n_positions:,} positions, "
        f"{samples.n_features:,} features, {len(samples.classes):,} labels, {size / 1e6:.1f} MB"
    )
    return OK
