"""Estimators by their options, and model files."""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

from .kinds import Kind, given, kind_of
from .messages import UsageError


class Fitted(NamedTuple):
    """A model file: what makes rows, what learned from them, and the files that both are for."""

    encoder: Any
    model: Any
    kind: Kind


def new_model(kind: Kind, arguments: argparse.Namespace, **more: Any) -> Any:
    """The estimator that the options ask for, unfitted; or what is wrong with these."""
    kind.check_options(arguments)
    if arguments.model not in kind.models:
        raise UsageError(f"--model {arguments.model} is for sequences, not for --format {kind.name}")
    made = kind.models[arguments.model]
    options = given(
        solver=arguments.solver,
        max_passes=arguments.max_passes,
        max_seconds=arguments.max_seconds,
        n_jobs=arguments.jobs,
        random_state=arguments.seed,
        transition_mask="bio" if arguments.bio else None,
        verbose=0 if arguments.quiet else 1,
        **more,
    )
    names = {"transition_mask": "bio", "random_state": "seed", "n_jobs": "jobs", "class_weight": "balanced"}
    known = made().get_params()
    for name in options:
        if name not in known:
            option = names.get(name, name.replace("_", "-"))
            raise UsageError(f"--{option} is not for {made.__name__}, the {arguments.model} of --format {kind.name}")
    return made(**options)


def save(encoder: Any, model: Any, path: str) -> None:
    """Write a model file, without what matters to this run alone."""
    from sklearn.pipeline import Pipeline

    from .. import persistence

    model.set_params(checkpoint=None, verbose=0, n_jobs=None)
    persistence.save(Pipeline([("features", encoder), ("model", model)]), path)


def load(path: str) -> Fitted:
    """Read a model file that `save` has written, or one of a pipeline like that."""
    from .. import persistence

    loaded = persistence.load(path)
    steps = [step for _, step in getattr(loaded, "steps", [])]
    kind = kind_of(*steps) if len(steps) == 2 else None
    if kind is None:
        what = f"a {type(loaded).__name__} by itself" if not steps else "a pipeline of other parts"
        raise ValueError(f"{path}: {what}, but the command takes what maxmargin fit has written")
    encoder, model = steps
    return Fitted(encoder, model, kind)
