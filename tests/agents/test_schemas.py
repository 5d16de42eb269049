"""What a schema allows is read, and nothing of it is refused for its shape or place.

Since v2 what it allows, and what examples show, is a legal batch.
"""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calbench.agents.envelope import Read, parse_envelope
from calbench.agents.prompts import load_prompts
from calbench.agents.prompts.messages import EXAMPLE_ITEM, example_of
from calbench.agents.prompts.templates import versions
from calbench.agents.reflection import parse_reflection
from calbench.agents.schemas import (
    LONGEST_TEXT,
    MOST_MOVES,
    MOST_PAIRED,
    Schema,
    envelope_schema,
    reflection_schema,
    tied_schema,
)
from calbench.domain.actions import CalendarAction, Reschedule, Schedule, Turn
from calbench.domain.calendars import Errand, HiddenMeeting, Item, Meeting
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.messages import CHANNELS, Channel
from calbench.domain.observations import Briefing, Observation, Phase
from calbench.domain.rules import Applied, Rejection, apply_batch
from tests.agents.replies import ACTIONS, DM, GROUP, RESCHEDULE, SCHEDULE, allowed_by, completion
from tests.agents.scripted.observed import briefings, observations
from tests.effort import examples
from tests.factories import calendar
from tests.golden.prompts.samples import AGENTS, OUTSIDE, briefing, observation
from tests.llm.dialects.dialect import schemas_within

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


@given(view=observations(*Phase), data=st.data())
def test_what_the_schema_of_v1_allows_is_read(view: Observation, data: st.DataObject) -> None:
    schema = envelope_schema(view, is_counted=data.draw(st.booleans()))
    value = data.draw(allowed_by(schema))
    for action in value["actions"]:
        if "justification" in action:
            action["justification"] += "."  # which strict modes cannot refuse to leave out
    assert accepts(schema, value)
    turn_of(value)


LISTS = {"0": [0, -3], "2": [3, 1], "3": [0, 0], "4": [0, 0]}
CHANCES = {"0": [0, 100], "2": [50, 7], "3": [99, 1], "4": [10, 0]}


@pytest.mark.parametrize(
    ("answer", "edition"), [({"beliefs": LISTS}, 1), ({"beliefs": LISTS, "occupied": CHANCES}, 3)]
)
def test_schema_of_a_reflection_fits_its_parser(answer: dict[str, Any], edition: int) -> None:
    schema = reflection_schema(AGENTS, AGENTS[1], 2, has_chances=edition > 2)
    assert list(schema["properties"]) == list(answer)
    assert accepts(schema, answer)
    found = parse_reflection(completion(json.dumps(answer)), AGENTS, AGENTS[1], 2, edition)
    assert isinstance(found, Read)
    assert found.recovered is None
    chances = {agent: tuple(values) for agent, values in CHANCES.items()}
    assert found.value.occupied == (chances if "occupied" in answer else None)
    for name, lists in answer.items():
        assert not accepts(schema, {key: answer[key] for key in answer if key != name})
        assert not accepts(schema, answer | {name: lists | {"1": [0, 0]}})
        for odd in ([0], [0, 101], [-4, 0], [0, 0, 0], [0, 0.5], [0, True]):
            assert not accepts(schema, answer | {name: lists | {"0": odd}})


COMMON = {"type", "properties", "required", "additionalProperties", "enum", "anyOf", "items"}
COMMON |= {"minItems", "maxItems"}
MOST = COMMON | {"prefixItems", "pattern", "maxLength"}  # what llama.cpp knows beside them
TOLD = [observation(phase) for phase in Phase]


SCHEMAS = [
    *((envelope_schema(view), COMMON) for view in TOLD),
    (reflection_schema(AGENTS, AGENTS[0], 16), COMMON),
    (reflection_schema(AGENTS, AGENTS[0], 16, has_chances=True), COMMON),
    *((tied_schema(view, is_into_free=into), COMMON) for view in TOLD for into in (False, True)),
    *(
        (tied_schema(view, is_counted=True, max_tokens=256, is_into_free=into), MOST)
        for view in TOLD
        for into in (False, True)
    ),
]


@pytest.mark.parametrize(("schema", "known"), SCHEMAS, ids=range(len(SCHEMAS)))
def test_schemas_hold_nothing_but_what_their_decoders_know(schema: Schema, known: set[str]) -> None:
    for each in schemas_within(schema):
        assert each.keys() <= known
        if each.get("type") == "object":
            assert each["required"] == list(each["properties"])
            assert each["additionalProperties"] is False


NEW = [version for version in versions() if version != "v1"]

IN_THE_WAY = re.compile(
    r"Two actions target slot|.* is moved twice in one batch$|Slot \d+ is not free"
)
"""What is refused of a batch that a schema allows: actions that get in each other's way."""


