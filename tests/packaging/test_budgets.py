"""The house stays as large as it is: a raise is written into CHANGELOG, with what pays for it."""

import ast
import re
from pathlib import Path

import pytest

from tests.cli.runs import REPO
from tests.packaging.budgets import Size, limits, parts

SITE = REPO / "build" / "site"

MOST_SITE_FILES, MOST_SITE_BYTES = 1000, 50_000_000
"""Of the published site with its downloads."""


def test_no_part_exceeds_its_budget() -> None:
    allowed = limits()
    sizes = dict(parts())
    assert sizes.keys() == allowed.keys()
    over = {
        part: (size, allowed[part])
        for part, size in sizes.items()
        if size.lines > allowed[part].lines or size.files > allowed[part].files
    }
    assert over == {}, "make something smaller, or raise the budget as CONTRIBUTING says"


def test_the_budget_of_the_whole_is_the_one_that_changelog_states() -> None:
    """So nobody raises it without an entry that says which feature pays."""
    section = re.search(
        r"^### Budgets\n(.*?)(?=^##|\Z)",
        (REPO / "CHANGELOG.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    assert section is not None
    stated = re.findall(r"`([\w/ ]+)`: ([\d,]+) lines in ([\d,]+) files", section[1])
    whole = {
        part: Size(int(lines.replace(",", "")), int(files.replace(",", "")))
        for part, lines, files in stated
    }
    assert whole == {part: limits()[part] for part in ("calbench and stages", "tests")}


MOST_LINES = 50
"""Of a function, its docstring included."""


def test_no_function_is_long() -> None:
    folders = [REPO / "calbench", REPO / "stages"]
    long = {
        f"{path.relative_to(REPO)}: {node.name}": node.end_lineno - node.lineno + 1
        for path in (path for folder in folders for path in folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
        if node.end_lineno - node.lineno >= MOST_LINES
    }
    assert long == {}


def test_parts_of_the_package_may_not_grow_together_beyond_the_whole() -> None:
    allowed = limits()
    packages = [allowed[part].lines for part in allowed if part.startswith("calbench/")]
    assert sum(packages) > allowed["calbench and stages"].lines * 0.9
    assert max(packages) < allowed["calbench and stages"].lines / 4


@pytest.mark.heavy
@pytest.mark.skipif(not SITE.is_dir(), reason="no site was built here: dvc repro")
def test_the_site_is_light() -> None:
    files = [path for path in Path(SITE).rglob("*") if path.is_file()]
    assert len(files) <= MOST_SITE_FILES
    assert sum(path.stat().st_size for path in files) <= MOST_SITE_BYTES
