"""Page data of the trace browser says what the trace says, in less space."""

import json
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.analysis.summary import KIND_WORDS
from calbench.report.escape import data_script, script_json
from calbench.report.games.game import (
    packed_game,
    scenario_data,
    team_kind,
)
from calbench.report.games.packing import ALPHABET, column
from calbench.traces.models import Kind, Seat
from calbench.traces.storage import trace_bytes
from tests.report.by_event import event_data, game_data
from tests.report.samples import HALF_CHARACTERS, HOSTILE_TEXTS, play, suite_of
from tests.report.unpacking import unpacked, unpacked_events

ALPHABET_SIZE = len(ALPHABET)


def test_game_data_keeps_every_event_at_its_place() -> None:
    trace = play(suite_of("varied", 3)[2], "imap")
    data = game_data(trace, "varied")

    assert [event["type"] for event in data["events"]] == [event.type for event in trace.events]
    assert data["scenario_key"] == "varied/varied-002"
    assert data["kind"] == "protocol"


def test_batches_of_game_data_lead_to_the_final_calendars() -> None:
    trace = play(suite_of("varied", 3)[1], "imap")
    data = game_data(trace, "varied")

    calendars = {}
    for event in data["events"]:
        if event["type"] == "batch_applied":
            calendars[event["agent_id"]] = event["calendar"]
    for agent, calendar in calendars.items():
        assert tuple(calendar) == trace.final_state.calendars[agent]


@pytest.mark.parametrize("team", ["imap", "silent", "first-free", "tell-all"])
def test_page_data_of_a_protocol_game_stays_small(team: str) -> None:
    trace = play(suite_of("varied", 3)[0], team)

    size = len(data_script("games/x/y/z", packed_game(trace, "varied"), "calbench.packed"))

    assert size < 15_000
    assert 4 * size < len(trace_bytes(trace))
    assert len(data_script("s", scenario_data(trace.scenario))) < 8_000


@pytest.mark.parametrize("team", ["imap", "silent", "mediator", "secure-sum", "hostile"])
def test_packed_events_are_those_of_the_game(team: str) -> None:
    trace = play(suite_of("varied", 3)[0], team)

    packed = json.loads(script_json(orjson.loads(orjson.dumps(packed_game(trace, "varied")))))

    assert unpacked_events(packed["events"]) == json.loads(
        json.dumps(game_data(trace, "varied")["events"])
    )


@given(st.lists(st.none() | st.integers(-3, 3) | st.text(max_size=2) | st.just((1, 2)), min_size=1))
def test_column_holds_its_values(values: list[Any]) -> None:
    held = json.loads(json.dumps(column(values)))

    assert unpacked(held, len(values)) == json.loads(json.dumps(values))


def test_more_kinds_of_values_than_letters_are_told_one_by_one() -> None:
    values = list(range(ALPHABET_SIZE + 1))

    assert column(values * 3) == values * 3
    assert column(values[1:] * 3) != values[1:] * 3


def slow_script(key: str, value: Any) -> bytes:
    return f"calbench.data({script_json(key)},{script_json(value)});\n".encode("ascii")


@given(st.text() | st.recursive(st.text() | st.integers(), st.lists))
def test_quick_script_says_what_the_slow_one_does(value: Any) -> None:
    assert data_script("a/b", value) == slow_script("a/b", value)


@pytest.mark.parametrize("value", [HALF_CHARACTERS, 2**70, {"<&>": "</script>\u2028"}])
def test_quick_script_bears_what_is_no_plain_json(value: Any) -> None:
    assert data_script("a/b", value) == slow_script("a/b", value)


def test_slots_are_left_out_only_where_a_message_names_all_of_them() -> None:
    trace = play(suite_of("varied", 3)[0], "imap")
    reports = [
        event for event in trace.events if event.type == "dm_sent" and event.content.kind == "costs"
    ]

    assert "slots" not in event_data(reports[0], trace.scenario.num_slots)["content"]
    assert "slots" in event_data(reports[0], trace.scenario.num_slots + 1)["content"]


def test_hostile_texts_survive_as_data_and_nothing_else() -> None:
    texts = (*HOSTILE_TEXTS[:-1], HALF_CHARACTERS)
    trace = play(suite_of("uniform", 3)[0], "hostile", texts)

    script = data_script("key", game_data(trace, "uniform")).decode("ascii")

    assert "<" not in script
    value = json.loads(script.removeprefix('calbench.data("key",').removesuffix(");\n"))
    said = [event["content"]["text"] for event in value["events"] if event["type"] == "dm_sent"]
    assert set(said) == set(texts)
    reasons = {
        action["justification"]
        for event in value["events"]
        if event["type"] == "batch_rejected"
        for action in event["actions"]
        if action["type"] == "reschedule"
    }
    assert reasons == {texts[0]}


def test_kinds_of_mixed_teams_are_named_together() -> None:
    seats = [Seat(player="a", kind="model"), Seat(player="b", kind="scripted")]

    assert team_kind(seats) == "language models and scripted agents"


def test_every_kind_of_player_has_a_name() -> None:
    assert set(KIND_WORDS) == set(get_args(Kind))
    assert team_kind([Seat(player="a", kind="custom")]) == "custom agents"


def test_no_prompt_reaches_page_data() -> None:
    trace = play(suite_of("uniform", 3)[0], "imap")

    text = json.dumps(game_data(trace, "uniform"))

    assert "prompt" not in text
