"""When a run will reach its goal, if it goes on as it does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

LOOKED_BACK = 4  # certificates


def seconds_left(rows: Sequence[Mapping[str, float]], goal: float) -> float | None:
    """Seconds until the gap is at the goal, where its logarithm falls as it did of late; None where nobody knows.

    `rows` are those of a history, the latest last.
    """
    recent = [(row["seconds"], row["gap"]) for row in rows[-LOOKED_BACK:] if 0 < row["gap"] < math.inf]
    if len(recent) < 2 or goal <= 0:
        return None
    (began, before), (now, gap) = recent[0], recent[-1]
    fallen = math.log(before / gap)
    if fallen <= 0 or now <= began:
        return None
    return max(math.log(gap / goal), 0.0) * (now - began) / fallen


def in_words(seconds: float | None) -> str:
    """For people who wait."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f", about {math.ceil(seconds)} s left"
    return f", about {math.ceil(seconds / 60)} min left" if seconds < 7200 else f", about {seconds / 3600:.0f} h left"
