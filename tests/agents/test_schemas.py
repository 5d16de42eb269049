"""What a schema allows is read, and nothing of it is refused for its shape or place."""

import json
from typing import Any

import pytest

from calbench.agents.envelope import Read, parse_envelope
from calbench.agents.reflection import parse_reflection
from calbench.agents.schemas import MOST_MOVES, envelope_schema, reflection_schema
from calbench.domain.messages import CHANNELS
from calbench.domain.observations import Observation, Phase
from tests.agents.replies import ACTIONS, DM, GROUP, RESCHEDULE, SCHEDULE, completion
from tests.golden.prompts.samples import AGENTS, OUTSIDE, briefing, observation

jsonschema = pytest.importorskip("jsonschema")


def accepts(schema: dict[str, Any], value: object) -> bool:
    jsonschema.Draft202012Validator.check_schema(schema)
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


def reply(*actions: object) -> dict[str, object]:
    return {"thinking": "", "actions": list(actions)}


def allowed(view: Observation) -> set[str]:
    schema = envelope_schema(view)
    return {str(a["type"]) for a in ACTIONS if accepts(schema, reply(a))}


@pytest.mark.parametrize(
    ("view", "types"),
    [
        (observation(), set(CHANNELS)),
        (observation(channels=frozenset({"dm"})), {"dm"}),
        (observation(channels=frozenset()), set()),
        (observation(meeting=OUTSIDE), {"dm", "all_agent_groupchat"}),
        (observation(Phase.VOLUNTARY), {"reschedule"}),
        (observation(Phase.DECISION), {"reschedule", "schedule"}),
        (observation(Phase.DECISION, calendar=(None,) * 8), {"schedule"}),
        (observation(Phase.VOLUNTARY, calendar=(None,) * 8), set()),
    ],
    ids=range(8),
)
def test_schema_allows_what_the_phase_does(view: Observation, types: set[str]) -> None:
    assert allowed(view) == types
    assert accepts(envelope_schema(view), reply())


@pytest.mark.parametrize(
    "odd",
    [
        SCHEDULE | {"slot": 11},
        SCHEDULE | {"slot": -1},
        SCHEDULE | {"slot": True},
        SCHEDULE | {"meeting_id": 1},
        SCHEDULE | {"extra": 1},
        RESCHEDULE | {"item_id": 102},
        RESCHEDULE | {"item_id": 999},
        {"type": "schedule", "slot": 1},
    ],
    ids=str,
)
def test_schema_of_a_decision_refuses_what_cannot_be(odd: dict[str, object]) -> None:
    schema = envelope_schema(observation(Phase.DECISION))
    assert accepts(schema, reply(SCHEDULE, RESCHEDULE))
    assert not accepts(schema, reply(odd))


def test_counted_batch_is_some_moves_and_then_its_one_meeting() -> None:
    schema = envelope_schema(observation(Phase.DECISION), is_counted=True)
    for moves in range(MOST_MOVES + 1):
        assert accepts(schema, reply(*[RESCHEDULE] * moves, SCHEDULE))
    for odd in (
        [],
        [RESCHEDULE],
        [SCHEDULE, RESCHEDULE],
        [SCHEDULE, SCHEDULE],
        [*[RESCHEDULE] * (MOST_MOVES + 1), SCHEDULE],
        [SCHEDULE | {"slot": 11}],
    ):
        assert not accepts(schema, reply(*odd)), odd


def test_counted_batch_of_an_agent_that_can_move_nothing_is_its_meeting_alone() -> None:
    view = observation(Phase.DECISION, calendar=(None,) * 8)
    schema = envelope_schema(view, is_counted=True)
    assert accepts(schema, reply(SCHEDULE))
    assert not accepts(schema, reply(RESCHEDULE, SCHEDULE))


@pytest.mark.parametrize("phase", [Phase.CHEAP_TALK, Phase.VOLUNTARY])
def test_only_decisions_are_counted(phase: Phase) -> None:
    view = observation(phase)
    assert envelope_schema(view, is_counted=True) == envelope_schema(view)


def test_schema_names_other_agents_only() -> None:
    schema = envelope_schema(observation())
    assert not accepts(schema, reply(DM | {"to": 0}))
    assert not accepts(schema, reply(DM | {"to": 5}))
    assert not accepts(schema, reply(*[GROUP] * 9))


def test_schema_of_a_game_allows_every_phase() -> None:
    schema = envelope_schema(briefing(*CHANNELS))
    assert accepts(schema, reply(*ACTIONS))
    assert not accepts(schema, reply(SCHEDULE | {"slot": 16}))


def test_what_a_schema_allows_is_read() -> None:
    for view in (observation(), observation(Phase.DECISION)):
        schema = envelope_schema(view)
        value = reply(*(a for a in ACTIONS if accepts(schema, reply(a))))
        assert accepts(schema, value)
        assert isinstance(parse_envelope(completion(json.dumps(value))), Read)


def test_schema_of_a_reflection_fits_its_parser() -> None:
    schema = reflection_schema(AGENTS, AGENTS[1], 2)
    lists = {"0": [0, -3], "2": [3, 1], "3": [0, 0], "4": [0, 0]}
    assert accepts(schema, {"beliefs": lists})
    text = json.dumps({"beliefs": lists})
    assert isinstance(parse_reflection(completion(text), AGENTS, AGENTS[1], 2), Read)
    odd_lists: list[list[float]] = [[0], [0, 4], [0, 0, 0], [0, 0.5], [0, True]]
    for odd in odd_lists:
        assert not accepts(schema, {"beliefs": {**lists, "0": odd}})
    assert not accepts(schema, {"beliefs": lists | {"1": [0, 0]}})


def test_schemas_hold_nothing_but_what_decoders_share() -> None:
    def walk(node: object) -> None:
        if isinstance(node, dict):
            if node.get("type") == "object":
                assert node["required"] == list(node["properties"])
                assert node["additionalProperties"] is False
            known = {"$ref", "oneOf", "const", "pattern", "maxLength", "prefixItems"}
            assert not known & set(node)
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    for phase in Phase:
        walk(envelope_schema(observation(phase)))
    walk(envelope_schema(briefing(*CHANNELS)))
    walk(reflection_schema(AGENTS, AGENTS[0], 16))
