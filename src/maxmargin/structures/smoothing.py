"""The maximum over outputs, smoothed: what is made of it, and what a structure answers."""  # pillutla18, Sec. 2

from __future__ import annotations

from typing import NamedTuple


class Untilted(NamedTuple):
    """What expectations start from where it is nothing: ``alpha_i(y) ~ exp(eta value(y))``."""
