"""Tables behind the pages that explain numbers, on facts written by hand."""

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import NormalDist

import pandas as pd
import pytest

from calbench.analysis.settings import Settings
from calbench.analysis.tables import TABLES
from calbench.facts.storage import Facts
from calbench.stats.spec import AnalysisSpec

SETTINGS = Settings(analysis=AnalysisSpec(bootstrap_resamples=50))

SPLIT = ("excess", "slot_choice", "avoidable_moves", "failed_rounds")


def wilson(found: int, trials: int) -> tuple[float, float]:
    """By the textbook's formula."""
    z = NormalDist().inv_cdf(0.975)
    p, n = found / trials, trials
    middle = p + z**2 / (2 * n)
    reach = z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return (middle - reach) / (1 + z**2 / n), (middle + reach) / (1 + z**2 / n)


def facts(folder: Path, **frames: pd.DataFrame) -> Facts:
    for name, frame in frames.items():
        frame.to_parquet(folder / f"{name}.parquet", index=False)
    return Facts(folder)


def table(given: Facts, name: str) -> list[dict[str, object]]:
    frames = list(TABLES[f"{name}.csv"].frames(given, SETTINGS))
    return pd.concat(frames).astype(object).to_dict("records") if frames else []  # type: ignore[return-value]


def cells(rows: Sequence[Mapping[str, object]], *names: str) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def games(*rows: Mapping[str, object]) -> pd.DataFrame:
    """Return games that went well, unless a row says otherwise."""
    usual = {
        "setting": "s", "team": "a", "is_lost": False, "is_searched": True, "agents": 2,
        "meetings": 2, "optimum": 5, "cost": 7, "least_cost_after": None, "event_index": None,
        "round": None, "phase": None, "agent_id": None, "tertile": None, "feasible_fraction": None,
    }  # fmt: skip
    found = pd.DataFrame([{**usual, **row} for row in rows])
    whole = ("event_index", "round", "agent_id", "least_cost_after", "optimum", "cost")
    found = found.astype(dict.fromkeys(whole, "Int64"))
    return found.assign(game=range(len(found)))


def agents(*rows: tuple[int, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["game", "agent_id"])


@pytest.fixture
def regretted(tmp_path: Path) -> Facts:
    """Two games that count, one that lost its optimum, and one that does not count."""
    lost = {"event_index": 12, "round": 1, "phase": "DECISION", "agent_id": 0}
    parts = [
        (0, 1, 0, 3, 1, 2, 0),
        (0, 2, 1, -1, -1, 0, 0),
        (1, 1, 0, 4, 0, 0, 4),
        (2, 1, 0, 99, 99, 0, 0),
    ]
    return facts(
        tmp_path,
        games=games(
            {"scenario_id": "s-0", **lost, "least_cost_after": 6},
            {"scenario_id": "s-1", "optimum": 2, "cost": 6},
            {"scenario_id": "s-2", "is_lost": True, **lost},
        ),
        agents=agents(*((game, agent) for game in range(3) for agent in range(2))),
        regret=pd.DataFrame(parts, columns=["game", "meeting_id", "agent_id", *SPLIT]),
    )


def test_regret_of_a_game_is_the_sum_over_its_agents_and_meetings(regretted: Facts) -> None:
    rows = table(regretted, "regret_by_game")

    assert cells(rows, "scenario_id", *SPLIT) == [("s-0", 2, 0, 2, 0), ("s-1", 4, 0, 0, 4)]
    assert cells(rows, "optimum", "cost")[1] == (2, 6)
    assert cells(rows[:1], "event_index", "round", "phase", "least_cost_after") == [
        (12, 1, "DECISION", 6)
    ]


def test_regret_of_a_team_is_its_mean_over_agent_games(regretted: Facts) -> None:
    (row,) = table(regretted, "regret_by_team")

    assert cells([row], "games", "agent_games", *SPLIT) == [(2, 4, 1.5, 0.0, 0.5, 1.0)]
    assert cells([row], "games_searched", "optimum_lost", "lost_share") == [(2, 1, 0.5)]
    assert (row["lost_share_low"], row["lost_share_high"]) == pytest.approx(wilson(1, 2))


def test_regret_of_a_game_is_averaged_over_games(regretted: Facts) -> None:
    (row,) = table(regretted, "excess_parts")

    assert cells([row], "team", "games", *SPLIT) == [("a", 2, 3.0, 0.0, 1.0, 2.0)]


def test_optima_are_counted_where_they_were_lost(regretted: Facts) -> None:
    rows = table(regretted, "optimum_lost_by_round")

    assert cells(rows, "setting", "team", "round", "phase", "optimum_lost") == [
        ("s", "a", 1, "DECISION", 1)
    ]


def test_shares_of_lost_optima_leave_out_what_was_not_searched(tmp_path: Path) -> None:
    rounds: dict[str, list[int | None]] = {"b": [None, None, 0, 2], "a": [0, 0, 0, None]}
    rows = [
        {
            "team": team, "scenario_id": f"s-{number}", "round": at,
            "event_index": None if at is None else 7,
            "is_searched": (team, number) != ("a", 3),
        }
        for team, found in rounds.items()
        for number, at in enumerate(found)
    ]  # fmt: skip

    found = table(facts(tmp_path, games=games(*rows)), "optimum_lost_shares")

    assert cells(found, "lost_in", "team", "games", "searched_games", "share") == [
        ("Never", "b", 2, 4, 0.5), ("Never", "a", 0, 3, 0.0),
        ("Meeting 1", "b", 1, 4, 0.25), ("Meeting 1", "a", 3, 3, 1.0),
        ("Meeting 3", "b", 1, 4, 0.25), ("Meeting 3", "a", 0, 3, 0.0),
    ]  # fmt: skip
    assert (found[0]["share_low"], found[0]["share_high"]) == pytest.approx(wilson(2, 4))


def by_third() -> list[dict[str, object]]:
    return [
        {
            "team": team, "scenario_id": f"s-{number}", "is_lost": number == 7,
            "tertile": ("hard", "easy")[number % 2], "meetings": 5 - number // 4,
            "scheduled": 4 - number % 3, "excess_cost": float(number * (1 + (team == "b"))),
        }
        for team in ("a", "b")
        for number in range(8)
    ]  # fmt: skip


def test_thirds_are_means_over_the_games_of_each_third(tmp_path: Path) -> None:
    found = table(facts(tmp_path, games=games(*by_third())), "games_by_third")

    assert cells(found, "tertile", "team", "games") == [
        ("easy", "a", 3), ("easy", "b", 3), ("hard", "a", 4), ("hard", "b", 4),
    ]  # fmt: skip
    # easy: 1, 3, 5 (7 does not count); hard: 0, 2, 4, 6
    assert [row["excess_cost"] for row in found] == [3.0, 6.0, 3.0, 6.0]
    # easy: 3 + 4 + 2 of 5 + 5 + 4; hard: 4 + 2 + 3 + 4 of 5 + 5 + 4 + 4
    assert [row["scheduled"] for row in found] == pytest.approx([9 / 14, 9 / 14, 13 / 18, 13 / 18])
    for row in found:
        for name in ("excess_cost", "scheduled"):
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]  # type: ignore[operator]


