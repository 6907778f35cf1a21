"""What cannot be stored is refused before anything is written, and the message says what to do."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import ChainSVM, ChainSVMCV, MulticlassSVM
from maxmargin.persistence import load, save, storable
from maxmargin.solvers import BlockFrankWolfe, Drawn


def within_itself():
    value = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (MulticlassSVM(kernel=np.dot), r"MulticlassSVM.kernel: .*is code"),
        (ChainSVMCV(scoring=len), r"ChainSVMCV.scoring: .*is code"),
        (ChainSVMCV(cv=KFold(3)), r"ChainSVMCV.cv: objects of type sklearn.*KFold.*set it to None"),
        (ChainSVM(random_state=np.random.RandomState(0)), r"random_state: a RandomState.*an integer or None"),
        (ChainSVM(random_state=np.random.default_rng(0)), r"random_state: a Generator.*an integer or None"),
        (
            ChainSVM(solver=BlockFrankWolfe(Drawn(np.random.permutation))),
            r"ChainSVM.solver.sampling.function: .*is code",
        ),
        (ChainSVM(solver=[BlockFrankWolfe(), {"a": object()}]), r"ChainSVM.solver\[1\]\['a'\]"),
        (ChainSVM(transition_mask=np.array([b"x"])), r"transition_mask: arrays of dtype \|S1"),
        (ChainSVM(transition_mask=np.zeros(3, "M8[D]")), r"transition_mask: arrays of dtype datetime64"),
        (ChainSVM(lam=BlockFrankWolfe), r"ChainSVM.lam: .*is code"),
        (ChainSVM(lam=1 + 2j), r"ChainSVM.lam: objects of type builtins.complex"),
        (ChainSVM(solver=within_itself()), "more than 64 deep"),
        (Pipeline([("scale", StandardScaler()), ("model", MulticlassSVM())]), r"steps\[0\]\[1\]: .*StandardScaler"),
        (len, "is code"),
        (ChainSVM, "is code"),
    ],
)
def test_what_cannot_be_stored(model, what, tmp_path):
    with pytest.raises((TypeError, ValueError), match=what):
        save(model, tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


class OwnSVM(MulticlassSVM):
    """Not registered."""


class OwnClasses(MulticlassSVM):
    """Registered."""


def test_classes_of_others_are_registered_first(tmp_path):
    with pytest.raises(TypeError, match=r"OwnSVM cannot be stored.*storable"):
        OwnSVM().save(tmp_path / "model.npz")
    storable(OwnClasses, name="tests.OwnClasses")
    loaded = load(OwnClasses(lam=2.0).save(tmp_path / "model.npz") and tmp_path / "model.npz")
    assert type(loaded) is OwnClasses and loaded.lam == 2.0


def test_names_are_taken_once():
    with pytest.raises(ValueError, match="'ChainSVM' is taken"):
        storable(OwnSVM, name="ChainSVM")
