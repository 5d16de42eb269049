"""What ``dvc params``, ``dvc metrics`` and ``dvc plots`` show of the pipeline's results."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.runs import REPO, environment, python

pytestmark = pytest.mark.heavy

BOARD = "data/tables/summary/leaderboard.csv"
PLANES = tuple(f"data/tables/{name}/leaderboard.csv" for name in ("uniform", "varied"))
SHOWN = ("metrics", "params", "plots")


def dvc(folder: Path, *arguments: str) -> str:
    ended = python("-m", "dvc", *arguments, cwd=folder)
    assert ended.status == 0, ended.err
    return ended.out


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a checkout with results in git, which DVC compares with the folder as it is."""
    declared = yaml.safe_load((REPO / "dvc.yaml").read_text())
    shown = {key: declared[key] for key in SHOWN}
    for name, text in {
        "dvc.yaml": yaml.safe_dump(shown, sort_keys=False),
        ".dvc/config": (REPO / ".dvc/config").read_text(),
        ".dvc/.gitignore": (REPO / ".dvc/.gitignore").read_text(),
        ".gitignore": (REPO / ".gitignore").read_text(),
        "build/params/tiny.yaml": "measure: {vps_floor: 5.0}\n",
        "data/metrics/tiny/uniform/imap.json": '{"excess_cost": 0.16}\n',
        **dict.fromkeys((BOARD, *PLANES), "team,excess_cost,excess_vps\nimap,0.1600,12.4000\n"),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for command in (
        ("init", "-q"),
        ("add", "-f", "."),
        ("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "Results"),
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env=environment())
    return tmp_path


def test_differences_of_parameters_and_measures_are_shown(results: Path) -> None:
    (results / "build/params/tiny.yaml").write_text("measure: {vps_floor: 4.0}\n")
    (results / "data/metrics/tiny/uniform/imap.json").write_text('{"excess_cost": 0.17}\n')
    (changed,) = json.loads(dvc(results, "params", "diff", "--json")).values()
    assert changed == {"measure.vps_floor": {"old": 5.0, "new": 4.0, "diff": -1.0}}
    shown = json.loads(dvc(results, "metrics", "show", "--json"))[""]["data"]
    assert [file["data"] for file in shown.values()] == [{"excess_cost": 0.17}]
    (moved,) = json.loads(dvc(results, "metrics", "diff", "--json")).values()
    assert (moved["excess_cost"]["old"], moved["excess_cost"]["new"]) == (0.16, 0.17)


def test_plane_and_leaderboard_are_drawn_where_nothing_is_published(results: Path) -> None:
    dvc(results, "plots", "show")
    page = (results / "build/plots/index.html").read_text()
    assert "Cost and privacy" in page
    assert "Excess cost of each team" in page
    assert page.count('"imap"') >= 1
    listed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=results, capture_output=True, text=True, check=True
    )
    assert listed.stdout == ""
