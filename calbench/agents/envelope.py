"""The envelope of every reply: ``{"thinking": ..., "actions": [...]}`` (appendix A.5).

One bad action makes the whole reply unreadable: half of a batch is not what its author
wanted. An unreadable reply yields no action [C].
"""

from functools import lru_cache
from typing import Any

from calbench.agents.reading import MisshapenError, Read, check_keys, kind_of, name_of, read_object
from calbench.domain.actions import (
    Action,
    BroadcastMessage,
    DirectMessage,
    ParticipantMessage,
    Reschedule,
    Schedule,
    Turn,
)
from calbench.domain.ids import AgentId, ErrandId, MeetingId, Slot
from calbench.domain.messages import Text
from calbench.domain.replies import Unreadable
from calbench.llm.completion import Completion, well_formed

KEYS = ("thinking", "actions")

FIELDS: dict[str, dict[str, type[int] | type[str]]] = {
    "dm": {"to": int, "content": str},
    "participant_groupchat": {"content": str},
    "all_agent_groupchat": {"content": str},
    "schedule": {"meeting_id": int, "slot": int},
    "reschedule": {"item_id": int, "from_slot": int, "to_slot": int, "justification": str},
}
"""The keys of each type of action beside ``type``, and what they hold (appendix A.2)."""


def parse_envelope(completion: Completion) -> Read[Turn] | Unreadable:
    """Return the turn of a completion, or why there is none.

    The details of an unreadable reply name the place (``actions[1].slot``) and never repeat
    more of the model's text than a shortened key. Texts lose lone surrogates to U+FFFD.
    """
    return _parsed(completion.text, completion.finish_reason, completion.refusal)


@lru_cache(maxsize=256)
def _parsed(
    text: str | None, finish_reason: str | None, refusal: str | None
) -> Read[Turn] | Unreadable:
    """Read a reply; many say only that there is nothing to add."""
    completion = Completion(text=text, finish_reason=finish_reason, refusal=refusal)
    found = read_object(completion, frozenset(KEYS))
    if isinstance(found, Unreadable):
        return found
    try:
        return Read(_turn(found.value), found.recovered, found.place)
    except MisshapenError as error:
        return Unreadable("wrong_shape", str(error))


def _turn(envelope: dict[str, Any]) -> Turn:
    check_keys("reply", envelope, KEYS)
    thinking, actions = envelope["thinking"], envelope["actions"]
    if not isinstance(thinking, str):
        raise MisshapenError(f"thinking: expected a string, got {kind_of(thinking)}")
    if not isinstance(actions, list):
        raise MisshapenError(f"actions: expected a list, got {kind_of(actions)}")
    built = tuple([_action(f"actions[{index}]", entry) for index, entry in enumerate(actions)])
    return Turn(built, well_formed(thinking))


def _action(where: str, entry: object) -> Action:
    if not isinstance(entry, dict):
        raise MisshapenError(f"{where}: expected an object, got {kind_of(entry)}")
    kind = entry.get("type")
    if not isinstance(kind, str):
        got = kind_of(kind) if "type" in entry else "nothing"
        raise MisshapenError(f"{where}.type: expected a string, got {got}")
    fields = FIELDS.get(kind)
    if fields is None:
        raise MisshapenError(f"{where}.type: there is no action {name_of(kind)}")
    check_keys(where, entry, ("type", *fields))
    for key, wanted in fields.items():
        value = entry[key]
        if type(value) is not wanted:  # a boolean is no integer here
            expected = "an integer" if wanted is int else "a string"
            raise MisshapenError(f"{where}.{key}: expected {expected}, got {kind_of(value)}")
    return _build(where, kind, entry)


def _build(where: str, kind: str, entry: dict[str, Any]) -> Action:
    if kind == "schedule":
        return Schedule(meeting_id=MeetingId(entry["meeting_id"]), slot=Slot(entry["slot"]))
    if kind == "reschedule":
        justification = well_formed(entry["justification"])
        if not justification.strip():
            raise MisshapenError(f"{where}.justification: is empty")
        return Reschedule(
            # The number may be a meeting's: the game looks at what is in the slot.
            item_id=ErrandId(entry["item_id"]),
            from_slot=Slot(entry["from_slot"]),
            to_slot=Slot(entry["to_slot"]),
            justification=justification,
        )
    content = Text(text=well_formed(entry["content"]))
    if kind == "dm":
        return DirectMessage(to=AgentId(entry["to"]), content=content)
    if kind == "participant_groupchat":
        return ParticipantMessage(content=content)
    return BroadcastMessage(content=content)
