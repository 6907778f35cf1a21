"""What a run returns that stops with a gap: weights on their best scale, and zeros only where there is nothing else.

Weights may point the right way and be far too long, above all early; then w = 0 has the lowest primal value of all that
was seen, and predicts nothing. A bad scale is not a bad model: along the ray ``c w`` the primal value
``c^2 lam/2 |w|^2 + H(c w)`` is convex in c, and a few exact passes find its lowest point. Where that is c = 0, so that
no multiple of any weights beats none at all, the weights that err least are returned, so short that their primal value
is nearly that of w = 0. What is returned has been certified like everything else, by an exact pass. Weights come and go
as runs keep them (:mod:`.kept`), and are whole only where they are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .box import bounds_of, clip_all
from .engine import Engine
from .kept import are_same, kept
from .objective import Certified

# Exact passes that a search along one ray may take: a share of those of the run, within bounds.
SHARE, HURRIED, PATIENT = 0.2, 2, 6

# A search along all rays takes about so many; it may last this share of the run, and a second.
ALL, MOMENT = 12, 0.1

# Zeros are given up for weights whose primal value is above theirs by at most this share of the gap.
NEAR = 0.01

# Below this share of the primal value, a gap is no matter of scale.
WIDE = 0.1

# Precision of a search: of the primal value, and of c.
FINE, CLOSE = 1e-3, 0.1

# So long, scores outweigh all losses.
FAR = 1e6


class Ray:
    """Exact primal values of ``c w``, for weights whose hinge loss is known, and that of no weights."""

    def __init__(self, engine: Engine, found: Certified, nothing: float):
        self.engine, self.found, self.nothing = engine, found, nothing
        w = found.w.weights()
        self.penalty = 0.5 * engine.lam * engine.objective.inner(w, w)
        self.hinge = max(found.primal - self.penalty, 0.0)
        self.shortest, self.longest = _scales(engine.objective.box, w)
        self.seen = {1.0: found.primal}
        if self.shortest == 0.0:
            self.seen[0.0] = nothing

    def scaled(self, c: float) -> np.ndarray:
        w = self.found.w.own()
        w *= c
        return w

    def weights(self, c: float) -> np.ndarray:
        w = self.scaled(c)
        clip_all(self.engine.objective.box, w)  # rounding may lead out of the box
        return w

    def look(self, c: float) -> None:
        """Find the primal value of ``c w``: a pass of oracle calls."""
        if self.shortest <= c <= self.longest and c not in self.seen:
            w = self.weights(c)
            square = self.engine.objective.inner(w, w)
            self.seen[c] = 0.5 * self.engine.lam * square + self.engine.hinge_loss(w)

    def guess(self) -> float:
        """Where scores and losses are about as large; the hinge loss is a measure of either, at w and at 0."""
        return self.nothing / (self.nothing + self.hinge) if self.hinge > 0.0 else 2.0

    def search(self, n_passes: int) -> None:
        """Look for the lowest primal value."""
        c: float | None = self.guess()
        for _ in range(n_passes):
            if c is None:
                return
            self.look(c)
            c = self.next_scale()

    def next_scale(self) -> float | None:
        """Where to look next; None if nothing is to be gained."""
        scales = sorted(self.seen)
        values = [self.seen[c] for c in scales]
        m = int(np.argmin(values))
        if m == len(scales) - 1:
            return 2.0 * scales[m] if scales[m] < self.longest else None
        if scales[m] == 0.0:
            # a convex function is above the extension of each of its chords
            slope = (values[2] - values[1]) / (scales[2] - scales[1]) if len(scales) > 2 else np.inf
            gain = values[0] - (values[1] - slope * scales[1])
            return 0.25 * scales[1] if gain > FINE * values[0] else None
        if m == 0:
            return 0.5 * scales[0] if scales[0] > self.shortest else None
        return _between(*scales[m - 1 : m + 2], *values[m - 1 : m + 2])

    def own_primal(self) -> float:
        return self.found.primal

    def best_scale(self) -> float:
        """Where the primal value is the lowest seen, that of no weights apart."""
        return min((c for c in self.seen if c > 0.0), key=self.seen.__getitem__)

    def at(self, c: float) -> Certified:
        """What was seen at a scale."""
        return self.found._replace(w=kept(self.weights(c)), primal=self.seen[c])

    def near_nothing(self, rise: float) -> Certified:
        """Weights so short that their primal value is below that of none, or at most `rise` above it; one pass.

        By convexity ``H(c w) <= (1 - c) H(0) + c H(w)``.
        """
        gain = self.nothing - self.hinge
        if gain > 0.0:
            c = min(1.0, 0.5 * gain / self.penalty) if self.penalty > 0.0 else 1.0
        else:
            c = min(1.0, rise / (self.penalty - gain)) if self.penalty > gain else 1.0
        self.look(c)
        return self.at(c)

    def mistakes(self) -> float:
        """The mean loss of predictions, ties counted as mistakes; two passes.

        Far out, outputs are found by their scores alone, so that the hinge loss is linear in c: the loss of its outputs
        less c times their scores.
        """
        c = FAR * self.nothing / self.hinge if self.hinge > 0.0 else FAR
        return 2.0 * self.engine.hinge_loss(self.scaled(c)) - self.engine.hinge_loss(self.scaled(2.0 * c))


def best_scaled(engine: Engine, best: Certified, candidates: Sequence[Certified], n_passes: int) -> Certified:
    """The best with weights of lower primal value, if there are any on the rays through the candidates."""
    rays = _rays(engine, best, candidates)
    for ray in rays:
        ray.search(1)
    if not rays:
        return best
    ray = min(rays, key=lambda one: one.seen[one.best_scale()])
    ray.search(n_passes)
    c = ray.best_scale()
    return best._replace(w=ray.at(c).w, primal=ray.seen[c]) if ray.seen[c] < best.primal else best


def instead_of_nothing(
    engine: Engine, best: Certified, candidates: Sequence[Certified], rise: float, n_passes: int
) -> Certified:
    """Of weights that are not 0 those that err least, on a scale where they are nearly as good as none.

    Where no passes are to be had, those with the lowest primal value.
    """
    rays = [ray for ray in _rays(engine, best, candidates) if ray.shortest == 0.0]
    if not rays or not rise > 0.0:
        return best
    judge = Ray.mistakes if n_passes > 0 and len(rays) > 1 else Ray.own_primal
    ray = min(rays, key=judge)
    found = ray.near_nothing(rise)
    if found.w.is_nothing() or found.primal > best.primal + rise:
        return best
    return best._replace(w=found.w, primal=found.primal)


def _rays(engine: Engine, best: Certified, candidates: Sequence[Certified]) -> list[Ray]:
    some = [one for one in (best, *candidates) if not one.w.is_nothing()]
    if not some:
        return []
    nothing = best.primal if best.w.is_nothing() else engine.hinge_loss(np.zeros(best.w.size))
    different = [one for k, one in enumerate(some) if not any(are_same(one.w, two.w) for two in some[:k])]
    return [Ray(engine, one, nothing) for one in different]


def _scales(box: object, w: np.ndarray) -> tuple[float, float]:
    """The least and the largest c >= 0 for which ``c w`` is in the box."""
    indices, lower, upper = bounds_of(box)
    some = w[indices] != 0.0
    ends = np.array([lower[some], upper[some]]) / w[indices][some]
    has_zero = not np.any((lower > 0.0) | (upper < 0.0))
    return (0.0 if has_zero else float(ends.min(axis=0).max())), float(ends.max(axis=0).min(initial=np.inf))


def _between(a: float, b: float, c: float, at_a: float, at_b: float, at_c: float) -> float | None:
    """The lowest point of the parabola through three points, of which the middle one is the lowest.

    If that is too near to the middle one to tell anything, the middle of the wider side; None if both are narrow.
    """
    if c - a <= CLOSE * b:
        return None
    left, right = (at_b - at_a) / (b - a), (at_c - at_b) / (c - b)
    lowest = 0.5 * (a + b - left * (c - a) / (right - left)) if right > left else b
    if abs(lowest - b) > 0.5 * CLOSE * b:
        return lowest
    return 0.5 * (a + b) if b - a > c - b else 0.5 * (b + c)
