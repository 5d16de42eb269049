"""The state of a running game. Only the engine sees it; agents get observations."""

from dataclasses import dataclass, field
from typing import NamedTuple

from calbench.domain.calendars import Booking, Calendar, Item, Meeting, item_ids
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.domain.messages import Channel, Message
from calbench.domain.observations import Phase, Refusal
from calbench.scenarios.models import Scenario
from calbench.traces.events import CalendarIds, Event
from calbench.traces.models import GameConfig, RoundOutcome


class Moment(NamedTuple):
    """Where in the game somebody is asked: round, phase, sweep or attempt."""

    round_index: int
    meeting: Meeting
    phase: Phase
    turn_index: int = 0
    attempt: int = 0


class Unread(NamedTuple):
    """A delivered message its recipient has not read yet."""

    event_index: int
    message: Message


@dataclass(slots=True)
class State:
    """Everything that changes during a game. Lists run by agent id.

    ``standing`` holds the meetings that must be whole: the scenario's prior meetings and
    every meeting scheduled since (section 3, resolution). ``calendar_ids`` mirrors
    ``calendars`` as bare ids, the form in which traces record them. ``private_seeds`` are
    those of the round for seats with private chance, ``None`` for the others.
    """

    agent_ids: tuple[AgentId, ...]
    channels: frozenset[Channel]
    max_turns: int
    decision_retries: int
    message_cap: int | None
    cost_by_item: dict[ItemId, int]
    calendars: list[Calendar]
    calendar_ids: list[CalendarIds]
    standing: dict[MeetingId, Meeting]
    cost_by_agent: list[int]
    shown_cost_by_agent: list[int]
    messages_sent_by_agent: list[int]
    unread: list[list[Unread]]
    current: list[tuple[Message, ...]]
    earlier: list[tuple[Message, ...]]
    refusals: list[tuple[Refusal, ...]]
    has_mediator: bool
    private_seeds: list[int | None]
    events: list[Event] = field(default_factory=list)
    outcomes: list[RoundOutcome] = field(default_factory=list)

    def slots_of(self, meeting: Meeting) -> dict[str, Slot | None]:
        """Return where each participant holds its copy, keyed by agent id as a string."""
        meeting_id = meeting.meeting_id
        held: dict[str, Slot | None] = {}
        for agent in sorted(meeting.participants):
            ids = self.calendar_ids[agent]
            held[str(agent)] = Slot(ids.index(meeting_id)) if meeting_id in ids else None
        return held

    def replace_calendar(self, agent: AgentId, calendar: Calendar) -> CalendarIds:
        """Put an agent's new calendar in place; return it as ids."""
        ids = item_ids(calendar)
        self.calendars[agent] = calendar
        self.calendar_ids[agent] = ids
        return ids

    def charge(self, agent: AgentId, moved: tuple[Item, ...]) -> int:
        """Charge the owner for each item moved, once per move; return the accounting cost."""
        cost = 0
        for item in moved:
            cost += self.cost_by_item[item.item_id]
            shown = item.meeting.cost if isinstance(item, Booking) else item.shown_cost
            self.shown_cost_by_agent[agent] += shown
        self.cost_by_agent[agent] += cost
        return cost


def initial_state(scenario: Scenario, config: GameConfig) -> State:
    """Return the state before the first round."""
    count = scenario.num_agents
    return State(
        agent_ids=tuple([AgentId(agent) for agent in range(count)]),
        channels=frozenset(config.channels),
        max_turns=config.limits.max_turns_per_round,
        decision_retries=config.limits.decision_retries,
        message_cap=config.limits.dm_cap,
        cost_by_item=scenario.cost_by_item,
        calendars=list(scenario.shown_calendars),
        calendar_ids=[item_ids(calendar) for calendar in scenario.shown_calendars],
        standing={
            MeetingId(prior.meeting_id): scenario.meeting_by_id[MeetingId(prior.meeting_id)]
            for prior in scenario.prior_meetings
        },
        cost_by_agent=[0] * count,
        shown_cost_by_agent=[0] * count,
        messages_sent_by_agent=[0] * count,
        unread=[[] for _ in range(count)],
        current=[()] * count,
        earlier=[()] * count,
        refusals=[()] * count,
        has_mediator=config.team.mediator,
        private_seeds=[None] * count,
    )
