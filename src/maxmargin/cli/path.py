"""``maxmargin path``: models for every lam, and which of them scores best on held-out data."""

from __future__ import annotations

import argparse
from typing import Any

from .messages import INTERRUPTED, OK, Teller, refuse
from .options import add_checkpoint, add_features, add_model, add_reading, checkpoint_options, picture, positive, share
from .writing import cannot_draw, cannot_draw_at_all, cannot_save


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "path",
        help="models for every lam, with scores on held-out data",
        description="Follow the models from large lam to small, each certified to be near the optimum, score them on "
        "held-out data, and keep the best. lam here is that of the plain objective.",
    )
    parser.add_argument("file", metavar="TRAIN", help="what to learn from, gzipped or not; - is standard input")
    held = parser.add_mutually_exclusive_group()
    held.add_argument("--dev", metavar="FILE", help="the held-out data")
    held.add_argument(
        "--held-out", type=share, default=0.2, metavar="SHARE", help="or a share of the training file (default: 0.2)"
    )
    parser.add_argument("--output", "-o", metavar="MODEL", help="where to write the best model")
    add_reading(parser)
    add_features(parser)
    group = add_model(parser)
    group.add_argument("--eps", type=positive, default=0.1, help="gap as a share of the objective (default: 0.1)")
    group.add_argument("--lam-min", type=positive, metavar="LAM", help="where to end")
    group.add_argument("--plot", type=picture, metavar="FILE", help="draw gaps and scores along lam")
    add_checkpoint(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, follow the path, score, save the best."""
    if arguments.output:
        refuse(cannot_save(arguments.output, arguments.file, arguments.dev or ""))
    if arguments.plot:
        refuse(cannot_draw_at_all() or cannot_draw(arguments.plot))
    from ..estimators import regularization_path
    from .kinds import KINDS, n_features, rows_of
    from .models import new_model, save

    kind, teller = KINDS[arguments.format], Teller(arguments.quiet)
    model = new_model(kind, arguments, **checkpoint_options(arguments))
    data = kind.read(arguments.file, arguments)
    encoder = kind.encoder(arguments, data)
    rows, y = rows_of(data, encoder, arguments.file), data.y
    teller.tell(f"{arguments.file}: {data.summary}, {n_features(rows):,} features")
    if arguments.dev:
        dev = kind.read(arguments.dev, arguments)
        held_rows, held_y = encoder.transform(dev.X), dev.y
    else:
        rows, y, held_rows, held_y = split(rows, y, arguments.held_out, arguments.seed)
    path = regularization_path(model, rows, y, eps=arguments.eps, lam_min=arguments.lam_min)
    best = path.select(held_rows, held_y)
    scores: Any = path.scores
    teller.tell(f"{len(path)} models, {path.passes.sum():.4g} passes")
    print(f"{'lam':>12}{'gap':>12}{'held-out':>12}")
    for lam, gap, score in zip(path.breakpoints, path.gaps, scores, strict=True):
        print(f"{lam:>12.4g}{gap:>12.3g}{score:>12.4f}{'  best' if lam == best.lam else ''}")
    print(f"{path.ended}; every lam from {path.lam_end:.4g} on is within {path.worst_relative_gap:.3g} of its optimum")
    if arguments.output:
        save(encoder, best, arguments.output)
        teller.tell(f"{arguments.output}: the model of lam {best.lam:.4g} written")
    if arguments.plot:
        path.plot().savefig(arguments.plot, dpi=150)
    return INTERRUPTED if path.ended == "interrupted" else OK


def split(rows: Any, y: Any, held_out: float, seed: int) -> tuple[Any, Any, Any, Any]:
    """Samples to learn from, and others."""
    from sklearn.model_selection import train_test_split

    n = len(y) if isinstance(y, list) else y.shape[0]
    if n < 2:
        raise ValueError("1 sample cannot be both learned from and held out: give --dev")
    learned, held, y_learned, y_held = train_test_split(rows, y, test_size=held_out, random_state=seed)
    return learned, y_learned, held, y_held
