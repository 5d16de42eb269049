"""Several runs: comparable rows are in one view, and no letter is shared by two of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench.analysis.summary import SUMMARY, RunTables, in_words, setting_title, write_summary
from calbench.analysis.summary.runs import KIND_WORDS, _moved, together
from calbench.errors import FileError
from tests.analysis.summary.written import Row, run_of, runs_of, summary_rows, summary_text


def stands(team: str, ties: str | None = None, **changes: Any) -> Row:
    """Return a row of ``standings.csv`` in private messages."""
    row = {
        "setting": "uniform",
        "suite_digest": "d1",
        "channels": "dm",
        "limits": "published",
        "team": team,
        "kinds": "protocol",
        "excess_cost": 1.0,
        "excess_cost_n": 5,
        "messages_n": 0,
        "excess_cost_letters": ties,
    }
    return row | changes


ORACLE = stands("oracle", kinds="reference", excess_cost=0.0)


def leaderboard(*runs: RunTables) -> list[tuple[str, ...]]:
    names = ("experiment", "setting", "channel", "team", "excess_cost_letters")
    rows = summary_rows("leaderboard.csv", runs_of(*runs))
    return [tuple(row[name] for name in names) for row in rows]


def test_runs_on_one_suite_and_channel_stand_in_one_view_with_one_oracle(tmp_path: Path) -> None:
    first = run_of(
        tmp_path,
        "uniform",
        standings=[stands("a", "a b"), stands("b", "a"), stands("c", "b"), ORACLE],
    )
    second = run_of(
        tmp_path,
        "language",
        standings=[
            stands("d", "a"),
            stands("e", "a b"),
            stands("f", None),
            stands("g", "b"),
            ORACLE,
        ],
    )
    third = run_of(tmp_path, "more", standings=[stands("h", "a"), stands("i", "a"), ORACLE])
    dm = ("uniform", "private messages")
    assert leaderboard(first, second, third) == [
        ("uniform", *dm, "a", "a b"),
        ("uniform", *dm, "b", "a"),
        ("uniform", *dm, "c", "b"),
        ("language", *dm, "d", "c"),
        ("language", *dm, "e", "c d"),
        ("language", *dm, "f", ""),
        ("language", *dm, "g", "d"),
        ("more", *dm, "h", "e"),
        ("more", *dm, "i", "e"),
        ("", *dm, "oracle", ""),
    ]


def test_other_settings_channels_and_suites_are_other_views(tmp_path: Path) -> None:
    both = "dm all_agent_groupchat"
    first = run_of(
        tmp_path, "one", standings=[stands("a", "a"), ORACLE, stands("a", "a", setting="varied")]
    )
    second = run_of(
        tmp_path,
        "two",
        standings=[
            stands("b", "a", suite_digest="d2"),
            {**ORACLE, "suite_digest": "d2"},
            stands("b", "a", channels=both, setting="varied"),
            stands("d", "a", limits="text", setting="varied"),
        ],
    )
    third = run_of(tmp_path, "three", standings=[stands("c", "a", suite_digest="d2")])
    spoken = "private messages and to all agents"
    assert leaderboard(first, second, third) == [
        ("one", "uniform", "private messages", "a", "a"),
        ("", "uniform", "private messages", "oracle", ""),
        ("one", "varied", "private messages", "a", "a"),
        ("two", "uniform", "private messages, two", "b", "a"),
        ("three", "uniform", "private messages, two", "c", "b"),
        ("", "uniform", "private messages, two", "oracle", ""),
        ("two", "varied", spoken, "b", "a"),
        ("two", "varied", "private messages, limits of the paper's text", "d", "a"),
    ]


def test_run_that_ranks_all_teams_of_a_view_is_the_only_one_in_it(tmp_path: Path) -> None:
    first = run_of(tmp_path, "uniform", standings=[stands("a", "a"), stands("mine", "b"), ORACLE])
    joint = replace(first, is_joint=True, unpublished={"mine": False})
    alone = run_of(
        tmp_path, "language", standings=[stands("d", "a"), stands("d", "a", setting="varied")]
    )
    dm = "private messages"
    assert leaderboard(alone, joint) == [
        ("uniform", "uniform", dm, "a", "a"),
        ("uniform", "uniform", dm, "mine", "b"),
        ("", "uniform", dm, "oracle", ""),
        ("language", "varied", dm, "d", "a"),
    ]
    kinds = {r["team"]: r["kind"] for r in summary_rows("leaderboard.csv", runs_of(alone, joint))}
    assert (kinds["mine"], kinds["a"]) == ("protocol, not published, not verified", "protocol")


def test_part_of_a_suite_is_named_beside_the_channel(tmp_path: Path) -> None:
    whole = run_of(tmp_path, "uniform", standings=[stands("a", "a")])
    part = run_of(tmp_path, "part", standings=[stands("a", "a", suite_digest="d2")])
    part = replace(part, is_joint=True, part="9 of 45 scenarios")
    assert [row[2] for row in leaderboard(whole, part)] == [
        "private messages",
        "private messages, 9 of 45 scenarios",
    ]


def test_team_with_games_and_without_any_score_says_why(tmp_path: Path) -> None:
    unread = stands("a", kinds="model", excess_cost=None, games=3)
    not_played = stands("b", kinds="model", excess_cost=None, games=0)
    run = run_of(tmp_path, "one", standings=[unread, not_played, stands("c", games=3)])
    kinds = [row["kind"] for row in summary_rows("leaderboard.csv", runs_of(run))]
    assert kinds == ["language models, no reply could be read", "language models", "protocol"]


def test_letters_of_each_measure_are_moved_by_themselves(tmp_path: Path) -> None:
    first = run_of(tmp_path, "one", standings=[stands("a", "a", messages_letters=None)])
    second = run_of(tmp_path, "two", standings=[stands("b", "a", messages_letters="a b")])
    (_, row) = summary_rows("leaderboard.csv", runs_of(first, second))
    assert (row["excess_cost_letters"], row["messages_letters"]) == ("b", "a b")


@pytest.mark.parametrize(
    ("ties", "by", "moved"),
    [("a", 0, "a"), ("a c", 2, "c e"), ("z", 1, "a2"), ("b2", 25, "a3"), ("c3", 0, "c3")],
)
def test_letters_go_on_behind_z(ties: str, by: int, moved: str) -> None:
    assert _moved(ties, by) == moved


def test_kinds_are_in_words_and_n_stands_beside_values(tmp_path: Path) -> None:
    mixed = stands("a", kinds="model scripted", excess_cost=None, messages=2.0, messages_n=7)
    run = run_of(tmp_path, "one", standings=[mixed, stands("b"), ORACLE])
    first, second, oracle = summary_rows("leaderboard.csv", runs_of(run))
    assert first["kind"] == "language models and scripted agents"
    assert (second["kind"], oracle["kind"]) == ("protocol", "reference")
    assert (first["excess_cost_n"], first["messages_n"]) == ("", "7")
    assert (second["excess_cost_n"], second["messages_n"]) == ("5", "")


def test_words_that_nobody_named_stay() -> None:
    assert in_words(["degenerate", "robot"], KIND_WORDS) == "degenerate baseline and robot"
    assert in_words([], KIND_WORDS) == ""


def test_rows_of_runs_are_named_by_their_experiment(tmp_path: Path) -> None:
    place = {"setting": "s", "team": "t"}
    counts = [{**place, "measure": "messages", "agent_games": 3}]
    one = run_of(tmp_path, "one", agent_game_counts=counts)
    two = run_of(tmp_path, "two", agent_game_counts=[{**counts[0], "agent_games": 4}])
    without = run_of(tmp_path, "without")
    assert summary_text("agent_game_counts.csv", runs_of(two, without, one)) == (
        "experiment,setting,team,measure,agent_games\ntwo,s,t,messages,4\none,s,t,messages,3\n"
    )


@pytest.mark.parametrize(
    "path",
    [
        "regret_by_game",
        "regret_by_team",
        "optimum_unreachable_by_round",
        "scheduled_by_player",
        "revealing_messages",
    ],
)
def test_collected_tables_are_those_of_the_runs(tmp_path: Path, path: str) -> None:
    one = run_of(tmp_path, "one", **{path: [{"setting": "s", "team": "t"}]})
    two = run_of(tmp_path, "two", **{path: [{"setting": "v", "team": "t"}]})
    given = runs_of(two, browsed=[one])
    (row,) = summary_rows(f"{path}.csv", given)
    expected = "one" if path == "revealing_messages" else "two"
    assert row["experiment"] == expected
    assert "metrics_version" not in row
    assert SUMMARY[f"{path}.csv"].key[0] == "experiment"


def test_empty_tables_of_some_runs_leave_the_others_alone(tmp_path: Path) -> None:
    empty = run_of(tmp_path, "empty", draws=[])
    full = run_of(tmp_path, "full", draws=[{"setting": "s", "team": "t", "suites": 3}])
    assert list(together("draws.csv", [empty, full])["experiment"]) == ["full"]
    assert together("draws.csv", [empty]).empty
    assert "experiment" in together("draws.csv", [empty]).columns
    assert len(together("draws.csv", []).columns) == 0


def test_settings_are_titled_by_their_experiment() -> None:
    assert setting_title("uniform", "uniform") == "uniform"
    assert setting_title("language", "uniform") == "language: uniform"


def test_difficulty_of_runs_that_can_be_browsed(tmp_path: Path) -> None:
    def hard(setting: str, tertile: str) -> Row:
        return {"setting": setting, "tertile": tertile, "scenarios": 2, "least": 0.5}

    one = run_of(tmp_path, "uniform", difficulty=[hard("uniform", "easy"), hard("uniform", "hard")])
    two = run_of(tmp_path, "language", difficulty=[hard("uniform", "all")])
    rows = summary_rows("difficulty.csv", runs_of(one, browsed=[one, two]))
    assert [(row["setting"], row["tertile"], row["least"]) for row in rows] == [
        ("uniform", "easy", "0.5000000000"),
        ("uniform", "hard", "0.5000000000"),
        ("language: uniform", "all", "0.5000000000"),
    ]


def test_bytes_stand_by_team_and_then_by_size(tmp_path: Path) -> None:
    def sized(team: str, agents: int) -> Row:
        return {"setting": f"n{agents}", "team": team, "agents": agents}

    run = run_of(
        tmp_path,
        "scale",
        scale_bytes=[sized("z", 20), sized("a", 20), sized("a", 5), sized("z", 5), sized("z", 10)],
    )
    rows = summary_rows("scale_bytes.csv", runs_of(scaled=[run]))
    assert [(row["team"], row["agents"]) for row in rows] == [
        ("z", "5"), ("z", "10"), ("z", "20"), ("a", "5"), ("a", "20")
    ]  # fmt: skip


def test_leaking_messages_stand_by_experiment_and_team(tmp_path: Path) -> None:
    def leak(team: str, setting: str, event: int) -> Row:
        return {"setting": setting, "team": team, "scenario_id": "s", "event_index": event}

    run = run_of(
        tmp_path,
        "one",
        leaking_messages=[
            leak("b", "u", 9),
            leak("a", "u", 1),
            leak("b", "v", 3),
            leak("a", "v", 2),
        ],
    )
    rows = summary_rows("leaking_messages.csv", runs_of(run))
    assert [(row["team"], row["event_index"]) for row in rows] == [
        ("b", "9"), ("b", "3"), ("a", "1"), ("a", "2")
    ]  # fmt: skip


def test_tables_are_written_where_there_are_runs(tmp_path: Path) -> None:
    run = run_of(tmp_path, "one", standings=[stands("a")], draws=[])
    write_summary(runs_of(run, drawn=[run]), tmp_path / "out")
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["front.csv", "leaderboard.csv"]
    again = run_of(tmp_path, "two", difficulty=[], scale_bytes=[])
    write_summary(runs_of(browsed=[again], scaled=[again]), tmp_path / "empty")
    found = {path.name: path.read_text() for path in (tmp_path / "empty").iterdir()}
    assert set(found) == {"difficulty.csv", "scale_bytes.csv"}
    assert {text.count("\n") for text in found.values()} == {1}


def test_a_table_that_is_none_is_named(tmp_path: Path) -> None:
    run = run_of(tmp_path, "one")
    (run.folder / "standings.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match=r"one/standings\.csv: its columns are not"):
        write_summary(runs_of(run), tmp_path / "out")


NAMED = ("experiment", "setting", "channel", "team", "which", "scenario_id")


PLAYED = stands("imap", games=3, adjusted_excess_cost=1.0)


def typical(setting: str, team: str, which: str, scenario: str) -> Row:
    return {"setting": setting, "team": team, "which": which, "scenario_id": scenario}


def test_games_have_the_channel_of_their_row_of_the_leaderboard(tmp_path: Path) -> None:
    first = run_of(
        tmp_path,
        "one",
        standings=[PLAYED],
        typical_games=[
            typical("uniform", "imap", "best", "u-1"),
            typical("uniform", "imap", "worst", "u-2"),
            typical("uniform", "absent", "best", "u-3"),
        ],
    )
    second = run_of(tmp_path, "two", standings=[PLAYED])

    rows = summary_rows("typical_games.csv", runs_of(first, second))

    assert [tuple(row[name] for name in NAMED) for row in rows] == [
        ("one", "uniform", "private messages", "imap", "best", "u-1"),
        ("one", "uniform", "private messages", "imap", "worst", "u-2"),
    ]


@pytest.mark.parametrize("tables", [{"standings": []}, {"standings": [PLAYED]}])
def test_runs_without_such_games_have_no_table(
    tmp_path: Path, tables: dict[str, list[Row]]
) -> None:
    found = SUMMARY["typical_games.csv"].make(runs_of(run_of(tmp_path, "u", **tables)))
    assert isinstance(found, pd.DataFrame)
    assert not len(found.columns)
