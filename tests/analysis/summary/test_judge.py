"""The judge's sums of several runs: settings apart, and those of one team together."""

from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.registry import write_frames
from calbench.analysis.summary import SUMMARY, RunTables
from calbench.analysis.summary.judge import COMPARISON, SUMMED
from calbench.analysis.tables import TABLES
from calbench.facts.frames import cast
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows


def summed(setting: str, team: str, number: float, kind: str = "protocol") -> Row:
    names = {"judge": "scripted", "setting": setting, "team": team, "vps_kind": kind}
    return {**names, **dict.fromkeys(SUMMED.split(), number)}


def judged(folder: Path, name: str, *rows: Row, channels: str = "dm") -> RunTables:
    """Write the tables of a judged run."""
    settings = dict.fromkeys(row["setting"] for row in rows)
    stands = [{"setting": each, "channels": channels} for each in settings]
    run = run_of(folder, name, standings=stands)
    columns = TABLES[COMPARISON].columns
    frame = pd.DataFrame(rows, columns=[c.name for c in columns], dtype=object)
    path = folder / name / COMPARISON
    write_frames(path, [cast(frame.assign(metrics_version=1), columns)], columns)
    return run


def test_settings_of_several_runs_are_added_up_by_team(tmp_path: Path) -> None:
    runs = runs_of(
        judged(tmp_path, "u", summed("uniform", "imap", 3), summed("uniform", "alone", 5)),
        judged(tmp_path, "v", summed("varied", "imap", 4)),
        judged(tmp_path, "l", summed("uniform", "imap", 7), channels="all"),
        run_of(tmp_path, "without", standings=[]),
    )
    found = summary_rows("judge_totals.csv", runs)
    names = ("experiment", "channels", "setting", "team", "games", "judge_vps", "primary_vps")
    assert [tuple(row[name] for name in names) for row in found] == [
        ("u", "dm", "uniform", "imap", "3", "3.0000", "3.0000"),
        ("u", "dm", "uniform", "alone", "5", "5.0000", "5.0000"),
        ("v", "dm", "varied", "imap", "4", "4.0000", "4.0000"),
        ("l", "all", "uniform", "imap", "7", "7.0000", "7.0000"),
        ("u and v", "dm", "all", "imap", "7", "7.0000", "7.0000"),
    ]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (summed("varied", "t", 4, "reflection"), [("all", "mixed", "7.0000", "")]),
        (summed("uniform", "t", 4), []),  # the same setting again: not to be added
        (summed("all", "t", 4), []),  # a sum over settings already
    ],
)
def test_two_instruments_and_one_setting_twice_are_not_added_up(
    tmp_path: Path, other: Row, expected: list[tuple[str, ...]]
) -> None:
    runs = runs_of(judged(tmp_path, "u", summed("uniform", "t", 3)), judged(tmp_path, "v", other))
    more = summary_rows("judge_totals.csv", runs)[2:]
    names = ("setting", "vps_kind", "judge_vps", "primary_vps")
    assert [tuple(row[name] for name in names) for row in more] == expected


def test_runs_without_a_judge_have_no_sums(tmp_path: Path) -> None:
    table = SUMMARY["judge_totals.csv"]
    assert table.make(runs_of(run_of(tmp_path, "u", standings=[]))).empty
