"""Which team is the same without its probing agent."""

import pandas as pd

from calbench.analysis.tables.probes import probed_pairs


def seats(team: str, *players: str, scenario: str = "s-0") -> pd.DataFrame:
    """Return who sat where in a game; variants that probe are called nosy."""
    return pd.DataFrame(
        {
            "setting": "uniform",
            "team": team,
            "scenario_id": scenario,
            "agent_id": range(len(players)),
            "player": players,
            "is_probing": [player.endswith(".nosy") for player in players],
        }
    )


def found(*games: pd.DataFrame) -> list[tuple[str, str, list[tuple[str, int]]]]:
    pairs = probed_pairs(pd.concat(games, ignore_index=True))
    return [
        (pair.team, pair.without, list(pair.seats.itertuples(index=False, name=None)))
        for pair in pairs
    ]


def test_a_team_is_the_same_if_all_seats_are() -> None:
    model = "gpt-5.4-mini"
    probed = seats("probed", f"{model}.nosy", model, "other")
    assert found(seats("alone", model, model, model), probed) == []
    assert found(seats("same", model, model, "other"), probed) == [("probed", "same", [("s-0", 0)])]
    assert found(seats("mini", "gpt-5", model, "other"), probed) == []


def test_seats_may_rotate() -> None:
    games = [
        seats("same", "a", "b"),
        seats("same", "b", "a", scenario="s-1"),
        seats("probed", "a.nosy", "b"),
        seats("probed", "b", "a.nosy", scenario="s-1"),
    ]
    assert found(*games) == [("probed", "same", [("s-0", 0), ("s-1", 1)])]
    assert found(*games[:3], seats("probed", "a", "b.nosy", scenario="s-1")) == []


def test_teams_that_share_no_scenario_are_not_compared() -> None:
    assert found(seats("same", "a", "a"), seats("probed", "a.nosy", "a", scenario="s-1")) == []


def test_several_probed_teams_have_one_team_beside_them() -> None:
    games = [seats("x", "a.nosy", "a"), seats("same", "a", "a"), seats("y", "a", "a.nosy")]
    assert found(*games) == [("x", "same", [("s-0", 0)]), ("y", "same", [("s-0", 1)])]
