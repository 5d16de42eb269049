"""When a game's optimum became unreachable: a search over completions of the game [C].

After each applied batch, the least that the game can still cost is what was paid plus the cheapest
completion: every undecided meeting gets a slot, and every scheduled one may move, all its copies
to one slot, at its cost for each copy that moves. By the oracle's lemma, which holds at every
moment because a batch keeps an agent's free slots and a meeting uses one of each, a completion
costs the errands that are in its slots now, plus the copies that move. A meeting under decision
may only go where the first of its participants put it. The optimum becomes unreachable at the
first event after which this least cost exceeds the stored optimum; the least cost never
decreases, and a meeting that failed never returns.

The search does not model who may still act in the current round, so it may find the loss late, at
the latest at the round's resolution.

Most batches belong to an optimal schedule. One such schedule is kept and its cost updated; only if
it is no longer optimal, another one is searched by branch and bound within the remaining cost. The
least cost after the loss is computed by the dynamic programme of the ties.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calbench.domain.ids import AgentId, ErrandId, ItemId, MeetingId, Slot
from calbench.domain.observations import Phase
from calbench.metrics.costs import best_complete_schedule
from calbench.oracle.cache import OracleCache
from calbench.oracle.choices import Choice
from calbench.oracle.completion import searched_least_cost, slots_within
from calbench.oracle.programme import MOST_EXACT_MEETINGS, TooMuchWorkError, least_cost
from calbench.oracle.solve import Schedule
from calbench.scenarios.models import Scenario
from calbench.traces.events import BatchApplied, CalendarIds, Event, Resolution

MOST_LOST = 4
"""Losses that are searched one by one, by branch and bound, before the dynamic programme [C]: most
are this small."""


@dataclass(frozen=True, slots=True)
class OptimumLoss:
    """The event that made the optimum unreachable.

    Attributes:
        event_index: of the trace, from 0.
        phase: of the batch; ``None`` for a resolution, where a meeting had failed.
        agent_id: of the batch.
        least_cost_after: the least the game could cost after it, in accounting cost; ``None`` if
            the meetings could no longer all be scheduled.
    """

    event_index: int
    round: int
    phase: Phase | None
    agent_id: AgentId | None
    least_cost_after: int | None


@dataclass(frozen=True, slots=True)
class OptimumReach:
    """What became of a game's optimum.

    Attributes:
        optimum: least cost of all its meetings; ``None`` if they cannot all be scheduled.
        is_searched: whether the loss was searched for: not without an optimum, and not with more
            meetings than the exact methods take.
        loss: where it became unreachable; ``None`` if it did not, or was not searched for.
    """

    optimum: int | None
    is_searched: bool
    loss: OptimumLoss | None


def optimum_reach(scenario: Scenario, events: Iterable[Event], oracle: OracleCache) -> OptimumReach:
    """Find the first event after which the scenario's optimum was unreachable.

    Args:
        scenario: of the game.
        events: of the game, from its start.
        oracle: used if the scenario stores no optimum.
    """
    schedule = best_complete_schedule(scenario, oracle)
    if schedule is None:
        return OptimumReach(None, is_searched=False, loss=None)
    if len(scenario.all_meetings) > MOST_EXACT_MEETINGS:
        return OptimumReach(schedule.cost, is_searched=False, loss=None)
    moment = Moment(scenario, schedule)
    for index, event in enumerate(events):
        if isinstance(event, BatchApplied):
            moment.apply(event)
            if not moment.reaches_optimum():
                loss = OptimumLoss(
                    index, event.round, event.phase, event.agent_id, moment.least_cost()
                )
                return OptimumReach(schedule.cost, is_searched=True, loss=loss)
        elif isinstance(event, Resolution):
            if not event.coordinated:
                loss = OptimumLoss(index, event.round, None, None, None)
                return OptimumReach(schedule.cost, is_searched=True, loss=loss)
            moment.standing.add(event.meeting_id)
    return OptimumReach(schedule.cost, is_searched=True, loss=None)


class Moment:
    """The calendars at one moment of a game without a failed meeting.

    ``errand_costs[agent][slot]`` is the cost of the errand there now, 0 if none, ``None`` if it is
    blocked (``under`` has it by item); ``copies[agent]`` holds the agent's slot of each meeting.
    """

    def __init__(self, scenario: Scenario, schedule: Schedule) -> None:
        self._meetings = [meeting for _, meeting in sorted(scenario.meeting_by_id.items())]
        self._meeting_ids = frozenset(scenario.meeting_by_id)
        self._cost_by_item = scenario.cost_by_item
        self._under: dict[ItemId | None, int | None] = {None: 0}
        self._under |= dict.fromkeys(self._meeting_ids, 0)
        for _, _, errand in scenario.errands:
            self._under[ErrandId(errand.errand_id)] = None if errand.blocked else errand.cost
        self._optimum = schedule.cost
        self._slots = dict((*schedule.slot_by_meeting, *schedule.prior_slot_by_meeting))
        self._paid = 0
        self.standing = {MeetingId(prior.meeting_id) for prior in scenario.prior_meetings}
        self._errand_costs: list[list[int | None]] = []
        self._copies: list[dict[ItemId, Slot]] = []
        for calendar in scenario.shown_calendars:
            ids = tuple(None if item is None else item.item_id for item in calendar)
            self._errand_costs.append(self._costs_under(ids))
            self._copies.append(self._held(ids))

    def _costs_under(self, ids: CalendarIds) -> list[int | None]:
        return [self._under[item] for item in ids]

    def _held(self, ids: CalendarIds) -> dict[ItemId, Slot]:
        return {
            item: Slot(slot)
            for slot, item in enumerate(ids)
            if item is not None and item in self._meeting_ids
        }

    def apply(self, batch: BatchApplied) -> None:
        """Apply the calendar and the cost of a batch."""
        self._paid += batch.cost
        self._errand_costs[batch.agent_id] = self._costs_under(batch.calendar)
        self._copies[batch.agent_id] = self._held(batch.calendar)

    def reaches_optimum(self) -> bool:
        """Whether a completion reaches the optimum; keeps the one it finds."""
        left = self._optimum - self._paid
        if left < 0:
            return False
        if self._cost_of_kept() == left:
            return True
        choices = self._choices()
        found = slots_within(choices, left)
        if found is None:
            return False
        self._slots = {c.meeting_id: s for c, s in zip(choices, found, strict=True)}
        return True

    def least_cost(self) -> int | None:
        """Return the least total cost of the game from here; ``None`` if it cannot be completed.

        Only for a moment from which the optimum is not reached.
        """
        choices, left = self._choices(), self._optimum - self._paid
        for budget in range(left + 1, left + 1 + MOST_LOST):
            if slots_within(choices, budget) is not None:
                return self._paid + budget
        try:
            rest = least_cost(choices, len(self._errand_costs[0]), self._cost_of_kept())
        except TooMuchWorkError:  # of many agents, few meetings are in each other's way
            rest = searched_least_cost(choices)
        return None if rest is None else self._paid + rest

    def _cost_of_kept(self) -> int | None:
        """Return what completing the kept schedule costs; ``None`` if that is impossible."""
        total = 0
        for meeting in self._meetings:
            slot = self._slots[meeting.meeting_id]
            for agent in meeting.participants:
                charge = self._charges_of(meeting.meeting_id, agent)[slot]
                if charge is None:
                    return None
                total += charge
        return total

    def _choices(self) -> list[Choice]:
        """Return where each meeting may finally be, and what that still costs."""
        return [
            Choice(
                meeting.meeting_id,
                meeting.participants,
                None,
                self._charges_by_slot(meeting.meeting_id, meeting.participants),
            )
            for meeting in self._meetings
        ]

    def _charges_by_slot(
        self, meeting_id: MeetingId, participants: Sequence[AgentId]
    ) -> dict[Slot, tuple[int, ...]]:
        """Return what each participant still pays, by slot where the meeting may be."""
        by_agent = [self._charges_of(meeting_id, agent) for agent in participants]
        charges = zip(*by_agent, strict=True)
        return {Slot(slot): each for slot, each in enumerate(charges) if None not in each}

    def _charges_of(self, meeting_id: MeetingId, agent: AgentId) -> list[int | None]:
        """Return what one participant still pays by slot; ``None`` where it is impossible."""
        under, held = self._errand_costs[agent], self._copies[agent].get(meeting_id)
        if held is None:
            return under
        charges: list[int | None] = [None] * len(under)
        if meeting_id in self.standing:
            move = self._cost_by_item[meeting_id]
            charges = [None if cost is None else cost + move for cost in under]
        charges[held] = 0
        return charges
