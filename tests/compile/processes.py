"""New processes that learn with a copy of the package, and tell which kernels they compiled and loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import maxmargin

FIT = """
import json, sys
from pathlib import Path
import numpy as np
from maxmargin import solvers, structures
from maxmargin._compile import disk, folders

def learn(problem):
    return solvers.FrankWolfe().solve(problem, 0.1, tol=0, max_passes=2).primal

if "edit-after-import" in sys.argv:
    with open(structures.multiclass.blocks.__file__, "a") as source:
        source.write(Path("edit.txt").read_text())
problem = structures.make_multiclass_problem(np.arange(6.0).reshape(3, 2) - 2.5, np.array([0, 1, 1]), 2)
answer = {"package": str(folders.PACKAGE), "primal": learn(problem)}
answer |= {"compiled": disk.TALLY[disk.COMPILED], "loaded": disk.TALLY[disk.LOADED]}
folder = folders.kernel_folders().write
answer["folder"] = folder and str(folder)
answer["files"] = sorted(path.name for path in folder.iterdir()) if folder else []
if "outside" in sys.argv:
    import outside
    answer["outside"] = learn(outside.Outside(*problem))
    answer["files_after"] = sorted(path.name for path in folder.iterdir())
print(json.dumps(answer))
"""

HIDDEN = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_CPU_NAME")


def copy_package(folder: Path) -> None:
    source = Path(maxmargin.__file__).parent
    shutil.copytree(source, folder / "maxmargin", ignore=shutil.ignore_patterns("__pycache__"))


def learn_in(folder: Path, *arguments: str, environment: Any = None, prefix: Sequence[str] = ()) -> dict[str, Any]:
    """What a new process prints that learns with the package in a folder, and whether it said that it compiles.

    `prefix` is a command that runs another one.
    """
    inherited = {key: value for key, value in os.environ.items() if key not in HIDDEN}
    inherited |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [*prefix, sys.executable, "-c", FIT, *arguments],
        cwd=folder,
        env={**inherited, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["package"] == str(folder / "maxmargin")
    return answer | {"compiles": "compiles its kernels" in done.stderr, "said": done.stderr}
