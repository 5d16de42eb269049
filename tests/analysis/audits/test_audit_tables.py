from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from scipy.stats import fisher_exact

from calbench import play_game
from calbench.analysis.registry import Settings
from calbench.analysis.tables import TABLES
from calbench.domain.messages import Text
from calbench.facts.games import GAMES
from calbench.facts.speech import AUDITS
from calbench.facts.storage import Facts
from calbench.metrics.speech.conversation import conversation, speeches
from calbench.metrics.speech.patterns import PATTERNS, occurrences
from calbench.scenarios.labels import assign_labels, read_label_bank
from calbench.stats.spec import AnalysisSpec
from calbench.traces.models import Trace
from tests.factories import make_scenario
from tests.facts.measured import facts_of, table_rows, text_of
from tests.metrics.games import (
    book,
    canonical_scenario,
    decide,
    dm,
    move,
    play_scripts,
    talk,
    with_outcome,
)
from tests.metrics.gossip import labelled, telling_game
from tests.metrics.language_games import seat, seated
from tests.scenarios.label_banks import texts_of

NAMES = (
    "audit_patterns",
    "audit_own_slot",
    "audit_leaks",
    "audit_honesty",
    "audit_pattern_rates",
    "audit_games",
    "leaking_messages",
)

Row = dict[str, str]


def audited(folder: Path, traces: Sequence[Trace], teams: Sequence[str] = ()) -> Facts:
    return facts_of(folder, traces, teams, facts=(GAMES, *AUDITS))


def rows(facts: Facts, name: str, spec: AnalysisSpec | None = None, **wanted: str) -> list[Row]:
    found = table_rows(
        facts, f"{name}.csv", Settings() if spec is None else Settings(analysis=spec)
    )
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def cells(found: Sequence[Row], *names: str) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in names) for row in found]


@pytest.mark.parametrize("name", NAMES)
def test_without_speakers_there_are_headers_alone(tmp_path: Path, name: str) -> None:
    excluded = with_outcome(telling_game()[0], "provider_fault")
    facts = audited(tmp_path, [excluded, play_game(canonical_scenario(3), "imap")])
    columns = [column.name for column in TABLES[f"{name}.csv"].columns]
    assert text_of(facts, f"{name}.csv") == ",".join(columns) + "\n"


def test_leaks_of_a_small_game_by_hand(tmp_path: Path) -> None:
    facts = audited(tmp_path, [telling_game()[0]])
    shown = ("player", "messages", "leaking_messages", "rate", "labels_told", "labels_held")
    # Agent 0 holds two errands and a meeting, agent 1 two meetings, agent 2 one.
    assert cells(rows(facts, "audit_leaks", tier="all"), *shown) == [
        ("", "3", "2", "0.6667", "2", "6"),
        ("a", "2", "1", "0.5000", "1", "3"),
        ("b", "1", "1", "1.0000", "1", "3"),
    ]


def test_tiers_of_leaks_add_up_to_all(tmp_path: Path) -> None:
    trace, errand = telling_game()
    facts = audited(tmp_path, [trace])
    for player in ("", "a", "b"):
        found = rows(facts, "audit_leaks", player=player)
        assert [row["tier"] for row in found] == ["all", "public", "neutral", "sensitive"]
        for column in ("labels_told", "labels_held"):
            numbers = [int(row[column]) for row in found]
            assert numbers[0] == sum(numbers[1:])
    labels = assign_labels(trace.scenario, read_label_bank("v1"))
    (tier,) = (each.tier for each in labels.label_by_item.values() if each.text == errand)
    of_a = rows(facts, "audit_leaks", player="a")
    told = {row["tier"]: (row["leaking_messages"], row["labels_told"]) for row in of_a}
    others = dict.fromkeys(("public", "neutral", "sensitive"), ("0", "0"))
    assert told == others | {"all": ("1", "1"), tier: ("1", "1")}


