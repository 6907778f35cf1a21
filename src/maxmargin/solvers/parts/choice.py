"""Parts by name or as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def as_part(name: str, given: Any, named: Mapping[str, Any], is_part: bool) -> Any:
    """The part that a parameter means: one of those with names, or an object that is one."""
    if isinstance(given, str) and given in named:
        return named[given]
    if isinstance(given, str) or not is_part:
        kind = "" if isinstance(given, str) else " or a part of that kind"
        raise ValueError(f"{name} must be one of {sorted(named)}{kind}, got {given!r}")
    return given
