"""Structures of users that are wrong: each ends in an error that names the sample and says what is wrong."""

import re

import numpy as np
import pytest
from scipy import sparse

from maxmargin.solvers import BlockFrankWolfe, ExponentiatedGradient, FrankWolfe, Perceptron, Subgradient
from maxmargin.structures import CustomProblem

from .pairs import Subsets

AT = 3  # the sample where the structure goes wrong


class OfUsers(Exception):
    """An exception that only the user's code knows."""


def fails(error):
    def method(*given):
        raise error

    return method


def answers(value):
    return lambda *given: value


def replaced(method, wrong, place):
    """A structure with another method at one sample; `place` is where the method is given the sample."""

    def change(structure):
        honest = getattr(structure, method)
        setattr(structure, method, lambda *given: (wrong if given[place] == AT else honest)(*given))

    return change


def attribute(name, value):
    return lambda structure: setattr(structure, name, value)


def together(*changes):
    return lambda structure: [change(structure) for change in changes]


def minimises(structure):
    structure.max_oracle = lambda w, i: min(
        structure.outputs, key=lambda y: structure.loss(i, y) + w @ structure.joint_feature(i, y)
    )


def minimises_later(structure):
    """An oracle right at w = 0 alone."""
    honest = structure.max_oracle
    structure.max_oracle = lambda w, i: (
        min(structure.outputs, key=lambda y: structure.loss(i, y) + w @ structure.joint_feature(i, y))
        if np.any(w)
        else honest(w, i)
    )


def answers_the_truth(structure):
    structure.max_oracle = lambda w, i: structure.y[i]


def no_losses(structure):
    structure.loss = answers(0.0)


def scores_as_losses(structure):
    honest = structure.loss
    structure.loss = lambda i, y: -honest(i, y)


FEATURE = {
    "feature none": (None, "joint_feature"),
    "feature nan": (np.full(6, np.nan), "joint_feature holds NaN"),
    "feature inf": (np.full(6, -np.inf), "joint_feature holds NaN or infinity"),
    "feature short": (np.ones(5), "has length 5, but n_features is 6"),
    "feature long": (np.ones(9), "has length 9"),
    "feature empty": (np.ones(0), "has length 0"),
    "feature number": (1.0, "must be a vector"),
    "feature matrix": (np.ones((6, 6)), "must be a vector"),
    "feature words": (["one"] * 6, "joint_feature"),
    "feature objects": ([object()] * 6, "joint_feature"),
    "feature dict": ({0: 1.0}, "joint_feature"),
    "feature set": ({1.0, 2.0}, "joint_feature"),
    "feature ragged": ([[1.0], [1.0, 2.0]], "joint_feature"),
    "feature complex": (np.full(6, 1j), "complex"),
    "feature sparse nan": (sparse.csr_array(np.full((1, 6), np.nan)), "holds NaN"),
    "feature sparse long": (sparse.csr_array(np.ones((1, 7))), "has length 7"),
    "feature index out of range": (([6], [1.0]), "index outside"),
    "feature index negative": (([-1], [1.0]), "index outside"),
    "feature index of words": ((["a"], [1.0]), "integer indices"),
    "feature pair uneven": (([0, 1], [1.0]), "pairs indices"),
}
LOSS = {
    "loss nan": (np.nan, "loss must be a finite number, got nan"),
    "loss inf": (np.inf, "loss must be a finite number, got inf"),
    "loss minus inf": (-np.inf, "loss must be a finite number"),
    "loss none": (None, "loss must be a finite number, got None"),
    "loss word": ("much", "loss must be a finite number, got 'much'"),
    "loss vector": (np.ones(2), "loss must be a finite number"),
    "loss array of one": (np.ones(1), "loss must be a finite number"),
    "loss complex": (1j, "loss must be a finite number"),
    "loss negative": (-1.0, "loss must be >= 0, got -1"),
}
ORACLE = {
    "oracle none": (None, TypeError, "max_oracle|joint_feature|loss"),
    "oracle number": (7, (TypeError, ValueError), "joint_feature|loss"),
    "oracle word": ("abc", (TypeError, ValueError), "joint_feature|loss"),
    "oracle too long": ((1,) * 9, ValueError, "joint_feature|loss"),
}
ERRORS = [ValueError("x"), TypeError("x"), KeyError("x"), IndexError("x"), ZeroDivisionError("x"), OfUsers("x")]

