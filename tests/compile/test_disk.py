"""The promise that a kernel on disk is never older than the sources, and that a damaged file costs no run."""

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import maxmargin
from maxmargin._compile import Kernel, disk

NUMBERS = np.arange(4.0)

# ------------------------------------------------------------------------------------------- damaged files, one process


def total_of(numbers):
    total = 0.0
    for k in range(len(numbers)):
        total += numbers[k]
    return total


def run_fresh():
    """A dispatcher as a new process would have it: (result, hits of the cache on disk)."""
    dispatcher = Kernel(total_of).cached
    result = dispatcher(NUMBERS)
    return result, sum(dispatcher.stats.cache_hits.values())


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "garbage": lambda data: b"not a kernel",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_file_costs_a_compilation(ending, damage, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "cache_folder", lambda: tmp_path)
    assert run_fresh() == (6.0, 0)
    assert run_fresh() == (6.0, 1)
    for path in tmp_path.glob(f"*.{ending}"):
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert run_fresh() == (6.0, 0)
    assert run_fresh() == (6.0, 1)  # repaired


def test_a_folder_that_vanished_costs_a_compilation(tmp_path, monkeypatch, caplog):
    folder = tmp_path / "kernels"
    folder.mkdir()
    monkeypatch.setattr(disk, "cache_folder", lambda: folder)
    dispatcher = Kernel(total_of).cached
    shutil.rmtree(folder)
    with caplog.at_level(logging.WARNING, "maxmargin"):
        assert dispatcher(NUMBERS) == 6.0


@pytest.fixture
def fresh_folder():
    """The folder is looked up anew within the test, and again after it."""
    disk.cache_folder.cache_clear()
    yield
    disk.cache_folder.cache_clear()


@pytest.mark.usefixtures("fresh_folder")
def test_folder_falls_back_to_one_that_can_be_written(tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, not a folder")
    monkeypatch.setattr(disk.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    name = f"maxmargin-kernels-{disk.SOURCE_HASH}"
    assert disk.cache_folder() == tmp_path / "own" / name
    disk.cache_folder.cache_clear()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    fresh = disk.cache_folder()
    assert fresh.is_dir()
    assert fresh.parent == tmp_path
    assert not list(fresh.iterdir())


def test_hash_tells_any_edit(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "PACKAGE", tmp_path)
    (tmp_path / "sub").mkdir()
    seen = set()
    for path, text in [("a.py", "1"), ("a.py", "2"), ("sub/b.py", ""), ("sub/b.py", "1"), ("c.py", "1")]:
        (tmp_path / path).write_text(text)
        seen.add(disk._source_hash())
    assert len(seen) == 5


# ------------------------------------------------------------------------------------------- edits, several processes

FIT = """
import json, sys
from pathlib import Path
import numpy as np
from maxmargin import solvers, structures
from maxmargin._compile import disk

def learn(problem):
    return solvers.FrankWolfe().solve(problem, 0.1, tol=0, max_passes=2).primal

if "edit-after-import" in sys.argv:
    with open(structures.multiclass.__file__, "a") as source:
        source.write(Path("edit.txt").read_text())
problem = structures.make_multiclass_problem(np.arange(6.0).reshape(3, 2) - 2.5, np.array([0, 1, 1]), 2)
answer = {"package": str(disk.PACKAGE), "primal": learn(problem)}
folder = disk.cache_folder()
answer["files"] = sorted(path.name for path in folder.iterdir())
if "outside" in sys.argv:
    import outside
    answer["outside"] = learn(outside.Outside(*problem))
    answer["files_after"] = sorted(path.name for path in folder.iterdir())
print(json.dumps(answer))
"""

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
    """A copy of the package to edit, and a function that learns with it in a new process."""
    source = Path(maxmargin.__file__).parent
    shutil.copytree(source, tmp_path / "maxmargin", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "outside.py").write_text(OUTSIDE)
    (tmp_path / "edit.txt").write_text(EDIT)
    hidden = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    environment |= {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}

    def learn(*arguments):
        done = subprocess.run(
            [sys.executable, "-c", FIT, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert answer["package"] == str(tmp_path / "maxmargin")
        return answer | {"compiles": "compiles its kernels" in done.stderr}

    return learn


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

    # the kernel lives in solvers/passes.py, what it calls in structures/multiclass.py
    with open(tmp_path / "maxmargin" / "structures" / "multiclass.py", "a") as source:
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
