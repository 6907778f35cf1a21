"""What is said of the estimators: every parameter by itself, every preset, and an example."""

import inspect

import pytest

import maxmargin
from docstrings import named_in
from maxmargin import estimators
from maxmargin.estimators._base import MaxMarginEstimator
from maxmargin.estimators._weights import Learned
from maxmargin.solvers.presets import PRESETS

PUBLIC = [getattr(estimators, name) for name in estimators.__all__] + [maxmargin.TransitionMask, maxmargin.bio_mask]
FITTABLE = [cls for cls in PUBLIC if inspect.isclass(cls) and issubclass(cls, MaxMarginEstimator)]
EACH = pytest.mark.parametrize("cls", FITTABLE, ids=lambda cls: cls.__name__)


@pytest.mark.parametrize("public", PUBLIC, ids=lambda one: one.__name__)
def test_there_is_an_example(public):
    assert ">>>" in public.__doc__.split("Examples\n")[1]


@EACH
def test_every_parameter_is_described(cls):
    assert named_in(cls.__doc__, "Parameters") == list(inspect.signature(cls).parameters)


@EACH
def test_every_learned_attribute_is_described(cls):
    learned = {name for name, value in inspect.getmembers(cls) if isinstance(value, Learned)}
    described = named_in(cls.__doc__, "Attributes")
    assert learned | {"coef_", "n_features_in_", "gap_", "history_"} <= set(described)
    assert len(described) == len(set(described))


@EACH
def test_every_preset_is_listed(cls):
    """Those that minimise what the estimator does."""
    both = {"auto", "svrg", "casimir"}
    meant = both | {"lbfgs"} if hasattr(cls, "log_likelihood") else PRESETS.keys() - {"lbfgs"}
    if cls.__name__ not in ("ChainSVM", "ChainSVMCV", "TreeSVM", "GraphSVM", "MultilabelSVM"):
        meant = meant - {"gdmm"}  # there are no factors to take apart
    assert all(f'"{name}"' in cls.__doc__ for name in meant)


@EACH
def test_methods_say_what_they_take_and_return(cls):
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        own = method.__module__.startswith("maxmargin.") and not name.startswith("_")
        if own:
            text = inspect.getdoc(method)
            taken = [one for one in inspect.signature(method).parameters if one != "self"]
            said = named_in(text, "Parameters")
            assert "Returns\n-------" in text, name
            assert name == "encode" or said == taken, name


@EACH
def test_signatures_are_written_out(cls):
    """Editors and type checkers see them; what is given is stored as it is."""
    assert "__init__" in vars(cls)
    defaults = {name: one.default for name, one in inspect.signature(cls).parameters.items()}
    assert cls().get_params(deep=False) == defaults
    given = {name: object() for name in defaults}
    assert cls(**given).get_params(deep=False) == given
