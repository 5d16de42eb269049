"""Who stands beside the paper's models: whoever played its tasks by its rules, and nobody else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calbench.analysis.summary import Runs, RunTables
from calbench.domain.messages import CHANNELS
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows

MODEL = "paper,uniform,Model,135,2.54,84.69,0.26,3.46,0.585,13.68,note"


def stands(team: str, **changes: Any) -> Row:
    row = {
        "setting": "uniform",
        "suite_digest": "d1",
        "channels": " ".join(CHANNELS),
        "limits": "published",
        "team": team,
        "kinds": "protocol",
        "scenarios": 45,
        "vps_kind": "protocol",
        "coordination": 100.0,
        "coordination_n": 225,
        "excess_cost": 0.2,
        "excess_vps": 12.4,
    }
    return {**row, **changes}


def played(folder: Path, name: str, *rows: Row) -> RunTables:
    """Return a run in which every team has an excess of 0.25 as the release measures."""
    released = [
        {"setting": row["setting"], "team": row["team"], "excess": 0.25, "messages": 2.0}
        for row in rows
    ]
    return run_of(folder, name, standings=list(rows), authors=released)


def beside(folder: Path, *runs: RunTables) -> Runs:
    (folder / "published").mkdir()
    header = "source,setting,player,agent_games,scheduled,coordination,excess_cost,messages,"
    text = f"{header}fairness,excess_vps,note\n{MODEL}\n"
    (folder / "published" / "table1.csv").write_text(text)
    return runs_of(*runs, published=folder / "published")


def test_measures_are_those_of_the_release_and_the_paper_s_are_as_printed(tmp_path: Path) -> None:
    runs = beside(tmp_path, played(tmp_path, "uniform", stands("imap")))
    ours, theirs = summary_rows("same_tasks.csv", runs)
    names = ("player", "source", "beside", "agent_games", "coordination", "excess_cost", "vps_kind")
    assert [ours[name] for name in names] == [
        "imap", "ours", "its own team", "225", "100.0000", "0.2500", "protocol",
    ]  # fmt: skip
    assert [theirs[name] for name in names] == [
        "Model", "paper", "mixed teams", "135", "84.6900", "0.2600", "reflection",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {"suite_digest": "d2"},
        {"channels": "dm"},
        {"limits": "text"},
        {"scenarios": 9},
        {"setting": "large-10"},
    ],
)
def test_who_played_otherwise_stands_elsewhere(tmp_path: Path, changes: dict[str, Any]) -> None:
    canonical = played(tmp_path, "uniform", stands("imap"))
    other = played(tmp_path, "other", stands("mine", **changes))
    rows = summary_rows("same_tasks.csv", beside(tmp_path, canonical, other))
    assert [row["player"] for row in rows] == ["imap", "Model"]


def test_settings_of_protocols_on_the_same_tasks_stand_there_too(tmp_path: Path) -> None:
    canonical = played(tmp_path, "uniform", stands("imap"))
    swept = played(tmp_path, "frontier", stands("dsm-lmax-4"), stands("x", suite_digest="d2"))
    runs = replace(beside(tmp_path, canonical), swept=[swept])
    rows = summary_rows("same_tasks.csv", runs)
    assert [(row["player"], row["experiment"]) for row in rows] == [
        ("imap", "uniform"), ("dsm-lmax-4", "frontier"), ("Model", ""),
    ]  # fmt: skip


def test_speakers_on_the_same_tasks_stand_there_too(tmp_path: Path) -> None:
    canonical = played(tmp_path, "uniform", stands("imap"))
    spoken = played(tmp_path, "language", stands("candid", vps_kind="reflection"))
    rows = summary_rows("same_tasks.csv", beside(tmp_path, canonical, spoken))
    assert [row["player"] for row in rows] == ["imap", "candid", "Model"]