CASES = {
    **{
        name: (replaced("joint_feature", answers(value), 0), ValueError, f"sample 3: .*{words}")
        for name, (value, words) in FEATURE.items()
    },
    **{
        name: (replaced("loss", answers(value), 0), ValueError, f"sample 3: .*{words}")
        for name, (value, words) in LOSS.items()
    },
    **{
        name: (replaced("max_oracle", answers(value), 1), error, rf"sample 3: raised in Subsets\.({words})")
        for name, (value, error, words) in ORACLE.items()
    },
    **{
        f"{method} raises {type(error).__name__}": (
            replaced(method, fails(error), place),
            type(error),
            rf"sample 3: raised in Subsets\.{method}",
        )
        for method, place in (("joint_feature", 0), ("loss", 0), ("max_oracle", 1))
        for error in ERRORS
    },
    "loss of the truth": (
        attribute("loss", answers(1.0)),
        ValueError,
        "sample 0: the loss of the true output must be 0",
    ),
    "losses negative everywhere": (
        scores_as_losses,
        ValueError,
        "at w = 0, .* whether loss is 0 or negative for all outputs",
    ),
    "oracle minimises": (minimises, ValueError, "at w = 0, Subsets.max_oracle answers outputs of loss 0 .* minimises"),
    "oracle minimises later": (minimises_later, ValueError, r"sample \d: max_oracle answers an output of value"),
    "oracle answers the truth": (answers_the_truth, ValueError, "at w = 0, .* answers the true output"),
    "no losses": (no_losses, ValueError, "at w = 0, .* whether loss is 0 or negative for all outputs"),
    "oracle writes": (
        replaced("max_oracle", lambda w, i: w.fill(0), 1),
        ValueError,
        "sample 3: raised in Subsets.max_oracle",
    ),
    "n_samples 0": (attribute("n_samples", 0), ValueError, "n_samples must be a positive integer, got 0"),
    "n_samples negative": (attribute("n_samples", -5), ValueError, "n_samples must be a positive integer"),
    "n_samples none": (attribute("n_samples", None), ValueError, "n_samples must be a positive integer"),
    "n_samples word": (attribute("n_samples", "5"), ValueError, "n_samples must be a positive integer"),
    "n_samples too many": (attribute("n_samples", 6), ValueError, r"sample 5: there is no true output y\[5\]"),
    "n_features 0": (attribute("n_features", 0), ValueError, "n_features must be a positive integer"),
    "n_features wrong": (
        attribute("n_features", 7),
        ValueError,
        "sample 0: joint_feature has length 6, but n_features is 7",
    ),
    "y none": (attribute("y", None), ValueError, r"sample 0: there is no true output y\[0\]"),
    "y a dict": (attribute("y", {}), ValueError, r"sample 0: there is no true output y\[0\]"),
    "truth raises": (attribute("truth", fails(OfUsers("x"))), OfUsers, r"sample 0: raised in Subsets\.truth"),
    "weights of words": (attribute("sample_weight", ["a"] * 5), ValueError, "sample_weight must be 5 finite numbers"),
    "weights negative": (attribute("sample_weight", [-1] * 5), ValueError, "sample_weight must be 5 finite numbers"),
    "weights too few": (attribute("sample_weight", [1]), ValueError, "sample_weight must be 5 finite numbers"),
    "bound too low": (
        together(attribute("exact_oracle", False), attribute("upper_bound", answers(-1.0))),
        ValueError,
        r"sample \d: upper_bound is -1.0, but max_oracle found",
    ),
    "bound nan": (
        together(attribute("exact_oracle", False), attribute("upper_bound", answers(np.nan))),
        ValueError,
        r"sample \d: upper_bound must be a finite number, got nan",
    ),
    "bound none": (
        together(attribute("exact_oracle", False), attribute("upper_bound", answers(None))),
        ValueError,
        r"sample \d: upper_bound must be a finite number, got None",
    ),
    "bound raises": (
        together(attribute("exact_oracle", False), attribute("upper_bound", fails(OfUsers("x")))),
        OfUsers,
        r"sample \d: raised in Subsets\.upper_bound",
    ),
}
SOLVERS = {
    "block": BlockFrankWolfe("permutation", "weighted", gap_every=1),
    "batch": FrankWolfe(),
    "descent": Subgradient(),
}


def words_of(error):
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", CASES)
def test_refused_with_words(name, solver):
    change, error, words = CASES[name]
    structure = Subsets()
    change(structure)
    with pytest.raises(error) as caught:
        SOLVERS[solver].solve(structure, 0.1, tol=0, max_passes=5, random_state=0)
    assert re.search(words, words_of(caught.value)), words_of(caught.value)


@pytest.mark.parametrize(
    ("method", "wrong", "words"),
    [
        ("exp_oracle", fails(OfUsers("x")), r"sample 3: raised in Subsets\.exp_oracle"),
        (
            "exp_oracle",
            answers(None),
            "sample 3: exp_oracle must give the expected joint feature and the expected loss",
        ),
        ("exp_oracle", answers((np.ones(6), np.nan)), "sample 3: exp_oracle must give a finite expected loss, got nan"),
        ("exp_oracle", answers((np.ones(5), 0.5)), "sample 3: the expected joint feature of exp_oracle has length 5"),
        ("decode", fails(OfUsers("x")), r"sample 3: raised in Subsets\.decode"),
    ],
)
def test_optional_methods_are_refused_with_words(method, wrong, words):
    structure = Subsets()
    structure.exp_oracle = lambda v, i, emphasis: (structure.joint_feature(i, structure.y[i]), 0.0)
    structure.decode = lambda w, i: structure.y[i]  # never worse than the truth, in whatever order samples come
    replaced(method, wrong, 1)(structure)
    solver = Perceptron() if method == "decode" else ExponentiatedGradient()
    with pytest.raises((ValueError, OfUsers)) as caught:
        solver.solve(structure, 0.1, max_passes=5)
    assert re.search(words, words_of(caught.value)), words_of(caught.value)


def test_losses_a_hair_below_zero_are_rounding():
    structure = Subsets()
    honest = structure.loss
    structure.loss = lambda i, y: honest(i, y) - 1e-16
    assert CustomProblem(structure).loss(0, structure.y[0]) == 0.0


def test_an_oracle_that_may_miss_the_maximum_may_be_worse_than_the_truth():
    structure = Subsets()
    minimises_later(structure)
    structure.exact_oracle = False
    assert BlockFrankWolfe().solve(structure, 0.1, max_passes=3).status == "uncertified"
