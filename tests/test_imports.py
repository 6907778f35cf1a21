"""Imports go with the flow of the data: each room knows only those below it."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "maxmargin"

NEUTRAL = {"_boxes", "_compile", "_files", "_meeting", "_parameters", "_prefetch", "_sums", "_thin", "_threads"}

# What each room may know, apart from itself. Data flows estimator -> structure -> solver, which meets inference only
# through the verbs of structures.
MAY_IMPORT = {
    **dict.fromkeys(NEUTRAL, NEUTRAL),
    "inference": NEUTRAL,
    "structures": NEUTRAL | {"inference", "persistence"},
    "solvers": NEUTRAL | {"structures", "persistence"},
    "distributed": NEUTRAL | {"structures", "solvers", "persistence"},
    "estimators": NEUTRAL | {"structures", "solvers", "distributed", "features", "metrics", "plotting", "persistence"},
    "deep": NEUTRAL | {"inference", "structures", "solvers", "estimators", "metrics"},
    "compilation": NEUTRAL | {"estimators", "structures", "solvers"},
    "cli": {
        "compilation",
        "estimators",
        "solvers",
        "datasets",
        "features",
        "formats",
        "metrics",
        "plotting",
        "persistence",
        "storage",
        "maxmargin",
    },
    "storage": NEUTRAL | {"estimators", "structures", "features", "formats", "persistence"},
    "__main__": {"cli"},
    # leaves
    "datasets": {"features", "formats"},
    "features": NEUTRAL | {"formats", "persistence"},
    "formats": set(),
    "metrics": NEUTRAL,
    "plotting": set(),
    # what of their own classes may be in files, other rooms say
    "persistence": NEUTRAL | {"maxmargin"},
}


class Import(NamedTuple):
    source: str  # the file, below the package
    room: str  # that it is in
    wanted: str  # the room that it imports; "maxmargin" where it is the package itself


def imports_of(path: Path) -> Iterator[Import]:
    """Every import of a room of the package by a file, those inside functions included."""
    place = path.relative_to(PACKAGE)
    for node in ast.walk(ast.parse(path.read_text())):
        for target in _targets(node, ("maxmargin", *place.parts[:-1])):
            named = target[1] if len(target) > 1 else ""
            yield Import(place.as_posix(), room_of(place), named if is_room(named) else "maxmargin")


def _targets(node: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """What a statement imports from the package, as parts of dotted names."""
    if isinstance(node, ast.Import):
        names = [tuple(alias.name.split(".")) for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) + 1 - node.level] if node.level else ()
        base += tuple(node.module.split(".")) if node.module else ()
        # from . import a: a may be a room of its own
        names = [(*base, alias.name) if base == ("maxmargin",) else base for alias in node.names]
    else:
        names = []
    yield from (name for name in names if name[0] == "maxmargin")


def room_of(place: Path) -> str:
    return place.parts[0].removesuffix(".py")


def is_room(name: str) -> bool:
    """Not a class or function of the package."""
    return name != "" and ((PACKAGE / name / "__init__.py").is_file() or (PACKAGE / f"{name}.py").is_file())


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
ALL = sorted({one for path in FILES for one in imports_of(path)})


def test_every_room_is_in_order():
    rooms = {room_of(path.relative_to(PACKAGE)) for path in FILES}
    assert rooms <= MAY_IMPORT.keys()


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_what_it_may_know(room):
    wrong = [one for one in ALL if one.room == room and one.wanted not in MAY_IMPORT[room] | {room}]
    assert wrong == []


def test_the_walk_sees_all_kinds_of_imports():
    here = ("maxmargin", "solvers", "path")
    for text, expected in {
        "from ...plotting import plot_path": [("maxmargin", "plotting")],
        "from ... import datasets": [("maxmargin", "datasets")],
        "from ..base import Solver": [("maxmargin", "solvers", "base")],
        "from . import rules": [("maxmargin", "solvers", "path")],
        "import maxmargin.metrics, numpy": [("maxmargin", "metrics")],
        "from numpy.typing import ArrayLike": [],
    }.items():
        assert list(_targets(ast.parse(text).body[0], here)) == expected


def said_by(code: str) -> str:
    """What a fresh process prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


def test_importing_the_package_leaves_torch_alone():
    assert said_by("import sys, maxmargin, maxmargin.cli; print('torch' in sys.modules)") == "False"


def test_deep_says_what_it_needs():
    code = (
        "import sys, maxmargin; sys.modules['torch'] = None\n"
        "try:\n    import maxmargin.deep\nexcept ImportError as error:\n    print(error)"
    )
    assert 'pip install "maxmargin[deep]"' in said_by(code)


def test_importing_the_data_sets_adds_nothing_heavy():
    code = (
        "import sys, maxmargin; before = set(sys.modules); import maxmargin.datasets; "
        "print({'sklearn', 'scipy', 'tqdm'} & (set(sys.modules) - before))"
    )
    assert said_by(code) == "set()"
