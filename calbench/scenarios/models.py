"""A scenario as it is in a suite file: the public, stable format (one JSON line each).

The models refuse unknown and missing keys and check what play requires: slots in range, ids
unique across kinds, prior meetings on the calendars of exactly their participants.
"""

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from calbench.domain.calendars import Booking, Calendar, Errand, Meeting, item_ids
from calbench.domain.canonical import digest, plain
from calbench.domain.frequent import STRICT, checked
from calbench.domain.ids import AgentId, ErrandId, ItemId, MeetingId, Slot
from calbench.oracle.problem import PriorMeeting, Problem
from calbench.scenarios.bounds import (
    GREATEST_NUMBER,
    MOST_AGENTS,
    MOST_MEETINGS,
    MOST_PRIOR_MEETINGS,
    MOST_SLOTS,
    Size,
)

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 1
"""Version of the suite file; other versions are refused."""

ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""Scenario and team ids become file names."""

One = Annotated[int, Field(ge=1, le=1, json_schema_extra={"const": 1})]
"""Exactly the integer 1; ``Literal[1]`` would accept ``true``."""

Natural = Annotated[int, Field(ge=0, le=GREATEST_NUMBER)]
Positive = Annotated[int, Field(ge=1, le=GREATEST_NUMBER)]

GREATEST_COST = 1_000_000
"""Greatest cost in a file; every sum of costs is then exact in the solver [C]."""

Cost = Annotated[int, Field(ge=0, le=GREATEST_COST)]
"""What one move of an item charges its owner."""

Tertile = Literal["easy", "medium", "hard"]


ENTRY_COLUMNS = {
    "agent_id": ("", "whose calendar it is in, from 0"),
    "slot": ("", "where it is, from 0"),
    "item_id": ("", "of the errand or meeting"),
    "kind": ("", "errand, blocked or meeting"),
    "label": ("", "what it is about, as agents that use language are told"),
    "cost": ("accounting cost", "of moving it; absent if it is blocked"),
    "shown_cost": ("shown cost", "of moving it, as its owner is told; absent if it is blocked"),
}
"""Unit and meaning of what a scenario's frame says of a calendar's entry."""

Plain = Annotated[dict[str, Any], AfterValidator(plain)]
"""Arbitrary keys and values of JSON."""


def is_absent(value: object) -> bool:
    """Whether a field is absent."""
    return value is None


class Model(BaseModel):
    """Base of everything that reaches a file: immutable, strict, without unknown keys."""

    model_config = ConfigDict(frozen=True, **STRICT)


class _Entry:
    """Base of small values in a scenario, which may be given as a dictionary too."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return {**handler(source), "strict": False}  # its fields are strict nevertheless


@checked
class ErrandEntry(_Entry):
    """An errand in a calendar. ``cost`` counts in the accounting, ``shown_cost`` is seen."""

    errand_id: Natural
    cost: Cost
    shown_cost: Cost
    blocked: bool


@checked
class MeetingEntry(_Entry):
    """A prior meeting in the calendar of one of its participants."""

    meeting_id: Positive
    cost: Cost


@checked
class PriorMeetingEntry(_Entry):
    """A meeting from before the game."""

    meeting_id: Positive
    participants: Annotated[tuple[Natural, ...], Field(min_length=1)]
    slot: Natural
    cost: Cost


@checked
class IncomingMeetingEntry(_Entry):
    """A meeting to be scheduled. The first of ``speaker_order`` speaks first."""

    meeting_id: Positive
    participants: Annotated[tuple[Natural, ...], Field(min_length=1)]
    speaker_order: tuple[Natural, ...]
    duration: One
    cost: Cost