def turn_of(value: object) -> Turn:
    found = parse_envelope(completion(json.dumps(value)))
    assert isinstance(found, Read), found
    assert found.recovered is None
    turn: Turn = found.value
    return turn


def batch_of(value: object) -> list[CalendarAction]:
    actions = turn_of(value).actions
    assert all(isinstance(action, Schedule | Reschedule) for action in actions)
    return [action for action in actions if isinstance(action, Schedule | Reschedule)]


def meeting_of(view: Observation) -> Meeting | None:
    return view.meeting if isinstance(view.meeting, Meeting) else None


INTO_FREE = pytest.mark.parametrize("is_into_free", [False, True], ids=["v2", "v3"])


@INTO_FREE
@settings(max_examples=examples(60))
@given(view=observations(Phase.DECISION), data=st.data())
def test_counted_batch_that_a_schema_allows_is_legal_and_since_v3_moves_one_item_at_most(
    is_into_free: bool, view: Observation, data: st.DataObject
) -> None:
    schema = tied_schema(view, is_counted=True, is_into_free=is_into_free)
    value = data.draw(allowed_by(schema))
    assert accepts(schema, value)
    assert accepts(tied_schema(view, is_counted=True), value)
    schedule, *moves = batch_of(value)
    assert isinstance(schedule, Schedule)
    found = apply_batch(view.calendar, [schedule, *moves], meeting_of(view))
    movable = [item for item in view.calendar if item is not None and item.is_movable]
    if None in view.calendar and (len(moves) < 2 or len(movable) <= MOST_PAIRED):
        assert isinstance(found, Applied)
        assert bool(moves) == (view.calendar[schedule.slot] is not None)
    elif isinstance(found, Rejection):
        assert IN_THE_WAY.match(found.conflict), found.conflict
    if is_into_free:
        assert isinstance(found, Applied) == (None in view.calendar)
        assert len(moves) < 2


@given(view=observations(Phase.DECISION, Phase.VOLUNTARY), is_counted=st.booleans())
def test_every_single_move_into_a_free_slot_is_allowed_since_v3(
    view: Observation, is_counted: bool
) -> None:
    schema = tied_schema(view, is_counted=is_counted, is_into_free=True)
    free = [slot for slot, item in enumerate(view.calendar) if item is None]
    for slot, item in enumerate(view.calendar):
        for to in free if item is not None and item.is_movable else []:
            assert item is not None
            named = {"item_id": item.item_id, "from_slot": slot, "to_slot": to}
            batch: list[object] = [
                {"type": "reschedule", **named, "justification": "It suits all."}
            ]
            if view.phase is Phase.DECISION:
                meeting_id = view.meeting.meeting_id
                batch.insert(0, {"type": "schedule", "meeting_id": meeting_id, "slot": slot})
            assert accepts(schema, reply(*batch))


@INTO_FREE
@given(view=observations(Phase.DECISION, Phase.VOLUNTARY), data=st.data())
def test_batch_in_any_order_has_items_where_they_stand_and_since_v3_moves_into_free_slots(
    is_into_free: bool, view: Observation, data: st.DataObject
) -> None:
    schema = tied_schema(view, is_into_free=is_into_free)
    for text in ("is asked for", "."):
        value = data.draw(allowed_by(schema))
        for action in value["actions"]:
            if "justification" in action:
                action["justification"] = text
        assert accepts(schema, value)
        assert accepts(tied_schema(view), value)
        for action in batch_of(value):
            if isinstance(action, Reschedule):
                item = view.calendar[action.from_slot]
                assert item is not None
                assert item.is_movable
                assert item.item_id == action.item_id
                target = view.calendar[action.to_slot]
                assert action.to_slot != action.from_slot
                assert target is None or (target.is_movable and not is_into_free)
            else:
                assert action.meeting_id == view.meeting.meeting_id


@given(view=observations(Phase.CHEAP_TALK), data=st.data())
def test_messages_that_a_schema_allows_reach_others_that_exist(
    view: Observation, data: st.DataObject
) -> None:
    value = data.draw(allowed_by(tied_schema(view)))
    turn_of(value)
    assert len(value["actions"]) <= len(view.agent_ids) - 1 + 2
    for action in value["actions"]:
        assert action["type"] in view.channels
        assert action.get("to", 1) in view.agent_ids[1:]
        is_inside = not isinstance(view.meeting, HiddenMeeting)
        assert is_inside or action["type"] != "participant_groupchat"


