"""The public names: files, columns, and the small Python interface of the README."""

import re
from pathlib import Path

import pytest

from calbench.cli.run import summary_tables
from calbench.traces.storage import read_trace
from tests.cli.conftest import Command
from tests.cli.runs import SMALL, files, rows

TEAMS = ("imap", "tell-all", "first-free", "silent")


def test_run_leaves_traces_and_tables_under_their_public_names(finished: Path) -> None:
    names = set(files(finished))
    traces = {
        f"traces/{team}/taste-varied-00{number}.json" for team in TEAMS for number in range(3)
    }
    assert {name for name in names if name.startswith("traces/")} == traces
    tables = {name for name in names if name.startswith("tables/")}
    assert {"tables/leaderboard.csv", "tables/agent_games.csv"} <= tables
    assert {name for name in tables if name.startswith("tables/privacy/")} == {
        "tables/privacy/belief_evidence.parquet",
        "tables/privacy/bits_reliability.csv",
        "tables/privacy/pair_bits.parquet",
        "tables/privacy/pair_round_vps.parquet",
        "tables/privacy/game_summary.csv",
        "tables/privacy/game_target_summary.csv",
        "tables/privacy/reflections.parquet",
        "tables/privacy/reflection_calibration.csv",
        "tables/privacy/vps_baselines.csv",
        "tables/privacy/prior_sensitivity.csv",
        "tables/privacy/messages.parquet",
        "tables/privacy/calls.parquet",
    }
    assert names == traces | tables | {"code.json"}


def test_trace_carries_the_id_and_the_scenario_of_its_place(finished: Path) -> None:
    for path in (finished / "traces").rglob("*.json"):
        trace = read_trace(path)
        assert path.parts[-2:] == (trace.config.team.team_id, f"{trace.scenario.scenario_id}.json")


@pytest.mark.heavy
def test_run_ends_with_a_table_and_says_where_everything_is(
    command: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = command(*SMALL, f"out={out}")
    assert ended.status == 0
    assert "12 games played, 0 kept" in ended.out
    for team in TEAMS:
        assert re.search(rf"^ *{team} ", ended.out, re.MULTILINE)
    for line in (f"{out}/traces/", f"{out}/tables/leaderboard.csv", "calbench verify"):
        assert line in ended.out
    assert f"view {out}" in ended.out
    assert "+experiment=varied" in ended.out
    assert not ended.error_lines


@pytest.mark.heavy
def test_summary_leaves_out_what_is_not_defined_when_there_is_one_scenario(
    command: Command, suite: Path, tmp_path: Path
) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(suite.read_text().splitlines(keepends=True)[0])
    ended = command(f"suite.path={path}", "teams=[imap,silent]", f"out={tmp_path / 'out'}")
    assert ended.status == 0, ended.err
    assert "nan" not in ended.out
    assert ".." not in ended.out.partition("games played")[0]
    (table,) = summary_tables(tmp_path / "out/tables/leaderboard.csv", 0.5)
    assert table.title == "taste-varied: mean and 50% interval over 1 scenarios"
    assert table.row_count == 2


@pytest.mark.heavy
def test_suite_of_ones_own_is_played_under_its_own_setting(
    command: Command, suite: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(suite.read_text().replace('"setting":"taste-varied"', '"setting":"mine"'))
    ended = command(
        f"suite.path={own}", "teams=imap", "limits.max_turns_per_round=4", f"out={tmp_path / 'out'}"
    )
    assert ended.status == 0, ended.err
    (row,) = rows(tmp_path / "out/tables/leaderboard.csv")
    assert (row["setting"], row["team"], row["games"]) == ("mine", "imap", "3")
    trace = read_trace(tmp_path / "out/traces/imap/taste-varied-000.json")
    assert trace.config.limits.max_turns_per_round == 4


@pytest.mark.heavy
def test_same_run_has_the_same_bytes_in_another_folder(
    command: Command, finished: Path, tmp_path: Path
) -> None:
    assert command(*SMALL, f"out={tmp_path / 'elsewhere'}").status == 0
    assert files(tmp_path / "elsewhere") == files(finished)
