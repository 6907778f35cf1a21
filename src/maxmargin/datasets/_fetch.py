"""Find a data file on disk, or download, convert, check and store it.

A :class:`DataFile` declares where a file lives, where it comes from, and the SHA-256 of its *content*: the
decoded arrays or text. The sum does not depend on compression, so one number guards local copies and downloads.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import os
import secrets
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import numpy as np

ENVIRONMENT_VARIABLE = "MAXMARGIN_DATA"
TIMEOUT_SECONDS = 30.0
CHUNK_BYTES = 1 << 16

Arrays = dict[str, np.ndarray]
PathLike = str | os.PathLike[str]
Content = TypeVar("Content")

# What the standard readers raise on a file that is truncated, garbled or another file altogether.
_UNREADABLE = (OSError, EOFError, ValueError, KeyError, IndexError, zlib.error, zipfile.BadZipFile)


@dataclass(frozen=True)
class Format(Generic[Content]):
    """How a content is read from a path, written to a binary stream, and summed up."""

    read: Callable[[Path], Content]
    write: Callable[[IO[bytes], Content], None]
    digest: Callable[[Content], str]


@dataclass(frozen=True)
class DataFile(Generic[Content]):
    """One file of a data set.

    Parameters
    ----------
    path : str
        Path inside a data folder.
    format : Format
        Local format.
    urls : sequence of str
        Public origin, one address per raw file; none if the content cannot be had from there.
    convert : callable, optional
        Turns the raw files, in the order of `urls`, into the content. Not needed without `urls`.
    sha256 : str
        SHA-256 of the content, as `format` computes it.
    """

    path: str
    format: Format[Content]
    urls: Sequence[str]
    convert: Callable[[list[bytes]], Content] | None
    sha256: str


def _read_npz(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _write_npz(stream: IO[bytes], arrays: Arrays) -> None:
    # Typed loosely: numpy's stubs would match an arbitrary name against its own keyword arguments.
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(stream, **named)


def _digest_arrays(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name], dtype=arrays[name].dtype.newbyteorder("<"))
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()


def _read_gzip(path: Path) -> bytes:
    with gzip.open(path) as stream:
        return stream.read()


def _write_gzip(stream: IO[bytes], text: bytes) -> None:
    # mtime=0: the same content gives the same file.
    with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0) as compressed:
        compressed.write(text)


NPZ: Format[Arrays] = Format(_read_npz, _write_npz, _digest_arrays)
GZIP: Format[bytes] = Format(_read_gzip, _write_gzip, lambda text: hashlib.sha256(text).hexdigest())


def get_data_home(data_home: PathLike | None = None) -> Path:
    """Folder that downloads are stored in.

    Parameters
    ----------
    data_home : path-like, optional
        By default ``$MAXMARGIN_DATA`` if set, else ``~/.maxmargin_data``.

    Returns
    -------
    pathlib.Path
        The folder, which need not exist yet.

    Examples
    --------
    >>> from maxmargin.datasets import get_data_home
    >>> get_data_home("/data").name
    'data'
    """
    return _search_folders(data_home)[0]


def _search_folders(data_home: PathLike | None) -> list[Path]:
    named = [data_home, os.environ.get(ENVIRONMENT_VARIABLE), "~/.maxmargin_data"]
    return [Path(folder).expanduser() for folder in named if folder]


def load_file(file: DataFile[Content], data_home: PathLike | None = None, download_if_missing: bool = True) -> Content:
    """Return the checked content of a file, downloading it if it is in no data folder.

    Raises
    ------
    OSError
        If the file is missing and may not or cannot be downloaded, or if its content is not the expected one.
    """
    folders = _search_folders(data_home)
    for folder in folders:
        path = folder / file.path
        if path.is_file():
            return _read_checked(file, path)
    if file.convert is None or not download_if_missing:
        searched = ", ".join(map(str, folders))
        raise FileNotFoundError(f"{file.path} is not in {searched}. {_advice(file, folders[0])}")
    return _download(file, file.convert, folders[0])


def _read_checked(file: DataFile[Content], path: Path) -> Content:
    try:
        content = file.format.read(path)
    except PermissionError:
        raise
    except _UNREADABLE as error:
        raise OSError(f"{path} is corrupt ({error}). Delete it to fetch it again.") from error
    if file.format.digest(content) != file.sha256:
        raise OSError(f"{path} is corrupt: its content has another SHA-256 than expected. Delete it to fetch it again.")
    return content


def _download(file: DataFile[Content], convert: Callable[[list[bytes]], Content], folder: Path) -> Content:
    target = folder / file.path
    # The stream is opened first, so that a folder that cannot be written fails before the download.
    with _atomic_write(target) as stream:
        raw = [_raw_file(url, file, folder) for url in file.urls]
        try:
            content = convert(raw)
        except _UNREADABLE as error:
            raise OSError(f"{_origin(file, folder)} is not the expected data ({error}); nothing was stored.") from error
        if file.format.digest(content) != file.sha256:
            raise OSError(f"{_origin(file, folder)}: another SHA-256 than expected; nothing was stored.")
        file.format.write(stream, content)
    return content


@contextmanager
def _atomic_write(target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `target` that takes its place on success and vanishes on failure."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile.mkstemp: its files can be read by their owner only, and a data folder may be shared.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with temporary.open("xb") as stream:
            yield stream
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _raw_file(url: str, file: DataFile[Content], folder: Path) -> bytes:
    """Raw file placed by hand beside the target, else downloaded."""
    placed = _raw_path(url, file, folder)
    if placed.is_file():
        return placed.read_bytes()
    try:
        return _read_url(url)
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionError(f"could not download {url} ({error}). {_advice(file, folder)}") from error


def _read_url(url: str) -> bytes:
    from tqdm import tqdm

    buffer = io.BytesIO()
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
        declared = response.headers.get("Content-Length")
        size = None if declared is None else int(declared)
        with tqdm(total=size, unit="B", unit_scale=True, desc=url.rsplit("/", 1)[-1], disable=None) as bar:
            while chunk := response.read(CHUNK_BYTES):
                buffer.write(chunk)
                bar.update(len(chunk))
    # Read in chunks, a connection closed early looks like the end of the file.
    if size is not None and buffer.tell() != size:
        raise OSError(f"truncated: {buffer.tell()} of {size} bytes arrived")
    return buffer.getvalue()


def _raw_path(url: str, file: DataFile[Any], folder: Path) -> Path:
    """Where a raw file is placed by hand: under its name, behind that of its folder where two have the same name."""
    *_, parent, name = url.split("/")
    unique = [other.rsplit("/", 1)[-1] for other in file.urls].count(name) == 1
    return (folder / file.path).with_name(name if unique else f"{parent}-{name}")


def _origin(file: DataFile[Any], folder: Path) -> str:
    """Where each raw file was read from: placed by hand, or downloaded."""
    placed = {url: _raw_path(url, file, folder) for url in file.urls}
    return " + ".join(str(path) if path.is_file() else url for url, path in placed.items())


def _advice(file: DataFile[Any], folder: Path) -> str:
    if file.convert is None:
        return (
            f"It cannot be downloaded, as no public origin has it in this form: put it at {folder / file.path}, or set "
            f"{ENVIRONMENT_VARIABLE} to a folder that holds {file.path}."
        )
    by_hand = "; ".join(f"{url} as {_raw_path(url, file, folder)}" for url in file.urls)
    return (
        f"To go on without a download, put the converted file at {folder / file.path}, or set {ENVIRONMENT_VARIABLE} "
        f"to a folder that holds {file.path}; or save the original by hand ({by_hand}) and call again to convert it."
    )