def test_schema_ties_each_item_to_its_slot() -> None:
    view = observation(Phase.DECISION)
    schedule = {"type": "schedule", "meeting_id": 3, "slot": 7}
    move = {
        "type": "reschedule",
        "item_id": 104,
        "from_slot": 6,
        "to_slot": 0,
        "justification": "x",
    }

    def allows(*actions: object) -> bool:
        value = {"thinking": "", "actions": list(actions)}
        return accepts(tied_schema(view, is_counted=True), value)

    assert allows(schedule)
    taken = schedule | {"slot": 6}
    assert allows(taken, move)
    assert allows(taken, move | {"to_slot": 2}, move | {"item_id": 101, "from_slot": 2})
    for odd in ({"from_slot": 5}, {"item_id": 102}, {"to_slot": 6}, {"to_slot": 3}, {"to_slot": 2}):
        assert not allows(taken, move | odd), odd
    for odd in ({"slot": 6}, {"slot": 3}, {"meeting_id": 2}):
        assert not allows(schedule | odd), odd
    assert not allows(schedule, move)
    assert not allows(move, taken)
    assert not allows(taken, move | {"justification": " "})


def test_texts_are_bounded_where_tokens_are_counted() -> None:
    def reply(thinking: int, content: int) -> object:
        message = {"type": "dm", "to": 1, "content": "x" * content}
        return {"thinking": "x" * thinking, "actions": [message]}

    view = observation()
    small = tied_schema(view, is_counted=True, max_tokens=256)
    assert accepts(small, reply(256, 128))
    assert not accepts(small, reply(257, 1))
    assert not accepts(small, reply(1, 129))
    assert accepts(tied_schema(view, is_counted=True, max_tokens=4096), reply(LONGEST_TEXT, 500))
    assert accepts(tied_schema(view, max_tokens=256), reply(5000, 5000))


def test_schema_of_a_full_calendar_still_is_one() -> None:
    for view in (
        observation(Phase.DECISION, calendar=calendar("B1B1")),
        observation(Phase.DECISION, calendar=calendar("B1E1")),
        observation(Phase.DECISION, calendar=calendar("E1E1")),
        observation(Phase.VOLUNTARY, calendar=calendar("B1E1"), meeting=OUTSIDE),
    ):
        for is_counted in (False, True):
            jsonschema.Draft202012Validator.check_schema(tied_schema(view, is_counted=is_counted))


