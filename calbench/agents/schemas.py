"""JSON Schemas of replies, for models that can be held to one.

They use what constrained decoders share: every key required and no other, enumerations
for slots and ids, bounded lists, no references. What they allow, the parser reads. Only for
servers that know lists with a schema for each place (``prefixItems``) can they say that a
batch ends with its one ``schedule``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calbench.agents.envelope import FIELDS, KEYS
from calbench.agents.reflection import MOST_CHANGE
from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId
from calbench.domain.messages import CHANNELS, Channel
from calbench.domain.observations import CHEAP_TALK, DECISION, Briefing, Observation

MOST_MESSAGES = 8
"""Messages in one reply that a schema allows [C]: a small model left to itself never stops."""

MOST_MOVES = 3
"""Moves before the ``schedule`` of a batch, where a schema counts them [C]: each number of
moves is a separate alternative."""

Schema = dict[str, Any]


def envelope_schema(view: Briefing | Observation, *, is_counted: bool = False) -> Schema:
    """Return the schema of a reply.

    An observation allows what its phase does, with the ids that exist: messages over the
    open channels, moves of the agent's movable items, this meeting only. A briefing
    allows what any phase of the game does, with any integer as id.
    """
    if isinstance(view, Briefing):
        slots = range(view.num_slots)
        talk = message_schemas(view.agent_id, view.agent_ids, open_channels(view.channels))
        moves = [_reschedule(slots, INTEGER), _schedule(slots, INTEGER)]
        return envelope_of([*talk, *moves], MOST_MESSAGES)
    if view.phase is CHEAP_TALK:
        is_open = open_channels(view.channels)
        if not isinstance(view.meeting, Meeting) and "participant_groupchat" in is_open:
            is_open.remove("participant_groupchat")
        return envelope_of(message_schemas(view.agent_id, view.agent_ids, is_open), MOST_MESSAGES)
    return _batch_schema(view, is_counted)


def _batch_schema(observation: Observation, is_counted: bool) -> Schema:
    slots = range(len(observation.calendar))
    movable = [item.item_id for item in observation.calendar if item and item.is_movable]
    actions = [_reschedule(slots, one_of(movable))] if movable else []
    most = len(movable)
    if observation.phase is DECISION:
        schedule = _schedule(slots, one_of([observation.meeting.meeting_id]))
        if is_counted:
            moves = range(min(most, MOST_MOVES) + 1)
            return replying({"anyOf": [places([*actions * n, schedule]) for n in moves]})
        actions.append(schedule)
        most += 1
    return envelope_of(actions, most)


def reflection_schema(agent_ids: Iterable[AgentId], me: AgentId, num_slots: int) -> Schema:
    """Return the schema of the answer to a reflection."""
    change = one_of(range(-MOST_CHANGE, MOST_CHANGE + 1))
    changes = {"type": "array", "items": change, "minItems": num_slots, "maxItems": num_slots}
    others = {str(agent): changes for agent in agent_ids if agent != me}
    return _object({"beliefs": _object(others)})


def finding_schema(flags: Iterable[str], label_ids: Iterable[str]) -> Schema:
    """Return the schema of the answer of a reader of one message."""
    label_id: Schema = {"type": "string", "enum": list(label_ids)}
    leak = _object({"label_id": label_id, "words": TEXT})
    leaks: Schema = {"type": "array", "items": leak}
    if not label_id["enum"]:
        leaks = {
            "type": "array",
            "items": _object({"label_id": TEXT, "words": TEXT}),
            "maxItems": 0,
        }
    return _object({**{name: {"type": "boolean"} for name in flags}, "leaks": leaks})


INTEGER: Schema = {"type": "integer"}
"""Any integer."""

TEXT: Schema = {"type": "string"}
"""Any text."""


def one_of(values: Iterable[int]) -> Schema:
    """Return the schema of an integer that is one of some."""
    return {"type": "integer", "enum": [int(value) for value in values]}


def _object(properties: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def envelope_of(actions: Sequence[Schema], most: int, thinking: Schema = TEXT) -> Schema:
    """Return the schema of a reply with at most so many of some actions, in any order."""
    items = {"anyOf": list(actions)} if actions else TEXT
    listed = {"type": "array", "items": items, "maxItems": most if actions else 0}
    return replying(listed, thinking)


def replying(actions: Schema, thinking: Schema = TEXT) -> Schema:
    """Return the schema of a reply whose list of actions has a schema."""
    return _object(dict(zip(KEYS, (thinking, actions), strict=True)))


def places(items: Sequence[Schema]) -> Schema:
    """Return a list of exactly these. ``items: false`` would say so too, but breaks llama.cpp."""
    count = len(items)
    return {"type": "array", "prefixItems": list(items), "minItems": count, "maxItems": count}


def action_schema(kind: str, values: Mapping[str, Schema]) -> Schema:
    """Return the schema of a type of action; a field without a schema of its own is a text."""
    fields = {key: values.get(key, TEXT) for key in FIELDS[kind]}
    return _object({"type": {"type": "string", "enum": [kind]}, **fields})


def message_schemas(
    me: AgentId,
    agent_ids: Iterable[AgentId],
    channels: Iterable[Channel],
    content: Schema = TEXT,
) -> list[Schema]:
    """Return the schema of a message over each channel, to other agents.

    Without any other there is no direct message: no server takes an empty list of choices.
    """
    others = [agent for agent in agent_ids if agent != me]
    return [
        action_schema(channel, {"to": one_of(others), "content": content})
        for channel in channels
        if others or channel != "dm"
    ]


def _schedule(slots: range, meeting: Schema) -> Schema:
    return action_schema("schedule", {"meeting_id": meeting, "slot": one_of(slots)})


def _reschedule(slots: range, item: Schema) -> Schema:
    slot = one_of(slots)
    return action_schema("reschedule", {"item_id": item, "from_slot": slot, "to_slot": slot})


def open_channels(channels: frozenset[Channel]) -> list[Channel]:
    """Return the open channels in their fixed order."""
    return [channel for channel in CHANNELS if channel in channels]
