"""The promise that a kernel on disk is never older than the sources, and that a damaged file costs no run."""

import functools
import logging
import pickle
import shutil
import threading

import numpy as np
import pytest

from maxmargin._compile import Kernel, disk
from maxmargin._compile.folders import Folders

from .processes import copy_package, learn_in

NUMBERS = np.arange(4.0)

# ------------------------------------------------------------------------------------------------- files, one process


def total_of(numbers):
    total = 0.0
    for k in range(len(numbers)):
        total += numbers[k]
    return total


def run_fresh(numbers=NUMBERS):
    """A dispatcher as a new process would have it: (result, hits of the cache on disk)."""
    dispatcher = Kernel(total_of).cached
    result = dispatcher(numbers)
    return result, sum(dispatcher.stats.cache_hits.values())


@pytest.fixture
def use_folders(monkeypatch):
    def use(*read, write):
        monkeypatch.setattr(disk, "kernel_folders", lambda: Folders(read, write))

    return use


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "garbage": lambda data: b"not a kernel",
    "of something else": lambda data: pickle.dumps((("another key",), None)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_costs_a_compilation(damage, tmp_path, use_folders):
    use_folders(tmp_path, write=tmp_path)
    assert run_fresh() == (6.0, 0)
    assert run_fresh() == (6.0, 1)
    (path,) = tmp_path.iterdir()
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert run_fresh() == (6.0, 0)
    assert run_fresh() == (6.0, 1)  # repaired


def test_a_folder_that_vanished_costs_a_compilation(tmp_path, use_folders, caplog):
    folder = tmp_path / "kernels"
    folder.mkdir()
    use_folders(folder, write=folder)
    dispatcher = Kernel(total_of).cached
    shutil.rmtree(folder)
    with caplog.at_level(logging.WARNING, "maxmargin"):
        assert dispatcher(NUMBERS) == 6.0


def test_what_one_folder_lacks_the_next_one_has(tmp_path, use_folders):
    filled, own = tmp_path / "filled", tmp_path / "own"
    for folder in (filled, own):
        folder.mkdir()
    use_folders(filled, write=filled)
    run_fresh()
    use_folders(filled, own, write=own)
    assert run_fresh() == (6.0, 1)  # from the first
    assert not list(own.iterdir())
    other = NUMBERS.astype(np.float32)
    assert run_fresh(other) == (6.0, 0)
    assert run_fresh(other) == (6.0, 1)  # from the second
    assert len(list(filled.iterdir())) == len(list(own.iterdir())) == 1


def test_nowhere_to_write_means_in_memory(tmp_path, use_folders):
    use_folders(tmp_path, write=None)
    assert run_fresh() == run_fresh() == (6.0, 0)
    assert not list(tmp_path.iterdir())


def test_kernels_are_counted(tmp_path, use_folders):
    use_folders(tmp_path, write=tmp_path)
    before = disk.TALLY.copy()
    for _ in range(3):
        run_fresh()
    assert disk.TALLY - before == {disk.COMPILED: 1, disk.LOADED: 2}
    assert list(disk.stored_kernels(Folders((tmp_path,), None))) == list(tmp_path.iterdir())


def test_forgotten_kernels_are_gone(tmp_path, use_folders):
    use_folders(tmp_path, write=tmp_path)
    dispatcher = Kernel(total_of).cached
    dispatcher(NUMBERS)
    dispatcher._cache.flush()
    assert not list(tmp_path.iterdir())


def test_writers_at_once_leave_each_key_with_its_own_data(tmp_path):
    """As numbered files behind an index would not."""
    files = disk.KernelFiles(Folders((tmp_path,), tmp_path), "kernel")
    keys = [(f"types {k}",) for k in range(40)]

    def write(keys):
        for key in keys:
            files.save(key, f"code for {key}")

    threads = [threading.Thread(target=write, args=(order,)) for order in (keys, keys[::-1], keys[::3])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [files.load(key) for key in keys] == [f"code for {key}" for key in keys]
    assert len(list(tmp_path.iterdir())) == len(keys)  # nothing unfinished


# ------------------------------------------------------------------------------------------- edits, several processes

OUTSIDE = """
from collections import namedtuple
from maxmargin._compile import implements
from maxmargin.structures import MulticlassProblem, verbs

Outside = namedtuple("Outside", MulticlassProblem._fields)
for generic in vars(verbs).values():
    if MulticlassProblem in getattr(generic, "table", ()):
        implements(generic, Outside)(generic.table[MulticlassProblem])
"""

# an oracle that always finds 7: appended, so that it replaces the one above it
EDIT = """

@implements(find_corner, MulticlassProblem)
def _(problem, work, w, i):
    work.node[:] = 2.0
    work.label[0] = 1 - problem.labels[i]
    return 7.0
"""


@pytest.fixture
def copied_package(tmp_path):
    """A function that learns with a copy of the package, which may be edited, in a new process."""
    copy_package(tmp_path)
    (tmp_path / "outside.py").write_text(OUTSIDE)
    (tmp_path / "edit.txt").write_text(EDIT)
    return functools.partial(learn_in, tmp_path)


def test_an_edited_oracle_is_never_served_a_stale_kernel(copied_package, tmp_path):
    learn = copied_package
    first = learn("outside")
    assert first["compiles"] and any("corner_pass" in name for name in first["files"])
    # a structure registered from outside the package: same result, nothing kept
    assert first["outside"] == first["primal"]
    assert first["files_after"] == first["files"]

    again = learn()
    assert again["primal"] == first["primal"]
    assert not again["compiles"]
    assert again["files"] == first["files"]

    # the kernel lives in solvers/passes.py, what it calls in structures/multiclass
    with open(tmp_path / "maxmargin" / "structures" / "multiclass" / "blocks.py", "a") as source:
        source.write(EDIT)
    edited = learn()
    assert edited["compiles"]
    assert edited["primal"] != pytest.approx(first["primal"], abs=1e-3)
    folders = list((tmp_path / "maxmargin" / "__pycache__").glob("maxmargin-kernels-*"))
    assert len(folders) == 1  # the kernels of the old sources are cleared away


def test_an_edit_between_import_and_first_use_is_not_served_the_old_kernel(copied_package):
    learn = copied_package
    before = learn("edit-after-import")  # still runs the sources it imported
    after = learn()
    assert after["primal"] != pytest.approx(before["primal"], abs=1e-3)
