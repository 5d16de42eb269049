"""Pages, notebook, examples, adapters and the tests of these use public names alone.

Adapters have an import contract as well; this also sees which names they take.
"""

import ast
import doctest
import json
import pkgutil
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import calbench
import calbench.errors
import calbench.types
from tests.cli.runs import REPO

PAGES = [REPO / "README.md", *sorted((REPO / "site").rglob("*.md"))]
NOTEBOOKS = sorted((REPO / "site").rglob("*.ipynb"))
MODULES = [
    *sorted((REPO / "calbench" / "integrations").glob("*.py")),
    *sorted((REPO / "tests" / "integrations").glob("*.py")),
    REPO / "tests" / "results" / "test_python_page.py",
]
EXAMPLE = REPO / "calbench" / "agents" / "example.py"

PUBLIC = {
    "calbench": {*calbench.__all__, "errors", "types"},
    "calbench.types": {*calbench.types.__all__, "*"},
    "calbench.domain.canary": {"CANARY", "LINE"},
    "calbench.errors": {name for name in vars(calbench.errors) if name[0].isupper()},
}


def in_text(text: str) -> Iterator[str]:
    """Yield the Python of a page: indented and fenced blocks that use the package."""
    indented = re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.MULTILINE)
    fenced = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    inline = re.findall(r"python -c \"([^\"]*)\"", text)
    for block in [*indented, *fenced, *inline]:
        source = textwrap.dedent(block).strip() + "\n"
        if source.startswith(">>>"):
            examples = doctest.DocTestParser().get_examples(source)
            source = "".join(each.source for each in examples)
        if re.search(r"\b(?:import|from) calbench\b", source) and "python -c" not in source:
            yield source


def sources(path: Path) -> list[str]:
    """Return the Python of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return [*in_text(text)]
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        return ["".join(each["source"]) for each in cells if each["cell_type"] == "code"]
    return [text]


def private(source: str) -> set[str]:
    """Return what some Python uses of the package beside its public names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names if each.name not in PUBLIC}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            allowed = PUBLIC.get(module, set())
            found |= {f"{module}.{each.name}" for each in node.names if each.name not in allowed}
        elif isinstance(node, ast.Attribute):
            module = ast.unparse(node.value)
            is_plain = node.attr.startswith("__")
            if module in PUBLIC and not is_plain and node.attr not in PUBLIC[module]:
                found.add(f"{module}.{node.attr}")
    ours = {name for name in found if name.partition(".")[0] == "calbench"}
    return {name for name in ours if not name.startswith("calbench.integrations.")}


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("from calbench import play\nimport calbench.types\ncalbench.types.Turn()", set()),
        ("from calbench.errors import ConfigError\nimport numpy", set()),
        ("from calbench.engine import drivers", {"calbench.engine.drivers"}),
        ("from calbench.types import CallSite, Policies", {"calbench.types.Policies"}),
        ("import calbench\ncalbench.api.games.play", {"calbench.api"}),
        ("import calbench.traces.storage as storage", {"calbench.traces.storage"}),
    ],
)
def test_private_names_are_found(source: str, used: set[str]) -> None:
    assert private(source) == used


@pytest.mark.parametrize(
    "path", [*PAGES, *NOTEBOOKS, *MODULES], ids=lambda path: str(path.relative_to(REPO))
)
def test_public_names_are_enough(path: Path) -> None:
    assert [private(source) for source in sources(path) if private(source)] == []


def test_pages_and_notebook_have_python() -> None:
    counts = {path.name: len(sources(path)) for path in [*PAGES, *NOTEBOOKS]}
    assert {name for name, count in counts.items() if count} >= {
        "README.md", "evaluate.md", "extend.md", "frameworks.md", "python.md", "bundle.ipynb",
        "results.ipynb",
    }  # fmt: skip
    text = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    mentions = re.findall(r"(?:^|[ \"])(?:from|import) calbench\b", text, re.MULTILINE)
    used = "".join(source for path in PAGES for source in sources(path))
    assert len(mentions) == len(re.findall(r"\b(?:from|import) calbench\b", used))


def test_notebook_calls_every_public_function() -> None:
    (notebook,) = (path for path in NOTEBOOKS if path.name == "results.ipynb")
    tree = ast.parse("\n".join(sources(notebook)))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {node.id for node in calls if isinstance(node, ast.Name)}
    assert {name for name in calbench.__all__ if not name.startswith("__")} <= called


def test_contract_of_adapters_forbids_all_that_is_not_public() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (contract,) = [each for each in contracts if "frameworks" in each["name"]]
    there = {f"calbench.{each.name}" for each in pkgutil.iter_modules(calbench.__path__)}
    allowed = {*PUBLIC, "calbench.integrations", "calbench.__main__"}
    assert set(contract["forbidden_modules"]) == there - allowed


def test_all_that_the_example_of_an_agent_needs_is_public() -> None:
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("calbench"):
            assert {each.name for each in node.names} <= PUBLIC["calbench.types"]
