"""Speech acts of typed protocols for a person: partners that play by one read no words."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from calbench import types

FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "cost_request": ("Ask what each slot costs", ()),
    "costs": ("Tell what each slot costs you (- if it cannot be)", ("costs",)),
    "decision": ("Announce the slot", ("slot",)),
    "propose": ("Propose a slot", ("slot",)),
    "reply": ("Answer a proposal", ("slot", "status")),
    "confirm": ("Confirm the slot", ("slot",)),
    "fail": ("Say that no slot is left", ()),
    "reschedule_request": ("Ask to move an old meeting", ("old_meeting_id", "slot")),
    "propose_reschedule": ("Propose its new slot", ("old_meeting_id", "slot", "target")),
    "reschedule_reply": ("Answer that", ("old_meeting_id", "target", "status")),
    "confirm_reschedule": ("Confirm its new slot", ("old_meeting_id", "target")),
    "fail_reschedule": ("Say that it stays", ("old_meeting_id",)),
    "proposals": ("Offer slots", ("plans",)),
    "scores": ("Score each plan offered, 0 (impossible) to 11", ("scores",)),
    "plan_decision": ("Announce a plan", ("plan_id", "slot")),
}
"""What a kind of speech act says, and what one fills in; the rest follows."""

LISTS = ("costs", "plans", "scores")  # of numbers, one for each
KINDS = {"imap": slice(0, 3), "tell-all": slice(1, 2), "sd-map": slice(3, 12), "dsm": slice(12, 15)}
"""Which of them a partner understands, by how its name begins."""


def understood(partners: Iterable[object]) -> tuple[str, ...]:
    """Return the kinds of speech acts that some of these partners understand."""
    names = {str(name) for name in partners}
    ours = [KINDS[each] for each in KINDS if any(name.startswith(each) for name in names)]
    return tuple(dict.fromkeys(kind for each in ours for kind in [*FORMS][each]))


def act_of(kind: str, given: Mapping[str, str], seen: types.Observation) -> dict[str, Any]:
    """Return a speech act as data, from what one filled in; what does not fit is in it as it is.

    Args:
        kind: of ``FORMS``.
        given: by the names there.
        seen: what the person sees: slots are those of its calendar, scores those of the last offer.
    """
    fields = FORMS[kind][1] if kind in FORMS else ()
    data = {name: _read(given.get(name, ""), is_list=name in LISTS) for name in fields}
    said = [_plain(message.content) for message in seen.messages]
    offers = [content["plans"] for content in said if content["kind"] == "proposals"]
    if kind in {"cost_request", "costs"}:
        data["slots"] = [*range(len(seen.calendar))]
    if kind == "scores":
        data["plan_ids"] = [plan["plan_id"] for plan in (offers or [[]])[-1]]
    if kind == "proposals":
        more: dict[str, list[Any]] = {"moves": [], "vacated": []}
        plans = enumerate(data["plans"], sum(map(len, offers)))
        data["plans"] = [{"plan_id": number, "slot": slot, **more} for number, slot in plans]
    if kind == "plan_decision":
        data["moves"] = []
    return {"kind": kind, **data}


def number(text: str) -> int | str:
    """Return what a field says; what is no number stays as it is, and is refused with its name."""
    return int(text) if text.isdecimal() and len(text) < 10 else text  # fits all that a tool takes


def _read(text: str, *, is_list: bool) -> Any:
    each = [None if part == "-" else number(part) for part in text.replace(",", " ").split()]
    return each if is_list else number(text)


def _plain(content: Any) -> dict[str, Any]:
    return asdict(content) if is_dataclass(content) else dict(content)  # type: ignore[arg-type]


def words(content: Any) -> str:
    """Return what is said as a line: its text, or the kind of a speech act with its values."""
    said = _plain(content)
    kind = said.pop("kind")
    if kind == "costs":
        pairs = zip(said["slots"], said["costs"], strict=False)
        each = [f"{slot}: {'-' if cost is None else cost}" for slot, cost in pairs]
        return f"costs of slots {', '.join(each)}"
    return str(said["text"]) if kind == "text" else " ".join([kind, *map(_pair, said.items())])


def _pair(pair: tuple[str, Any]) -> str:
    name, value = pair
    if name == "plans":
        return ", ".join(f"{plan['plan_id']} in slot {plan['slot']}" for plan in value)
    shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else value
    return f"{name.replace('_', ' ')} {shown}"


def own_costs(seen: types.Observation) -> str:
    """Return what giving each slot to a meeting would cost, as one may tell it or not."""
    is_full = None not in seen.calendar  # then nothing has a place to go
    costs = [0 if item is None else item.local_cost for item in seen.calendar]
    return " ".join("-" if is_full or cost is None else str(cost) for cost in costs)
