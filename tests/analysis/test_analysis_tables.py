import csv
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from calbench.analysis.dictionary import JUDGE_TABLES, SAMPLES, TABLES, header

from calbench.analysis.tables import Collector, LeaderboardRow
from calbench.domain.messages import Text
from calbench.domain.randomness import stream
from calbench.metrics.game import GameScore, score_game
from calbench.metrics.measure import METRICS_VERSION
from calbench.oracle.cache import OracleCache
from calbench.stats.spec import AnalysisSpec
from tests.factories import make_scenario
from tests.metrics.games import (
    book,
    canonical_scenario,
    decide,
    dm,
    move,
    play_random,
    play_scripts,
    play_team,
    talk,
    with_outcome,
)

TEAMS = ("imap", "tell-all", "silent", "random")
MEASURES = [
    "coordination",
    "excess_cost",
    "excess_cost_per_meeting",
    "adjusted_excess_cost",
    "messages",
    "fairness",
    "excess_vps",
    "excess_vps_participants",
]
SPEC = AnalysisSpec(bootstrap_resamples=200)


@cache
def scores() -> tuple[GameScore, ...]:
    oracle = OracleCache()
    return tuple(
        score_game(
            play_random(scenario, scenario.seed) if team == "random" else play_team(scenario, team),
            oracle=oracle,
        )
        for team in TEAMS
        for scenario in (
            canonical_scenario(seed, f"{setting}-{seed:03d}").updated(setting=setting)
            for setting in ("uniform", "another")
            for seed in range(6)
        )
    )


