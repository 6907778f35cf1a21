"""What is said of every public name of the solvers, the structures and the package: each parameter, and an example."""

import enum
import inspect

import pytest

import maxmargin
from docstrings import named_in
from maxmargin import distributed, formats, persistence, solvers, structures
from maxmargin.solvers import diagnostics
from maxmargin.solvers.path import Breakpoint
from maxmargin.structures.needs import Need


def exported(module):
    return [one for one in (getattr(module, name) for name in module.__all__) if not inspect.ismodule(one)]


DIAGNOSTICS = [
    one
    for name, one in vars(diagnostics).items()
    if getattr(one, "__module__", None) == diagnostics.__name__ and not name.startswith("_")
]
PUBLIC = [
    *exported(maxmargin),
    *exported(solvers),
    *exported(structures),
    *exported(formats),
    *exported(distributed),
    *DIAGNOSTICS,
    Breakpoint,
    Need,
]
PUBLIC += [persistence.save, persistence.storable]
EACH = pytest.mark.parametrize("public", PUBLIC, ids=lambda one: f"{one.__module__}.{one.__name__}")


def parameters_of(public):
    """Those of the signature; members of an enumeration are looked up, and errors are caught, not made."""
    is_found = inspect.isclass(public) and issubclass(public, (enum.Enum, Exception))
    return [] if is_found else list(inspect.signature(public).parameters)


def test_diagnostics_are_found():
    assert {one.__name__ for one in DIAGNOSTICS} >= {"CurvatureBounds", "block_gaps", "curvature_bounds", "staleness"}


@EACH
def test_there_is_an_example(public):
    assert ">>>" in inspect.cleandoc(public.__doc__).split("Examples\n--------\n")[1]


@EACH
def test_every_parameter_is_described(public):
    """One by one, in the order of the signature; what a ``**`` takes may follow it, by name."""
    taken = parameters_of(public)
    said = named_in(public.__doc__, "Parameters") if taken else []
    assert [name for name in said if name in taken] == taken


@EACH
def test_functions_say_what_they_return(public):
    assert inspect.isclass(public) or "Returns\n-------\n" in inspect.cleandoc(public.__doc__)
