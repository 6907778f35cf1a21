"""Box constraints on the weights."""  # osokin16, App. H

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._compile import implements, kernel, verb
from .._sums import dot
from ..structures.verbs import find_potentials, forget_weights, renew_potentials


@verb
def release(box, w):
    """w becomes v, the weights of the dual point."""


@verb
def clip(box, w):
    """v becomes w, truncated to the box."""


@verb
def after_change(box, problem, work):
    """The weights that the scratch knows were brought into the box."""


@verb
def renew(box, problem, work, w, i):
    """Find the potentials of block i after steps on it, which they followed where weights are where the steps lead."""


class NoBox(NamedTuple):
    """No weight has bounds."""


@implements(release, NoBox)
def _(box, w):
    return None


@implements(clip, NoBox)
def _(box, w):
    return None


@implements(after_change, NoBox)
def _(box, problem, work):
    return None


@implements(renew, NoBox)
def _(box, problem, work, w, i):
    renew_potentials(problem, work, w, i)


class Box(NamedTuple):
    """Bounds on some weights; ``v = A alpha`` is kept as w plus what truncation cut off."""

    indices: np.ndarray  # (m,)
    lower: np.ndarray  # (m,)
    upper: np.ndarray  # (m,)
    cut: np.ndarray  # (m,) v - w


@implements(release, Box)
def _(box, w):
    for j in range(box.indices.shape[0]):
        w[box.indices[j]] += box.cut[j]


@implements(clip, Box)
def _(box, w):
    for j in range(box.indices.shape[0]):
        v = w[box.indices[j]]
        w[box.indices[j]] = min(max(v, box.lower[j]), box.upper[j])
        box.cut[j] = v - w[box.indices[j]]


@implements(after_change, Box)
def _(box, problem, work):
    forget_weights(problem, work)


@implements(renew, Box)
def _(box, problem, work, w, i):
    find_potentials(problem, work, w, i)


@kernel
def clip_compiled(box, w):
    clip(box, w)


@kernel
def release_compiled(box, w):
    release(box, w)


@verb
def clip_all(box, w):
    """The same from outside the kernels; returns a box of its own that remembers what was cut off."""


@verb
def released(box, w):
    """v, the weights of the dual point; to be read only."""


@implements(clip_all, NoBox)
def _(box, w):
    return box  # nothing to compile


@implements(released, NoBox)
def _(box, w):
    return w


@implements(clip_all, Box)
def _(box, w):
    own = box._replace(cut=box.cut.copy())
    clip_compiled(own, w)
    return own


@implements(released, Box)
def _(box, w):
    v = w.copy()
    release_compiled(box, v)
    return v


@verb
def cut_off(box, w):
    """``beta_u'u - beta_l'l``, what the multipliers of the bounds add to the dual: truncated weights lie on them."""


@implements(cut_off, NoBox)
def _(box, w):
    return 0.0


@implements(cut_off, Box)
def _(box, w):
    return dot(box.cut, w[box.indices])


@verb
def bounds_of(box):
    """Indices of the weights that have bounds, and these: lower and upper."""


@implements(bounds_of, NoBox)
def _(box):
    return np.empty(0, np.int64), np.empty(0), np.empty(0)


@implements(bounds_of, Box)
def _(box):
    return box.indices, box.lower, box.upper


def truncate(box: Any, v: np.ndarray) -> tuple[np.ndarray, Any]:
    """The weights in the box nearest to v, and a box of its own that remembers what was cut off."""
    w = v.copy()
    return w, clip_all(box, w)


def is_cone(box: Any) -> bool:
    """Whether the bounds are signs at most, so that a multiple of allowed weights is allowed."""
    _, lower, upper = bounds_of(box)
    return bool(np.isin(np.concatenate([lower, upper]), (0.0, -np.inf, np.inf)).all())


def same_bounds(box: Any, other: Any) -> bool:
    return all(map(np.array_equal, bounds_of(box), bounds_of(other)))


def make_box(lower: Any, upper: Any, positive: Any, d: int) -> Any:
    """Bounds from `lower` and `upper` (numbers or arrays) and the indices, mask or slice `positive`."""
    if lower is None and upper is None and positive is None:
        return NoBox()
    low, high = np.full(d, -np.inf), np.full(d, np.inf)
    for name, bound, target in (("lower", lower, low), ("upper", upper, high)):
        if bound is not None:
            try:
                bound = np.asarray(bound, np.float64)
            except (TypeError, ValueError) as error:
                raise ValueError(f"{name} must be a number or {d} numbers: {error}") from error
            if bound.shape not in ((), (d,)) or np.any(np.isnan(bound)):
                raise ValueError(f"{name} must be a number or {d} numbers, got an array of shape {bound.shape}")
            target[:] = bound
    if positive is not None:
        try:
            low[positive] = np.maximum(low[positive], 0.0)
        except IndexError as error:
            raise ValueError(f"positive must be indices of {d} weights, a mask or a slice: {error}") from error
    if np.any(low > high) or np.any(low == np.inf) or np.any(high == -np.inf):
        bad = int(np.argmax((low > high) | (low == np.inf) | (high == -np.inf)))
        raise ValueError(f"weight {bad}: no value lies between its bounds, lower {low[bad]:g} and upper {high[bad]:g}")
    indices = np.flatnonzero((low > -np.inf) | (high < np.inf))
    if len(indices) == 0:
        return NoBox()
    return Box(indices, low[indices], high[indices], np.zeros(len(indices)))
