"""``maxmargin inspect``: what a model file holds."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .messages import OK
from .options import whole


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "inspect",
        help="what a model file holds",
        description="Print what a model file holds: labels, regularisation, certificate, sizes, and the features and "
        "transitions with the largest weights.",
    )
    parser.add_argument("model", metavar="MODEL", help="a model file that fit has written")
    parser.add_argument(
        "--top", type=whole(0, 10**6), default=5, metavar="N", help="features a label, and transitions (default: 5)"
    )
    parser.add_argument(
        "--label", action="append", metavar="NAME", help="only of this label; may be given more than once"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Load and print."""
    from .models import load

    fitted = load(arguments.model)
    labels = [str(label) for label in fitted.model.classes_.tolist()]
    unknown = [label for label in arguments.label or () if label not in labels]
    if unknown:
        raise ValueError(f"{arguments.model}: no label {unknown[0]!r}; there are {', '.join(labels[:50])}")
    for line in (*summary(arguments.model, fitted), *weights(fitted, arguments)):
        print(line)
    return OK


def summary(path: str, fitted: Any) -> Iterator[str]:
    """What it is, and how good it is."""
    model, encoder = fitted.model, fitted.encoder
    labels = [str(label) for label in model.classes_.tolist()]
    n_weights = model.coef_.size
    n_used = int((model.coef_ != 0).sum())
    rows = {
        "file": f"{path}, {Path(path).stat().st_size / 1e6:.1f} MB",
        "model": f"{type(model).__name__}, for --format {fitted.kind.name}",
        "labels": f"{len(labels)}: {' '.join(labels[:100])}{' ...' if len(labels) > 100 else ''}",
        "features": f"{len(encoder.get_feature_names_out()):,} by {type(encoder).__name__}",
        "weights": f"{n_weights:,} of features, {n_used:,} of them not 0",
        "lam": f"{model.lam_:.6g}" + (" (of scaled features)" if model.scaling_.features != 1.0 else ""),
        "gap": f"{model.gap_:.3g}: objective {model.primal_:.6g}, optimum at least {model.dual_:.6g}",
        "status": f"{model.status_} after {model.n_passes_:.4g} passes",
    }
    width = max(map(len, rows))
    return (f"{name:<{width}}  {text}" for name, text in rows.items())


def weights(fitted: Any, arguments: argparse.Namespace) -> Iterator[str]:
    """The heaviest features of each label, and the heaviest transitions."""
    model, k = fitted.model, arguments.top
    if not k:
        return
    if hasattr(model, "transition_table"):
        table = model.transition_table()
        for title, some in (("likeliest", table[:k]), ("least likely", table[: -k - 1 : -1])):
            yield f"\n{title} transitions"
            yield from (f"  {weight:+9.4f}  {label} -> {following}" for label, following, weight in some)
    names = fitted.encoder.get_feature_names_out()
    for label, own in zip(model.classes_.tolist(), model.coef_, strict=True):
        if arguments.label and str(label) not in arguments.label:
            continue
        yield f"\n{label}"
        yield from (f"  {own[f]:+9.4f}  {names[f]}" for f in heaviest(own, k))


def heaviest(own: Any, k: int) -> list[int]:
    """The k largest weights and the k smallest, those of the right sign, largest first."""
    import numpy as np

    order = np.argsort(-own, kind="stable")
    positive, negative = order[:k], order[max(len(order) - k, 0) :]
    return [int(f) for f in positive if own[f] > 0] + [int(f) for f in negative if own[f] < 0]
