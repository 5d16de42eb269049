"""Values as lines of a prompt. No value can break out of its line.

Labels and the words of other agents are untrusted: they are quoted on one line with every
line break, control or invisible character escaped, so they cannot look like a line of the
environment.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache

from calbench.domain.actions import Action
from calbench.domain.calendars import Booking, Calendar, HiddenMeeting, Item, Meeting
from calbench.domain.canonical import canonical_json
from calbench.domain.ids import AgentId, ItemId, MeetingId
from calbench.domain.messages import Content, Message, Text
from calbench.domain.observations import Refusal

LONGEST_ECHO = 200
"""Characters of an own refused message that are shown again [C]."""

Labels = Mapping[ItemId, str]


def printable(text: str) -> str:
    """Return a text on one line: what cannot be printed is escaped as in JSON."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


_ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Made once; ``json.dumps`` would make one for every message."""


def quoted(text: str) -> str:
    """Return a text as a JSON string on one line."""
    return printable(_ENCODER.encode(text))


def label(text: str) -> str:
    """Return a private label between single quotes, on one line."""
    inside = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"private_label='{printable(inside)}'"


def numbers(values: Iterable[int]) -> str:
    """Return integers as ``0, 2, 4``."""
    return ", ".join(str(value) for value in values)


def calendar_lines(calendar: Calendar, labels: Labels) -> str:
    """Return one line a slot, in the format of appendix A.1."""
    width = max(2, len(str(len(calendar) - 1)))
    texts = [
        "[FREE]" if item is None else _item(item, labels.get(item.item_id)) for item in calendar
    ]
    return "\n".join([f"Slot {slot:>{width}}: {text}" for slot, text in enumerate(texts)])


@lru_cache(maxsize=4096)
def _item(item: Item, private: str | None) -> str:
    """Return what is in a slot: most is as it was in the message before."""
    if isinstance(item, Booking):
        meeting = item.meeting
        people = numbers(meeting.participants)
        text = f"Meeting M{meeting.meeting_id} (cost={meeting.cost}) participants=[{people}]"
    else:
        kind = "Blocked Errand" if item.blocked else "Errand"
        text = f"{kind} #{item.errand_id} (cost={item.shown_cost})"
    return text if private is None else f"{text} {label(private)}"


def meeting_line(meeting: Meeting | HiddenMeeting, labels: Labels) -> str:
    """Return the meeting under discussion; an outsider reads its number and cost only."""
    text = f"Meeting M{meeting.meeting_id} (cost={meeting.cost})"
    if isinstance(meeting, HiddenMeeting):
        return text
    # Every meeting takes one slot in this version of the game.
    text += f" participants=[{numbers(meeting.participants)}] duration=1 slot"
    private = labels.get(meeting.meeting_id)
    return text if private is None else f"{text} {label(private)}"


def content_json(content: Content) -> str:
    """Return text as a JSON string, a protocol's speech act as a compact JSON object."""
    if isinstance(content, Text):
        return quoted(content.text)
    return canonical_json(asdict(content))


def message_lines(messages: Iterable[Message], about: MeetingId) -> str:
    """Return one line a message; one read late says which meeting it was about."""
    return "\n".join(_message(message, about) for message in messages)


def _message(message: Message, about: MeetingId) -> str:
    sender = "the mediator" if message.sender is None else f"agent {message.sender}"
    late = ""
    if message.meeting_id != about:
        late = f" (read late: sent about meeting M{message.meeting_id}, in an earlier round)"
    return f"- [{message.channel}] from {sender}{late}: {content_json(message.content)}"


def refusal_lines(refusals: Iterable[Refusal]) -> str:
    """Return one line for each action that was not carried out."""
    return "\n".join(f"- {_action(r.action)}: {printable(r.reason)}" for r in refusals)


def _action(action: Action) -> str:
    """Return an action as its author wrote it; a long text is cut."""
    fields = asdict(action)
    content = getattr(action, "content", None)
    if isinstance(content, Text):
        text = content.text
        fields["content"] = text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}..."
    return printable(json.dumps(fields, ensure_ascii=False))


def belief_shape(others: Iterable[AgentId], num_slots: int) -> str:
    """Return the skeleton of a reflection's answer: ``"1": [slot 0, ..., slot 15], ...``."""
    slots = "slot 0" if num_slots == 1 else f"slot 0, ..., slot {num_slots - 1}"
    return ", ".join(f'"{agent}": [{slots}]' for agent in others)


def free_slots(calendar: Calendar) -> str:
    """Return the free slots of a calendar as ``0, 3, 4``, or ``none``."""
    return numbers(slot for slot, item in enumerate(calendar) if item is None) or "none"


def movable_items(calendar: Calendar) -> str:
    """Return what may be moved, each with its slot: ``item 102 in slot 2; item 103 in slot 5``."""
    found = [
        f"item {item.item_id} in slot {slot}"
        for slot, item in enumerate(calendar)
        if item is not None and item.is_movable
    ]
    return "; ".join(found) or "nothing"


def belief_lengths(others: Iterable[AgentId], num_slots: int) -> str:
    """Return how long each list of a reflection is: ``"1": [16 integers], ...``."""
    return ", ".join(f'"{agent}": [{num_slots} integers]' for agent in others)
