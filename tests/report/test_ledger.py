"""The ledger in page data adds up to what the metrics and tables say, step by step."""

import csv
import json
from collections.abc import Iterator
from math import fsum
from pathlib import Path
from typing import Any

import pytest

from calbench import play_game
from calbench.analysis.registry import Settings
from calbench.analysis.tables import TABLES
from calbench.domain.actions import BroadcastMessage
from calbench.domain.ids import Slot
from calbench.domain.messages import CostReport, Decision
from calbench.errors import FileError
from calbench.facts.beliefs import BELIEFS, PAIRS
from calbench.facts.games import SCORES
from calbench.facts.messages import MESSAGES
from calbench.metrics.players import players_of
from calbench.metrics.privacy.estimators import game_loss
from calbench.metrics.privacy.inference.game import learnt
from calbench.metrics.speech.messages import audited_messages, scene_of
from calbench.report.escape import data_script
from calbench.report.games.files import PLAYED_COLUMNS, OfTables, Rows, about_game
from calbench.report.games.ledger import DIGITS, JudgedGames, ledger_data, vector_of
from calbench.traces.models import Trace
from calbench.traces.storage import read_trace
from tests.factories import make_scenario
from tests.facts.measured import facts_of
from tests.golden.games import FOLDER, TEAMS
from tests.metrics.games import canonical_scenario, dm, play_scripts, talk
from tests.metrics.gossip import ERRAND, gossip_labels, gossiping_game, name_of
from tests.report.by_event import game_data
from tests.report.language_samples import make_language
from tests.report.samples import play, suite_of

Data = dict[str, Any]


def golden(name: str) -> Trace:
    return read_trace(FOLDER / f"{name}.json")


def moves_of(data: Data, game: Data) -> Iterator[tuple[int, int, int, dict[int, float]]]:
    """Read the moves as the page does: event, target, observer, belief by slot."""
    for event, vector, *pair in data.get("moves", ()):
        if isinstance(vector, str):
            numbers = {
                slot: DIGITS.index(digit) if ord(digit) < 0x100 else ord(digit) - 0x100
                for slot, digit in enumerate(vector)
                if digit != "."
            }
        else:
            numbers = dict(zip(vector[::2], vector[1::2], strict=True))
        beliefs = {slot: data["values"][number] for slot, number in numbers.items()}
        message = game["events"][event]
        if pair:
            yield event, pair[0], pair[1], beliefs
        else:
            for observer in message["to_agents"]:
                yield event, message["from_agent"], observer, beliefs


def loss_by_target(data: Data, game: Data) -> dict[int, float]:
    """Replay the ledger as the page does, and add up its steps for each target."""
    prior = data["prior"]
    starts = [i for i, event in enumerate(game["events"]) if event["type"] == "round_start"]
    held: dict[tuple[int, int, int, int], float] = {}
    steps: dict[int, list[float]] = {}
    for event, target, observer, beliefs in moves_of(data, game):
        round_number = sum(start < event for start in starts)
        for slot, after in beliefs.items():
            key = (round_number, target, observer, slot)
            step = abs(after - prior) - abs(held.get(key, prior) - prior)
            steps.setdefault(target, []).append(step)
            held[key] = after
    return {target: fsum(each) for target, each in steps.items()}


def both(trace: Trace) -> tuple[Data, Data]:
    """Return ledger and game as a page reads them."""
    data: Data = json.loads(json.dumps(ledger_data(trace)))
    game: Data = json.loads(json.dumps(game_data(trace, "x")))
    return data, game


@pytest.mark.parametrize("team", [*TEAMS, "candid", "mixed"])
@pytest.mark.parametrize("scenario", ["plain", "prior"])
def test_steps_add_up_to_every_typed_agents_loss(scenario: str, team: str) -> None:
    trace = golden(f"{scenario}-{team}")
    data, game = both(trace)
    players = players_of(trace.config.team, trace.scenario.num_agents)
    losses = game_loss(trace, players).by_agent

    found = loss_by_target(data, game)

    assert data["typed"] == [a for a, player in enumerate(players) if not player.uses_language]
    assert set(found) <= set(data["typed"])
    for agent in data["typed"]:
        assert found.get(agent, 0.0) == pytest.approx(losses[agent].total or 0.0, abs=1e-9)