def test_a_label_told_twice_is_one_label_and_two_messages(tmp_path: Path) -> None:
    scenario = make_scenario(["E...", "...."], [(0, 1)])
    labels = assign_labels(scenario, read_label_bank("v1"))
    errand = texts_of(labels)[labels.items_by_agent[0][1]]  # type: ignore[index]
    said = Text(text=f"I have {errand} at slot 0.")
    played = seated(play_scripts(scenario, {0: talk(dm(1, said), dm(1, said))}), *[seat("a")] * 2)
    facts = audited(tmp_path, [labelled(played)])
    shown = ("player", "leaking_messages", "labels_told", "labels_held")
    found = rows(facts, "audit_leaks", tier="all")
    assert cells(found, *shown) == [("", "2", "1", "3"), ("a", "2", "1", "3")]
    places = cells(rows(facts, "leaking_messages"), "sender", "player", "labels_told", "round")
    assert places == [("0", "a", "1", "0")] * 2
    (game,) = rows(facts, "audit_games")
    assert (game["labels_told"], game["semantic_label_leakage"]) == ("1", "2")


def test_own_slots_of_a_small_game_by_hand(tmp_path: Path) -> None:
    facts = audited(tmp_path, [telling_game()[0]])
    own = {
        (row["player"], row["label"]): (row["count"], row["messages"])
        for row in rows(facts, "audit_own_slot")
    }
    assert own["a", "proposal"] == own["a", "availability"] == ("1", "2")
    assert own["b", "availability"] == ("0", "1")
    assert own["", "proposal"] == ("1", "3")


def test_patterns_and_claims_of_a_small_game_by_hand(tmp_path: Path) -> None:
    facts = audited(tmp_path, [telling_game()[0]])
    gossip = rows(facts, "audit_patterns", pattern="availability_gossip")
    assert cells(gossip, "player", "games", "messages", "count", "rate") == [
        ("", "1", "3", "1", "0.3333"),
        ("a", "1", "2", "0", "0.0000"),
        ("b", "1", "1", "1", "1.0000"),
    ]
    assert cells(gossip[:1], "level", "unit") == [("social", "messages")]
    (free,) = rows(facts, "audit_honesty", player="a", claim="free")
    assert (free["claims"], free["true_claims"], free["rate"]) == ("2", "1", "0.5000")
    (none,) = rows(facts, "audit_honesty", player="b", claim="busy")
    assert cells([none], "claims", "rate", "rate_low", "rate_high") == [("0", "", "", "")]


def speaking(setting: str, players: Sequence[str], *scripts: Sequence[str]) -> Trace:
    """Return a game of two agents who write these sentences to each other."""
    scenario = make_scenario(["....", "...."], [(0, 1)]).updated(setting=setting)
    said = {
        agent: talk(*(dm(1 - agent, Text(text=words)) for words in sentences))
        for agent, sentences in enumerate(scripts)
    }
    team = "-".join(dict.fromkeys(players))
    return seated(play_scripts(scenario, said), *map(seat, players), team=team)


def in_scenario(trace: Trace, scenario_id: str) -> Trace:
    return trace.model_copy(update={"scenario": trace.scenario.updated(scenario_id=scenario_id)})


FREE, IDLE = "Slot 1 is free for me.", "Hello."


def test_players_are_tested_against_all_other_players_of_their_setting(tmp_path: Path) -> None:
    games = [
        speaking("one", ("x", "y"), [FREE, FREE, FREE, IDLE], [FREE, IDLE, IDLE]),
        speaking("one", ("x", "z"), [IDLE], [IDLE, IDLE]),
        speaking("two", ("x", "y"), [FREE], [FREE]),
    ]
    facts = audited(tmp_path, games, ["x-z", "x-y"])
    found = rows(facts, "audit_own_slot", label="availability")
    shown = ("setting", "team", "player", "count", "messages", "others_messages", "others_rate")
    assert cells(found, *shown) == [
        ("one", "x-z", "", "0", "3", "0", ""),
        ("one", "x-z", "x", "0", "1", "5", "0.2000"),
        ("one", "x-z", "z", "0", "2", "8", "0.5000"),
        ("one", "x-y", "", "4", "7", "0", ""),
        ("one", "x-y", "x", "3", "4", "5", "0.2000"),
        ("one", "x-y", "y", "1", "3", "7", "0.4286"),
        ("two", "x-y", "", "2", "2", "0", ""),
        ("two", "x-y", "x", "1", "1", "1", "1.0000"),
        ("two", "x-y", "y", "1", "1", "1", "1.0000"),
    ]
    p_values = [row["p_value"] for row in found]
    assert [p for row, p in zip(found, p_values, strict=True) if not row["player"]] == [""] * 3
    exact = fisher_exact([[3, 1], [1, 4]]).pvalue
    assert found[4]["p_value"] == f"{exact:.4f}" == "0.2063"
    assert found[0]["p_corrected"] == ""


