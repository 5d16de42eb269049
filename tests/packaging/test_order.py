"""Order in the package: how large a function and a folder may be, and what is at the root."""

import ast
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from tests.cli.runs import REPO

PACKAGE = REPO / "calbench"

ROOT = {
    "__init__",
    "__main__",
    "api",
    "bars",
    "code",
    "console",
    "documents",
    "endings",
    "errors",
    "extensions",
    "files",
    "folders",
    "tree",
    "version",
}
"""Modules of the package itself; everything else is in a package of its own."""

ELEMENT = re.compile(r"(?<!\?P)</?(?:a|div|h\d|li|p|span|svg|table|td|th|tr|ul)\b[ >]")

MOST_FILES = 20
MOST_LINES = 50


def sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the name and the number of lines of every function."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def folders() -> list[Path]:
    return sorted({path.parent for path in sources(PACKAGE)})


def singular(name: str) -> str:
    return name.removesuffix("s")


def test_few_modules_are_at_the_root() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} <= ROOT


@pytest.mark.parametrize("folder", folders(), ids=lambda path: path.relative_to(REPO).as_posix())
def test_folder_is_small_and_no_two_modules_differ_by_a_plural(folder: Path) -> None:
    names = [path.stem for path in folder.glob("*.py")]
    names += [path.name for path in folder.iterdir() if (path / "__init__.py").is_file()]

    assert len(list(folder.glob("*.py"))) <= MOST_FILES
    assert [pair for pair in combinations(names, 2) if len({*map(singular, pair)}) == 1] == []


@pytest.mark.heavy
def test_every_function_fits_a_screen() -> None:
    long = {
        f"{path.relative_to(REPO)}: {name}": lines
        for folder in (PACKAGE, REPO / "stages")
        for path in sources(folder)
        for name, lines in functions(path)
        if lines > MOST_LINES
    }

    assert long == {}


def test_pages_are_written_in_templates_and_never_in_code() -> None:
    """No string of the code opens an element of HTML."""
    found = [
        f"{path.relative_to(REPO)}:{node.lineno}"
        for path in sources(PACKAGE / "report")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if ELEMENT.search(node.value)
    ]

    assert found == []
