"""Where excess cost came from: every charge of a game in one of three categories [C].

The excess of an agent is what it paid minus its part of the oracle's schedule of exactly the
meetings that were scheduled. Each charge is the move of one item in one round, so its cause is
known:

- **failed rounds**: it was paid in a round whose meeting was not scheduled;
- **slot choice**: the meeting of the round was scheduled, the item was in its slot in the calendar
  of one of its participants when the round began, and this agent had not moved the item before. A
  displaced meeting is moved by all its participants. The oracle's charges are subtracted here;
- **avoidable moves**: every other charge: items that were not in the way, items displaced by items
  that moved, and items that are moved a second time.

The first two need not be mistakes of the agent that pays. Sums over meetings are exactly the
agent's excess.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calbench.domain.actions import Reschedule
from calbench.domain.frequent import passing
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.metrics.outcomes import MeetingResult
from calbench.oracle.solve import Schedule
from calbench.scenarios.models import Scenario
from calbench.traces.events import AgentRegistered, BatchApplied, CalendarIds, Event, RoundStart


@passing
class MeetingRegret:
    """What one meeting added to one agent's excess, in accounting cost.

    Attributes:
        played_slot: where it was scheduled, for a prior meeting where the agent finally has it;
            ``None`` if it was not scheduled.
        oracle_slot: its slot in the oracle's schedule; ``None`` if it was not scheduled.
        slot_choice: charges for what was in the meeting's slot, minus the oracle's charges; may
            be negative.
        avoidable_moves: other charges in the round of a scheduled meeting.
        failed_rounds: charges in the round of a meeting that was not scheduled.
    """

    meeting_id: MeetingId
    agent_id: AgentId
    played_slot: Slot | None
    oracle_slot: Slot | None
    slot_choice: int
    avoidable_moves: int
    failed_rounds: int

    @property
    def excess_cost(self) -> int:
        """The sum of the parts."""
        return self.slot_choice + self.avoidable_moves + self.failed_rounds


@dataclass(slots=True)
class _Parts:
    slot_choice: int = 0
    avoidable_moves: int = 0
    failed_rounds: int = 0


class _Ledger:
    """Follows a game and records each charge."""

    def __init__(self, scenario: Scenario, results: Sequence[MeetingResult]) -> None:
        self.parts: dict[tuple[MeetingId, AgentId], _Parts] = {
            (meeting_id, agent): _Parts()
            for meeting_id, meeting in sorted(scenario.meeting_by_id.items())
            for agent in sorted(meeting.participants)
        }
        self.calendars: dict[AgentId, CalendarIds] = {}
        self._cost_by_item = scenario.cost_by_item
        self._prior_ids = {meeting.meeting_id for meeting in scenario.prior_meetings}
        self._slot_by_meeting = {r.meeting_id: r.slot for r in results if r.is_scheduled}
        self._moved: set[tuple[AgentId, ItemId]] = set()
        self._meeting_id = MeetingId(0)
        self._in_the_way: frozenset[ItemId] | None = None

    def begin_round(self, start: RoundStart) -> None:
        """Note what is in the slot of the round's meeting; ``None`` if the meeting fails."""
        self._meeting_id = start.meeting_id
        slot = self._slot_by_meeting.get(start.meeting_id)
        self._in_the_way = (
            None
            if slot is None
            else frozenset(
                item
                for agent in start.participants
                if (item := self.calendars[agent][slot]) is not None
            )
        )

    def book(self, batch: BatchApplied) -> None:
        """Record each move of a batch."""
        agent = batch.agent_id
        for action in batch.actions:
            if isinstance(action, Reschedule):
                self._book_move(agent, action.item_id, self._cost_by_item[action.item_id])
                self._moved.add((agent, action.item_id))
        self.calendars[agent] = batch.calendar

    def _book_move(self, agent: AgentId, item: ItemId, cost: int) -> None:
        if self._in_the_way is None:
            self._of(self._meeting_id, agent).failed_rounds += cost
        elif item not in self._in_the_way or (agent, item) in self._moved:
            self._of(self._meeting_id, agent).avoidable_moves += cost
        else:
            # A prior meeting has its own row, which also holds the oracle's move of it.
            meeting_id = MeetingId(item) if item in self._prior_ids else self._meeting_id
            self._of(meeting_id, agent).slot_choice += cost

    def _of(self, meeting_id: MeetingId, agent: AgentId) -> _Parts:
        return self.parts.setdefault((meeting_id, agent), _Parts())


def explain_regret(
    scenario: Scenario,
    events: Iterable[Event],
    results: Sequence[MeetingResult],
    schedule: Schedule,
) -> tuple[MeetingRegret, ...]:
    """Split every agent's excess by meeting and cause (our reading of section 3.1).

    Args:
        scenario: of the game.
        events: of the game.
        results: of its meetings.
        schedule: the oracle's schedule of exactly the scheduled meetings.

    Returns:
        By meeting and agent: every participant of every meeting, including prior ones, and other
        agents that moved something in the meeting's round.
    """
    ledger = _Ledger(scenario, results)
    for event in events:
        if isinstance(event, BatchApplied):
            ledger.book(event)
        elif isinstance(event, RoundStart):
            ledger.begin_round(event)
        elif isinstance(event, AgentRegistered):
            ledger.calendars[event.agent_id] = event.calendar
    _subtract_oracle(ledger, scenario, schedule)
    played = {r.meeting_id: r.slot for r in results if r.is_scheduled}
    prior_ids = {meeting.meeting_id for meeting in scenario.prior_meetings}
    oracle = dict((*schedule.slot_by_meeting, *schedule.prior_slot_by_meeting))
    return tuple(
        MeetingRegret(
            meeting_id=meeting_id,
            agent_id=agent,
            played_slot=_slot_of(meeting_id, ledger.calendars[agent])
            if meeting_id in prior_ids
            else played.get(meeting_id),
            oracle_slot=oracle.get(meeting_id),
            slot_choice=parts.slot_choice,
            avoidable_moves=parts.avoidable_moves,
            failed_rounds=parts.failed_rounds,
        )
        for (meeting_id, agent), parts in sorted(ledger.parts.items())
    )


def _subtract_oracle(ledger: _Ledger, scenario: Scenario, schedule: Schedule) -> None:
    """Subtract what the oracle's schedule charges for each meeting."""
    problem = scenario.problem
    original = {m.meeting_id: m.slot for m in scenario.prior_meetings}
    for meeting_id, slot in (*schedule.slot_by_meeting, *schedule.prior_slot_by_meeting):
        if original.get(meeting_id) == slot:
            continue
        meeting = scenario.meeting_by_id[meeting_id]
        move = meeting.cost if meeting_id in original else 0
        charges = problem.displaced_costs(meeting.participants, slot)
        for agent, charge in zip(meeting.participants, charges, strict=True):
            ledger.parts[meeting_id, agent].slot_choice -= charge + move


def _slot_of(meeting_id: MeetingId, calendar: CalendarIds) -> Slot | None:
    return Slot(calendar.index(meeting_id)) if meeting_id in calendar else None
