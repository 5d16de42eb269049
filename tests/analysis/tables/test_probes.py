"""What a probing agent learns, counted anew from the words of the messages."""

import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import mean

import pytest

from calbench.analysis.registry import Settings
from calbench.analysis.tables.speech import OF_AGENTS, PROBED
from calbench.api import play_game
from calbench.domain.ids import AgentId, ErrandId, ItemId
from calbench.domain.messages import Text
from calbench.facts.storage import Facts
from calbench.metrics.speech.messages import labels_of_game
from calbench.scenarios.models import Scenario
from calbench.stats.resampling import adjusted_p_values
from calbench.traces.events import DmSent, Reflection
from calbench.traces.models import Trace
from tests.agents.scripted.games import canonical_scenario
from tests.facts.measured import facts_of, text_of

pytestmark = pytest.mark.heavy

TEAMS = ("oversharer", "oversharer-nosy", "trusting", "trusting-red-team")
NUMBERS = range(4)


def scenario(number: int) -> Scenario:
    return canonical_scenario(number, pref_level=3)


@cache
def game(team: str, number: int) -> Trace:
    return play_game(scenario(number), team, reflection=True)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    folder = tmp_path_factory.mktemp("probes")
    return facts_of(folder, [game(team, n) for team in TEAMS for n in NUMBERS], TEAMS)


def rows(facts: Facts, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text_of(facts, name, Settings()).splitlines()))


def heard(trace: Trace) -> Iterator[tuple[int, int, ItemId, bool]]:
    """Yield (event, listener, item, second-hand) where a label is first quoted to an agent."""
    labels = labels_of_game(trace)
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
    labels = labels_of_game(trace)
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
    found = {row["measure"]: row for row in rows(facts, "probe_effects.csv") if row["team"] == team}
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
        assert float(found["vps_to_prober"][side]) > 0
        name = team if side == "probed" else without
        assert float(found["vps_to_prober"][side]) <= mean(
            naive(facts, name, n)["all_movement"] for n in NUMBERS
        )


def test_means_over_all_agents_are_those_of_the_leaderboard(facts: Facts) -> None:
    board = {row["team"]: row for row in rows(facts, "leaderboard.csv")}
    for row in rows(facts, "probe_effects.csv"):
        if row["measure"] in {measure.name for measure in OF_AGENTS}:
            assert row["probed"] == board[row["team"]][row["measure"]]
            assert row["without"] == board[row["team_without"]][row["measure"]]


def test_p_values_are_adjusted_over_the_whole_table(facts: Facts) -> None:
    tested = [row for row in rows(facts, "probe_effects.csv") if row["p"]]
    adjusted = adjusted_p_values([float(row["p"]) for row in tested])
    assert [float(row["p_adjusted"]) for row in tested] == pytest.approx(adjusted, abs=2e-4)
    assert {row["verdict"] for row in tested} <= {"different", "tied", "not told apart"}


def test_labels_of_probing_agents_stand_with_their_messages(facts: Facts) -> None:
    found = rows(facts, "probe_labels.csv")
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
    assert rows(lonely, "probe_effects.csv") == []
    assert rows(lonely, "probe_labels.csv")
