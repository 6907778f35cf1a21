"""States of runs: what values of models have no need of comes back as it was, and nothing else is ever made."""

import json
from typing import NamedTuple

import numpy as np
import pytest

from maxmargin import MulticlassSVM
from maxmargin.persistence import ModelFileError, load
from maxmargin.persistence.archive import write_archive
from maxmargin.persistence.states import STATE, Classes, read_state, write_state


class Pair(NamedTuple):
    left: object
    right: object


class Plain:
    def __init__(self):
        raise AssertionError("no constructor is called")


CLASSES = Classes([Pair, Plain])


def there_and_back(value, path, classes=CLASSES):
    with open(path, "wb") as file:
        write_state(file, value, classes)
    return read_state(path, classes)


def test_what_is_one_stays_one(tmp_path):
    array, large = np.arange(3), np.arange(10_000.0)
    found = there_and_back([Pair(array, large), {"again": array, 2: large}, array.copy()], tmp_path / "a")
    assert found[0].left is found[1]["again"] and found[0].right is found[1][2] and found[0].left is not found[2]
    assert np.array_equal(found[0].right, large)
    found[0].right[0] = 5.0  # memory of its own
    assert read_state(tmp_path / "a", CLASSES)[0].right[0] == 0.0


def test_numbers_keep_their_kinds(tmp_path):
    values = [np.float64(np.inf), np.int32(3), 1.5, float("nan"), True, None, "x", b"ab", (1,), slice(None), 2**100]
    found = there_and_back(values, tmp_path / "a")
    assert [type(one) for one in found] == [type(one) for one in values]
    assert found[:3] == values[:3] and found[4:] == values[4:]


def test_generators_go_on(tmp_path):
    for bits in (np.random.PCG64(3), np.random.MT19937(3), np.random.Philox(3)):
        rng = np.random.Generator(bits)
        rng.integers(5, size=3)
        assert np.array_equal(there_and_back(rng, tmp_path / "a").random(9), rng.random(9))


def test_a_hundred_thousand_small_arrays_are_few_entries(tmp_path):
    found = there_and_back([np.full(k % 3, k) for k in range(1000)], tmp_path / "a")
    assert all(np.array_equal(one, np.full(k % 3, k)) for k, one in enumerate(found))
    assert (tmp_path / "a").stat().st_size < 100_000


def test_classes_are_those_of_the_table(tmp_path):
    plain = object.__new__(Plain)
    plain.x = 3
    assert there_and_back(plain, tmp_path / "a").x == 3
    with pytest.raises(ModelFileError, match="Plain"):
        read_state(tmp_path / "a", Classes([Pair]))
    with pytest.raises(TypeError, match=r"state: .* is code, which files never hold"):
        there_and_back(print, tmp_path / "b")


@pytest.mark.parametrize(
    "tree",
    [
        {"$kept": ["os.system", "true"]},
        {"$kept": ["builtins.eval", {"$dict": []}]},
        {"$generator": {"$dict": [["bit_generator", "__class__"]]}},
        {"$pooled": ["<i8", 0, [9]]},
        {"$seen": 7},
        {"$unknown": 1},
    ],
)
def test_forged_trees_make_nothing(tree, tmp_path):
    with open(tmp_path / "a", "wb") as file:
        write_archive(file, (STATE, json.dumps({"tree": tree, "pools": {}}).encode()), [])
    with pytest.raises(ModelFileError):
        read_state(tmp_path / "a", CLASSES)


def test_each_kind_of_file_says_what_it_is(tmp_path):
    """Who mixes up a checkpoint and a model file hears which it is."""
    state, model = tmp_path / "run.npz", tmp_path / "model.npz"
    with state.open("wb") as file:
        write_state(file, [1], Classes([]))
    MulticlassSVM().save(model)
    with pytest.raises(ModelFileError, match=r"no entry 'model.json': it is a checkpoint, from which fit goes on"):
        load(state)
    with pytest.raises(ModelFileError, match=r"no entry 'state.json': it is a model file, which maxmargin.load reads"):
        read_state(model, Classes([]))
