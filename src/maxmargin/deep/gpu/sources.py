"""The kernels' sources, and the constants that they are compiled for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from torch import Tensor

HERE = Path(__file__).parent


class Machine(Protocol):
    """What launches kernels."""

    n_processors: int
    shared_bytes: int  # that a block may ask for

    def launch(
        self,
        source: str,
        kernel: str,
        defines: Mapping[str, int],
        grid: tuple[int, int],
        threads: int,
        shared_bytes: int,
        args: Sequence[Tensor | int | float | None],
        together: bool = False,
    ) -> None:
        """Run a kernel of a source compiled with these constants; `together`: its blocks wait for each other."""


def source_of(name: str, defines: Mapping[str, int], prelude: str | None = None) -> str:
    """The text to compile."""
    constants = "".join(f"#define {key} {value}\n" for key, value in sorted(defines.items()))
    first = (HERE / "prelude.cu").read_text() if prelude is None else prelude
    return first + constants + (HERE / "common.cu").read_text() + (HERE / f"{name}.cu").read_text()
