"""Samples taken apart: every site and every link is a block of its own, with messages that make them agree."""

from .layout import Factors, lacks_room, make_room, new_factors

__all__ = ["Factors", "lacks_room", "make_room", "new_factors"]
