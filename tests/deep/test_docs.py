"""What is said of every public name of `maxmargin.deep`: each parameter, each method, and an example."""

import inspect

import pytest

deep = pytest.importorskip("maxmargin.deep", reason="needs PyTorch", exc_type=ImportError)

from docstrings import named_in

PUBLIC = [getattr(deep, name) for name in deep.__all__]
EACH = pytest.mark.parametrize("public", PUBLIC, ids=lambda one: one.__name__)


@EACH
def test_there_is_an_example(public):
    assert ">>>" in inspect.cleandoc(public.__doc__).split("Examples\n--------\n")[1]


@EACH
def test_every_parameter_is_described(public):
    assert named_in(public.__doc__, "Parameters") == list(inspect.signature(public).parameters)


@EACH
def test_functions_and_methods_say_what_they_return(public):
    asked = [public] if inspect.isfunction(public) else methods_of(public)
    for one in asked:
        text = inspect.getdoc(one)
        returns = inspect.signature(one).return_annotation != "None"
        if len(inspect.signature(one).parameters) > 1:
            assert "Parameters\n-------" in text or len(text.splitlines()) == 1, one
        assert not returns or "Returns\n-------" in text or len(text.splitlines()) == 1, one


def methods_of(public):
    members = inspect.getmembers(public, inspect.isfunction)
    return [one for name, one in members if one.__module__.startswith("maxmargin.deep") and not name.startswith("_")]
