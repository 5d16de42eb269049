"""Readable builders for tests: calendars as rows of characters, scenarios from rows.

In a row every slot is ``.`` (free), ``E`` (movable errand) or ``B`` (blocked errand); a number
after the letter is its cost, 1 if absent: ``"..E5.B2"`` has five slots.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calbench.domain.actions import CalendarAction
from calbench.domain.calendars import Calendar, Errand, Meeting
from calbench.domain.ids import ErrandId, Slot
from calbench.domain.messages import CostReport
from calbench.domain.rules import Applied, apply_batch
from calbench.scenarios.models import (
    SCHEMA_VERSION,
    ErrandEntry,
    IncomingMeetingEntry,
    MeetingEntry,
    PriorMeetingEntry,
    Scenario,
)
from calbench.scenarios.storage import write_suite

SHOWN_COSTS = {1: 1, 2: 10, 3: 100}
"""What is shown for an accounting cost; other costs are shown as they are."""

Entry = ErrandEntry | MeetingEntry | None


def cells(row: str) -> list[tuple[str, int]]:
    """Split a row into (kind, cost), one per slot."""
    if not re.fullmatch(r"(\.|[EB]\d*)*", row):
        raise ValueError(f"not a calendar row: {row!r}")
    return [(cell[0], int(cell[1:] or 1)) for cell in re.findall(r"\.|[EB]\d*", row)]


def calendar(row: str, *, first_errand_id: int = 101) -> Calendar:
    """Return a calendar as its owner sees it; the numbers in the row are shown costs."""
    items: list[Errand | None] = []
    errand_id = first_errand_id
    for kind, cost in cells(row):
        if kind == ".":
            items.append(None)
        else:
            items.append(Errand(ErrandId(errand_id), cost, kind == "B"))
            errand_id += 1
    return tuple(items)


def entries(row: str, *, first_errand_id: int = 101) -> list[Entry]:
    """Return a calendar as it stands in a suite file; the numbers are accounting costs."""
    result: list[Entry] = []
    errand_id = first_errand_id
    for kind, cost in cells(row):
        if kind == ".":
            result.append(None)
        else:
            result.append(
                ErrandEntry(
                    errand_id=errand_id,
                    cost=cost,
                    shown_cost=SHOWN_COSTS.get(cost, cost),
                    blocked=kind == "B",
                )
            )
            errand_id += 1
    return result


def make_scenario(
    rows: Sequence[str],
    meetings: Iterable[Sequence[int]],
    *,
    prior: Iterable[tuple[Sequence[int], int] | tuple[Sequence[int], int, int]] = (),
    meeting_cost: int = 1,
    **fields: Any,
) -> Scenario:
    """Return a scenario.

    Args:
        rows: one calendar row an agent.
        meetings: participants of each incoming meeting, in speaker order; ids 1, 2, ...
        prior: (participants, slot) or (participants, slot, cost) of each prior meeting, on
            slots that are free in the rows; ids after those of the incoming meetings.
        meeting_cost: cost of every incoming meeting.
        fields: further fields of the scenario, e.g. ``witness={"1": 3}``.
    """
    calendars = [
        entries(row, first_errand_id=101 + sum(len(cells(earlier)) for earlier in rows[:agent]))
        for agent, row in enumerate(rows)
    ]
    speaker_orders = [tuple(speakers) for speakers in meetings]
    prior_meetings: list[PriorMeetingEntry] = []
    for meeting_id, (participants, slot, *cost) in enumerate(prior, len(speaker_orders) + 1):
        entry = PriorMeetingEntry(
            meeting_id=meeting_id,
            participants=tuple(sorted(participants)),
            slot=slot,
            cost=cost[0] if cost else 1,
        )
        prior_meetings.append(entry)
        for agent in participants:
            if calendars[agent][slot] is not None:
                raise ValueError(f"slot {slot} of agent {agent} is not free")
            calendars[agent][slot] = MeetingEntry(meeting_id=meeting_id, cost=entry.cost)
    defaults: dict[str, Any] = {"scenario_id": "test-000", "setting": "test", "seed": 0}
    return Scenario(
        schema_version=SCHEMA_VERSION,
        num_slots=len(calendars[0]),
        calendars=tuple(tuple(entry) for entry in calendars),
        prior_meetings=tuple(prior_meetings),
        meetings=tuple(
            IncomingMeetingEntry(
                meeting_id=number,
                participants=tuple(sorted(speakers)),
                speaker_order=speakers,
                duration=1,
                cost=meeting_cost,
            )
            for number, speakers in enumerate(speaker_orders, start=1)
        ),
        **(defaults | fields),
    )


def suite_file(path: Path, *scenarios: Scenario) -> Path:
    """Write a suite file; tests of adapters and pages have no other name for it."""
    write_suite(path, scenarios)
    return path


def costs_told(costs: Mapping[int, int | None]) -> CostReport:
    """Return what a protocol says that its slots would cost it."""
    return CostReport(slots=tuple(map(Slot, costs)), costs=tuple(costs.values()))


def is_allowed(
    calendar: Calendar, actions: Sequence[CalendarAction], meeting: Meeting | None
) -> bool:
    """Whether the rules accept a batch of moves."""
    return isinstance(apply_batch(calendar, actions, meeting), Applied)


def as_written(document: Any) -> bytes:
    """Return a trace's document laid out as we write it; what UTF-8 cannot hold is escaped."""
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return text.encode(errors="backslashreplace") + b"\n"
