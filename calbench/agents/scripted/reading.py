"""Reads prompts back into what they say: the one module that may, for all versions.

Untrusted text (labels, the words of others) is escaped inside a line, never at its beginning.
Every pattern is tied to the beginning of a line, so nothing that agents write can pass for the
environment. What does not match is absent, never an error: a speaker must be able to answer any
thread.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from calbench.domain.calendars import Booking, Calendar, Errand, HiddenMeeting, Item, Meeting
from calbench.domain.ids import AgentId, ErrandId, ItemId, MeetingId
from calbench.domain.messages import CHANNELS, Channel

Kind = Literal[
    "round_start", "outsider", "turn", "voluntary", "decision", "retry", "reflection", "unknown"
]
"""Which message builder a user message comes from (appendix A.3, Table 4)."""

_LABEL = r"(?: private_label='(?P<label>.*)')?$"
_MEETING = r"Meeting M(?P<meeting>\d+) \(cost=(?P<price>-?\d+)\)"
_PEOPLE = r" participants=\[(?P<people>[\d, ]*)\]"
# e.g. "Slot  3: [FREE]", "Slot 12: Blocked Errand #102 (cost=1)"; not "Slot 3: free"
_SLOT_LINE = re.compile(
    r"Slot +(?P<slot>\d+): "
    r"(?:\[FREE\]$"
    r"|(?P<blocked>Blocked )?Errand #(?P<errand>\d+) \(cost=(?P<cost>-?\d+)\)"
    + _LABEL
    + "|"
    # A group may have one name only once.
    + _MEETING
    + _PEOPLE
    + _LABEL.replace("label>", "title>")
    + ")"
)
# e.g. "Meeting to schedule: Meeting M4 (cost=2)"; not "Slot  3: Meeting M4 (cost=2)"
_MEETING_LINE = re.compile(
    r"(?:Meeting to schedule: |The agents of another meeting are negotiating: |The talk about )"
    + _MEETING
    + rf"(?:{_PEOPLE} duration=1 slot{_LABEL})?"
)
# e.g. '- [dm] from agent 2: "Slot 3?"'; not '- [dm] from: "agent 2: Slot 3?"'
_MESSAGE_LINE = re.compile(
    r"- \[(?P<channel>[a-z_]+)\] from (?:agent (?P<sender>\d+)|the mediator)"
    r"(?: \(read late: sent about meeting M(?P<about>\d+), in an earlier round\))?: (?P<said>.*)$"
)
# e.g. "=== ROUND 2 START ===", "=== ROUND 2: CHEAP_TALK ==="; not "=== ROUND 2 ==="
_HEADER = re.compile(r"=== ROUND (?P<round>\d+)(?P<title> START|: [A-Z_ ,0-9]+) ===$")
# e.g. ": DECISION, RETRY 1 OF 3"; not ": DECISION"
_RETRY = re.compile(r": DECISION, RETRY (\d+) OF (\d+)$")
# e.g. "CHEAP_TALK turn budget: turn 2 of 15. 13 turn(s) remain"; not "13 turn(s) remain"
_BUDGET = re.compile(r"CHEAP_TALK turn budget: turn (\d+) of \d+\. (\d+) turn\(s\) remain")
# e.g. "Your batch was rejected, and nothing of it was carried out. Conflict: slot 3 is blocked";
# but not "Conflict: slot 3 is blocked"
_CONFLICT = re.compile(
    r"Your batch was rejected, and nothing of it was carried out\. Conflict: (.*)$"
)
# e.g. "Other agents: 0, 2"; not "Other agents: 0 and 2"
_OTHERS = re.compile(r"Other agents: ([\d, ]*)$")
# e.g. "Integers for each agent: 6, for slots 0 to 5 in this order"; not "for each agent: 6"
_LENGTH = re.compile(r"Integers for each agent: (\d+), for slots 0 to \d+ in this order$")
_CHANCES = '- "occupied", from 0 to 100: '
_KINDS: Final[Mapping[str, Kind]] = {
    " START": "round_start",
    ": A MESSAGE REACHED YOU": "outsider",
    ": CHEAP_TALK": "turn",
    ": VOLUNTARY": "voluntary",
    ": DECISION": "decision",
    ": MEASUREMENT": "reflection",
}

# e.g. "You are agent 1. The agents of this game are 0, 1, 2."; not "You are agent 1 of 3."
_IDENTITY = re.compile(
    r"^You are agent (\d+)\. The agents of this game are ([\d, ]*)\.$", re.MULTILINE
)
# e.g. "- Slots in every calendar: 6, numbered 0 to 5."; not "Slots in every calendar: 6"
_SLOTS = re.compile(r"^- Slots in every calendar: (\d+), numbered 0 to \d+\.$", re.MULTILINE)
# e.g. '- `{"type": "dm", "to": <agent id>}`'; not '- `{"type": "schedule", "slot": <int>}`'
_TOOL = re.compile(r'^- `\{"type": "(' + "|".join(CHANNELS) + r')", ', re.MULTILINE)


class Rules(NamedTuple):
    """What a speaker heeds of its system prompt: who it is among whom, slots, open channels."""

    agent_id: AgentId
    agent_ids: tuple[AgentId, ...]
    num_slots: int
    channels: frozenset[Channel]


class Heard(NamedTuple):
    """One inbox line.

    ``sender`` is absent for the mediator; ``about`` is the meeting of a message that was read
    late; ``text`` is absent if a protocol spoke, in JSON.
    """

    sender: AgentId | None
    channel: str
    about: MeetingId | None
    text: str | None


@dataclass(slots=True, kw_only=True)
class Reading:
    """What one user message says; everything else is absent.

    Attributes:
        kind: the builder it comes from.
        round_index: number of the round, from 0.
        meeting: the meeting under discussion; a :class:`HiddenMeeting` for outsiders.
        calendar: the agent's own calendar, one entry a slot.
        labels: private labels by item id.
        turn_index: sweep of the talk, from 0.
        turns_left: sweeps that can follow.
        inbox: new messages, in order.
        attempt: number of the retry, 0 for a first batch.
        conflict: why the last batch was rejected.
        others: whom a reflection asks about.
        num_slots: integers a reflection asks for, for each of them.
        asks_chances: whether it asks for the chances that slots are occupied as well.
    """

    kind: Kind = "unknown"
    round_index: int | None = None
    meeting: Meeting | HiddenMeeting | None = None
    calendar: Calendar = ()
    labels: dict[ItemId, str] = field(default_factory=dict)
    turn_index: int | None = None
    turns_left: int | None = None
    inbox: tuple[Heard, ...] = ()
    attempt: int = 0
    conflict: str | None = None
    others: tuple[AgentId, ...] = ()
    num_slots: int | None = None
    asks_chances: bool = False


@lru_cache(maxsize=64)
def read_briefing(text: str) -> Rules | None:
    """Return the rules of a system prompt, ``None`` if it is not one of ours.

    A variant follows the base prompt, so the first of each line is the environment's.
    """
    facts = text.find("\n## Identity\n")
    identity, slots = (pattern.search(text, max(0, facts)) for pattern in (_IDENTITY, _SLOTS))
    if facts < 0 or identity is None or slots is None:
        return None
    tools = set(_TOOL.findall(text[text.find("\n## Tools\n") : facts]))
    return Rules(
        agent_id=AgentId(int(identity[1])),
        agent_ids=_ids(identity[2]),
        num_slots=int(slots[1]),
        channels=frozenset(name for name in CHANNELS if name in tools),
    )


def round_of(text: str) -> int | None:
    """Return the round that a user message belongs to, from 0, without reading the rest."""
    header = _HEADER.match(text.partition("\n")[0])
    return None if header is None else int(header["round"]) - 1


@lru_cache(maxsize=256)
def read_message(text: str) -> Reading:
    """Return what a user message says."""
    first, *lines = text.split("\n")
    header = _HEADER.match(first)
    if header is None:
        return Reading()
    result = Reading(round_index=int(header["round"]) - 1)
    if retry := _RETRY.match(header["title"]):
        result.kind, result.attempt = "retry", int(retry[1])
    else:
        result.kind = _KINDS.get(header["title"], "unknown")
    items: list[Item | None] = []
    inbox: list[Heard] = []
    for line in lines:
        if line.startswith("Slot "):
            entry = _slot_entry(line)
            if entry is not None and entry.slot == len(items):
                items.append(entry.item)
                if entry.item is not None and entry.label is not None:
                    result.labels[entry.item.item_id] = entry.label
        elif line.startswith("- ["):
            if (message := _heard(line)) is not None:
                inbox.append(message)
        else:
            _read_line(line, result)
    result.calendar = tuple(items)
    result.inbox = tuple(inbox)
    return result


def _read_line(line: str, result: Reading) -> None:
    if match := _BUDGET.match(line):
        result.turn_index = int(match[1]) - 1
        result.turns_left = int(match[2])
    elif match := _MEETING_LINE.match(line):
        _read_meeting(match, result)
    elif match := _CONFLICT.match(line):
        result.conflict = match[1]
    elif match := _OTHERS.match(line):
        result.others = _ids(match[1])
    elif match := _LENGTH.match(line):
        result.num_slots = int(match[1])
    elif line.startswith(_CHANCES):
        result.asks_chances = True


def _read_meeting(match: re.Match[str], result: Reading) -> None:
    meeting_id, cost = MeetingId(int(match["meeting"])), int(match["price"])
    if match["people"] is None:
        result.meeting = HiddenMeeting(meeting_id, cost)
        return
    result.meeting = Meeting(meeting_id, _ids(match["people"]), cost)
    if match["label"] is not None:
        result.labels[meeting_id] = _unescaped(match["label"])


class _SlotEntry(NamedTuple):
    """A line of a calendar."""

    slot: int
    item: Item | None
    label: str | None


@lru_cache(maxsize=4096)
def _slot_entry(line: str) -> _SlotEntry | None:
    """Read a line of a calendar: most are as they were in the last message."""
    match = _SLOT_LINE.match(line)
    if match is None:
        return None
    item: Item | None = None
    label: str | None = None
    if match["errand"] is not None:
        item = Errand(ErrandId(int(match["errand"])), int(match["cost"]), bool(match["blocked"]))
        label = match["label"]
    elif match["meeting"] is not None:
        meeting_id = MeetingId(int(match["meeting"]))
        item = Booking(Meeting(meeting_id, _ids(match["people"]), int(match["price"])))
        label = match["title"]
    return _SlotEntry(int(match["slot"]), item, None if label is None else _unescaped(label))


@lru_cache(maxsize=4096)
def _heard(line: str) -> Heard | None:
    match = _MESSAGE_LINE.match(line)
    if match is None:
        return None
    sender, about, said = match["sender"], match["about"], match["said"]
    try:
        text = json.loads(said) if said.startswith('"') else None
    except ValueError:
        text = None
    return Heard(
        None if sender is None else AgentId(int(sender)),
        match["channel"],
        None if about is None else MeetingId(int(about)),
        text,
    )


def _unescaped(label: str) -> str:
    """Return a label as it was before it was quoted; unchanged if that cannot be done."""
    if "\\" not in label and '"' not in label:
        return label  # most are plain
    try:
        text = json.loads('"' + re.sub(r"\\(.)|\"", _as_json, label) + '"')
    except ValueError:
        return label
    return str(text)


def _as_json(match: re.Match[str]) -> str:
    if match[0] == '"':
        return '\\"'
    return "'" if match[1] == "'" else match[0]


def _ids(text: str) -> tuple[AgentId, ...]:
    return tuple([AgentId(int(number)) for number in re.findall(r"\d+", text)])


@lru_cache(maxsize=256)
def own_words(reply: str) -> tuple[tuple[str, AgentId | None, str], ...]:
    """Return (channel, recipient of a direct message, text) of a speaker's earlier reply.

    Raises nothing: a reply that is not an envelope said nothing.
    """
    try:
        envelope = json.loads(reply)
    except (ValueError, RecursionError):
        return ()
    actions = envelope.get("actions") if isinstance(envelope, dict) else None
    words: list[tuple[str, AgentId | None, str]] = []
    for action in actions if isinstance(actions, list) else ():
        if isinstance(action, dict) and action.get("type") in CHANNELS:
            content, to = action.get("content"), action.get("to")
            if isinstance(content, str):
                recipient = AgentId(to) if isinstance(to, int) else None
                words.append((action["type"], recipient, content))
    return tuple(words)
