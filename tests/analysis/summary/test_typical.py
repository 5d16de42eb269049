"""The best, typical and worst games of the teams of several runs."""

from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.summary import SUMMARY
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows

NAMES = ("experiment", "setting", "channel", "team", "which", "scenario_id")


def stands(setting: str, team: str) -> Row:
    named = {"setting": setting, "suite_digest": "d", "channels": "dm", "team": team}
    return {**named, "kinds": "protocol", "games": 3, "adjusted_excess_cost": 1.0}


def typical(setting: str, team: str, which: str, scenario: str) -> Row:
    return {"setting": setting, "team": team, "which": which, "scenario_id": scenario}


def test_games_have_the_channel_of_their_row_of_the_leaderboard(tmp_path: Path) -> None:
    first = run_of(
        tmp_path,
        "one",
        standings=[stands("uniform", "imap")],
        typical_games=[
            typical("uniform", "imap", "best", "u-1"),
            typical("uniform", "imap", "worst", "u-2"),
            typical("uniform", "absent", "best", "u-3"),
        ],
    )
    second = run_of(tmp_path, "two", standings=[stands("uniform", "imap")])

    rows = summary_rows("typical_games.csv", runs_of(first, second))

    assert [tuple(row[name] for name in NAMES) for row in rows] == [
        ("one", "uniform", "private messages", "imap", "best", "u-1"),
        ("one", "uniform", "private messages", "imap", "worst", "u-2"),
    ]


@pytest.mark.parametrize("tables", [{"standings": []}, {"standings": [stands("uniform", "imap")]}])
def test_runs_without_such_games_have_no_table(
    tmp_path: Path, tables: dict[str, list[Row]]
) -> None:
    found = SUMMARY["typical_games.csv"].make(runs_of(run_of(tmp_path, "u", **tables)))
    assert isinstance(found, pd.DataFrame)
    assert not len(found.columns)
