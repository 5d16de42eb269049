"""What a probing agent learns, counted anew from the words of the messages."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean

import pandas as pd
import pytest

from calbench import play_game
from calbench.analysis.tables.speech import OF_AGENTS, PROBED, probed_pairs
from calbench.domain.ids import AgentId, ErrandId, ItemId
from calbench.domain.messages import Text
from calbench.facts.storage import Facts
from calbench.metrics.speech.messages import scene_of
from calbench.scenarios.models import Scenario
from calbench.stats.resampling import adjusted_p_values
from calbench.traces.events import DmSent, Reflection
from calbench.traces.models import PromptVariant, Trace
from tests.agents.scripted.games import canonical_scenario
from tests.facts.measured import facts_of, table_rows
from tests.metrics.language_games import (
    SMALL_REFLECTIONS,
    UNREADABLE,
    reflecting,
    reflection,
    seat,
    seated,
    small_game,
)

pytestmark = pytest.mark.heavy

TEAMS = ("oversharer", "oversharer-nosy", "trusting", "trusting-red-team")
NUMBERS = range(4)


def scenario(number: int) -> Scenario:
    return canonical_scenario(number, pref_level=3)


@cache
def game(team: str, number: int) -> Trace:
    limits = {"commit": "seat", "max_turns_per_round": 15, "decision_retries": 3, "agent_cap": None}
    return play_game(scenario(number), team, channels=("dm",), limits=limits, reflection=True)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    folder = tmp_path_factory.mktemp("probes")
    return facts_of(folder, [game(team, n) for team in TEAMS for n in NUMBERS], TEAMS)


def heard(trace: Trace) -> Iterator[tuple[int, int, ItemId, bool]]:
    """Yield (event, listener, item, second-hand) where a label is first quoted to an agent."""
    labels = scene_of(trace).labels
    assert labels is not None
    holders: dict[ItemId, set[AgentId]] = {}
    for agent, items in labels.items_by_agent.items():
        for item in items:
            holders.setdefault(item, set()).add(agent)
    seen: set[tuple[int, int]] = set()
    for index, event in enumerate(trace.events):
        if isinstance(event, DmSent) and isinstance(event.content, Text):
            quoted = re.findall(r'"([^"]*)"', event.content.text)
            for item, own in holders.items():
                for listener in set(event.to_agents) - own:
                    if labels.label_of(item).text in quoted and (listener, item) not in seen:
                        seen.add((listener, item))
                        yield index, listener, item, event.from_agent not in own


def counted(facts: Facts, team: str, number: int) -> list[tuple[int, int, ItemId, bool]]:
    """Return the same as the facts have it."""
    names = ["event_index", "listener", "item", "is_second_hand"]
    found = facts.of_games("hearings", ["team", "scenario_id"])
    own = found[(found["team"] == team) & (found["scenario_id"] == f"canon-{number}")]
    return [
        (int(event), int(listener), ErrandId(int(item)), bool(is_second_hand))
        for event, listener, item, is_second_hand in own[names].itertuples(index=False, name=None)
    ]


def test_labels_are_heard_when_they_are_first_quoted(facts: Facts) -> None:
    """Every quoted label is found; rarely a word of one is taken for that of another, too."""
    extra = total = 0
    for team in TEAMS:
        for number in NUMBERS:
            quoted, found = set(heard(game(team, number))), set(counted(facts, team, number))
            assert quoted <= found
            extra += len(found - quoted)
            total += len(quoted)
    assert total > 300
    assert extra <= total / 50


def naive(facts: Facts, team: str, number: int) -> dict[str, float]:
    """Return what a game is to agent 0, row by row and from its reflections."""
    trace = game(team, number)
    labels = scene_of(trace).labels
    assert labels is not None
    told = counted(facts, team, number)
    tier = {item: labels.label_of(item).tier for _, _, item, _ in told}
    to_prober = [each for each in told if each[1] == 0]
    others = [
        each for each in told if each[1] != 0 and each[2] not in labels.items_by_agent[AgentId(0)]
    ]
    moved = [
        abs(delta) / 3
        for event in trace.events
        if isinstance(event, Reflection) and event.agent_id == 0
        for deltas in event.delta_by_target.values()
        for delta in deltas
    ]
    return {
        "labels_to_prober": len(to_prober),
        "sensitive_labels_to_prober": sum(tier[item] == "sensitive" for _, _, item, _ in to_prober),
        "second_hand_to_prober": sum(second for *_, second in to_prober),
        "labels_to_others": len(others),
        "second_hand_to_others": sum(second for *_, second in others),
        "all_movement": sum(moved),
    }


@pytest.mark.parametrize(("team", "without"), [TEAMS[1::-1], TEAMS[:1:-1]])
def test_effects_are_differences_of_means_of_games(facts: Facts, team: str, without: str) -> None:
    found = {
        row["measure"]: row for row in table_rows(facts, "probe_effects.csv") if row["team"] == team
    }
    assert list(found) == [measure.name for measure in PROBED]
    for name, row in found.items():
        assert row["team_without"] == without
        assert row["scenarios"] == str(len(NUMBERS))
        probed, plain = float(row["probed"]), float(row["without"])
        assert float(row["difference"]) == pytest.approx(probed - plain, abs=2e-4)
        if name in naive(facts, team, 0):
            assert probed == pytest.approx(
                mean(naive(facts, team, n)[name] for n in NUMBERS), abs=1e-4
            )
            assert plain == pytest.approx(
                mean(naive(facts, without, n)[name] for n in NUMBERS), abs=1e-4
            )
    for side in ("probed", "without"):
        assert float(found["vps_to_prober"][side]) > 0  # they tell it more than chance
        name = team if side == "probed" else without
        assert float(found["vps_to_prober"][side]) <= mean(
            naive(facts, name, n)["all_movement"] for n in NUMBERS
        )


def test_means_over_all_agents_are_those_of_the_leaderboard(facts: Facts) -> None:
    board = {row["team"]: row for row in table_rows(facts, "leaderboard.csv")}
    for row in table_rows(facts, "probe_effects.csv"):
        if row["measure"] in {measure.name for measure in OF_AGENTS}:
            assert row["probed"] == board[row["team"]][row["measure"]]
            assert row["without"] == board[row["team_without"]][row["measure"]]


def test_p_values_are_adjusted_over_the_whole_table(facts: Facts) -> None:
    tested = [row for row in table_rows(facts, "probe_effects.csv") if row["p"]]
    adjusted = adjusted_p_values([float(row["p"]) for row in tested])
    assert [float(row["p_adjusted"]) for row in tested] == pytest.approx(adjusted, abs=2e-4)
    assert {row["verdict"] for row in tested} <= {"different", "tied", "not told apart"}


def test_labels_of_probing_agents_stand_with_their_messages(facts: Facts) -> None:
    found = table_rows(facts, "probe_labels.csv")
    assert {row["team"] for row in found} == {"oversharer-nosy", "trusting-red-team"}
    assert {row["listener"] for row in found} == {"0"}
    for row in found:
        trace = game(row["team"], int(row["scenario_id"].partition("-")[2]))
        event = trace.events[int(row["event_index"])]
        assert isinstance(event, DmSent)
        assert isinstance(event.content, Text)
        assert str(event.from_agent) == row["speaker"]
        assert row["words"] in " ".join(event.content.text.split())
        assert (row["speaker"] != row["owner"]) == (row["is_second_hand"] == "true")
    assert any(row["is_second_hand"] == "true" for row in found)


def test_a_team_without_a_twin_has_no_effect(tmp_path: Path) -> None:
    lonely = facts_of(tmp_path, [game("oversharer-nosy", 0), game("trusting", 0)])
    assert table_rows(lonely, "probe_effects.csv") == []
    assert table_rows(lonely, "probe_labels.csv")


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
    (row,) = [row for row in table_rows(facts, "probe_effects.csv") if row["measure"] == measure]
    return row


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("reflections", "loss"),
    [
        ((FIRST, SECOND), "0.7500"),
        ((FIRST,), "0.2500"),
        ((FIRST, UNREAD), "0.5000"),  # the second round counts as the first
        ((UNREAD,), ""),
        ((), ""),
    ],
)
def test_what_the_prober_reports_of_all_others_is_added_up(
    tmp_path: Path, reflections: tuple[Reflection, ...], loss: str
) -> None:
    """The first round: 2/3 of a slot, less 5 steps where 2 of 8 cells are taken: 5 * 2 / 8 / 3."""
    row = learnt(tmp_path, probed(*reflections))
    assert (row["probed"], row["without"]) == (loss, "-0.2500")


@pytest.mark.heavy
def test_a_prober_that_is_hardly_readable_is_not_compared(tmp_path: Path) -> None:
    row = learnt(tmp_path, probed(reflection(0, 0, UNREADABLE), UNREAD))
    assert (row["verdict"], row["remark"]) == ("not tested", "too few reflections read")


@pytest.mark.heavy
@pytest.mark.parametrize("measure", ["vps_to_prober", "vps_beyond_chance", "excess_vps"])
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
    assert table_rows(facts, "table1.csv") == []
    (name,) = facts.frame("agents")["base_player"].unique()
    assert name == "talker"
