"""``maxmargin compile``: kernels ahead of their first use."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

from .messages import FAILURE, USAGE_ERROR, fail
from .options import whole

ALL_CORES = -1


def add(commands: Any) -> None:
    from ..compilation import ALL, MODELS, SOLVERS

    parser = commands.add_parser(
        "compile",
        help="compile the kernels of models ahead, for images and continuous integration",
        description="Compile the kernels of models and keep them on disk, so that no later process has to. They go "
        "beside the package, or into the folder NUMBA_CACHE_DIR.",
    )
    parser.add_argument(
        "models", nargs="*", default=ALL, choices=(ALL, *MODELS), metavar="MODEL", help=f"{ALL} or {', '.join(MODELS)}"
    )
    parser.add_argument(
        "--solver",
        action="append",
        dest="solvers",
        choices=(ALL, *SOLVERS),
        metavar="NAME",
        help="may be given more than once (default: all); what estimators take unless told otherwise is auto",
    )
    parser.add_argument("--jobs", type=whole(1, 10**4), metavar="N", help="processes (default: one for each core)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile, with a line for each model and kind of data, and a summary."""
    from ..compilation import ALL, compile_models

    tell = partial(print, flush=True)
    try:
        done = compile_models(
            arguments.models or ALL, solvers=arguments.solvers or ALL, n_jobs=arguments.jobs or ALL_CORES, tell=tell
        )
    except RuntimeError as error:
        return fail(str(error), "compile", USAGE_ERROR)
    what = "all kernels were there already" if not done.n_compiled else f"{done.n_compiled} kernels compiled"
    print(f"{what}, {done.seconds:.1f} s; {done.folder} holds {done.n_bytes / 1e6:.1f} MB")
    for name, reason in done.failed.items():
        print(f"maxmargin compile: error: {name}: {reason}", file=sys.stderr)
    return 0 if done.is_complete else FAILURE
