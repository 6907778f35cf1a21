"""``maxmargin fit``: learn a model from a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .messages import INTERRUPTED, OK, Teller, UsageError, refuse
from .options import (
    add_checkpoint,
    add_features,
    add_model,
    add_reading,
    checkpoint_options,
    not_negative,
    picture,
    positive,
)
from .writing import cannot_draw, cannot_draw_at_all, cannot_save


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "fit",
        help="learn a model from a file",
        description="Learn from a file and write a model file. Ctrl-C stops and writes the model reached so far, with "
        "its gap; twice, it breaks off.",
    )
    parser.add_argument(
        "file", metavar="TRAIN", help="what to learn from, gzipped or not; - is standard input; or a folder of convert"
    )
    parser.add_argument("--output", "-o", required=True, metavar="MODEL", help="the model file")
    add_reading(parser)
    add_features(parser)
    group = add_model(parser)
    lam = group.add_mutually_exclusive_group()
    lam.add_argument("--lam", type=positive, help="regularisation (default: a rule that suits most data)")
    lam.add_argument("--cv", action="store_true", help="choose lam by cross-validation")
    group.add_argument("--l1", type=not_negative, help="penalty of absolute weights, for --model crf")
    group.add_argument("--tol", type=positive, help="stop at this duality gap (default: 0.01 or less)")
    group.add_argument("--balanced", action="store_true", help="errors at rare labels weigh more")
    group.add_argument("--plot", type=picture, metavar="FILE", help="draw how the gap fell")
    add_checkpoint(parser)
    disk = parser.add_argument_group("folders of convert")
    disk.add_argument("--memory-limit", metavar="SIZE", help="how much samples may take in memory (default: 1GB)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, make features, learn, save."""
    refuse(cannot_save(arguments.output, arguments.file))
    if arguments.plot:
        refuse(cannot_draw_at_all() or cannot_draw(arguments.plot))
    from .kinds import KINDS, kind_of_folder, n_features, placed, rows_of, sizes
    from .models import new_model, save

    teller = Teller(arguments.quiet)
    samples = opened(arguments) if Path(arguments.file).is_dir() else None
    kind = KINDS[arguments.format] if samples is None else kind_of_folder(samples)
    model = new_model(
        kind,
        arguments,
        lam="cv" if arguments.cv else arguments.lam,
        l1=arguments.l1,
        tol=arguments.tol,
        class_weight="balanced" if arguments.balanced else None,
        **checkpoint_options(arguments),
    )
    if samples is None:
        data = kind.read(arguments.file, arguments)
        teller.tell(f"{arguments.file}: {data.summary}")
        encoder = kind.encoder(arguments, data)
        rows = rows_of(data, encoder, arguments.file)
        teller.tell(f"{n_features(rows):,} features")
        with placed(arguments.file, data):
            model.fit(rows, data.y)
    else:
        teller.tell(f"{arguments.file}: {sizes(len(samples), samples.header.n_positions)}")
        encoder = samples.encoder
        model.fit(samples)
        model.vectorizer_ = None  # rows come encoded
    teller.tell(f"{len(model.classes_):,} labels learned, lam {model.lam_:.3g}")
    save(encoder, model, arguments.output)
    size = Path(arguments.output).stat().st_size
    teller.tell(f"{arguments.output}: {size / 1e6:.1f} MB written")
    tell_certificate(model, teller)
    if arguments.plot:
        draw_history(model, arguments.plot)
    return INTERRUPTED if model.status_ == "interrupted" else OK


def opened(arguments: argparse.Namespace) -> Any:
    """A folder of samples; their features are settled."""
    from ..storage import open_samples
    from .kinds import given

    for option in ("template", "features", "min_count"):
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option.replace('_', '-')} is for convert: the folder has its features already")
    scratch = None if arguments.checkpoint is None else f"{arguments.checkpoint}.windows"
    return open_samples(arguments.file, scratch=scratch, **given(memory_limit=arguments.memory_limit))


def tell_certificate(model: Any, teller: Teller) -> None:
    """How good the model is, on standard output: what a script may want to read."""
    print(
        f"gap {model.gap_:.3g}: the objective is {model.primal_:.6g}, the optimum at least {model.dual_:.6g} "
        f"({model.status_}, {model.n_passes_:.4g} passes, {teller.seconds:.1f} s in all)"
    )


def draw_history(model: Any, path: Path) -> None:
    """The gap along the passes."""
    from matplotlib.figure import Figure

    from ..plotting import plot_history

    figure = Figure()
    plot_history(model, ax=figure.add_subplot())
    figure.savefig(path, dpi=150)
