"""Which classes may be in model files, and what of their objects is: said once a class, by name.

A file holds names, and only what was registered under a name is ever made: nothing in a file can choose what is
imported or called. Rooms say so of their own classes, and whoever has classes of their own may, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

SomeClass = TypeVar("SomeClass", bound=type)


class Stored(NamedTuple):
    """What a file has of the objects of a class, and how they are made again."""

    name: str  # in files
    place: tuple[str, str]  # module and name of the class, by which its objects are recognised
    find: Callable[[], type]
    take: Callable[[Any], Mapping[str, Any]]
    make: Callable[[type, dict[str, Any]], Any]
    check: Callable[[Any, bool], None]


_BY_NAME: dict[str, Stored] = {}
_BY_PLACE: dict[tuple[str, str], Stored] = {}
_KINDS: dict[str, type] = {}


def is_fine(made: Any, values: bool) -> None:
    """The check of objects that any values will do for."""


def storable(
    cls: SomeClass,
    state: Iterable[str] = (),
    *,
    name: str | None = None,
    check: Callable[[Any, bool], None] = is_fine,
) -> SomeClass:
    """Let objects of a class be in model files.

    Parameters
    ----------
    cls : type
        Its constructor must keep what it is given under the same names, as those of NamedTuples, dataclasses and
        scikit-learn's estimators do. The arguments of the constructor are stored.
    state : iterable of str, default=()
        Attributes to store beside, where an object has them.
    name : str or None, default=None
        What the class is called in files; None: its name.
    check : function, optional
        Called with an object read from a file, and with whether its numbers are to be looked at one by one, which may
        take long. It raises a ValueError where something does not fit together, since files may come from anywhere, and
        may add what follows from the rest and was not stored.

    Returns
    -------
    cls : type
        The same.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from maxmargin.persistence import storable
    >>> class Suffixes(NamedTuple):
    ...     longest: int
    >>> storable(Suffixes, name="example.Suffixes").__name__
    'Suffixes'
    """
    place = (cls.__module__, cls.__qualname__)
    register(Stored(name or cls.__name__, place, lambda: cls, *by_arguments(state), check))
    return cls


def by_arguments(state: Iterable[str] = ()) -> tuple[Callable, Callable]:
    """What is taken of objects that keep the arguments of their constructor, and how they are made of it."""
    beside = frozenset(state)

    def take(made: Any) -> dict[str, Any]:
        given = {name: getattr(made, name) for name in inspect.signature(type(made)).parameters}
        return given | {name: one for name, one in getattr(made, "__dict__", {}).items() if name in beside}

    def make(cls: type, values: dict[str, Any]) -> Any:
        arguments = inspect.signature(cls).parameters
        made = cls(**{name: one for name, one in values.items() if name in arguments})
        others = {name: one for name, one in values.items() if name not in arguments}
        if not beside.issuperset(others):
            raise ValueError(f"{cls.__name__} has no {min(others.keys() - beside)!r}; a newer maxmargin may know it")
        if others:
            vars(made).update(others)
        return made

    return take, make


def register(stored: Stored) -> None:
    """Add what is stored of a class."""
    known = _BY_NAME.setdefault(stored.name, stored)
    if known.place != stored.place:
        raise ValueError(f"the name {stored.name!r} is taken in model files by {'.'.join(known.place)}: choose another")
    _BY_NAME[stored.name] = _BY_PLACE[stored.place] = stored


def name_kind(cls: type) -> None:
    """Let a class itself, not its objects, be a value in files: an attribute may be one."""
    _KINDS[cls.__name__] = cls


def stored_of(cls: type) -> Stored | None:
    """What is stored of the objects of a class; None where it is not registered."""
    return _BY_PLACE.get((cls.__module__, cls.__qualname__))


def stored_as(name: str) -> Stored | None:
    """What is registered under a name."""
    return _BY_NAME.get(name)


def kind_named(name: str) -> type | None:
    """The class that is a value of this name."""
    return _KINDS.get(name)


def is_kind(cls: type) -> bool:
    """Whether a class may be a value."""
    return _KINDS.get(cls.__name__) is cls
