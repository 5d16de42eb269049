"""Which team is the same without its probing agent, and what that agent reports, by hand."""

import csv
from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables.speech import probed_pairs
from calbench.traces.events import Reflection
from calbench.traces.models import PromptVariant, Trace
from tests.facts.measured import facts_of, text_of
from tests.metrics.language_games import (
    SMALL_REFLECTIONS,
    UNREADABLE,
    reflecting,
    reflection,
    seat,
    seated,
    small_game,
)


def seats(
    team: str, *players: str, scenario: str = "s-0", rules: str = "r", variant: str = ".nosy"
) -> pd.DataFrame:
    """Return who sat where in a game; the variant is one that probes."""
    return pd.DataFrame(
        {
            "setting": "uniform",
            "team": team,
            "scenario_id": scenario,
            "agent_id": range(len(players)),
            "player": players,
            "base_player": [player.removesuffix(variant) for player in players],
            "settings_digest": "d",
            "rules_digest": rules,
            "is_probing": [player.endswith(variant) for player in players],
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


def test_the_same_team_by_other_rules_is_another() -> None:
    other, probed = seats("other", "a", "a", rules="x"), seats("probed", "a.nosy", "a")
    assert found(other, probed) == []
    assert found(other, probed, seats("same", "a", "a")) == [("probed", "same", [("s-0", 0)])]


def test_a_variants_name_may_have_dots() -> None:
    probed = seats("probed", "a.my.nosy", "a", variant=".my.nosy")
    assert found(seats("same", "a", "a"), probed) == [("probed", "same", [("s-0", 0)])]


def test_teams_that_share_no_scenario_are_not_compared() -> None:
    assert found(seats("same", "a", "a"), seats("probed", "a.nosy", "a", scenario="s-1")) == []


def test_several_probed_teams_have_one_team_beside_them() -> None:
    games = [seats("x", "a.nosy", "a"), seats("same", "a", "a"), seats("y", "a", "a.nosy")]
    assert found(*games) == [("x", "same", [("s-0", 0)]), ("y", "same", [("s-0", 1)])]


NOSY = PromptVariant(name="nosy", version="v2", digest="0" * 64, is_nosy=True)
PROBER = seat("talker.nosy").model_copy(update={"variant": NOSY})
PLAIN = reflecting(small_game(), SMALL_REFLECTIONS)
"""Agent 0 learns two thirds of a slot in the first round, and nothing in the second."""

FIRST, SECOND = SMALL_REFLECTIONS[0], reflection(1, 0, {1: (0, 3, 0, 0), 2: (0, 0, 0, 0)})
UNREAD = reflection(1, 0, UNREADABLE)


def probed(*reflections: Reflection) -> Trace:
    trace = reflecting(small_game(), reflections)
    return seated(trace, PROBER, seat("talker"), seat("talker"), team="probed")


def learnt(folder: Path, trace: Trace, measure: str = "vps_to_prober") -> dict[str, str]:
    facts = facts_of(folder, [PLAIN, trace])
    rows = csv.DictReader(text_of(facts, "probe_effects.csv", Settings()).splitlines())
    (row,) = [row for row in rows if row["measure"] == measure]
    return row


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("reflections", "loss"),
    [
        ((FIRST, SECOND), "1.6667"),
        ((FIRST,), "0.6667"),
        ((FIRST, UNREAD), "1.3333"),  # the second round counts as the first
        ((UNREAD,), ""),
        ((), ""),
    ],
)
def test_what_the_prober_reports_of_all_others_is_added_up(
    tmp_path: Path, reflections: tuple[Reflection, ...], loss: str
) -> None:
    row = learnt(tmp_path, probed(*reflections))
    assert (row["probed"], row["without"]) == (loss, "0.6667")


@pytest.mark.heavy
def test_a_prober_that_is_hardly_readable_is_not_compared(tmp_path: Path) -> None:
    row = learnt(tmp_path, probed(reflection(0, 0, UNREADABLE), UNREAD))
    assert (row["verdict"], row["remark"]) == ("not tested", "too few reflections read")


@pytest.mark.heavy
@pytest.mark.parametrize("measure", ["vps_to_prober", "excess_vps"])
def test_reports_by_integers_and_by_expectations_are_not_compared(
    tmp_path: Path, measure: str
) -> None:
    expected = {1: (0.0, 0.0, 0.0, 0.0), 2: (0.0, 1.5, 0.0, 0.0)}
    first = reflection(0, 0, {1: (0, 0, 3, 0), 2: (0, 2, 0, 0)}, expected)
    row = learnt(tmp_path, probed(first), measure)
    assert (row["verdict"], row["remark"]) == ("not tested", "two instruments")
    assert (row["difference"], row["scenarios"]) == ("", "")


@pytest.mark.heavy
def test_a_team_of_one_player_of_whom_one_probes_is_no_slice(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, [probed(FIRST)])
    assert list(csv.DictReader(text_of(facts, "table1.csv", Settings()).splitlines())) == []
    (name,) = facts.frame("agents")["base_player"].unique()
    assert name == "talker"
