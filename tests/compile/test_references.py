"""NamedTuples by reference: every kind of field, every layout, and what is refused."""

import copy
import pickle
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from maxmargin._compile import Reference, implements, kernel, references, verb
from maxmargin.structures import TransitionMask


class Within(NamedTuple):
    numbers: np.ndarray
    scale: float


class Nothing(NamedTuple):
    pass


class Part(NamedTuple):
    flag: bool
    rows: np.ndarray
    nothing: Nothing
    within: Within
    n: int
    codes: np.ndarray


class Holder(NamedTuple):
    value: Any


@kernel
def look(part, out):
    """Everything that can be seen of a part."""
    rows = part.rows
    out[0] = part.n if part.flag else -part.n
    out[1] = part.within.scale
    out[2], out[3], out[4] = rows.shape[0], rows.shape[1], rows.size
    out[5], out[6] = len(part.codes), rows.itemsize
    k = 7
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[k] = rows[i, j]
            k += 1
    for j in range(part.within.numbers.shape[0]):
        out[k] = part.within.numbers[j] * part.codes[j]
        k += 1
    return k


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "A": lambda array: np.repeat(array, 3, axis=-1)[..., ::3],
    "backwards": lambda array: np.ascontiguousarray(array[::-1])[::-1],
    "one of many": lambda array: np.stack([array - 1, array, array + 1], axis=1)[:, 1],
}


def random_part(rng, layout, dtype, code_dtype):
    view = LAYOUTS[layout]
    rows = view(rng.normal(size=rng.integers(2, 5, size=2)))
    rows.setflags(write=bool(rng.integers(2)))
    numbers, codes = view(rng.normal(size=3).astype(dtype)), view(rng.integers(2, size=3).astype(code_dtype))
    return Part(bool(rng.integers(2)), rows, Nothing(), Within(numbers, rng.normal()), int(rng.integers(9)), codes)


def looked(part, run):
    out = np.full(40, np.nan)
    return run(part, out), out


@pytest.mark.parametrize(("dtype", "code_dtype"), [("f8", "i8"), ("f4", "?"), ("i2", "u1")])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_seen_as_interpreted(layout, dtype, code_dtype):
    rng = np.random.default_rng(0)
    for _ in range(3):
        part = random_part(rng, layout, dtype, code_dtype)
        count, out = looked(part, look)
        expected_count, expected = looked(part, look.interpreted)
        assert count == expected_count
        np.testing.assert_array_equal(out, expected)
        assert Reference(part)._numba_type_.types["rows"].layout == (layout if layout in "CF" else "A")


@kernel
def strides_of(part, out):
    cube = part.value
    for d in range(3):
        out[d] = cube.strides[d]
    return cube[1, 2, 3] + cube[-1, -1, -1] + cube[:, 1:, 2].sum()


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_three_dimensions(axes):
    cube = np.arange(120.0).reshape(np.array([4, 5, 6])[np.argsort(axes)]).transpose(axes)
    assert cube.shape == (4, 5, 6)
    out = np.zeros(3)
    assert strides_of(Holder(cube), out) == strides_of.interpreted(Holder(cube), np.zeros(3))
    assert out.tolist() == list(cube.strides)


@kernel
def fill(part, value):
    part.value[:] = value


def test_writing_reaches_the_array_and_a_read_only_one_is_a_type_of_its_own():
    array = np.zeros(3)
    fill(Holder(array), 2.0)
    assert array.tolist() == [2.0] * 3
    array.setflags(write=False)
    with pytest.raises(Exception, match=r"[Rr]ead-?only|immutable"):
        fill(Holder(array), 3.0)
    assert array.tolist() == [2.0] * 3


@kernel
def value_of(part):
    return part.value


@pytest.mark.parametrize(
    "value",
    [True, False, 3, -7, 2.5, np.inf, np.bool_(True), np.int32(-4), np.uint8(9), np.float32(0.5), np.float64(1.5)],
)
def test_numbers(value):
    found = value_of(Holder(value))
    assert found == value
    assert isinstance(found, {"b": bool, "i": int, "u": int, "f": float}[np.asarray(value).dtype.kind])


def test_a_memory_map_is_an_array(tmp_path):
    mapped = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=3)
    fill(Holder(mapped), 4.0)
    assert mapped.tolist() == [4.0] * 3


# ----------------------------------------------------------------------------------------------------------- refusals

