"""The package as it was before parts went by reference, for benchmarks that measure two trees in one run."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import maxmargin

COMMIT = "1c9b87b"
ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(maxmargin.__file__).resolve().parents[1]  # of the tree that is measured
KERNELS = ROOT / "benchmarks" / "output" / f"kernels-{COMMIT}"  # kept: that tree compiles for minutes


@contextmanager
def source_before() -> Iterator[Path | None]:
    """The folder with that package, gone afterwards; None, and a word about it, where git has not got the commit."""
    with tempfile.TemporaryDirectory(prefix="maxmargin-before-") as folder:
        archive = _archive()
        if archive is None:
            print(f"git has no commit {COMMIT} here: bars against it are not measured")
            yield None
            return
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        yield Path(folder) / "src"


def _archive() -> bytes | None:
    try:
        done = subprocess.run(["git", "-C", ROOT, "archive", COMMIT, "src"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout


def environment(source: Path, kernels: str | Path) -> dict[str, str]:
    """Variables for a process that imports the package from `source` and keeps its kernels in a folder of its own.

    Python may keep its bytecode, as it does where a package is installed.
    """
    path = os.pathsep.join(map(str, (source, ROOT)))
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(kernels)}


class Servant:
    """A process that runs a module of the benchmarks on another source, and answers one line a question."""

    def __init__(self, module: str, source: Path):
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"benchmarks.{module}"],
            env=environment(source, KERNELS),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        imported = Path(self.ask("source"))
        if imported != source.resolve():
            raise RuntimeError(f"{imported} was measured, not {source}")

    def ask(self, *question: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process on the tree of {COMMIT} ended with {self.process.wait()}")
        return json.loads(line)

    def __enter__(self) -> Servant:
        return self

    def __exit__(self, *error: Any) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()