def test_scenarios_without_a_third_are_one_group(tmp_path: Path) -> None:
    rows = [{**row, "tertile": None} for row in by_third()]

    found = table(facts(tmp_path, games=games(*rows)), "games_by_third")

    assert cells(found, "tertile", "team", "games") == [("all", "a", 7), ("all", "b", 7)]


def test_difficulty_is_that_of_scenarios_not_of_games(tmp_path: Path) -> None:
    rows = [
        {"team": team, "scenario_id": f"s-{n}", "tertile": third, "feasible_fraction": fraction}
        for team in ("a", "b")
        for n, (third, fraction) in enumerate(
            [("hard", 0.1), ("easy", 0.9), ("easy", 0.5), ("easy", 0.6), (None, None)]
        )
    ]

    found = table(facts(tmp_path, games=games(*rows)), "difficulty")

    assert cells(found, "tertile", "scenarios", "least", "median", "greatest") == [
        ("easy", 3, 0.5, 0.6, 0.9),
        ("hard", 1, 0.1, 0.1, 0.1),
    ]


def test_bytes_are_divided_by_all_meetings(tmp_path: Path) -> None:
    rows = [
        {"scenario_id": "s-0", "meetings": 2, "message_bytes": 100},
        {"scenario_id": "s-1", "meetings": 4, "message_bytes": 50, "agents": 5},
        {"scenario_id": "s-2", "is_lost": True, "meetings": 1, "message_bytes": 999},
    ]

    found = table(facts(tmp_path, games=games(*rows)), "scale_bytes")

    names = ("agents", "games", "meetings", "message_bytes", "bytes_per_meeting")
    assert cells(found, *names, "least", "greatest") == [(5, 2, 6, 150, 25.0, 12.5, 50.0)]


def test_scheduled_meetings_of_a_player_are_counted_in_its_own_teams(tmp_path: Path) -> None:
    seats = [
        (0, 0, "imap", 1), (0, 1, "imap", 2), (1, 0, "imap", 0), (1, 1, "imap", 2),
        (2, 0, "other", 9), (3, 0, "imap", 5), (3, 1, "other", 3),
    ]  # fmt: skip
    sat = pd.DataFrame(seats, columns=["game", "agent_id", "player", "scheduled"]).assign(
        kind="protocol", settings_digest="x", model=None, uses_language=False, is_probing=False
    )
    sat = sat.astype({"model": "str"})
    given = facts(
        tmp_path,
        games=games(
            {"scenario_id": "s-0", "team": "imap"},
            {"scenario_id": "s-1", "team": "imap"},
            {"scenario_id": "s-0", "team": "other", "is_lost": True},
            {"scenario_id": "s-0", "team": "mixed"},
        ),
        agents=sat,
    )

    rows = table(given, "scheduled_by_player")

    assert cells(rows, "player", "teams", "agent_games", "scheduled") == [
        ("imap", "imap mixed", 5, 2.0),
        ("other", "other mixed", 1, 3.0),
    ]
