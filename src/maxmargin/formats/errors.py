"""What is wrong with a file, and where."""

from __future__ import annotations


class FileFormatError(ValueError):
    """A file does not hold what its format says; the message names the file and the line, in one line.

    Parameters
    ----------
    problem : str
        What is wrong, and what was expected.
    file : str
        The name of the file.
    line : int or None, default=None
        The line, counted from 1; None where it is the file as a whole.

    Attributes
    ----------
    problem : str
    file : str
    line : int or None

    Examples
    --------
    >>> from maxmargin.formats import FileFormatError
    >>> print(FileFormatError("2 columns, but line 1 has 3", "train.txt", 7))
    train.txt, line 7: 2 columns, but line 1 has 3
    """

    def __init__(self, problem: str, file: str, line: int | None = None):
        self.problem, self.file, self.line = problem, file, line
        super().__init__(problem, file, line)

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.problem}"


SHOWN = 60


def shown(text: bytes | str) -> str:
    """A piece of a file for a message: short, and on one line."""
    piece = text if isinstance(text, str) else text[: 4 * SHOWN].decode("utf-8", "backslashreplace")
    return repr(piece if len(piece) <= SHOWN else piece[:SHOWN] + "…")