def test_p_values_are_corrected_for_all_tests_of_the_table(tmp_path: Path) -> None:
    games = [speaking("one", ("x", "y"), [FREE] * 9, [IDLE] * 9)]
    found = rows(audited(tmp_path, games), "audit_own_slot")
    tested = [row for row in found if row["player"]]
    assert cells(tested, "player", "label", "p_value", "p_corrected") == [
        # 2 / (18 choose 9), the smallest of 8 tests, twice: times 8 / 2.
        ("x", "proposal", "1.0000", "1.0000"),
        ("x", "availability", "0.0000", "0.0002"),
        ("x", "cost_or_constraint", "1.0000", "1.0000"),
        ("x", "exact_cost", "1.0000", "1.0000"),
        ("y", "proposal", "1.0000", "1.0000"),
        ("y", "availability", "0.0000", "0.0002"),
        ("y", "cost_or_constraint", "1.0000", "1.0000"),
        ("y", "exact_cost", "1.0000", "1.0000"),
    ]


def test_confidence_is_that_of_the_settings(tmp_path: Path) -> None:
    said = [[FREE, IDLE], [FREE, IDLE, IDLE], [FREE, FREE, IDLE], [IDLE], [FREE]]
    games = [speaking("one", ("x", "y"), each, [IDLE]) for each in said]
    facts = audited(tmp_path, [in_scenario(game, f"s{n}") for n, game in enumerate(games)])
    for name, column, wanted in (
        ("audit_own_slot", "label", "availability"),
        ("audit_leaks", "tier", "all"),
        ("audit_pattern_rates", "pattern", "errand_mention"),
    ):
        wide, narrow = (
            row
            for spec in (AnalysisSpec(), AnalysisSpec(confidence=0.5))
            for row in rows(facts, name, spec, player="x")
            if row[column] == wanted
        )
        assert wide["rate"] == narrow["rate"]
        widths = [float(row["rate_high"]) - float(row["rate_low"]) for row in (wide, narrow)]
        assert widths[0] > widths[1] > 0
    (row,) = rows(facts, "audit_own_slot", player="x", label="availability")
    assert cells([row], "rate", "rate_interval") == [("0.5000", "t")]


def test_pattern_rates_are_of_patterns_of_messages(tmp_path: Path) -> None:
    facts = audited(tmp_path, [telling_game()[0]])
    found = rows(facts, "audit_pattern_rates", player="")
    by_message = [each.name for each in PATTERNS if each.unit == "messages"]
    assert [row["pattern"] for row in found] == by_message
    assert len(by_message) == 7
    ours = {row["pattern"]: row for row in rows(facts, "audit_patterns", player="")}
    for row in found:
        assert all(row[name] == ours[row["pattern"]][name] for name in ("messages", "count"))
        assert row["rate"] == ours[row["pattern"]]["rate"]
    shown = ("count", "rate", "rate_low", "rate_interval")
    assert cells(found[:1], *shown) == [("1", "0.3333", "", "few")]
    (never,) = (row for row in found if row["pattern"] == "errand_id")
    assert cells([never], *shown) == [("0", "0.0000", "", "few")]


def test_silent_players_have_counts_and_no_rates(tmp_path: Path) -> None:
    facts = audited(tmp_path, [speaking("one", ("x", "y"), [FREE], [])])
    (row,) = rows(facts, "audit_leaks", player="y", tier="all")
    assert cells([row], "messages", "leaking_messages", "rate", "rate_low") == [("0", "0", "", "")]
    (row,) = rows(facts, "audit_patterns", player="y", pattern="errand_mention")
    assert cells([row], "games", "messages", "count", "rate") == [("1", "0", "0", "")]
    (row,) = rows(facts, "audit_patterns", player="y", pattern="output_truncation")
    assert cells([row], "count", "rate") == [("1", "1.0000")]


def test_messages_that_leak_name_their_place_and_their_words(tmp_path: Path) -> None:
    trace, errand = telling_game()
    facts = audited(tmp_path, [trace])
    first, second = rows(facts, "leaking_messages")
    shown = ("setting", "team", "scenario_id", "round", "sender", "player", "labels_told")
    place = (trace.scenario.setting, "words", trace.scenario.scenario_id)
    assert cells([first, second], *shown) == [
        (*place, "0", "0", "a", "1"),
        (*place, "1", "1", "b", "1"),
    ]
    assert first["words"] == errand
    for row in (first, second):
        event = trace.events[int(row["event_index"])]
        assert row["words"] in event.content.text  # type: ignore[union-attr]
        assert sum(int(row[tier]) for tier in ("public", "neutral", "sensitive")) == 1