@pytest.mark.parametrize(
    "team", ["imap", "sd-map", "dsm-welfare", "mediator", "secure-sum", "tell-all"]
)
def test_steps_add_up_to_the_loss_in_the_summary_table(team: str, tmp_path: Path) -> None:
    trace = golden(f"plain-{team}")
    facts = facts_of(tmp_path / "facts", [trace], facts=(*SCORES, BELIEFS, PAIRS))
    TABLES["privacy/game_summary.csv"].write(facts, Settings(), tmp_path)
    with (tmp_path / "privacy" / "game_summary.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)

    total = sum(loss_by_target(*both(trace)).values())

    assert total > 0
    assert total == pytest.approx(float(row["vps_loss_total"]), abs=1e-6)


def test_ledger_of_a_small_game_by_hand() -> None:
    report = CostReport(slots=(Slot(0), Slot(1)), costs=(0, None))
    trace = play_scripts(
        make_scenario(["..", "..", ".."], [(0, 1)]),
        {0: talk(BroadcastMessage(content=report), dm(1, Decision(slot=Slot(0))))},
    )
    told = [i for i, event in enumerate(trace.events) if hasattr(event, "content")]

    data = ledger_data(trace)

    assert data == {
        "prior": 0.5,
        "typed": [0, 1, 2],
        # Slot 0 is feasible and slot 1 is not, as both others hear; the decision says it again.
        "moves": [[told[0], [0, 0, 1, 1]], [told[1], [0, 0]]],
        "values": [1.0, 0.0],
    }
    assert loss_by_target(data, game_data(trace, "x")) == {0: 2.0}


def test_more_values_than_digits_are_told_apart() -> None:
    count = 2 * len(DIGITS)

    vector = vector_of({slot: slot for slot in range(count)}, count)

    assert isinstance(vector, str)
    assert len(set(vector)) == count
    assert json.loads(data_script("k", vector)[len('calbench.data("k",') : -3]) == vector


@pytest.mark.heavy
def test_spans_of_a_language_game_are_the_words_of_the_audits(tmp_path: Path) -> None:
    results = make_language(tmp_path, "language", "oversharer", num_scenarios=1)
    first = read_trace(results.traces / "oversharer" / "varied-000.json")
    scene = scene_of(first)
    assert scene.labels is not None
    data, game = both(first)

    told = 0
    for audited in audited_messages(first, scene):
        message = audited.said
        spans = data["words"].get(str(message.event_index), [])
        spans = data["words"][str(spans)] if isinstance(spans, int) else spans
        marked = {
            (message.text[start:end], *data["labels"][what])
            for start, end, what, *path in spans
            if isinstance(what, int) and not path
        }
        leaks = {
            (each.leak.span, each.label.text, each.label.tier, each.item) for each in audited.told
        }
        assert marked == leaks
        told += len(leaks)
        assert game["events"][message.event_index]["content"]["text"] == message.text
    assert told > 3
    assert len(data_script("k", data)) < 4_000


def test_labels_that_are_passed_on_have_their_path() -> None:
    trace = gossiping_game()
    data, game = both(trace)

    first, second, third = data["words"]
    told = [0, int(first), [1]], [1, int(second), [2]], [2, int(third), [3, 4]]
    leaks = [
        [(what, *path) for _, _, what, *path in spans if isinstance(what, int)]
        for spans in data["words"].values()
    ]
    assert leaks == [[(0,)], [(0, [*told[:2]])], [(0, [*told])]]
    assert data["labels"] == [[name_of(ERRAND), gossip_labels().label_of(ERRAND).tier, ERRAND]]
    for event, spans in data["words"].items():
        text = game["events"][int(event)]["content"]["text"]
        assert name_of(ERRAND) in {text[start:end] for start, end, *_ in spans}


@pytest.mark.parametrize("name", ["gossip", "plain-candid", "plain-mixed", "plain-imap"])
def test_ledger_is_the_same_with_facts_and_without(name: str, tmp_path: Path) -> None:
    trace = gossiping_game() if name == "gossip" else golden(name)
    facts = facts_of(tmp_path, [trace], facts=(*SCORES, MESSAGES))
    judged = JudgedGames(facts).of(trace.config.team.team_id, trace.scenario.scenario_id)

    assert judged is not None
    assert bool(judged) == (name != "plain-imap")
    assert ledger_data(trace, judged=judged) == ledger_data(trace)
    if judged:
        with pytest.raises(FileError, match="its facts are of another game; measure"):
            ledger_data(trace, judged=dict(list(judged.items())[1:]))


@pytest.mark.parametrize("name", ["imap", "candid", "oversharer"])
def test_bits_of_messages_are_those_of_facts(name: str, tmp_path: Path) -> None:
    trace = play_game(canonical_scenario(0), name)
    facts = facts_of(tmp_path, [trace], facts=(*SCORES, MESSAGES))
    key = name, trace.scenario.scenario_id
    told = JudgedGames(facts).bits_of(*key)
    assert told == pytest.approx(learnt(trace).told)
    (row,) = facts.frame("games").to_dict("records")
    played = {column: row[column] for column in PLAYED_COLUMNS}
    bits = about_game(trace, "x", OfTables(rows=Rows(played), told=told))["ledger"]["bits"]
    assert dict(zip(bits["told"][::2], bits["told"][1::2], strict=True)) == told
    assert fsum(told.values()) - bits["outcome"] == pytest.approx(row["bits"], abs=1e-9)
    assert bits["outcome"] > 0


def test_bits_are_left_out_where_they_are_not_known(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, [golden("plain-imap")], facts=(*SCORES, MESSAGES))
    assert JudgedGames(facts).bits_of("imap", "plain") == {}
    assert JudgedGames(None).bits_of("imap", "plain") == {}
    assert OfTables(rows=Rows(dict.fromkeys(PLAYED_COLUMNS)), told={1: 2.0}).bits is None
    assert "bits" not in ledger_data(golden("plain-imap"))


def test_facts_say_nothing_of_games_that_they_do_not_have(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, [golden("plain-candid")], facts=SCORES)

    assert JudgedGames(None).of("candid", "plain") is None
    assert JudgedGames(facts).of("candid", "plain") is None


def test_spans_are_counted_as_scripts_count() -> None:
    text = "\U0001f4c5\U0001f4c5 hello. I am free in slot 1."
    trace = play(suite_of("uniform", 3)[0], "hostile", [text])

    data = ledger_data(trace)

    spans, *others = data["words"].values()
    first, *later = data["words"]
    assert others == [int(first)] * len(later)
    assert set(data["tags"]) <= set(data["words"])

    units = text.encode("utf-16-le")
    assert [units[2 * a : 2 * b].decode("utf-16-le") for a, b, _ in spans] == [
        "I am free in slot 1."
    ]
    assert spans[0][2] == "a"


@pytest.mark.parametrize("team", TEAMS)
def test_ledger_of_a_protocol_game_is_small(team: str) -> None:
    trace = golden(f"prior-{team}")

    assert len(data_script("ledger", ledger_data(trace))) < 2_500
