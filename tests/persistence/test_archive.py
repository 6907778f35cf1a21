"""The container: entries where they should be, for anybody's reader of zip and .npy."""

import io
import mmap
import zipfile

import numpy as np
import pytest

from maxmargin.persistence import ModelFileError, load, save
from maxmargin.persistence.archive import ALIGNMENT, Archive, write_archive

from .cases import fitted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def test_numbers_begin_at_multiples_of_64_bytes(path):
    save(fitted("dicts").model, path)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        for member in archive.infolist():
            assert member.compress_type == zipfile.ZIP_STORED
            content = archive.read(member)
            begin = data.index(content, member.header_offset)
            length = int.from_bytes(content[8:10], "little") + 10 if member.filename.endswith(".npy") else 0
            assert (begin + length) % ALIGNMENT == 0
            if length:
                np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)


def base_of(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array.obj if isinstance(array, memoryview) else array


def test_weights_stay_in_the_file(path):
    save(fitted("chain, dense, 0").model, path)
    weights = load(path)._weights.flat
    assert isinstance(base_of(weights), mmap.mmap)
    assert weights.flags.writeable and weights.flags.aligned and type(weights) is np.ndarray
    assert weights.ctypes.data % ALIGNMENT == 0


def write(path, **arrays):
    with open(path, "wb") as file:
        write_archive(file, ("text", b"hello"), [(f"{name}.npy", array) for name, array in arrays.items()])


def test_arrays_of_all_types(path):
    arrays = {kind: np.arange(5).astype(kind).reshape(1, 5) for kind in ("?", "i1", "u2", "i4", "i8", "f2", "f4", "f8")}
    write(path, **{f"x{i}": array for i, array in enumerate(arrays.values())})
    archive = Archive(path)
    assert archive.read("text") == b"hello"
    for i, array in enumerate(arrays.values()):
        assert np.array_equal(archive.array(f"x{i}.npy", array.dtype.str, array.shape), array)


def test_what_is_not_as_it_should_be_is_said(path):
    write(path, x=np.arange(3.0))
    archive = Archive(path)
    for dtype, shape in (("<f4", (3,)), ("<f8", (4,)), ("<f8", (3, 1))):
        with pytest.raises(ModelFileError, match="should hold"):
            archive.array("x.npy", dtype, shape)


@pytest.mark.parametrize("where", ["before", "between", "after", "comment"])
def test_nothing_may_be_hidden_between_entries(where, path):
    write(path, x=np.arange(3.0))
    data = path.read_bytes()
    second, directory = data.index(b"PK\x03\x04", 4), data.index(b"PK\x01\x02")
    hidden = b"#!/bin/sh\n" * 10
    at = {"before": 0, "between": second, "after": directory, "comment": len(data)}[where]
    path.write_bytes(data[:at] + hidden + data[at:])
    with pytest.raises(ModelFileError):
        Archive(path)


def test_entries_may_not_overlap(path):
    """Two names for the same bytes: the zip bomb that needs no compression."""
    write(path, x=np.arange(3.0), y=np.arange(3.0))
    data = bytearray(path.read_bytes())
    first, second = (data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + k) for k in (1, 100))
    at = first + 42  # of a directory record: where its entry begins
    data[second + 42 : second + 46] = data[at : at + 4]
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="where the one before ends"):
        Archive(path)


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }" + b" " * 65_000 + b"\n",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"3," * 30_000 + b"), }\n",
        b"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n",
        b"{'descr': '<f8', 'fortran_order': True, 'shape': (3,), }\n",
        b"__import__('os').system('touch was-here')\n",
        b"",
    ],
)
def test_headers_of_arrays_are_compared_not_believed(header, path):
    npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + np.arange(3.0).tobytes()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("x.npy"), npy)
    with pytest.raises(ModelFileError, match=r"no array of numbers|should hold|has not the size"):
        Archive(path).array("x.npy", "<f8", (3,))


@pytest.mark.parametrize("flag", [0x0001, 0x0008])
def test_encryption_and_sizes_that_come_later_are_refused(flag, path):
    write(path, x=np.arange(3.0))
    data = bytearray(path.read_bytes())
    for at in (6, data.index(b"PK\x01\x02") + 8):
        data[at] |= flag
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match="encrypted"):
        Archive(path)
