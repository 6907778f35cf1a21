"""The pages say what is so: their examples run, their commands, benchmarks and links exist, the README fits a screen.

Blocks of one page run in order, as one program, in an empty folder. What is said after the language of a block counts:
``python no-run: why`` is not run, ``python warns`` must end in a ConvergenceWarning, which any other block must not.
``pycon`` blocks are doctests, ``console`` blocks sessions whose output is compared; of ``sh`` blocks, which may take
long, the arguments of ``maxmargin`` are read.
"""

import contextlib
import doctest
import re
import shlex
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin.cli.command import parser

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
INDEX = ROOT / "docs" / "index.md"
OUTPUT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MOST_README_LINES = 60
INTERPRETED = {"deep", "graphs"}  # so small that to compile for them would take longer


class Block(NamedTuple):
    page: Path
    line: int  # of its fence
    language: str
    mark: str  # what follows the language
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}, line {self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    fenced = re.finditer(r"^( *)```(\w*) *([^\n`]*)\n(.*?)^\1```$", text, re.M | re.S)
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found[2], found[3], textwrap.dedent(found[4]))
        for found in fenced
    ]


def is_session(block: Block) -> bool:
    return block.language == "pycon" or block.text.startswith(">>>")


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def run_block(block: Block, names: dict[str, Any]) -> None:
    """Errors point at the lines of the page."""
    code = compile("\n" * block.line + block.text, str(block.page), "exec")
    exec(code, names)


def run_session(block: Block, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, names, block.page.name, str(block.page), block.line)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=OUTPUT).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    names.update(test.globs)


@contextlib.contextmanager
def expected_warnings(block: Block) -> Iterator[None]:
    if block.mark == "warns":
        with pytest.warns(ConvergenceWarning):
            yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        yield


@EACH_PAGE
def test_the_examples_of_a_page_run(page, request, tmp_path, monkeypatch):
    blocks = [block for block in BLOCKS if block.page == page and block.language in ("python", "pycon")]
    blocks = [block for block in blocks if not block.mark.startswith("no-run")]
    if any("fetch_" in block.text for block in blocks):
        request.getfixturevalue("shared_data")
    if any("maxmargin.deep" in block.text for block in blocks):
        pytest.importorskip("torch")
    if page.stem in INTERPRETED:
        request.getfixturevalue("no_compilation")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks:
        with expected_warnings(block):
            (run_session if is_session(block) else run_block)(block, names)


def test_marks_are_known_and_what_is_not_run_says_why():
    marked = [block for block in BLOCKS if block.mark]
    assert [str(block) for block in marked if not re.fullmatch(r"warns|no-run: .{10,}", block.mark)] == []


def commands_of(block: Block) -> Iterator[list[str]]:
    """Arguments of the command `maxmargin`, wherever a block calls it."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for part in (part for line in lines for part in re.split(r"&&|\|\||[|;]", line)):
        words = shlex.split(part, comments=True)
        while words and re.fullmatch(r"\w+=.*", words[0]):
            del words[0]
        if words and Path(words[0]).name == "maxmargin":
            yield words[1:]
        elif words[1:3] == ["-m", "maxmargin"]:
            yield words[3:]


COMMANDS = [(block, words) for block in BLOCKS if block.language in ("sh", "console") for words in commands_of(block)]


def test_commands_are_found():
    assert ["demo"] in [words for _, words in COMMANDS]


@pytest.mark.parametrize(("block", "words"), COMMANDS, ids=str)
def test_commands_can_be_given(block, words):
    try:
        parser().parse_args(words)
    except SystemExit as stopped:  # after --version and --help, too
        assert not stopped.code, f"{block}: maxmargin {shlex.join(words)}"


SHOWN = [block for block in BLOCKS if block.language == "console" and not block.mark and any(commands_of(block))]


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_sessions_print_what_is_shown(block, tmp_path):
    shown = [line for line in block.text.splitlines(keepends=True) if not line.startswith("$ ")]
    calls = [[sys.executable, "-m", "maxmargin", *words] for words in commands_of(block)]
    done = [subprocess.run(call, capture_output=True, text=True, check=True, cwd=tmp_path) for call in calls]
    printed = "".join(one.stdout for one in done)
    assert doctest.OutputChecker().check_output("".join(shown), printed, OUTPUT), printed


@EACH_PAGE
def test_benchmarks_that_are_named_exist(page):
    named = set(re.findall(r"\bbenchmarks\.(\w+)", page.read_text()))
    folder = ROOT / "benchmarks"
    assert [name for name in named if not (folder / f"{name}.py").is_file() and not (folder / name).is_dir()] == []


def anchor(heading: str) -> str:
    """What GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links_of(page: Path) -> list[str]:
    found = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    return [link for link in found if not re.match(r"\w+://", link)]


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, place = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return False
    return not place or place in map(anchor, re.findall(r"^#+ (.*)$", target.read_text(), re.M))


@EACH_PAGE
def test_links_lead_somewhere(page):
    assert [link for link in links_of(page) if not leads_somewhere(page, link)] == []


def test_the_index_leads_to_every_page():
    pages = {page.name for page in INDEX.parent.glob("*.md")} - {INDEX.name}
    assert pages - {link.partition("#")[0] for link in links_of(INDEX)} == set()


def test_pages_that_the_source_names_exist():
    sources = [path.read_text() for room in ("src", "benchmarks") for path in sorted((ROOT / room).rglob("*.py"))]
    named = {page for text in sources for page in re.findall(r"\bdocs/\w+\.md", text)}
    assert [page for page in sorted(named) if not (ROOT / page).is_file()] == []


def test_the_readme_fits_a_screen():
    assert len((ROOT / "README.md").read_text().splitlines()) <= MOST_README_LINES