REFUSED = [
    None,
    "text",
    b"bytes",
    1j,
    np.array(1.0),
    (1.0, 2.0),
    [1.0],
    {},
    object(),
    np.ma.zeros(3),
    np.datetime64("now"),
]


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: type(value).__name__)
def test_other_fields_are_refused_by_name(value):
    with pytest.raises(
        TypeError, match=r"Holder\.value .*arrays of one dimension or more, NamedTuples, bool, int or float"
    ):
        value_of(Holder(value))
    with pytest.raises(TypeError, match=r"Holder\.value"):
        value_of(Holder(Holder(value)))


def test_other_arguments_are_refused():
    with pytest.raises(TypeError, match="a part is a NamedTuple, got tuple"):
        value_of((1.0, 2.0))
    with pytest.raises(TypeError, match=r"Holder\.value is an array of object"):
        value_of(Holder(np.array([None])))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, np.uint64(2**63)])
def test_ints_beyond_64_bits_are_refused_by_name(value):
    with pytest.raises(OverflowError, match=r"Holder\.value does not fit"):
        value_of(Holder(Holder(value)))


def test_memory_that_compiled_code_cannot_read_is_refused_with_a_way_out():
    swapped = np.arange(3.0).astype(np.dtype(np.float64).newbyteorder())
    with pytest.raises(ValueError, match=r"Holder\.value has the byte order .*newbyteorder"):
        fill(Holder(swapped), 1.0)
    askew = np.zeros(25, np.uint8)[1:].view(np.float64)
    with pytest.raises(ValueError, match=r"Holder\.value is not aligned .*np\.require"):
        fill(Holder(askew), 1.0)
    fill(Holder(np.require(askew, requirements="A")), 1.0)
    fill(Holder(swapped.astype(swapped.dtype.newbyteorder("="))), 1.0)


def test_references_do_not_leave_the_process():
    reference = Reference(Holder(1.0))
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="pickle or copy the NamedTuple"):
            leave(reference)


# -------------------------------------------------------------------------------------------------------------- types


def test_types_are_remembered(monkeypatch):
    first = Reference(Holder(np.zeros((3, 2))))
    monkeypatch.delattr(references, "find_type")  # not asked again
    assert Reference(Holder(np.ones((5, 7))))._numba_type_ is first._numba_type_


def test_types_survive_pickling():
    mask = TransitionMask(np.ones((2, 2), bool), np.ones(2, bool), np.ones(2, bool))
    found = Reference(Holder(mask))._numba_type_
    again = pickle.loads(pickle.dumps(found))
    assert again == found and hash(again) == hash(found)
    assert again.types["value"].instance_class is TransitionMask
    assert again.types["value"].is_own and not again.is_own


@verb
def answer(part):
    """A number."""


@kernel
def ask(part):
    return answer(part)


def test_a_class_defined_again_gets_its_own_verbs():
    def define(value):
        class Again(NamedTuple):
            number: float

        @implements(answer, Again)
        def _(part):
            return part.number + value

        return Again(1.0)

    old, new = define(1.0), define(2.0)
    assert ask(old) == 2.0
    assert ask(new) == 3.0
    assert ask(old) == 2.0
    assert ask.uncached.signatures[0] != ask.uncached.signatures[1]


def test_a_verb_without_implementation_is_named():
    with pytest.raises(TypingError, match="Holder has no answer") as caught:
        ask(Holder(1.0))
    assert len(str(caught.value).splitlines()) < 30


# -------------------------------------------------------------------------------------------------------------- calls


def test_a_reference_serves_in_place_of_its_part():
    array = np.zeros(2)
    reference = Reference(Holder(array))
    for k in range(3):
        fill(reference, float(k))
        assert array.tolist() == [k, k]

    class Mine:
        value = 0.0

    @kernel
    def swap(mine, part):
        mine.value = part.value[0]

    mine = Mine()
    swap(mine, reference)  # interpreted: it sees the part
    assert mine.value == 2.0


@kernel
def add_up(part, times):
    total = 0.0
    for _ in range(times):
        for k in range(part.value.shape[0]):
            total += part.value[k]
    return total


def test_threads_have_references_of_their_own():
    add_up(Holder(np.zeros(1)), 1)
    found = {}

    def work(number):
        found[number] = [add_up(Holder(np.full(1000, float(number))), 50) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [50_000.0 * number] * 20 for number in range(4)}


def test_both_ways_to_an_address_agree():
    for array in (np.zeros(3), np.zeros((4, 4))[1:, 2:], np.zeros(0)):
        assert references._address_in_header(array) == references._address_in_interface(array)
