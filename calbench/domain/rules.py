"""Which batches of calendar actions are legal, and what they do (paper, appendix A.5).

A batch is applied completely or not at all. The conflict texts are part of the game because
agents see them word for word; changing one raises the rules version.
"""

from collections.abc import Sequence

from calbench.domain.actions import CalendarAction, Reschedule, Schedule
from calbench.domain.calendars import Booking, Calendar, Item, Meeting
from calbench.domain.frequent import passing
from calbench.domain.ids import ItemId, Slot

RULES_VERSION = 1
"""Raised by every change of the rules; part of every game id, and enforced by golden traces."""


@passing
class Applied:
    """A batch that was applied.

    Attributes:
        calendar: the calendar after it.
        moved: the items it moved, in the order of the batch.
    """

    calendar: Calendar
    moved: tuple[Item, ...]


@passing
class Rejection:
    """A batch that broke a rule and was not applied."""

    conflict: str


def apply_batch(
    calendar: Calendar, actions: Sequence[CalendarAction], meeting: Meeting | None
) -> Applied | Rejection:
    """Validate a batch against one calendar and apply it.

    Args:
        calendar: the owner's calendar, one entry per slot.
        actions: the batch in the order it was submitted.
        meeting: the meeting that exactly one ``schedule`` must place (DECISION);
            ``None`` if scheduling is not allowed (VOLUNTARY).

    Returns:
        The new calendar, or the first broken rule in the order of appendix A.5.
    """
    moves: list[Reschedule] = []
    schedules: list[Schedule] = []
    for action in actions:
        if isinstance(action, Schedule):
            schedules.append(action)
        else:
            moves.append(action)
    conflict = _out_of_bounds(actions, len(calendar))
    if conflict is None and (moves or len(schedules) > 1):
        conflict = (
            _wrong_item(calendar, moves)
            or _same_target(moves, schedules)
            or _occupied_target(calendar, moves)
        )
    if conflict is None:
        conflict = _wrong_schedules(schedules, meeting)
    if conflict is not None:
        return Rejection(conflict)
    changed = list(calendar)
    items = _carry_out(changed, moves) if moves else ()
    for schedule in schedules:
        slot = schedule.slot
        occupant = changed[slot]
        if occupant is not None:
            return Rejection(
                f"Slot {slot} is not free after the moves: {_name(occupant)} stands there"
            )
        if meeting is not None:
            changed[slot] = Booking(meeting)
    return Applied(tuple(changed), items)


def _carry_out(changed: list[Item | None], moves: Sequence[Reschedule]) -> tuple[Item, ...]:
    """Make legal moves, all at once; return what was moved, in order."""
    items: list[Item] = []
    for move in moves:
        item = changed[move.from_slot]
        if item is not None:
            items.append(item)
        changed[move.from_slot] = None
    for index, item in enumerate(items):
        changed[moves[index].to_slot] = item
    return tuple(items)


def _name(item: Item) -> str:
    return f"Meeting M{item.item_id}" if isinstance(item, Booking) else f"Errand #{item.item_id}"


def _out_of_bounds(actions: Sequence[CalendarAction], num_slots: int) -> str | None:
    """Rule 1: every slot exists."""
    for action in actions:
        if isinstance(action, Schedule):
            if not 0 <= action.slot < num_slots:
                return _outside("schedule: slot", action.slot, num_slots)
        elif not 0 <= action.from_slot < num_slots:
            return _outside("reschedule: from_slot", action.from_slot, num_slots)
        elif not 0 <= action.to_slot < num_slots:
            return _outside("reschedule: to_slot", action.to_slot, num_slots)
    return None


def _outside(what: str, slot: Slot, num_slots: int) -> str:
    return f"{what} {slot} is outside 0..{num_slots - 1}"


def _wrong_item(calendar: Calendar, moves: Sequence[Reschedule]) -> str | None:
    """Rules 2 and 3: the named item is there, movable, moved only once, and with a reason."""
    seen: set[ItemId] = set()
    for move in moves:
        item = calendar[move.from_slot]
        if item is None:
            return f"Slot {move.from_slot} is free: there is no item {move.item_id} to move"
        if item.item_id != move.item_id:
            return f"Slot {move.from_slot} holds {_name(item)}, not item {move.item_id}"
        if not item.is_movable:
            return f"{_name(item)} at slot {move.from_slot} is blocked and cannot be moved"
        if move.item_id in seen:
            return f"{_name(item)} is moved twice in one batch"
        if not move.justification.strip():
            return f"The move of {_name(item)} has no justification"
        seen.add(move.item_id)
    return None


def _same_target(moves: Sequence[Reschedule], schedules: Sequence[Schedule]) -> str | None:
    """Rule 4: no two actions target one slot."""
    targets = [move.to_slot for move in moves] + [schedule.slot for schedule in schedules]
    if len(targets) == len(set(targets)):
        return None
    repeated = next(slot for index, slot in enumerate(targets) if slot in targets[:index])
    return f"Two actions target slot {repeated}"


def _occupied_target(calendar: Calendar, moves: Sequence[Reschedule]) -> str | None:
    """Rule 5: each target is free, or freed by another move of the batch."""
    vacated: set[Slot] | None = None
    for move in moves:
        occupant = calendar[move.to_slot]
        if occupant is not None:
            if vacated is None:  # seldom needed: most targets are free
                vacated = {other.from_slot for other in moves if other.from_slot != other.to_slot}
            if move.to_slot not in vacated:
                return f"Slot {move.to_slot} is not free: {_name(occupant)} stands there"
    return None


def _wrong_schedules(schedules: Sequence[Schedule], meeting: Meeting | None) -> str | None:
    """Rule 6: exactly one schedule of this meeting in DECISION, none in VOLUNTARY."""
    expected = 0 if meeting is None else 1
    if len(schedules) != expected:
        plural = "" if expected == 1 else "s"
        return f"Expected exactly {expected} schedule action{plural}, got {len(schedules)}"
    if meeting is not None and schedules[0].meeting_id != meeting.meeting_id:
        return (
            f"Expected a schedule of meeting {meeting.meeting_id}, "
            f"got meeting {schedules[0].meeting_id}"
        )
    return None