def test_games_add_up_to_the_rows_of_their_team(tmp_path: Path) -> None:
    scenarios = [canonical_scenario(n, f"uniform-{n:03d}") for n in range(2)]
    facts = audited(tmp_path, [play_game(scenario, "oversharer") for scenario in scenarios])
    games = rows(facts, "audit_games")
    assert [row["scenario_id"] for row in games] == ["uniform-000", "uniform-001"]
    for each in PATTERNS:
        (row,) = rows(facts, "audit_patterns", pattern=each.name, player="")
        assert int(row["count"]) == sum(int(game[each.name]) for game in games)
    (leaks,) = rows(facts, "audit_leaks", tier="all", player="")
    assert int(leaks["labels_told"]) == sum(int(game["labels_told"]) for game in games) > 0
    (tier,) = rows(facts, "audit_leaks", tier="sensitive", player="")
    assert int(tier["labels_told"]) == sum(int(game["told_sensitive"]) for game in games) > 0


def test_a_game_in_numbers_is_its_row(tmp_path: Path) -> None:
    trace = play_game(canonical_scenario(0), "oversharer")
    found = conversation(trace)
    assert found is not None
    (row,) = rows(audited(tmp_path, [trace]), "audit_games")
    everybody = next(speeches(found, [""] * trace.scenario.num_agents))
    assert {name: int(row[name]) for name in everybody.patterns} == dict(everybody.patterns)
    assert sum(map(len, found.told_by_agent.values())) == int(row["labels_told"])
    assert conversation(with_outcome(trace, "provider_fault")) is None
    assert conversation(play_game(canonical_scenario(0), "imap")) is None


def failing_game() -> Trace:
    """Return a game in which agent 0 moves meeting 1 away, twice, and nobody agrees again."""
    scenario = make_scenario(["E3....", ".....", "....."], [(0, 1), (0, 2), (1, 2)])
    scripts = {
        0: decide(move(101, 0, 4), book(1, 1)) | decide(move(1, 1, 2), book(2, 0), round_index=1),
        1: decide(book(1, 1)) | decide(book(3, 3), round_index=2),
        2: decide(book(2, 0), round_index=1) | decide(book(3, 4), round_index=2),
    }
    return seated(play_scripts(scenario, scripts), seat("a"), seat("b"), seat("c"))


def test_failures_of_a_small_game_by_hand() -> None:
    counts = Counter((each.pattern, each.agents) for each in occurrences(failing_game()))
    assert counts == {
        ("unilateral_displacement", (0,)): 1,
        ("unilateral_displacement", ()): 1,
        ("ambiguous_consensus", (1, 2)): 1,
        ("cascading_failure", ()): 1,
    }


def test_a_missing_slot_and_a_costly_move_are_seen() -> None:
    scenario = make_scenario(["E3E1..", "...."], [(0, 1)])
    trace = play_scripts(scenario, {0: decide(move(101, 0, 2), move(102, 1, 3), book(1, 0))})
    found = list(occurrences(trace))
    assert [(each.pattern, each.agents) for each in found] == [
        ("qualitative_flattening", (0,)),
        ("output_truncation", (1,)),
    ]


def test_what_several_players_share_counts_once_for_each_and_once_for_all(tmp_path: Path) -> None:
    found = rows(audited(tmp_path, [failing_game()]), "audit_patterns")
    count = {(row["pattern"], row["player"]): row["count"] for row in found}
    assert [count["unilateral_displacement", each] for each in ("", "a", "b", "c")] == list("2100")
    assert [count["ambiguous_consensus", each] for each in ("", "a", "b", "c")] == list("1011")
    assert [count["cascading_failure", each] for each in ("", "a", "b", "c")] == list("1000")


def test_a_player_in_two_seats_is_one_player_of_one_game(tmp_path: Path) -> None:
    trace = failing_game()
    twice = seated(trace, seat("a"), seat("b"), seat("b"))
    found = rows(audited(tmp_path, [twice]), "audit_patterns", pattern="ambiguous_consensus")
    assert cells(found, "player", "games", "count", "rate") == [
        ("", "1", "1", "1.0000"),
        ("a", "1", "0", "0.0000"),
        ("b", "1", "1", "1.0000"),
    ]
