"""Files that appear whole or not at all."""

import os
import resource
import shutil
import signal
import stat
import tempfile
from pathlib import Path

import pytest

from maxmargin._files import replacing


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    return path


def only(path):
    return [one.name for one in path.parent.iterdir()] == [path.name]


def test_the_new_file_takes_the_place_of_the_old_one(path):
    path.chmod(0o640)
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new" and only(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_rights(tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    with replacing(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_nothing_changes_where_something_goes_wrong(path, error):
    with pytest.raises(error), replacing(path) as file:
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old" and only(path)


def test_a_full_disk(path):
    """A limit on the size of files stands for it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match=r"cannot write '.*file' .*as it was"), replacing(path) as file:
            file.write(bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == b"old" and only(path)


@pytest.fixture
def read_only():
    """A folder that cannot be written to, not even by root, who is nobody for the time."""
    folder, user = Path(tempfile.mkdtemp()), os.geteuid()
    (folder / "file").write_bytes(b"old")
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_folder(read_only):
    path = read_only / "file"
    with pytest.raises(PermissionError, match=r"cannot write '.*file' .*as it was"), replacing(path):
        pass
    assert path.read_bytes() == b"old" and only(path)


@pytest.mark.parametrize("name", ["folder", "missing/file", "/dev/null"])
def test_places_that_cannot_be_written(tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="cannot write"), replacing(tmp_path / name):
        pass
    assert os.path.exists("/dev/null") and [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_links_stay_links(path):
    link = path.with_name("link")
    link.symlink_to(path)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink() and path.read_bytes() == b"new"
