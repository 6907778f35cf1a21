"""Files as blocks of lines: plain or gzipped, by name, from standard input or open already."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from .errors import FileFormatError

BLOCK_BYTES, PIECE_BYTES = 1 << 20, 1 << 22
STDIN = "-"
GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
OTHER_TEXT = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


class Block(NamedTuple):
    """Lines without their ends."""

    first: int  # the number of the first line, from 1
    lines: list[bytes]


class Piece(NamedTuple):
    """Lines of a file that hold whole samples: they can be read like a file of their own."""

    name: str
    block: Block


Source = str | os.PathLike[str] | IO[bytes] | Piece


def name_of(source: Source) -> str:
    """What messages call a file."""
    if isinstance(source, Piece):
        return source.name
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if os.fspath(source) == STDIN else os.fspath(source)
    return str(getattr(source, "name", "file"))


def blocks(source: Source) -> Iterator[Block]:
    """The lines of a file, about a megabyte at a time; ends of lines may be those of any system."""
    if isinstance(source, Piece):
        yield source.block
        return
    name, n_lines, rest = name_of(source), 0, b""
    for chunk in _chunks(source, name):
        if b"\0" in chunk:
            at = n_lines + 1 + (rest + chunk[: chunk.index(b"\0")]).count(b"\n")
            raise FileFormatError("a zero byte: this is no text file", name, at)
        chunk = rest + chunk
        end = chunk.rfind(b"\n") + 1
        rest = chunk[end:]
        if end:
            lines = chunk[:end].splitlines()
            yield Block(n_lines + 1, lines)
            n_lines += len(lines)
    if rest:
        yield Block(n_lines + 1, rest.splitlines())


def pieces(source: Source, ends: Callable[[bytes, bytes], bool], is_told: Callable[[bytes], bool]) -> Iterator[Piece]:
    """A file in pieces of some megabytes, so that memory does not grow with it.

    ``ends(line, following)`` says whether a sample may end between two lines, ``is_told(line)`` whether a line is part
    of one. A file without any such line is one piece, for its reader to complain of.
    """
    name, first, lines, size, last, any_told = name_of(source), 1, list[bytes](), 0, b"", False
    for number, line in numbered_lines(source):
        if size > PIECE_BYTES and any_told and ends(last, line):
            yield Piece(name, Block(first, lines))
            first, lines, size, any_told = number, [], 0, False
        lines.append(line)
        size, last, any_told = size + len(line), line, any_told or is_told(line)
    if any_told or first == 1:
        yield Piece(name, Block(first, lines))


def is_blank(line: bytes) -> bool:
    return not line or line.isspace()


def numbered_lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Every line with its number."""
    for block in blocks(source):
        yield from enumerate(block.lines, block.first)


def decoded(text: bytes, name: str, line: int) -> str:
    """Text of a line, which has to be UTF-8."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = f"the byte {text[error.start]:#04x} is not UTF-8: convert the file, say with iconv -t utf-8"
        raise FileFormatError(wrong, name, line) from error


def _chunks(source: Source, name: str) -> Iterator[bytes]:
    with _opened(source) as file:
        try:
            first = file.read(BLOCK_BYTES)
            _refuse_others(first, name)
            yield first.removeprefix(codecs.BOM_UTF8)
            while chunk := file.read(BLOCK_BYTES):
                yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileFormatError(f"the compressed data is damaged ({error})", name) from error


def _refuse_others(start: bytes, name: str) -> None:
    for mark, encoding in OTHER_TEXT.items():
        if start.startswith(mark):
            raise FileFormatError(f"the text is {encoding}: convert it to UTF-8, say with iconv -t utf-8", name, 1)
    if start.startswith(ZIP):
        raise FileFormatError("a zip archive or a model file, not a text file", name)


def _opened(source: Any) -> Any:
    """The bytes of the text; what is given open stays open."""
    if isinstance(source, (str, os.PathLike)) and os.fspath(source) != STDIN:
        file: Any = open(source, "rb")  # noqa: SIM115 - the caller closes it
        return _Owned(_unzipped(file), file)
    given: Any = sys.stdin.buffer if isinstance(source, (str, os.PathLike)) else source
    return _Owned(_unzipped(given if hasattr(given, "peek") else io.BufferedReader(given)), None)


def _unzipped(file: Any) -> Any:
    return gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == GZIP else file


class _Owned:
    """A context that gives one file, and closes another one."""

    def __init__(self, given: Any, closed: Any):
        self.given, self.closed = given, closed

    def __enter__(self) -> Any:
        return self.given

    def __exit__(self, *exc: object) -> None:
        if self.closed is not None:
            self.closed.close()
