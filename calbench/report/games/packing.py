"""Events of a game as columns: what repeats itself, names of fields first of all, is told once.

``site/assets/traces/pagedata.js`` turns columns back into events. Events of one type, and of one
kind of content for messages, make one group; a column has one field of a group in the order of its
events:

* ``[...]``: the values; ``null`` and ``false`` are absent;
* ``{"all": value}``: the same for every event;
* ``{"of": [...], "at": "..."}``: few different ones, and a letter of :data:`ALPHABET` for each
  event that says which.

Calendars of batches are told as what changed since the agent's last batch, belief movements as
a letter a slot.
"""

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any

from calbench.domain.ids import AgentId
from calbench.domain.usage import Usage
from calbench.traces.events import BatchApplied, CalendarIds, Event, Reflection

ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
"""Letters that number what there are at most 64 of; also those of postings."""

WHOLE = -1
"""In place of a slot: a whole calendar follows instead of a change."""

MOVES = "abcdefg"
"""Belief movement from -3 to 3 (appendix F), a letter each."""

USAGE = tuple(field.name for field in fields(Usage))

Column = Sequence[Any] | Mapping[str, Any]


def column(values: Sequence[Any]) -> Column:
    """Return values in the shortest of the three forms, judged by how many differ."""
    try:
        different = dict.fromkeys(values)
    except TypeError:  # those of mappings are told one by one
        return values
    if len(different) == 1 and len(values) > 1:
        return {"all": values[0]}
    if len(different) > len(ALPHABET) or 2 * len(different) > len(values):
        return values
    letters = dict(zip(different, ALPHABET, strict=False))
    return {"of": list(different), "at": "".join(map(letters.__getitem__, values))}


def packed_events(
    events: Sequence[Event], num_slots: int, left_out: Mapping[str, frozenset[str]]
) -> dict[str, Any]:
    """Return the events of a game as columns.

    Args:
        events: of one game, in their order.
        num_slots: of its calendars; a message that names all of them need not.
        left_out: fields that are not told, by type of event.

    Returns:
        ``groups`` with the type, kind of content and columns of each, and ``order``, which
        says for every event of which group it is the next one.
    """
    keys = [(type(event), type(getattr(event, "content", None))) for event in events]
    groups: dict[tuple[type, type], list[Event]] = {}
    for key, event in zip(keys, events, strict=True):
        groups.setdefault(key, []).append(event)
    number = {key: place for place, key in enumerate(groups)}
    if len(groups) <= len(ALPHABET):
        letters = {key: ALPHABET[place] for key, place in number.items()}
        order: Any = "".join(map(letters.__getitem__, keys))
    else:
        order = [number[key] for key in keys]
    every_slot = tuple(range(num_slots))
    return {
        "groups": [
            _group(_layout(*key, left_out.get(of_group[0].type, frozenset())), of_group, every_slot)
            for key, of_group in groups.items()
        ],
        "order": order,
    }


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which fields a group tells, and how to take them from an event all at once."""

    type: str
    kind: str | None
    names: tuple[str, ...]
    take: Callable[[Any], tuple[Any, ...]]


@lru_cache(maxsize=256)
def _layout(event: type, content: type, left_out: frozenset[str]) -> _Layout:
    names = [field.name for field in fields(event) if field.name not in left_out | {"type"}]
    kind = None
    if "content" in names:
        names.remove("content")
        names += [f"content.{field.name}" for field in fields(content) if field.name != "kind"]
        kind = next(str(field.default) for field in fields(content) if field.name == "kind")
    tag = next(str(field.default) for field in fields(event) if field.name == "type")
    return _Layout(tag, kind, tuple(names), _taker(names))


def _taker(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda event: tuple(attrgetter(name)(event) for name in names)


def _group(layout: _Layout, events: Sequence[Any], every_slot: tuple[int, ...]) -> list[Any]:
    columns = {}
    values: Sequence[Any]
    for name, values in zip(layout.names, zip(*map(layout.take, events), strict=True), strict=True):
        if name == "content.slots":
            values = [None if slots == every_slot else slots for slots in values]  # noqa: PLW2901
        if _is_absent(values[0]) and all(map(_is_absent, values)):
            continue
        columns[name] = _special(layout.type, name, events, values)
    return [layout.type, layout.kind, columns]


def _is_absent(value: Any) -> bool:
    return value is None or value is False


def _special(type_: str, name: str, events: Sequence[Any], values: Sequence[Any]) -> Column:
    if type_ == "batch_applied" and name == "calendar":
        return list(_changes(events))
    if type_ == "reflection" and name == "delta_by_target":
        return [_movements(event) for event in events]
    if name == "usage":
        rows = [value and [getattr(value, each) for each in USAGE] for value in values]
        return {"names": USAGE, "rows": rows}
    return column(values)


def _changes(batches: Iterable[BatchApplied]) -> Iterator[list[int | None]]:
    """Yield slot and new item of every change, in one flat list for each batch."""
    last: dict[AgentId, CalendarIds] = {}
    for batch in batches:
        before, now = last.get(batch.agent_id, ()), batch.calendar
        last[batch.agent_id] = now
        if len(before) != len(now):
            yield [WHOLE, *now]
        else:
            pairs = enumerate(zip(before, now, strict=True))
            yield [each for slot, (was, item) in pairs if was != item for each in (slot, item)]


def _movements(answer: Reflection) -> dict[str, Any]:
    """Return 0 for targets of whom no belief moved, and a letter a slot for others."""
    return {
        target: (_letters(delta) if any(delta) else 0)
        for target, delta in answer.delta_by_target.items()
    }


def _letters(delta: Sequence[int]) -> str | Sequence[int]:
    if all(-3 <= step <= 3 for step in delta):
        return "".join(MOVES[step + 3] for step in delta)
    return delta
