"""The container of model files: a zip of uncompressed entries whose arrays can be mapped into memory where they lie.

docs/model_files.md has the format byte by byte. Reading trusts nothing: entries must tile the file without gaps or
overlaps, sizes must be what headers say, and no header is evaluated, only compared. What is read is bounded by the
size of the file.
"""

from __future__ import annotations

import io
import math
import mmap
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .errors import ModelFileError

MODEL, STATE = "model.json", "state.json"  # the first entry, which says what a file is
KINDS = {MODEL: "a model file, which maxmargin.load reads", STATE: "a checkpoint, from which fit goes on"}

ALIGNMENT = 64
PADDING = 0xD935  # the extra field that Android's zipalign pads with
NUMBERS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")

_LOCAL = struct.Struct("<4s5H3I2H")  # the header before each entry
_HEADER = re.compile(rb"\{'descr': '([|<][a-z]\d)', 'fortran_order': False, 'shape': \(((?:\d+, ?)*\d*)\), \} *\n")
_MOST_HEADER = 1024  # bytes, of a .npy: longer ones have more dimensions than any array
_PLAIN_FLAGS = 0x0800  # names may be marked as UTF-8; nothing is encrypted, no sizes come after the data
_FAULTS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError, EOFError, struct.error)


class Entry(NamedTuple):
    """Where the bytes of an entry lie, and what they should sum up to."""

    begin: int
    end: int
    checksum: int


def write_archive(file: BinaryIO, document: tuple[str, bytes], arrays: Iterable[tuple[str, np.ndarray]]) -> None:
    """Write the document first, and arrays of numbers after it, each with its name."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        name, text = document
        _add(archive, name, text)
        for name, array in arrays:
            header = io.BytesIO()
            np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
            _add(archive, name, header.getvalue(), array.reshape(-1).view(np.uint8).data)


def _add(archive: zipfile.ZipFile, name: str, *parts: Any) -> None:
    info = zipfile.ZipInfo(name)  # dated 1980: the same model makes the same file
    info.file_size = sum(map(len, parts))
    is_large = info.file_size * 1.05 > zipfile.ZIP64_LIMIT  # then zipfile adds an extra field of 20 bytes
    begins = archive.start_dir + _LOCAL.size + len(name) + 4 + 20 * is_large
    padding = -begins % ALIGNMENT
    info.extra = struct.pack("<2H", PADDING, padding) + bytes(padding)
    with archive.open(info, "w") as entry:
        for part in parts:
            entry.write(part)


class Archive:
    """A file opened for reading: entries by name, arrays mapped where they lie.

    Pages of arrays come from disk when they are touched, and are shared by all processes that read the file. They are
    mapped copy-on-write: writing into an array changes this process's copy alone, never the file, so that compiled code
    sees the one kind of arrays that it is compiled for.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not status.st_size:
                raise self.fault("it is empty" if stat.S_ISREG(status.st_mode) else "it is no regular file")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            try:
                with zipfile.ZipFile(file) as archive:
                    members, end = sorted(archive.infolist(), key=lambda one: one.header_offset), archive.start_dir
            except _FAULTS as error:
                raise self.fault(f"no model file: {error}") from error
        if self._map[-22:-18] != b"PK\x05\x06":
            raise self.fault("there is something after its end")
        self.entries = self._tiled(members, end)

    def fault(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.path}: {what}")

    def _tiled(self, members: list[zipfile.ZipInfo], end: int) -> dict[str, Entry]:
        """The entries, which must follow each other from the first byte on."""
        entries: dict[str, Entry] = {}
        at = 0
        for member in members:
            if member.filename in entries:
                raise self.fault(f"entry {member.filename!r} is there twice")
            if member.header_offset != at:
                raise self.fault(f"entry {member.filename!r} does not begin where the one before ends")
            entry = self._entry(member, end)
            entries[member.filename], at = entry, entry.end
        if at != end:
            raise self.fault("there are bytes that belong to no entry")
        return entries

    def _entry(self, member: zipfile.ZipInfo, end: int) -> Entry:
        name, at = member.filename, member.header_offset
        if member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            raise self.fault(f"entry {name!r} is compressed, and model files never are")
        if member.flag_bits & ~_PLAIN_FLAGS:
            raise self.fault(f"entry {name!r} is encrypted, or its size comes after it")
        if at + _LOCAL.size > end:
            raise self.fault(f"entry {name!r} goes beyond the end")
        magic, _, flags, method, _, _, checksum, _, _, n_name, n_extra = _LOCAL.unpack_from(self._map, at)
        begin = at + _LOCAL.size + n_name + n_extra
        if magic != b"PK\x03\x04" or (flags, method) != (member.flag_bits, zipfile.ZIP_STORED):
            raise self.fault(f"the header of entry {name!r} is damaged")
        if self._map[at + _LOCAL.size : at + _LOCAL.size + n_name] != name.encode() or checksum != member.CRC:
            raise self.fault(f"the header of entry {name!r} is not what the directory says")
        if begin + member.file_size > end:
            raise self.fault(f"entry {name!r} goes beyond the end")
        return Entry(begin, begin + member.file_size, member.CRC)

    def read(self, name: str) -> bytes:
        """The bytes of an entry, compared with their checksum."""
        if name not in self.entries:
            others = [f": it is {kind}" for document, kind in KINDS.items() if document in self.entries]
            raise self.fault(f"there is no entry {name!r}" + "".join(others))
        self.verify(name)
        entry = self.entries[name]
        return self._map[entry.begin : entry.end]

    def verify(self, name: str) -> None:
        """Compare the bytes of an entry with their checksum."""
        entry = self.entries[name]
        with memoryview(self._map) as view, view[entry.begin : entry.end] as part:
            if zlib.crc32(part) != entry.checksum:
                raise self.fault(f"entry {name!r} is damaged: its checksum differs")

    def array(self, name: str, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        """The array of an entry, which must be of this kind."""
        if name not in self.entries:
            raise self.fault(f"there is no entry {name!r}")
        entry = self.entries[name]
        begin = self._after_header(name, entry, dtype, shape)
        kind, size = np.dtype(dtype), math.prod(shape)
        if begin + size * kind.itemsize != entry.end or begin % ALIGNMENT:
            raise self.fault(f"entry {name!r} has not the size of {shape} numbers of type {dtype}, or is out of place")
        if not size:
            return np.empty(shape, kind.newbyteorder("="))
        array = np.frombuffer(self._map, kind, size, begin).reshape(shape)
        return array if kind.isnative else array.astype(kind.newbyteorder("="))

    def _after_header(self, name: str, entry: Entry, dtype: str, shape: tuple[int, ...]) -> int:
        """Where the numbers of a .npy begin, if its header says what it should."""
        start = self._map[entry.begin : min(entry.begin + _MOST_HEADER, entry.end)]
        length = int.from_bytes(start[8:10], "little")
        found = _HEADER.fullmatch(start[10 : 10 + length])
        if start[:8] != b"\x93NUMPY\x01\x00" or 10 + length > len(start) or found is None:
            raise self.fault(f"entry {name!r} is no array of numbers")
        says = tuple(int(one) for one in found[2].replace(b" ", b"").split(b",") if one)
        if (found[1].decode(), says) != (dtype, shape):
            raise self.fault(f"entry {name!r} holds {says} of {found[1].decode()}, but should hold {shape} of {dtype}")
        return entry.begin + 10 + length