class ScheduleEntry(Model):
    """A schedule with what it costs each agent; checked without a solver (section 3.1).

    >>> best: ScheduleEntry = scenario.oracle.best
    >>> best.slots, best.cost
    ({'1': 13, '2': 3, '3': 10, '4': 9, '5': 12}, 3)

    Attributes:
        slots: by meeting, from 0.
        prior_slots: the same of meetings booked before the game.
        cost_by_agent: what each agent pays, in accounting cost.
        cost: their sum, in accounting cost.
        bound: there only if the solver was stopped before it had proven the schedule: by its word,
            no best schedule costs less, and no worst one more, in accounting cost. If that is the
            cost, only the tie-break is open.
    """

    slots: dict[str, Natural]
    prior_slots: dict[str, Natural]
    cost_by_agent: tuple[Natural, ...]
    cost: Natural
    bound: Annotated[Natural | None, Field(exclude_if=is_absent)] = None

    @property
    def gap(self) -> int:
        """How far the cost may be from the extreme one, in accounting units; 0 if proven."""
        return 0 if self.bound is None else abs(self.cost - self.bound)


class OracleEntry(Model):
    """Best and worst complete schedules, and the greedy and witness costs (section 3.1).

    >>> oracle: OracleEntry = scenario.oracle
    >>> oracle.optimal_cost, oracle.worst.cost
    (3, 32)

    Attributes:
        best: the cheapest complete schedule; ``None`` if there is none.
        worst: the dearest one.
        infeasible: why there is none.
        greedy_cost: of the greedy rule's schedule, in accounting cost; ``None`` if it finds
            none.
        witness_cost: of the schedule that proves the scenario feasible, in accounting cost.
        effort: deterministic seconds after which the solver was stopped, if it was.
    """

    best: ScheduleEntry | None
    worst: ScheduleEntry | None
    infeasible: str | None
    greedy_cost: Natural | None
    witness_cost: Natural | None
    effort: Annotated[float | None, Field(exclude_if=is_absent, gt=0)] = None

    @property
    def is_proven(self) -> bool:
        """Whether both schedules are proven, or that there is none."""
        known = (entry for entry in (self.best, self.worst) if entry is not None)
        return all(entry.bound is None for entry in known)

    @property
    def optimal_cost(self) -> int | None:
        """The proven least cost of a complete schedule, if there is one."""
        return None if self.best is None or self.best.gap else self.best.cost


class FractionEstimate(Model):
    """An estimated feasible fraction: unlike an exact one, it lies between two ends with 95%.

    ``draws`` is how many assignments were sampled.
    """

    fraction: Annotated[float, Field(ge=0, le=1)]
    low: Annotated[float, Field(ge=0, le=1)]
    high: Annotated[float, Field(ge=0, le=1)]
    draws: Positive


class DifficultyEntry(Model):
    """Share of injective assignments that satisfy the calendars; lower is harder (section 3).

    ``tertile`` is known only for scenarios of a suite that was cut into tertiles;
    ``reason`` says why a fraction is absent, and ``estimate`` may stand in for it. Of fourteen
    meetings the count is a whole number of more than 64 bits.
    """

    feasible_count: Annotated[int, Field(ge=0)] | None
    feasible_fraction: Annotated[float, Field(ge=0, le=1)] | None
    tertile: Tertile | None
    reason: str | None
    estimate: Annotated[FractionEstimate | None, Field(exclude_if=is_absent)] = None


def _kind_of_entry(entry: object) -> str:
    """Distinguish an errand from a meeting by its id: a wrong entry then gets one clear error."""
    is_meeting = (
        "meeting_id" in entry if isinstance(entry, dict) else isinstance(entry, MeetingEntry)
    )
    return "meeting" if is_meeting else "errand"


SlotEntry = Annotated[
    Annotated[ErrandEntry, Tag("errand")] | Annotated[MeetingEntry, Tag("meeting")],
    Discriminator(_kind_of_entry),
]
CalendarEntry = tuple[SlotEntry | None, ...]


def _refuse(place: str, problem: str) -> PydanticCustomError:
    return PydanticCustomError(
        "scenario", "{place}: {problem}", {"place": place, "problem": problem}
    )


def _sorted_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted_keys(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_sorted_keys(item) for item in value]
    return value


