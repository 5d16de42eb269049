"""Single games, their agents and their meetings, as they were measured."""

from fractions import Fraction
from pathlib import Path
from statistics import median_low
from typing import Any

import pytest

from calbench.analysis.tables.games import BEST, TYPICAL, WORST
from calbench.facts.storage import Facts
from calbench.metrics.game import GameScore
from tests.analysis.tables.sample import SETTINGS, TEAMS, played, shown
from tests.facts.measured import lines_of, table_rows
from tests.facts.scored import agent, facts_of_scores, meeting, score


def test_rows_come_by_setting_then_order_of_teams_then_scenario(facts: Facts) -> None:
    games = table_rows(facts, "games.csv")
    expected = [
        (setting, team, f"{setting}-{number:03d}")
        for setting in SETTINGS
        for team in TEAMS
        for number in range(6)
    ]
    assert [(row["setting"], row["team"], row["scenario_id"]) for row in games] == expected
    agents = table_rows(facts, "agent_games.csv")
    assert [
        (row["setting"], row["team"], row["scenario_id"], row["agent_id"]) for row in agents
    ] == [(*game, str(number)) for game in expected for number in range(5)]
    meetings = table_rows(facts, "meetings.csv")
    assert [(row["team"], row["scenario_id"], row["round"]) for row in meetings] == [
        (*game[1:], str(number)) for game in expected for number in range(5)
    ]


def test_agents_of_games_are_those_of_their_scores(facts: Facts) -> None:
    rows = iter(table_rows(facts, "agent_games.csv"))
    names = ("assigned", "scheduled", "cost", "oracle_cost", "excess_cost", "messages_sent")
    ordered = sorted(
        (game.score for game in played()),
        key=lambda s: (s.setting, TEAMS.index(s.team_id), s.scenario_id),
    )
    for own in (each for game in ordered for each in game.agents):
        row = next(rows)
        assert [row[name] for name in names] == [str(getattr(own, name)) for name in names]
        assert [row["vps"], row["excess_vps"]] == [shown(own.vps, 6), shown(own.excess_vps, 6)]
        assert (row["player"], row["kind"]) == (own.player.name, own.player.kind)
    assert next(rows, None) is None


def test_what_is_measured_of_excluded_games_is_absent(tmp_path: Path) -> None:
    shared: dict[str, Any] = {
        "tertile": "hard",
        "feasible_fraction": 0.125,
        "message_bytes": 30,
        "fairness": 1.5,
    }
    seats = [
        agent(cost=5, oracle_cost=2, excess_cost=3, messages_sent=4, vps=1.0, excess_vps=2.0),
        agent(vps=None, vps_kind=None, excess_vps=None, excess_vps_participants=None),
    ]
    games = [
        score(*seats, meetings=(meeting(1), meeting(2, "no_batch")), **shared),
        score(*seats, meetings=(meeting(1),), scenario="s1", is_excluded=True, **shared),
    ]
    facts = facts_of_scores(tmp_path, games)
    measured = "5,2,3,4,30,,2.000000,0.000000,,0.0000,1.5000,0.0000,0.0000,false,protocol,1"
    assert lines_of(facts, "games.csv") == [
        f"uniform,s0,imap,uniform/imap/s0,hard,0.125,false,2,1,{measured}",
        "uniform,s1,imap,uniform/imap/s1,hard,0.125,true,2,1,,,,,,,,,,,,,,,,",
    ]
    assert [row["scenario_id"] for row in table_rows(facts, "agent_games.csv")] == ["s0", "s0"]
    assert [row["scenario_id"] for row in table_rows(facts, "meetings.csv")] == ["s0", "s0", "s1"]


def test_meetings_by_hand(tmp_path: Path) -> None:
    ends = (
        meeting(
            2, "scheduled", slot=7, participants=(0, 2, 3), first_speaker=2, messages=5, cost=4
        ),
        meeting(1, "earlier_meeting_broken", round=1, broken_meetings=(2, 9), rejected_batches=3),
    )
    assert lines_of(facts_of_scores(tmp_path, [score(meetings=ends)]), "meetings.csv") == [
        "s0,imap,2,1,scheduled,7,0 2 3,2,,5,4,0",
        "s0,imap,1,1,earlier_meeting_broken,,0 1,0,2 9,0,0,3",
    ]


def cost_of(game: GameScore) -> Fraction:
    """Return the mean of the agents that were assigned to a meeting."""
    costs = [
        Fraction(a.adjusted_excess_cost).limit_denominator(10**6)
        for a in game.agents
        if a.adjusted_excess_cost is not None
    ]
    return sum(costs, Fraction()) / len(costs)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("team", TEAMS)
def test_games_are_those_of_a_plain_computation(facts: Facts, setting: str, team: str) -> None:
    rows = {
        row["which"]: row
        for row in table_rows(facts, "typical_games.csv")
        if (row["setting"], row["team"]) == (setting, team)
    }
    own = sorted(
        (
            game.score
            for game in played()
            if (game.score.setting, game.score.team_id) == (setting, team)
        ),
        key=lambda game: game.scenario_id,
    )
    costs = [cost_of(game) for game in own]
    ordered = sorted(range(len(own)), key=lambda place: (costs[place], place))
    expected = {
        BEST: own[costs.index(min(costs))],
        TYPICAL: own[ordered[(len(own) - 1) // 2]],
        WORST: own[costs.index(max(costs))],
    }

    assert cost_of(expected[TYPICAL]) == median_low(costs)
    assert list(rows) == [BEST, TYPICAL, WORST]
    for which, game in expected.items():
        assert rows[which]["scenario_id"] == game.scenario_id
        assert rows[which]["adjusted_excess_cost"] == shown(float(cost_of(game)))
        assert rows[which]["scheduled"] == str(game.num_scheduled)
        assert rows[which]["excess_cost"] == str(game.excess_cost)


def named(folder: Path, *games: GameScore) -> dict[str, str]:
    """Return the scenario of each of the three games."""
    rows = table_rows(facts_of_scores(folder, games), "typical_games.csv")
    return {row["which"]: row["scenario_id"] for row in rows}


def costing(scenario: str, cost: float | None, **changes: Any) -> GameScore:
    return score(agent(adjusted_excess_cost=cost), scenario=scenario, **changes)


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        ([0.5, 0.25, 0.25, 0.5, 0.5], ["s1", "s0", "s0"]),  # of equal ones the first scenario
        ([4.0, 1.0, 3.0, 2.0], ["s1", "s3", "s0"]),  # of two in the middle the first
        ([1.0], ["s0"] * 3),
    ],
)
def test_best_typical_and_worst_by_hand(
    tmp_path: Path, costs: list[float], expected: list[str]
) -> None:
    games = [costing(f"s{n}", cost) for n, cost in enumerate(costs)]
    assert named(tmp_path, *games) == dict(zip((BEST, TYPICAL, WORST), expected, strict=True))


def test_games_without_a_value_are_left_out(tmp_path: Path) -> None:
    games = [
        costing("s0", None),
        costing("s1", 9.0, is_excluded=True),
        costing("s2", 2.0),
        costing("s3", 1.0),
    ]
    assert named(tmp_path, *games) == {BEST: "s3", TYPICAL: "s3", WORST: "s2"}
    assert named(tmp_path / "none", costing("s0", None)) == {}