def collect(folder: Path, games: Sequence[GameScore]) -> tuple[LeaderboardRow, ...]:
    with Collector(folder, TEAMS, SPEC) as collector:
        for game in games:
            collector.add(game)
        return collector.write()


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_leaderboard_has_exactly_the_public_columns(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    first = (tmp_path / "leaderboard.csv").read_text().splitlines()[0]
    estimated = [name + end for name in MEASURES for end in ("", "_low", "_high")]
    assert first.split(",") == [
        *("setting", "team", "games", "scenarios"),
        *estimated,
        "vps_kind",
        "metrics_version",
    ]
    assert (tmp_path / "agent_games.csv").read_text().splitlines()[0] == (
        "scenario_id,team,agent_id,assigned,scheduled,cost,oracle_cost,excess_cost,"
        "messages_sent,vps,excess_vps,excess_vps_participants,vps_kind,kind,setting,player,"
        "metrics_version"
    )


def test_rows_come_by_setting_then_team_order_then_scenario(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    assert [(row["setting"], row["team"]) for row in rows(tmp_path / "leaderboard.csv")] == [
        (setting, team) for setting in ("another", "uniform") for team in TEAMS
    ]
    games = rows(tmp_path / "games.csv")
    expected = sorted(games, key=lambda g: (g["setting"], TEAMS.index(g["team"]), g["scenario_id"]))
    assert games == expected
    assert len(games) == 48
    assert len(rows(tmp_path / "agent_games.csv")) == len(rows(tmp_path / "meetings.csv")) == 240


def test_bytes_do_not_depend_on_the_order_of_games(tmp_path: Path) -> None:
    collect(tmp_path / "sorted", scores())
    collect(tmp_path / "shuffled", stream(0, "order").shuffled(scores()))
    assert contents(tmp_path / "sorted") == contents(tmp_path / "shuffled")
    flat = {name for name in TABLES if "/" not in name and not name.startswith("audit_")}
    assert set(contents(tmp_path / "sorted")) == {*flat, "metrics.json"}


def test_leaderboard_holds_the_known_values(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    table = {(r["setting"], r["team"]): r for r in rows(tmp_path / "leaderboard.csv")}
    imap, silent = table["uniform", "imap"], table["uniform", "silent"]
    assert imap["coordination"] == "100.0000"
    assert imap["messages"] == imap["messages_low"] == imap["messages_high"] == "2.0000"
    assert imap["excess_vps"] == imap["excess_vps_participants"] == "12.4000"
    assert table["uniform", "tell-all"]["messages"] == "1.0000"
    assert table["uniform", "tell-all"]["excess_vps"] == "91.0000"
    assert silent["coordination"] == silent["excess_cost"] == silent["fairness"] == "0.0000"
    assert silent["messages"] == silent["messages_low"] == silent["excess_cost_per_meeting"] == ""
    assert silent["games"] == silent["scenarios"] == "6"


def test_metrics_json_nests_settings_teams_and_measures(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert list(metrics) == ["another", "uniform"]
    assert list(metrics["uniform"]) == list(TEAMS)
    assert list(metrics["uniform"]["imap"]) == MEASURES
    assert metrics["uniform"]["imap"]["excess_vps"] == 12.4
    assert "messages" not in metrics["uniform"]["silent"]


def test_metrics_of_each_team_stand_in_a_flat_file_of_their_own(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    old = tmp_path / "metrics" / "gone" / "imap.json"
    old.parent.mkdir()
    old.write_text("{}")
    collect(tmp_path, scores())
    found = {path.relative_to(tmp_path): path for path in tmp_path.glob("metrics/*/*.json")}
    assert {path: json.loads(file.read_text()) for path, file in sorted(found.items())} == {
        Path("metrics", setting, f"{team}.json"): values
        for setting, teams in sorted(metrics.items())
        for team, values in sorted(teams.items())
    }
    assert not old.parent.exists()


def test_denominators_leave_out_what_does_not_count(tmp_path: Path) -> None:
    """Agent 0 succeeds, agent 1 takes part in a failure only, agent 2 has no meeting."""
    scenario = make_scenario(["E2...", "....", "....", "...."], [(0, 3), (0, 1)])
    trace = play_scripts(
        scenario,
        {
            0: talk(dm(3, Text(text="a")), dm(3, Text(text="b")))
            | decide(move(101, 0, 3), book(1, 0))
            | decide(book(2, 1), round_index=1),
            1: talk(dm(0, Text(text="c")), round_index=1) | decide(book(2, 2), round_index=1),
            3: decide(book(1, 0)),
        },
    )
    score = score_game(trace)
    with Collector(tmp_path, ["test"]) as collector:
        collector.add(score)
        (entry,) = collector.write()
    values = {name: e for name, e in entry.estimates.items() if e is not None}
    assert values["coordination"].value == pytest.approx((50 + 0 + 100) / 3)
    assert values["coordination"].num_agent_games == 3
    assert (values["excess_cost"].value, values["excess_cost"].num_agent_games) == (0.5, 4)
    assert values["excess_cost_per_meeting"].value == 1
    assert values["excess_cost_per_meeting"].num_agent_games == 2
    assert values["adjusted_excess_cost"].num_agent_games == 3
    assert (values["messages"].value, values["messages"].num_agent_games) == (1, 2)
    assert (values["fairness"].value, values["fairness"].num_agent_games) == (0.75, 4)
    assert values["excess_cost"].low is None


def test_lost_games_are_recorded_and_left_out(tmp_path: Path) -> None:
    trace = play_team(canonical_scenario(9, "uniform-009"), "imap")
    lost = score_game(with_outcome(trace, "provider_fault"))
    played = [score for score in scores() if score.team_id == "imap"]
    board = collect(tmp_path / "with", [lost, *played])
    assert [entry.games_lost for entry in board] == [0, 1]
    assert board[1].is_flagged
    assert board[1].lost_percent == pytest.approx(100 / 7)
    collect(tmp_path / "without", played)
    kept = ("leaderboard.csv", "agent_games.csv", "sensitivity.csv", "metrics.json")
    assert [contents(tmp_path / "with")[n] for n in kept] == [
        contents(tmp_path / "without")[n] for n in kept
    ]
    outcomes = rows(tmp_path / "with" / "outcomes.csv")[1]
    assert (outcomes["games"], outcomes["games_lost"], outcomes["is_flagged"]) == ("7", "1", "true")
    assert (outcomes["scheduled"], outcomes["provider_fault"]) == ("34", "1")
    game = rows(tmp_path / "with" / "games.csv")[-1]
    assert (game["scenario_id"], game["is_lost"], game["cost"]) == ("uniform-009", "true", "")


def test_teams_with_only_lost_games_have_no_numbers(tmp_path: Path) -> None:
    lost = score_game(with_outcome(play_team(canonical_scenario(9), "imap"), "budget_stop"))
    (entry,) = collect(tmp_path, [lost])
    assert (entry.games, entry.scenarios, entry.lost_percent) == (0, 0, 100)
    assert set(entry.estimates.values()) == {None}
    assert (tmp_path / "leaderboard.csv").read_text().splitlines()[
        1
    ] == "uniform,imap,0,0" + "," * 25 + f",{METRICS_VERSION}"
    assert rows(tmp_path / "sensitivity.csv")[0]["fairness"] == ""


def test_game_rows_hold_their_sensitivity(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    for game in rows(tmp_path / "games.csv"):
        least, value, greatest = (
            float(game[name]) for name in ("fairness_least", "fairness", "fairness_greatest")
        )
        assert least <= value <= greatest
        assert game["is_fairness_sampled"] in {"true", "false"}
    for row in rows(tmp_path / "sensitivity.csv"):
        assert float(row["fairness_least"]) <= float(row["fairness"])


def test_shares_sum_to_the_mean_loss(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    shares = [r for r in rows(tmp_path / "vps_shares.csv") if r["setting"] == "uniform"]
    assert {
        (r["team"], r["source"], r["channel"]): r["vps"] for r in shares if r["team"] == "imap"
    } == {
        ("imap", "costs", "dm"): "16.0000",
        ("imap", "decision", "dm"): "1.0000",
    }


def test_one_team_has_one_game_on_a_scenario(tmp_path: Path) -> None:
    with Collector(tmp_path, TEAMS) as collector:
        collector.add(scores()[0])
        with pytest.raises(ValueError, match="two games"):
            collector.add(scores()[0])


def test_no_games_give_empty_tables(tmp_path: Path) -> None:
    assert collect(tmp_path, []) == ()
    assert (tmp_path / "leaderboard.csv").read_text().count("\n") == 1
    assert json.loads((tmp_path / "metrics.json").read_text()) == {}


def test_rows_name_the_version_of_the_metrics(tmp_path: Path) -> None:
    collect(tmp_path, scores())
    for path in tmp_path.glob("*.csv"):
        first, *others = path.read_text().splitlines()
        assert first.endswith(",metrics_version")
        assert all(other.endswith(f",{METRICS_VERSION}") for other in others)


def test_dictionary_describes_every_column_once() -> None:
    for name, columns in {**TABLES, **SAMPLES, **JUDGE_TABLES}.items():
        assert len(set(header(name))) == len(columns)
        for column in columns:
            assert column.meaning
            assert column.unit or column.kind != "integer" or not column.denominator
