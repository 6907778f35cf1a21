"""Proximal problems over millions of weights, of which few are ever not 0: vectors are kept by the places of these.

With thousands of labels most pairs of labels, and most labels of a feature, have no weight. A look takes one sweep over
the weights, for places that are new; sums, mixtures and products are those of what is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compile import kernel
from ..structures.needs import Need
from ..structures.verbs import offers
from .box import bounds_of
from .catalyst import ProximalSequence
from .objective import DualPoint, Objective


def allows_few(objective: Objective) -> bool:
    """Whether weights that are 0 add nothing, and no bounds are told by their places."""
    return Need.BOUNDS in offers(objective.problem) and len(bounds_of(objective.box)[0]) == 0


# New places that a look has room for at once; where there are more, it takes a second sweep.
ROOM = 1 << 16


@kernel
def list_others(w, places, others):
    """List the places of weights that are not 0 and not listed yet, as far as there is room; returns how many.

    Places are in their order.
    """
    first, count = 0, 0
    for j in range(places.shape[0] + 1):
        last = places[j] if j < places.shape[0] else w.shape[0]
        for k in range(first, last):
            if w[k] != 0.0:
                if count < others.shape[0]:
                    others[count] = k
                count += 1
        first = last + 1
    return count


class FewWeights(ProximalSequence):
    """The same; vectors of dual points that it makes and takes are those of the places it knows."""

    fresh = False  # whether the places of the weights that steps have are known

    def begin(self, objective: Objective, kappa: float, highest: float, point: DualPoint, steps: int) -> None:
        self.size, self.places = len(point.vector), np.flatnonzero(point.vector)
        super().begin(objective, kappa, highest, point._replace(vector=point.vector[self.places]), steps)

    def learn_places(self, w: np.ndarray) -> None:
        """Where w is not 0."""
        others = np.empty(ROOM, np.int64)
        count = list_others(w, self.places, others)
        if count == 0:
            return
        if count > ROOM:
            others = np.empty(count, np.int64)
            list_others(w, self.places, others)
        # a sort that sees that both are sorted
        places = np.sort(np.concatenate([self.places, others[:count]]), kind="stable")
        at, n_places = np.searchsorted(places, self.places), len(places)

        def moved(vector: np.ndarray) -> np.ndarray:
            found = np.zeros(n_places)
            found[at] = vector
            return found

        centre, previous = self.sequence.centre, self.sequence.previous
        self.sequence.centre = moved(centre)
        self.sequence.previous = self.sequence.centre if previous is centre else moved(previous)
        self.mixture, self.total = self.mixture._replace(vector=moved(self.mixture.vector)), moved(self.total)
        self.places = places

    def listed(self, w: np.ndarray) -> np.ndarray:
        """Weights that steps have."""
        if not self.fresh:
            self.learn_places(w)
            self.fresh = True
        return w[self.places]

    def spread(self, vector: np.ndarray) -> np.ndarray:
        w = np.zeros(self.size)
        w[self.places] = vector
        return w

    def known(self, point: DualPoint) -> DualPoint:
        self.learn_places(point.vector)
        return point._replace(vector=point.vector[self.places])

    def whole(self, point: DualPoint) -> DualPoint:
        return point._replace(vector=self.spread(point.vector))

    def weights(self, objective: Objective, point: DualPoint) -> tuple[np.ndarray, Any]:
        w, box = super().weights(objective, point)
        return self.spread(w), box

    def weights_again(self, objective: Objective, point: DualPoint, w: np.ndarray) -> tuple[np.ndarray, Any]:
        few, box = super().weights(objective, point)
        w[self.places] = few  # which are all that were not 0: the point was made of them
        return w, box

    def note_steps(self) -> None:
        self.fresh = False

    def point(self, v: np.ndarray, loss: float) -> DualPoint:
        if self.restarts_at is not None:  # who restarts there has this point already
            self.learn_places(self.restarts_at)
        return super().point(self.listed(v), loss)

    def is_solved(self, objective: Objective, w: np.ndarray, gap: float) -> bool:
        return super().is_solved(objective, self.listed(w), gap)

    def advance(self, objective: Objective, w: np.ndarray, point: DualPoint, steps: int) -> None:
        super().advance(objective, w[self.places], point, steps)  # which the point has learned

    def restart(self, w: np.ndarray, steps: int) -> None:
        super().restart(w[self.places], steps)

    def go_on(self, mixture: DualPoint, w: np.ndarray | None) -> None:
        super().go_on(self.known(mixture), w)

    def best_point(self, objective: Objective, point: DualPoint) -> DualPoint:
        return self.whole(super().best_point(objective, point))

    def primal(self, objective: Objective, w: np.ndarray, point: DualPoint, gap: float) -> float:
        return super().primal(objective, w[self.places], point, gap)

    @property
    def average(self) -> np.ndarray | None:
        average = super().average
        return None if average is None else self.spread(average)
