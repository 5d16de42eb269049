"""The best, the typical and the worst game of a team, against a plain computation."""

from fractions import Fraction
from pathlib import Path
from statistics import median_low
from typing import Any

import pytest

from calbench.analysis.tables.games import BEST, TYPICAL, WORST
from calbench.facts.games import SCORES
from calbench.facts.storage import Facts
from calbench.metrics.game import GameScore
from tests.analysis.tables.sample import SETTINGS, TEAMS, played, shown
from tests.facts.measured import facts_of_games, table_rows
from tests.facts.scored import agent, facts_of_scores, score


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of_games(tmp_path_factory.mktemp("facts"), played(), TEAMS, SCORES)


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


def test_of_equal_games_the_first_scenario_is_named(tmp_path: Path) -> None:
    games = [costing(f"s{n}", cost) for n, cost in enumerate([0.5, 0.25, 0.25, 0.5, 0.5])]
    assert named(tmp_path, *games) == {BEST: "s1", TYPICAL: "s0", WORST: "s0"}


def test_of_two_games_in_the_middle_the_first_is_typical(tmp_path: Path) -> None:
    games = [costing(f"s{n}", cost) for n, cost in enumerate([4.0, 1.0, 3.0, 2.0])]
    assert named(tmp_path, *games) == {BEST: "s1", TYPICAL: "s3", WORST: "s0"}


def test_one_game_is_all_three(tmp_path: Path) -> None:
    assert named(tmp_path, costing("s7", 1.0)) == dict.fromkeys((BEST, TYPICAL, WORST), "s7")


def test_games_without_a_value_are_left_out(tmp_path: Path) -> None:
    games = [
        costing("s0", None),
        costing("s1", 9.0, is_excluded=True),
        costing("s2", 2.0),
        costing("s3", 1.0),
    ]
    assert named(tmp_path, *games) == {BEST: "s3", TYPICAL: "s3", WORST: "s2"}
    assert named(tmp_path / "none", costing("s0", None)) == {}
