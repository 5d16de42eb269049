"""The page and the notebook on the Python interface: every block runs, in order."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import calbench
from calbench.types import Trace
from tests.cli.runs import REPO
from tests.factories import make_scenario, suite_file

pytestmark = pytest.mark.heavy

PAGE = (REPO / "site" / "docs" / "python.md").read_text()
NOTEBOOK = (REPO / "site" / "notebooks" / "results.ipynb").read_text()


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of five agents, as many as the published ones have."""
    scenario = make_scenario(["....", "E...", ".E..", "..E.", "...E"], [(0, 1), (2, 3)])
    return suite_file(tmp_path_factory.mktemp("five") / "suite.jsonl", scenario)


def blocks() -> list[str]:
    """Return the Python of the page; what is meant for a shell is left out."""
    found = re.findall(r"(?:^(?: {4}.*)?\n)+", PAGE, re.MULTILINE)
    texts = [re.sub("^ {4}", "", block, flags=re.MULTILINE).strip() for block in found]
    return [text for text in texts if text and not text.startswith("calbench ")]


def cells() -> list[str]:
    """Return the code of the notebook."""
    return [
        "".join(cell["source"])
        for cell in json.loads(NOTEBOOK)["cells"]
        if cell["cell_type"] == "code"
    ]


def replaced(source: str, places: dict[str, object]) -> str:
    """Return code with what a checkout has replaced by what the test has."""
    for name, place in places.items():
        source = source.replace(name, str(place))
    return source


def after(sources: list[str], places: dict[str, object]) -> dict[str, Any]:
    """Run pieces of code in one namespace and return it."""
    space: dict[str, Any] = {}
    for source in sources:
        exec(replaced(source, places), space)  # noqa: S102 - our own page
    return space


def check(space: dict[str, Any]) -> None:
    assert isinstance(space["own_trace"], Trace)
    assert [agent.player.name for agent in space["score"].agents][:3] == ["imap", "imap", "silent"]
    assert {"experiment", "setting", "team", "excess_cost"} <= set(space["leaderboard"].columns)
    assert space["leaderboard"].attrs["unit"]["excess_cost"] == "accounting cost"
    assert len(space["run"].games()) > 0
    assert len(space["messages"]) > 0
    assert len(space["events"]) > len(space["messages"])


def test_every_block_of_the_page_runs(
    five: Path, data: Path, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space = after(
        blocks(),
        {
            '"varied"': repr(str(five)),
            "read_results()": f"read_results({str(data)!r})",
            '"build/runs/mine"': repr(str(finished)),
        },
    )
    check(space)
    assert "accounting cost" in capsys.readouterr().out


def test_page_names_every_public_function() -> None:
    assert all(f"`{name}`" in PAGE for name in calbench.__all__ if name != "__version__")


def test_notebook_does_each_of_ten_tasks_in_ten_lines() -> None:
    told = json.loads(NOTEBOOK)["cells"]
    tasks = [
        (int(found[1]), told[place + 1])
        for place, cell in enumerate(told)
        if (found := re.match(r"## (\d+)\. ", "".join(cell["source"])))
    ]
    assert [number for number, _ in tasks] == list(range(1, 11))
    for number, cell in tasks:
        assert cell["cell_type"] == "code", number
        assert sum(bool(line.strip()) for line in cell["source"]) <= 10, number


def test_cells_on_published_numbers_run_on_the_release_of_this_checkout() -> None:
    if "summary/leaderboard" not in calbench.read_results().tables:
        pytest.skip("data/release is of an earlier version: `make release` publishes anew")
    space = after(
        [
            "import pandas as pd",
            *(cell for cell in cells() if "published" in cell and "mine" not in cell),
        ]
        + [cell for cell in cells() if "leaderboard.attrs" in cell],
        {},
    )
    assert {"uniform", "varied"} <= set(space["leaderboard"]["experiment"])


@pytest.mark.parametrize("path", sorted((REPO / "site/notebooks").iterdir()), ids=lambda p: p.name)
def test_notebooks_are_stripped_and_of_the_current_format(path: Path) -> None:
    text = path.read_text()
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", cell["id"])
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
    assert json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n" == text
