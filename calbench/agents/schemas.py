"""JSON Schemas of replies, for models that can be held to one.

They use what constrained decoders share: every key required and no other, enumerations
for slots and ids, bounded lists, no references. What they allow, the parser reads. Only for
servers that know lists with a schema for each place (``prefixItems``) can they say that a
batch ends with its one ``schedule``.

Since prompts v2 an item goes with its slot, a slot with what is in it (:func:`tied_schema`). Each
movable item is an alternative of its own with the slot that it is in and the slots that can
take it. Where moves are counted, a pattern bounds their justification, which the grammars of
llama.cpp know. There the slot of the meeting comes first: a model that writes its moves first has
chosen before it says what for. The parser then reads what is allowed but for a blank justification
where moves are not counted, which strict modes cannot refuse. Where they are counted, the rules of
batches refuse nothing of it if few items can be moved, and there is a free slot; else actions may
still get in each other's way.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calbench.agents.envelope import FIELDS, KEYS
from calbench.agents.reflection import MOST_CHANGE
from calbench.domain.calendars import Calendar, Meeting
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import CHANNELS, Channel
from calbench.domain.observations import CHEAP_TALK, DECISION, Observation
from calbench.domain.replies import CERTAIN

MOST_MESSAGES = 8
"""Messages in one reply that a schema allows [C]: a small model left to itself never stops."""

MOST_MOVES = 3
"""Moves before the ``schedule`` of a batch, where a schema counts them [C]: each number of
moves is a separate alternative."""

MOST_CHOICES = 900
"""Choices of chances that a schema enumerates [C]: strict modes bound all of a schema to 1,000."""

Schema = dict[str, Any]


def envelope_schema(view: Observation, *, is_counted: bool = False) -> Schema:
    """Return the schema of a reply.

    It allows what the phase does, with the ids that exist: messages over the open channels, moves
    of the agent's movable items, this meeting only.
    """
    if view.phase is CHEAP_TALK:
        return envelope_of(_messages(view), MOST_MESSAGES)
    slots = range(len(view.calendar))
    movable = [item.item_id for item in view.calendar if item and item.is_movable]
    actions = []
    if movable:
        slot = one_of(slots)
        move = {"item_id": one_of(movable), "from_slot": slot, "to_slot": slot}
        actions.append(action_schema("reschedule", move))
    most = len(movable)
    if view.phase is DECISION:
        schedule = _schedule(slots, one_of([view.meeting.meeting_id]))
        if is_counted:
            moves = range(min(most, MOST_MOVES) + 1)
            return replying({"anyOf": [places([*actions * n, schedule]) for n in moves]})
        actions.append(schedule)
        most += 1
    return envelope_of(actions, most)


def reflection_schema(
    agent_ids: Iterable[AgentId], me: AgentId, num_slots: int, *, has_chances: bool = False
) -> Schema:
    """Return the schema of the answer to a reflection, ``has_chances`` with those in percent."""
    others = [str(agent) for agent in agent_ids if agent != me]
    asked = {"beliefs": one_of(range(-MOST_CHANGE, MOST_CHANGE + 1))}
    if has_chances:
        is_short = len(others) * (CERTAIN + 1) <= MOST_CHOICES
        asked["occupied"] = one_of(range(CERTAIN + 1)) if is_short else INTEGER
    size = {"minItems": num_slots, "maxItems": num_slots}
    lists = {key: {"type": "array", "items": item, **size} for key, item in asked.items()}
    return _object({key: _object(dict.fromkeys(others, own)) for key, own in lists.items()})


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


def _schedule(slots: Iterable[int], meeting: Schema) -> Schema:
    return action_schema("schedule", {"meeting_id": meeting, "slot": one_of(slots)})


MOST_PAIRED = 4
"""Movable items of which each two moves are an alternative of their own [C]: with more of them a
schema would be long."""

LONGEST_TEXT = 1000
"""Characters of a text that is bounded at all [C]: a grammar counts them one by one."""

JUSTIFICATION = "^[A-Za-z0-9]{1,15}( [A-Za-z0-9,.]{1,15}){0,11}$"
"""Form of a justification where moves are counted [C]: one to twelve words of 15 characters."""


def tied_schema(
    view: Observation,
    *,
    is_counted: bool = False,
    max_tokens: int = 0,
    is_into_free: bool = False,
) -> Schema:
    """Return the schema of a reply.

    It allows what the phase does with what is there: messages to agents that exist over the open
    channels, at most one for each of them; moves of the agent's movable items from their own slots
    to slots that are free or hold another movable item; this meeting only, into a slot that is free
    or can be freed.

    Args:
        view: what the agent is told.
        is_counted: whether a batch is its ``schedule`` and then, if its slot is taken, one or two
            moves that free it, for servers that know a schema for each place; otherwise any moves
            may be beside it, in any order.
        max_tokens: of a reply, where ``is_counted``: its thinking has at most as many characters,
            up to :data:`LONGEST_TEXT`, and a message half of that, so that a model which repeats
            itself still comes to an end. 0: texts of any length.
        is_into_free: whether items move into slots that are free now, and no others, as since
            prompts v3: one move is then enough for every batch.
    """
    bound = min(max_tokens, LONGEST_TEXT) if is_counted else 0
    thinking = _text(bound)
    if view.phase is CHEAP_TALK:
        return envelope_of(_messages(view, _text(bound // 2)), _most_messages(view), thinking)
    movable = _movable(view.calendar)
    if view.phase is DECISION and is_counted:
        return replying({"anyOf": _batches(view, movable, is_into_free=is_into_free)}, thinking)
    reach = _within_reach(view.calendar, movable)
    targets = _free(view.calendar) if is_into_free else reach
    actions = [_tied_move(view.calendar, slot, targets) for slot in movable] if targets else []
    if view.phase is DECISION:
        actions.append(_schedule(reach, one_of([view.meeting.meeting_id])))
    return envelope_of(actions, len(actions), thinking)


def _batches(view: Observation, movable: Sequence[Slot], *, is_into_free: bool) -> list[Schema]:
    """Return the batches: the slot first, and only if it is taken, the moves that free it.

    A slot is freed by one move into a free slot, or unless ``is_into_free`` by two, of which the
    second makes room for the first. Without a free slot there is no legal batch.
    """
    calendar, meeting = view.calendar, one_of([view.meeting.meeting_id])
    free = _free(calendar)
    if not free:
        return [places([_schedule(_within_reach(calendar, movable), meeting)])]
    found = [places([_schedule(free, meeting)])]
    for slot in movable:
        move = _tied_move(calendar, slot, free, is_counted=True)
        found.append(places([_schedule([slot], meeting), move]))
    if is_into_free:
        return found
    for firsts, seconds in _pairs(movable):
        moves = [
            {"anyOf": [_tied_move(calendar, slot, targets, is_counted=True) for slot in slots]}
            for slots, targets in ((firsts, seconds), (seconds, free))
        ]
        found.append(places([_schedule(firsts, meeting), *moves]))
    return found


def _pairs(movable: Sequence[Slot]) -> list[tuple[Sequence[Slot], Sequence[Slot]]]:
    """Return which slots are freed by moves into which others, one by one if they are few."""
    if len(movable) > MOST_PAIRED:
        return [(movable, movable)]
    return [([first], [second]) for first in movable for second in movable if first != second]


def _tied_move(
    calendar: Calendar, slot: Slot, targets: Sequence[Slot], *, is_counted: bool = False
) -> Schema:
    """Return the move of the item in a slot to one of several other slots."""
    item = calendar[slot]
    if item is None:
        raise RuntimeError("nothing stands in the slot")
    fields: dict[str, Schema] = {
        "item_id": one_of([item.item_id]),
        "from_slot": one_of([slot]),
        "to_slot": one_of(target for target in targets if target != slot),
    }
    if is_counted:
        fields["justification"] = {"type": "string", "pattern": JUSTIFICATION}
    return action_schema("reschedule", fields)


def _free(calendar: Calendar) -> list[Slot]:
    return [Slot(slot) for slot, item in enumerate(calendar) if item is None]


def _movable(calendar: Calendar) -> list[Slot]:
    """Return the slots of items that can go to another one: none if there is no other."""
    found = [Slot(slot) for slot, item in enumerate(calendar) if item and item.is_movable]
    return found if len(found) > 1 or _free(calendar) else []


def _within_reach(calendar: Calendar, movable: Sequence[Slot]) -> list[Slot]:
    """Return the slots that are free or can be freed; all of them if nothing can be done."""
    found = sorted({*_free(calendar), *movable})
    return found or [Slot(slot) for slot in range(len(calendar))]


def _messages(view: Observation, content: Schema = TEXT) -> list[Schema]:
    """Return the schema of a message over each open channel, to other agents.

    Without any other there is no direct message: no server takes an empty list of choices.
    """
    others = [agent for agent in view.agent_ids if agent != view.agent_id]
    return [
        action_schema(channel, {"to": one_of(others), "content": content})
        for channel in _channels(view)
        if others or channel != "dm"
    ]


def _text(most: int) -> Schema:
    return {**TEXT, "maxLength": most} if most else TEXT


def _channels(view: Observation) -> list[Channel]:
    """Return the open channels that the agent can use, in their fixed order."""
    useless = set() if isinstance(view.meeting, Meeting) else {"participant_groupchat"}
    return [channel for channel in CHANNELS if channel in view.channels - useless]


def _most_messages(view: Observation) -> int:
    """One to each other agent, if that is possible, and one over each channel of a group."""
    channels = _channels(view)
    groups = len([channel for channel in channels if channel != "dm"])
    most = groups + (len(view.agent_ids) - 1 if "dm" in channels else 0)
    return min(most, MOST_MESSAGES)