def examples_in(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"thinking"')]


WORKED = re.compile(
    r"^How a batch .*, as (?:item (\d+) in )?slot (\d+), .*?(?:such as (\d+))?\.$", re.MULTILINE
)


def worked(view: Observation) -> list[tuple[Schedule, list[Reschedule]]]:
    """Return the decisions that ``v3`` works in words on an agent's own calendar."""
    text = load_prompts("v3").message(view._replace(labels={}, refusals=(), attempt=0))
    assert not examples_in(text)  # what can be carried out is copied
    found = []
    for item, shown, to in WORKED.findall(text):
        slot = Slot(int(shown))
        moves = [Reschedule(ErrandId(int(item)), slot, Slot(int(to)), "It suits.")] if item else []
        found.append((Schedule(view.meeting.meeting_id, slot), moves))
    return found


@given(view=observations(Phase.DECISION), data=st.data())
def test_worked_decision_is_legal_on_the_agents_own_calendar(
    view: Observation, data: st.DataObject
) -> None:
    view = view._replace(agent_id=data.draw(st.sampled_from(view.agent_ids)))
    shown = worked(view)
    assert len(shown) == (None in view.calendar)
    errands = [item for item in view.calendar if isinstance(item, Errand) and item.is_movable]
    for schedule, moves in shown:
        batch: list[CalendarAction] = [schedule, *moves]
        assert isinstance(apply_batch(view.calendar, batch, meeting_of(view)), Applied)
        assert len(moves) == bool(errands)
        for move in moves:  # a placed meeting would break if one agent alone moved it
            assert move.item_id in {errand.item_id for errand in errands}


@pytest.mark.parametrize(
    ("kinds", "slots"),
    [
        ("....", [0, 1, 2, 3, 0]),  # free ones, where nothing can be moved
        (".B.B", [0, 2, 0, 2, 0]),
        (".E1E1E1", [1, 2, 3, 1, 2]),
        ("E1", []),
        (".", [0, 0, 0, 0, 0]),
    ],
)
def test_worked_decisions_lead_agents_apart_where_they_can(kinds: str, slots: list[int]) -> None:
    view = observation(Phase.DECISION, calendar=calendar(kinds))
    shown = [worked(view._replace(agent_id=agent)) for agent in AGENTS]
    assert [schedule.slot for found in shown for schedule, _ in found] == slots


@pytest.mark.parametrize("version", sorted({*NEW} - {"v3"}))
@given(told=briefings(), place=st.integers(0, 5))
def test_examples_are_of_the_game_and_legal_in_their_phase(
    version: str, told: Briefing, place: int
) -> None:
    told = told._replace(agent_id=AgentId(place))
    replies = examples_in(load_prompts(version).system(told))
    shown = example_of(told)
    kinds = [[action["type"] for action in reply["actions"]] for reply in replies]
    assert [len(kind) for kind in kinds[1:]] == [1, 2][: 1 if told.num_slots == 1 else 2]
    for reply in replies:
        turn_of(reply)
        for action in reply["actions"]:
            slots = {value for key, value in action.items() if key.endswith("slot")}
            assert slots <= set(range(told.num_slots))
            assert 1 <= action.get("meeting_id", 1) <= told.num_meetings
            assert action.get("to", place + 1) != place
            named = [int(number) for number in re.findall(r"\d+", action.get("content", ""))]
            assert set(named) <= {shown.first, shown.second}
    meeting = Meeting(MeetingId(told.num_meetings), told.agent_ids, 1)
    view = observation(Phase.DECISION, meeting=meeting, calendar=(None,) * told.num_slots)
    talk = view._replace(
        phase=Phase.CHEAP_TALK,
        channels=told.channels,
        agent_id=told.agent_id,
        agent_ids=told.agent_ids,
    )
    assert accepts(tied_schema(talk), replies[0])
    assert accepts(tied_schema(view, is_counted=True), replies[1])
    for reply in replies[2:]:
        items: list[Item | None] = [None] * told.num_slots
        items[shown.second] = Errand(EXAMPLE_ITEM, 1, blocked=False)
        held = view._replace(calendar=tuple(items))
        assert accepts(tied_schema(held, is_counted=True), reply)
        assert isinstance(apply_batch(held.calendar, batch_of(reply), meeting), Applied)


@given(num_slots=st.integers(1, 60), num_agents=st.integers(2, 20))
def test_examples_of_two_agents_name_different_slots(num_slots: int, num_agents: int) -> None:
    told = briefing(num_slots=num_slots)._replace(agent_ids=tuple(map(AgentId, range(num_agents))))
    firsts = [example_of(told._replace(agent_id=agent)).first for agent in told.agent_ids]
    assert len(set(firsts)) == min(num_slots, num_agents)


@pytest.mark.parametrize("version", NEW)
@given(view=observations(Phase.DECISION, Phase.VOLUNTARY))
def test_what_can_be_moved_is_listed_and_nothing_else(version: str, view: Observation) -> None:
    if version != "v2" and view.phase is Phase.DECISION:
        view = view._replace(attempt=view.attempt or 1)  # the first question lists nothing
    text = load_prompts(version).message(view._replace(labels={}, conflict="none"))
    listed = {
        (int(item), int(slot)) for item, slot in re.findall(r"item (\d+) in slot (\d+)", text)
    }
    assert listed == {
        (item.item_id, slot)
        for slot, item in enumerate(view.calendar)
        if item is not None and item.is_movable
    }
    assert bool(listed) != bool(re.search(r"(?:Movable|these|a free slot): nothing\.", text))
    free = ", ".join(str(slot) for slot, item in enumerate(view.calendar) if item is None)
    assert re.search(rf"(?:Free|Valid) slots: {free or 'none'}[.;]", text)


@given(view=observations(Phase.CHEAP_TALK).filter(lambda view: meeting_of(view) is not None))
def test_free_slots_are_listed_at_the_start_of_a_round_since_v3(view: Observation) -> None:
    text = load_prompts("v3").message(view._replace(labels={}, inbox=()), is_first=True)
    free = ", ".join(str(slot) for slot, item in enumerate(view.calendar) if item is None)
    assert f"\nFree slots: {free or 'none'}.\n" in text


def test_recipient_of_an_example_is_the_next_agent() -> None:
    shown = [example_of(briefing("dm", agent=agent)).recipient for agent in AGENTS]
    assert shown == [1, 2, 3, 4, 0]


@pytest.mark.parametrize("version", NEW)
@pytest.mark.parametrize("channels", [("dm",), CHANNELS])
def test_agent_alone_reads_of_no_recipient_and_has_no_direct_message(
    version: str, channels: tuple[Channel, ...]
) -> None:
    told = briefing(*channels)._replace(agent_ids=AGENTS[:1])
    example = examples_in(load_prompts(version).system(told))[0]
    assert example["actions"] == []
    view = observation(Phase.CHEAP_TALK)._replace(
        agent_id=AGENTS[0], agent_ids=AGENTS[:1], channels=frozenset(channels)
    )
    for schema in (tied_schema(view), envelope_schema(view)):
        assert accepts(schema, example)
        assert '"enum": []' not in json.dumps(schema)
        assert '"dm"' not in json.dumps(schema)
