"""Finding, downloading, checking and storing a file, with a small file from a local server."""

import gzip
import hashlib
import re
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest

from maxmargin.datasets._fetch import GZIP, NPZ, DataFile, get_data_home, load_file

CONTENT = b"one small text\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def _unpack(raw):
    return gzip.decompress(raw[0])


class _Handler(BaseHTTPRequestHandler):
    """Serves ``/raw.gz``; ``/truncated/raw.gz`` promises more than it sends; ``/garbled/raw.gz`` is no gzip."""

    def do_GET(self):
        body = gzip.compress(CONTENT)
        replies = {
            "/raw.gz": (len(body), body),
            "/truncated/raw.gz": (len(body), body[:-20]),
            "/garbled/raw.gz": (4, b"oops"),
        }
        if self.path not in replies:
            self.send_error(404)
            return
        self.server.hits += 1
        size, sent = replies[self.path]
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args):
        """Keep the test output clean."""


@pytest.fixture
def server():
    server = HTTPServer(("127.0.0.1", 0), _Handler)
    server.hits = 0
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _no_other_data(monkeypatch, tmp_path):
    """Hide the data of whoever runs the tests, and do not pass local addresses to a proxy."""
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def _file(url, sha256=SHA256):
    return DataFile("set/text.gz", GZIP, (url,), _unpack, sha256)


def _files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_download_is_stored_and_used_again(server, tmp_path):
    file = _file(server.url + "/raw.gz")
    assert load_file(file, tmp_path) == CONTENT
    assert _files_below(tmp_path) == [tmp_path / "set" / "text.gz"]
    assert load_file(file, tmp_path) == CONTENT
    assert server.hits == 1


def test_file_url(tmp_path):
    origin = tmp_path / "raw.gz"
    origin.write_bytes(gzip.compress(CONTENT))
    assert load_file(_file(origin.as_uri()), tmp_path / "home") == CONTENT


@pytest.mark.parametrize(
    ("path", "sha256", "message"),
    [
        ("/raw.gz", "0" * 64, "SHA-256"),
        ("/truncated/raw.gz", SHA256, "truncated"),
        ("/garbled/raw.gz", SHA256, "not the expected data"),
        ("/missing.gz", SHA256, "404"),
    ],
)
def test_bad_download_leaves_nothing(server, tmp_path, path, sha256, message):
    with pytest.raises(OSError, match=message):
        load_file(_file(server.url + path, sha256), tmp_path)
    assert _files_below(tmp_path) == []


def test_no_network_says_what_to_do(tmp_path):
    url = "http://127.0.0.1:1/raw.gz"  # nobody listens on port 1
    with pytest.raises(ConnectionError, match="could not download") as caught:
        load_file(_file(url), tmp_path)
    for hint in (url, str(tmp_path / "set" / "text.gz"), str(tmp_path / "set" / "raw.gz"), "MAXMARGIN_DATA"):
        assert hint in str(caught.value)
    assert _files_below(tmp_path) == []


def test_original_placed_by_hand_is_converted(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "raw.gz").write_bytes(gzip.compress(CONTENT))
    assert load_file(_file("http://127.0.0.1:1/raw.gz"), tmp_path) == CONTENT
    assert (tmp_path / "set" / "text.gz").is_file()


def test_bad_original_placed_by_hand_is_named(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "raw.gz").write_bytes(b"oops")
    with pytest.raises(OSError, match=re.escape(str(tmp_path / "set" / "raw.gz"))):
        load_file(_file("http://127.0.0.1:1/raw.gz"), tmp_path)


def test_missing_and_not_to_be_downloaded(server, tmp_path):
    with pytest.raises(FileNotFoundError, match="MAXMARGIN_DATA"):
        load_file(_file(server.url + "/raw.gz"), tmp_path, download_if_missing=False)
    assert server.hits == 0


def test_originals_of_one_name_are_placed_side_by_side(tmp_path):
    (tmp_path / "set").mkdir()
    for parent, text in (("a", b"one "), ("b", b"small text")):
        (tmp_path / "set" / f"{parent}-raw.txt").write_bytes(text)
    urls = ("http://127.0.0.1:1/a/raw.txt", "http://127.0.0.1:1/b/raw.txt")
    file = DataFile("set/text.gz", GZIP, urls, b"".join, hashlib.sha256(b"one small text").hexdigest())
    assert load_file(file, tmp_path) == b"one small text"


@pytest.mark.parametrize("download_if_missing", [True, False])
def test_missing_without_an_origin(tmp_path, download_if_missing):
    file = DataFile("set/text.gz", GZIP, (), None, SHA256)
    with pytest.raises(FileNotFoundError, match=r"text\.gz is not in .* cannot be downloaded") as caught:
        load_file(file, tmp_path, download_if_missing)
    for hint in (str(tmp_path / "set" / "text.gz"), "MAXMARGIN_DATA"):
        assert hint in str(caught.value)
    assert _files_below(tmp_path) == []


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-20], lambda data: b"oops", lambda data: gzip.compress(b"other")]
)
def test_corrupt_local_file_is_refused(tmp_path, damage):
    path = tmp_path / "set" / "text.gz"
    path.parent.mkdir()
    path.write_bytes(damage(gzip.compress(CONTENT)))
    with pytest.raises(OSError, match=r"text\.gz is corrupt"):
        load_file(_file("http://127.0.0.1:1/raw.gz"), tmp_path)


def test_search_order(tmp_path, monkeypatch):
    folders = {name: tmp_path / name for name in ("given", "environment", "home/.maxmargin_data")}
    arrays = {name: {"a": np.array([number])} for number, name in enumerate(folders)}
    for name, folder in folders.items():
        folder.mkdir(parents=True)
        with (folder / "a.npz").open("wb") as stream:
            NPZ.write(stream, arrays[name])
    monkeypatch.setenv("MAXMARGIN_DATA", str(folders["environment"]))
    for name, folder in folders.items():  # each wins once those before it are gone
        file = DataFile("a.npz", NPZ, (), lambda raw: {}, NPZ.digest(arrays[name]))
        assert load_file(file, folders["given"], download_if_missing=False)["a"] == arrays[name]["a"]
        (folder / "a.npz").unlink()


def test_data_home(tmp_path, monkeypatch):
    assert get_data_home() == tmp_path / "home" / ".maxmargin_data"
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path / "elsewhere"))
    assert get_data_home() == tmp_path / "elsewhere"
    assert get_data_home(tmp_path) == tmp_path


def test_array_digest_sees_name_type_shape_and_values():
    base = {"a": np.arange(6, dtype=np.int32)}
    others = [
        {"b": base["a"]},
        {"a": base["a"].astype(np.uint32)},
        {"a": base["a"].reshape(2, 3)},
        {"a": base["a"][::-1]},
    ]
    assert len({NPZ.digest(arrays) for arrays in [base, *others]}) == 5
    assert NPZ.digest({"a": base["a"].astype(">i4")}) == NPZ.digest(base)
