"""Samples taken apart: every site and every link is a block of its own, with messages that make them agree."""

from .layout import Factors, factored, lacks_room, make_room, new_factors, site_norms

__all__ = ["Factors", "factored", "lacks_room", "make_room", "new_factors", "site_norms"]
