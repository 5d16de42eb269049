"""The published JSON Schema of traces."""

import json
from functools import cache
from typing import Any

import pytest

from calbench import play_game
from calbench.domain.messages import CHANNELS
from calbench.scenarios.difficulty import completed
from calbench.traces.events import Event
from calbench.traces.storage import trace_bytes, trace_schema
from tests.cli.runs import edited
from tests.engine.scripts import (
    Lines,
    book,
    broadcast,
    decide,
    dm,
    game_config,
    group,
    move,
    play_scripts,
    seal,
    talk,
    volunteer,
)
from tests.engine.speakers import rich_trace
from tests.factories import make_scenario

jsonschema = pytest.importorskip("jsonschema")

(SCENARIO,) = completed(
    (make_scenario(["..E2.", "E...", ".B..", "...E3"], [(0, 1, 2), (3, 1)], prior=[((0, 1), 1)]),)
)


@cache
def played(team: str) -> bytes:
    return trace_bytes(play_game(SCENARIO, team, channels=CHANNELS))


@cache
def validator() -> Any:
    schema = trace_schema()
    return jsonschema.validators.validator_for(schema)(schema)


def problems(trace: bytes) -> list[str]:
    return [error.message for error in validator().iter_errors(json.loads(trace))]


def test_schema_is_a_valid_json_schema_of_the_stated_draft() -> None:
    schema = trace_schema()
    known = jsonschema.validators.validator_for(schema, default=None)
    assert known is jsonschema.Draft202012Validator
    known.check_schema(schema)


@pytest.mark.parametrize(
    "team", ["imap", "tell-all", "mediator", "secure-sum", "first-free", "silent"]
)
def test_played_trace_fits_the_schema(team: str) -> None:
    assert problems(played(team)) == []


def test_trace_with_every_kind_of_action_fits_the_schema() -> None:
    lines: dict[int, Lines] = {
        0: {
            talk(): [dm(3), group(), broadcast(), dm(0), seal()],
            decide(): [move(101, 2, 3), book(1, 2)],
        },
        1: {talk(): [seal()], decide(): [move(4, 1, 2), book(9, 9)]},
        2: {talk(): [seal()]},
        3: {volunteer(): [move(104, 3, 0)]},
    }
    trace = play_scripts(SCENARIO, lines, game_config(mediator=True)).trace
    kinds = {event.type for event in trace.events}
    every = {kind.__dataclass_fields__["type"].default for kind in Event.__args__}
    assert every - kinds <= {
        "chances_stated",
        "reflection",
        "reply_note",
        "game_halted",
        "consistency_violation",
        "batch_withheld",
    }
    assert problems(trace_bytes(trace)) == []


def test_trace_of_language_agents_fits_the_schema() -> None:
    trace = rich_trace({decide(2, round_index=1): "provider_fault"})
    assert {"reflection", "reply_note", "game_halted"} <= {event.type for event in trace.events}
    assert problems(trace_bytes(trace)) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("schema_version",), 2),
        (("surprise",), 1),
        (("game_id",), "x"),
        (("scenario", "num_slots"), "4"),
        (("scenario", "surprise"), 1),
        (("scenario", "calendars", 0, 2, "cost"), -1),
        (("config", "limits", "max_turns_per_round"), 0),
        (("config", "channels"), ["telepathy"]),
        (("events", 0, "seed"), "0"),
        (("events", 0, "surprise"), 1),
        (("events", 0, "type"), "game_stop"),
        (("final_state", "cost_by_agent"), [-1]),
        (("started_at",), "now"),
    ],
)
def test_schema_refuses_what_the_reader_refuses(place: tuple[str | int, ...], value: Any) -> None:
    assert problems(edited(played("imap"), (place, value)))


def test_schema_describes_the_scenario_that_a_trace_carries() -> None:
    definitions = trace_schema()["$defs"]
    assert {"ErrandEntry", "MeetingEntry", "PriorMeetingEntry"} <= set(definitions)
    assert definitions["Scenario"]["additionalProperties"] is False
