"""Where kernels are kept: folders of other users are used, and nothing is left anywhere else."""

import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from maxmargin._compile import folders
from maxmargin._compile.folders import Folders

from .processes import copy_package, learn_in

NAME = f"maxmargin-kernels-{folders.SOURCE_HASH}"
KERNELS = 3  # of the run that `learn_in` makes: corners, their sums in shares, and the sum of these
ALL_COMPILED, ALL_LOADED = (KERNELS, 0), (0, KERNELS)

# -------------------------------------------------------------------------------------------------------- one process


@pytest.fixture
def fresh_folders():
    """Folders are looked up anew within the test, and again after it."""
    folders.kernel_folders.cache_clear()
    yield
    folders.kernel_folders.cache_clear()


@pytest.mark.usefixtures("fresh_folders")
def test_the_folder_of_numba_comes_first_and_then_the_users(tmp_path, monkeypatch):
    blocked, own, cache = tmp_path / "blocked", tmp_path / "own" / NAME, tmp_path / "cache" / NAME
    blocked.write_text("a file, not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    assert folders.kernel_folders() == Folders((own,), own)
    folders.kernel_folders.cache_clear()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    assert folders.kernel_folders() == Folders((cache,), cache)
    folders.kernel_folders.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert folders.kernel_folders() == Folders((), None)


@pytest.mark.usefixtures("fresh_folders")
def test_a_user_without_a_home_gets_no_folder_called_tilde(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blocked").write_text("a file, not a folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "blocked"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert folders.kernel_folders() == Folders((), None)
    assert [path.name for path in tmp_path.iterdir()] == ["blocked"]


def test_hash_tells_any_edit(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "PACKAGE", tmp_path)
    (tmp_path / "sub").mkdir()
    seen = set()
    for path, text in [("a.py", "1"), ("a.py", "2"), ("sub/b.py", ""), ("sub/b.py", "1"), ("c.py", "1")]:
        (tmp_path / path).write_text(text)
        seen.add(folders._source_hash())
    assert len(seen) == 5


# -------------------------------------------------------------------------------------- other users, several processes

NOBODY = 65534
READ_ALL = "-all,+dac_read_search"  # the interpreter may be root's own; what may be written is what counts
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
AS_NOBODY += [f"--inh-caps={READ_ALL}", f"--ambient-caps={READ_ALL}"]


@pytest.fixture
def installed():
    """Folders of a package that root installed, and a function that learns with it as another user."""
    if shutil.which("setpriv") is None or subprocess.run([*AS_NOBODY, "true"], capture_output=True).returncode:
        pytest.skip("needs root and setpriv, to become another user")
    with tempfile.TemporaryDirectory() as name:  # pytest's are closed to others
        root, site, temporary = Path(name), Path(name) / "site", Path(name) / "tmp"
        root.chmod(0o755)
        site.mkdir()
        copy_package(site)
        temporary.mkdir()
        temporary.chmod(0o777)

        def learn(*arguments, home="/nonexistent", **environment):
            environment = {"HOME": str(home), "TMPDIR": str(temporary), **environment}
            found = learn_in(site, *arguments, environment=environment, prefix=AS_NOBODY)
            assert list(temporary.iterdir()) == []
            return found

        yield root, site, learn


def counts(answer):
    return answer["compiled"], answer["loaded"]


def test_kernels_of_a_folder_that_can_only_be_read_are_used(installed):
    _, site, learn = installed
    filled, found = learn_in(site), learn()
    assert (counts(filled), counts(found)) == (ALL_COMPILED, ALL_LOADED)
    assert found["primal"] == filled["primal"]
    assert filled["compiles"] and not found["compiles"]
    assert found["folder"] is None  # there was nowhere to write


def test_missing_kernels_go_to_the_users_own_cache(installed):
    root, site, learn = installed
    home = root / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    first, second = learn(home=home), learn(home=home)
    assert (counts(first), counts(second)) == (ALL_COMPILED, ALL_LOADED)
    assert Path(first["folder"]).parent == home / ".cache"
    learn_in(site)
    shutil.rmtree(home / ".cache")
    third = learn(home=home)  # the package has it now
    assert (counts(third), third["files"]) == (ALL_LOADED, [])


def test_where_nothing_can_be_written_kernels_live_in_memory(installed):
    _, site, learn = installed
    first, second = learn(), learn()
    assert first["primal"] == second["primal"] == learn_in(site)["primal"]
    assert counts(first) == counts(second) == ALL_COMPILED
    assert "in this process alone" in first["said"] and "NUMBA_CACHE_DIR" in first["said"]


def test_a_folder_of_numba_that_can_only_be_read_is_used(installed):
    root, site, learn = installed
    kernels = {"NUMBA_CACHE_DIR": str(root / "kernels")}
    learn_in(site, environment=kernels)
    assert not (site / "maxmargin" / "__pycache__").exists()
    assert counts(learn(**kernels)) == ALL_LOADED


# ------------------------------------------------------------------------------------------------- several processes


def test_kernels_for_another_processor_are_not_used(tmp_path):
    copy_package(tmp_path)
    generic = {"NUMBA_CPU_NAME": "generic"}
    own, other = learn_in(tmp_path), learn_in(tmp_path, environment=generic)
    assert counts(own) == counts(other) == ALL_COMPILED
    assert own["primal"] == pytest.approx(other["primal"], rel=1e-12)
    again = [learn_in(tmp_path), learn_in(tmp_path, environment=generic)]
    assert list(map(counts, again)) == [ALL_LOADED, ALL_LOADED]  # both are kept


def test_processes_that_compile_at_once_leave_what_the_next_one_loads(tmp_path):
    copy_package(tmp_path)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: learn_in(tmp_path), range(3)))
    assert len({one["primal"] for one in found}) == 1
    after = learn_in(tmp_path)
    assert (counts(after), len(after["files"])) == (ALL_LOADED, KERNELS)