class Scenario(Model):
    """One scenario: private calendars and the stream of meetings to place on them (section 3).

    >>> scenario: Scenario = calbench.load_suite("varied")[0]
    >>> scenario
    Scenario('varied-000', setting='varied', 5 agents, 16 slots, 5 meetings, optimum 3)

    Attributes:
        schema_version: of the suite file.
        scenario_id: its name.
        setting: the group of scenarios over which means are taken.
        seed: of what is random in its games.
        num_slots: slots of every calendar.
        calendars: of every agent: its errands by slot.
        prior_meetings: booked before the game.
        meetings: to be placed, in the order of rounds.
        witness: slots by meeting of a schedule that proves it feasible.
        oracle: best and worst schedules; ``None`` until they are computed.
        difficulty: exact difficulty; ``None`` until it is computed.
        params: of the generator, if there was one.
    """

    schema_version: One
    scenario_id: Annotated[str, Field(pattern=ID_PATTERN)]
    setting: Annotated[str, Field(pattern=ID_PATTERN)]
    seed: Natural
    num_slots: Annotated[int, Field(ge=1, le=MOST_SLOTS)]
    calendars: Annotated[tuple[CalendarEntry, ...], Field(min_length=1, max_length=MOST_AGENTS)]
    prior_meetings: Annotated[tuple[PriorMeetingEntry, ...], Field(max_length=MOST_PRIOR_MEETINGS)]
    meetings: Annotated[tuple[IncomingMeetingEntry, ...], Field(max_length=MOST_MEETINGS)]
    witness: dict[str, Natural] | None = None
    oracle: OracleEntry | None = None
    difficulty: DifficultyEntry | None = None
    params: Plain | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if problem := self.size.problem():
            raise _refuse("calendars", problem)
        self._check_calendars()
        self._check_participants()
        self._check_prior_meetings()
        if self.witness is not None:
            self._check_slots("witness", self.witness, self.meetings)
        self._check_oracle()
        self._check_difficulty()
        return self

    def __repr__(self) -> str:
        """Say it in one line."""
        best = self.oracle and self.oracle.best
        cost = f", optimum {best.cost}" if best else ""
        return (
            f"Scenario({self.scenario_id!r}, setting={self.setting!r}, {self.num_agents} agents, "
            f"{self.num_slots} slots, {len(self.meetings)} meetings{cost})"
        )

    __str__ = __repr__

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each item in a calendar, with its cost in accounting and shown cost.

        Columns: ``agent_id``, ``slot``, ``item_id``, ``kind``, ``label``, ``cost``, ``shown_cost``.
        Their units and meanings are in ``attrs``, as those of a table of results.
        """
        from calbench.scenarios.labels import LABEL_BANK, assign_labels, read_label_bank

        labels = assign_labels(self, read_label_bank(LABEL_BANK)).label_by_item
        rows = []
        for agent, calendar in enumerate(self.shown_calendars):
            for slot, item in enumerate(calendar):
                if item is not None:
                    errand = "errand" if item.is_movable else "blocked"
                    kind = "meeting" if isinstance(item, Booking) else errand
                    costs = self.cost_by_item, self.shown_cost_by_item
                    paid = [each[item.item_id] if item.is_movable else None for each in costs]
                    label = labels[item.item_id].text
                    rows.append((agent, slot, item.item_id, kind, label, *paid))
        return described_frame(rows, ENTRY_COLUMNS, "Every item in a calendar before the game.")

    def _repr_html_(self) -> str:
        """Return the calendars before the game, and the optimum."""
        best = self.oracle and self.oracle.best
        slots = best.slots.items() if best else ()
        words = ", ".join(f"meeting {meeting} in slot {slot}" for meeting, slot in slots)
        optimum = f"<p>Optimum, cost {best.cost}: {words}</p>" if best else ""
        return f"{calendar_table('Before', self, self.shown_ids)}{optimum}"

    def _check_calendars(self) -> None:
        meeting_ids = [meeting.meeting_id for meeting in self.all_meetings]
        if len(set(meeting_ids)) != len(meeting_ids):
            raise _refuse("meetings", f"meeting ids must be unique, got {sorted(meeting_ids)}")
        taken = dict.fromkeys(meeting_ids, "also a meeting's")
        for agent, calendar in enumerate(self.calendars):
            if len(calendar) != self.num_slots:
                raise _refuse(
                    f"calendars.{agent}",
                    f"{len(calendar)} slots, but num_slots is {self.num_slots}",
                )
        for owner, slot, errand in self.errands:
            if errand.errand_id in taken:
                raise _refuse(
                    f"calendars.{owner}.{slot}.errand_id",
                    f"id {errand.errand_id} is {taken[errand.errand_id]}",
                )
            taken[errand.errand_id] = "used twice"

    def _check_participants(self) -> None:
        for position, meeting in enumerate(self.all_meetings):
            index = position - len(self.meetings)
            place = f"meetings.{position}" if index < 0 else f"prior_meetings.{index}"
            if len(set(meeting.participants)) != len(meeting.participants):
                raise _refuse(f"{place}.participants", "an agent is named twice")
            unknown = max(meeting.participants)
            if unknown >= len(self.calendars):
                raise _refuse(f"{place}.participants", f"agent {unknown} has no calendar")
        for number, incoming in enumerate(self.meetings):
            if sorted(incoming.speaker_order) != sorted(incoming.participants):
                raise _refuse(
                    f"meetings.{number}.speaker_order", "must hold each participant exactly once"
                )

    def _check_prior_meetings(self) -> None:
        cost_by_meeting = {prior.meeting_id: prior.cost for prior in self.prior_meetings}
        copies: dict[int, set[tuple[int, int]]] = {}
        for agent, calendar in enumerate(self.calendars):
            for slot, entry in enumerate(calendar):
                if isinstance(entry, MeetingEntry):
                    if cost_by_meeting.get(entry.meeting_id) != entry.cost:
                        raise _refuse(
                            f"calendars.{agent}.{slot}",
                            f"meeting {entry.meeting_id} with cost {entry.cost} "
                            "is not among prior_meetings",
                        )
                    copies.setdefault(entry.meeting_id, set()).add((agent, slot))
        for index, prior in enumerate(self.prior_meetings):
            expected = {(agent, prior.slot) for agent in prior.participants}
            if copies.get(prior.meeting_id) != expected:
                raise _refuse(
                    f"prior_meetings.{index}",
                    f"meeting {prior.meeting_id} must be at slot {prior.slot}, and nowhere "
                    "else, in the calendars of exactly its participants",
                )

    def _check_oracle(self) -> None:
        if self.oracle is None:
            return
        for name in ("best", "worst"):
            schedule: ScheduleEntry | None = getattr(self.oracle, name)
            if (schedule is None) == (self.oracle.infeasible is None):
                raise _refuse(
                    f"oracle.{name}", "must be absent exactly if infeasible gives the reason"
                )
            if schedule is not None:
                place = f"oracle.{name}"
                self._check_slots(f"{place}.slots", schedule.slots, self.meetings)
                prior = schedule.prior_slots
                self._check_slots(f"{place}.prior_slots", prior, self.prior_meetings)
                if len(schedule.cost_by_agent) != len(self.calendars):
                    raise _refuse(f"{place}.cost_by_agent", "must hold one cost for each agent")
        if self.oracle.is_proven != (self.oracle.effort is None):
            raise _refuse("oracle.effort", "must be there exactly if a schedule has a bound")

    def _check_slots(
        self,
        place: str,
        slots: dict[str, int],
        meetings: Sequence[IncomingMeetingEntry | PriorMeetingEntry],
    ) -> None:
        expected = sorted(meeting.meeting_id for meeting in meetings)
        if set(slots) != {str(meeting_id) for meeting_id in expected}:
            raise _refuse(place, f"must name exactly the meetings {expected}")
        for meeting_id, slot in slots.items():
            if slot >= self.num_slots:
                raise _refuse(f"{place}.{meeting_id}", f"slot {slot} is out of range")

    def _check_difficulty(self) -> None:
        if self.difficulty is None:
            return
        count, fraction = self.difficulty.feasible_count, self.difficulty.feasible_fraction
        if fraction is None:
            if self.difficulty.reason is None:
                raise _refuse("difficulty.reason", "must say why feasible_fraction is absent")
            estimate = self.difficulty.estimate
            if estimate and not estimate.low <= estimate.fraction <= estimate.high:
                raise _refuse("difficulty.estimate", "must lie between its ends")
            return
        if self.difficulty.estimate is not None:
            raise _refuse("difficulty.estimate", "must be absent beside a feasible_fraction")
        assignments = math.perm(self.num_slots, len(self.meetings))
        if (
            count is None
            or count > assignments
            or not math.isclose(Fraction(count, assignments or 1), fraction, rel_tol=1e-6)
        ):
            raise _refuse(
                "difficulty.feasible_fraction",
                "must be feasible_count over the number of injective assignments",
            )

    @model_serializer(mode="wrap")
    def _absent_is_absent(self, handler: Any) -> dict[str, Any]:
        """Leave out what is unknown, instead of writing null, and sort keys.

        A scenario has the same bytes whether it was just drawn or read from a file.
        """
        data: dict[str, Any] = handler(self)
        for name in ("witness", "oracle", "difficulty", "params"):
            if data.get(name) is None:
                data.pop(name, None)
            else:
                data[name] = _sorted_keys(data[name])
        return data

    def updated(self, **changes: Any) -> Self:
        """Return the scenario with some fields replaced, validated again.

        Raises:
            pydantic.ValidationError: the new fields do not fit.
        """
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(fields | changes))

    @property
    def num_agents(self) -> int:
        """Number of agents."""
        return len(self.calendars)

    @property
    def size(self) -> Size:
        """How large it is."""
        return Size(
            self.num_agents,
            self.num_slots,
            len(self.meetings),
            len(self.prior_meetings),
            sum(len(meeting.participants) for meeting in self.all_meetings),
        )

    @property
    def all_meetings(self) -> tuple[IncomingMeetingEntry | PriorMeetingEntry, ...]:
        """Incoming meetings, then prior ones, in the order of the file."""
        return (*self.meetings, *self.prior_meetings)

    @cached_property
    def errands(self) -> tuple[tuple[AgentId, Slot, ErrandEntry], ...]:
        """Every errand with its owner and its slot, by agent, then slot."""
        return tuple(
            [
                (AgentId(agent), Slot(slot), entry)
                for agent, calendar in enumerate(self.calendars)
                for slot, entry in enumerate(calendar)
                if isinstance(entry, ErrandEntry)
            ]
        )

    @cached_property
    def meeting_by_id(self) -> dict[MeetingId, Meeting]:
        """Every meeting, incoming and prior, in the form agents see."""
        return {
            MeetingId(entry.meeting_id): Meeting(
                MeetingId(entry.meeting_id),
                tuple(AgentId(agent) for agent in entry.participants),
                entry.cost,
            )
            for entry in self.all_meetings
        }

    @cached_property
    def shown_calendars(self) -> tuple[Calendar, ...]:
        """The calendars as their owners see them at the start, by agent."""
        return tuple(
            tuple(
                None
                if entry is None
                else Errand(ErrandId(entry.errand_id), entry.shown_cost, entry.blocked)
                if isinstance(entry, ErrandEntry)
                else Booking(self.meeting_by_id[MeetingId(entry.meeting_id)])
                for entry in calendar
            )
            for calendar in self.calendars
        )

    @cached_property
    def shown_ids(self) -> tuple[tuple[ItemId | None, ...], ...]:
        """The same as bare ids, the form in traces."""
        return tuple(map(item_ids, self.shown_calendars))

    @cached_property
    def cost_by_item(self) -> dict[ItemId, int]:
        """Accounting cost of one move of each item, for each calendar on which it is moved."""
        costs: dict[ItemId, int] = {
            MeetingId(entry.meeting_id): entry.cost for entry in self.all_meetings
        }
        return costs | {ErrandId(errand.errand_id): errand.cost for _, _, errand in self.errands}

    @cached_property
    def shown_cost_by_item(self) -> dict[ItemId, int]:
        """The same as agents are shown it: errands alone may have another cost."""
        shown = {ErrandId(errand.errand_id): errand.shown_cost for _, _, errand in self.errands}
        return self.cost_by_item | shown

    @cached_property
    def problem(self) -> Problem:
        """The scenario as the oracle sees it."""
        costs: list[list[int | None]] = [[None] * self.num_slots for _ in self.calendars]
        blocked: list[set[Slot]] = [set() for _ in self.calendars]
        for agent, slot, errand in self.errands:
            if errand.blocked:
                blocked[agent].add(slot)
            else:
                costs[agent][slot] = errand.cost
        return Problem(
            num_slots=self.num_slots,
            errand_costs=tuple(map(tuple, costs)),
            blocked=tuple(map(frozenset, blocked)),
            meetings=tuple(
                (MeetingId(m.meeting_id), tuple(AgentId(a) for a in m.participants))
                for m in sorted(self.meetings, key=lambda entry: entry.meeting_id)
            ),
            prior_meetings=tuple(
                (
                    MeetingId(p.meeting_id),
                    PriorMeeting(tuple(AgentId(a) for a in p.participants), Slot(p.slot), p.cost),
                )
                for p in sorted(self.prior_meetings, key=lambda entry: entry.meeting_id)
            ),
        )

    @cached_property
    def written(self) -> bytes:
        """The scenario as every trace on it holds it.

        Kept, because many games are on one scenario; it takes a tenth of what the scenario does.
        """
        return self.model_dump_json().encode()

    @cached_property
    def play_digest(self) -> str:
        """SHA-256 of what defines a game on this scenario, without derived numbers."""
        fields = json.loads(self.written)  # whole numbers of any size
        return digest({name: fields[name] for name in fields.keys() - {"oracle", "difficulty"}})


def described_frame(
    rows: Sequence[Sequence[object]], columns: Mapping[str, tuple[str, str]], about: str
) -> "pd.DataFrame":
    """Return rows as a frame whose ``attrs`` say what it holds, as those of results do.

    Args:
        rows: of cells, in the order of the columns; ``None`` is absent.
        columns: unit and meaning of each by its name.
        about: the rows, in a sentence.
    """
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list(columns)).convert_dtypes()
    units, meanings = ({name: each[place] for name, each in columns.items()} for place in (0, 1))
    frame.attrs = {"about": about, "unit": units, "meaning": meanings}
    return frame


def calendar_table(
    title: str, scenario: Scenario, calendars: Sequence[Sequence[ItemId | None]]
) -> str:
    """Return calendars as an HTML table: a row for each agent, a column for each slot.

    An errand is shown as its cost, a blocked one as ■, a meeting as M and its number.

    Args:
        title: of the table.
        scenario: of the calendars.
        calendars: ids of errands and meetings by agent, then slot; ``None`` where it is free.
    """
    errands = {
        (agent, entry.errand_id): "■" if entry.blocked else str(entry.shown_cost)
        for agent, _, entry in scenario.errands
    }
    heads = "".join(f"<th>{slot}</th>" for slot in range(scenario.num_slots))
    rows = "".join(
        f"<tr><th>agent {agent}</th>"
        + "".join(
            f"<td>{'' if item is None else errands.get((AgentId(agent), item), f'M{item}')}</td>"
            for item in calendar
        )
        + "</tr>"
        for agent, calendar in enumerate(calendars)
    )
    return f"<table><caption>{title}</caption><tr><th>slot</th>{heads}</tr>{rows}</table>"
