"""The maximum of many scores, smoothed: ``max_u <u, psi> - mu/2 (|u|^2 - 1)`` over distributions u on labelings.

The maximiser is the Euclidean projection of ``psi / mu`` on the simplex. It is sparse, so that the best few labelings
are mostly enough to know it. (pillutla18, Sec. 2.3)
"""

from __future__ import annotations

from .._compile import helper


@helper
def smooth_max(scores, count, k, mu, weights):
    """The smoothed maximum over the best k of all scores, of which the best `count` are at hand, best first.

    Weights u go to `weights`. Returns the value, how many weights are positive, and whether value and weights are those
    of all labelings: to know that, ask for k + 1, fewer of which are all there are. Without any labeling the value is
    -inf.
    """
    if count == 0:
        return -float("inf"), 0, True
    best, most = scores[0], min(count, k)
    size, short, slack = 1, 0.0, 0.0  # sums over the first `size`: of best - psi_j, and of psi_j - psi_size
    while size < count:
        slack += size * (scores[size - 1] - scores[size])
        if slack >= mu or size == most:  # pillutla18, Prop. 3: this one gets no weight; or may get none
            break
        short += best - scores[size]
        size += 1
    loss, square = 0.0, 0.0
    for j in range(size):
        # differences before the division: none exceeds mu here, whatever the scores are
        u = 1.0 / size + (short / size - (best - scores[j])) / mu
        weights[j] = u if u > 0.0 else 0.0
        loss += weights[j] * (best - scores[j])
        square += weights[j] * weights[j]
    for j in range(size, count):
        weights[j] = 0.0
    exact = slack >= mu or size == count  # pillutla18, Prop. 4
    return best - loss + 0.5 * mu * (1.0 - square), size, exact
