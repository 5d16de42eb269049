"""The state of a running game. Only the engine sees it; agents get observations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from calbench.domain.calendars import Booking, Calendar, Item, Meeting, all_slots, item_ids
from calbench.domain.frequent import passing
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.domain.messages import Channel, Message, Text
from calbench.domain.observations import NO_LABELS, Phase, Refusal
from calbench.domain.replies import Reply
from calbench.protocols.base import First
from calbench.scenarios.models import Scenario
from calbench.traces.events import CalendarIds, Event, NoteKind, ReplyNote
from calbench.traces.models import GameConfig, Limits, RoundOutcome


@passing
class Moment:
    """When an agent is asked: round, phase, sweep or attempt."""

    round_index: int
    meeting: Meeting
    phase: Phase
    turn_index: int = 0
    attempt: int = 0


Unread = tuple[int, Message]
"""The index of a message's event, and the message, which its recipient has not read yet."""


@dataclass(slots=True)
class State:
    """Everything that changes during a game. Lists are indexed by agent id.

    ``standing`` holds the meetings that must be intact, in one slot of all their participants:
    the scenario's prior meetings and every meeting scheduled since (section 3, resolution).
    ``unsure`` are those of them of which a copy has moved since they were last intact; no other
    can be broken. ``calendar_ids`` mirrors ``calendars`` as ids, the form in traces.
    ``private_seeds`` are those of the round for seats with private chance, ``None`` for the
    others. ``labels`` are each agent's own. ``typed_among_speakers`` are the agents without
    language in a team with language agents. ``speaking_first`` says of each agent
    who in its seat speaks before hearing anything, ``None`` of those that are always asked.
    """

    agent_ids: tuple[AgentId, ...]
    channels: frozenset[Channel]
    limits: Limits
    cost_by_item: dict[ItemId, int]
    calendars: list[Calendar]
    calendar_ids: list[CalendarIds]
    standing: dict[MeetingId, Meeting]
    unsure: set[MeetingId]
    cost_by_agent: list[int]
    shown_cost_by_agent: list[int]
    messages_sent_by_agent: list[int]
    unread: list[list[Unread]]
    current: list[tuple[Message, ...]]
    earlier: list[tuple[Message, ...]]
    refusals: list[tuple[Refusal, ...]]
    has_mediator: bool
    private_seeds: list[int | None]
    labels: Sequence[Mapping[ItemId, str]]
    typed_among_speakers: frozenset[AgentId]
    speaking_first: Sequence[First | None]
    events: list[Event] = field(default_factory=list)
    outcomes: list[RoundOutcome] = field(default_factory=list)

    def slots_of(self, meeting: Meeting) -> dict[str, Slot | None]:
        """Return where each participant holds its copy, keyed by agent id as a string."""
        meeting_id = meeting.meeting_id
        slots = all_slots(len(self.calendars[0]))
        held: dict[str, Slot | None] = {}
        for agent in sorted(meeting.participants):
            ids = self.calendar_ids[agent]
            held[str(agent)] = slots[ids.index(meeting_id)] if meeting_id in ids else None
        return held

    def replace_calendar(self, agent: AgentId, calendar: Calendar) -> CalendarIds:
        """Replace an agent's calendar; return the new one as ids."""
        ids = item_ids(calendar)
        self.calendars[agent] = calendar
        self.calendar_ids[agent] = ids
        return ids

    def charge(self, agent: AgentId, moved: tuple[Item, ...]) -> int:
        """Charge the owner for each item moved, once per move; return the accounting cost.

        A standing meeting of which a copy moved must be checked again.
        """
        cost = 0
        for item in moved:
            cost += self.cost_by_item[item.item_id]
            if isinstance(item, Booking):
                self.shown_cost_by_agent[agent] += item.meeting.cost
                if item.meeting.meeting_id in self.standing:
                    self.unsure.add(item.meeting.meeting_id)
            else:
                self.shown_cost_by_agent[agent] += item.shown_cost
        self.cost_by_agent[agent] += cost
        return cost


def initial_state(
    scenario: Scenario,
    config: GameConfig,
    labels: Sequence[Mapping[ItemId, str]] = (),
    speaking_first: Sequence[First | None] = (),
) -> State:
    """Return the state before the first round.

    Args:
        scenario: of the game.
        config: of the game.
        labels: private labels that each agent may know; none by default.
        speaking_first: by agent id, who in its seat speaks before hearing anything.
    """
    count = scenario.num_agents
    agents = tuple([AgentId(agent) for agent in range(count)])
    language = config.team.language_agents(count)
    standing = {
        MeetingId(prior.meeting_id): scenario.meeting_by_id[MeetingId(prior.meeting_id)]
        for prior in scenario.prior_meetings
    }
    return State(
        agent_ids=agents,
        channels=frozenset(config.channels),
        limits=config.limits,
        cost_by_item=scenario.cost_by_item,
        calendars=list(scenario.shown_calendars),
        calendar_ids=list(scenario.shown_ids),
        standing=standing,
        unsure=set(standing),
        cost_by_agent=[0] * count,
        shown_cost_by_agent=[0] * count,
        messages_sent_by_agent=[0] * count,
        unread=[[] for _ in range(count)],
        current=[()] * count,
        earlier=[()] * count,
        refusals=[()] * count,
        has_mediator=config.team.mediator,
        private_seeds=[None] * count,
        labels=labels or [NO_LABELS] * count,
        typed_among_speakers=frozenset(agents) - set(language) if language else frozenset(),
        speaking_first=speaking_first or [None] * count,
    )


def note_reply(state: State, moment: Moment, agent: AgentId, reply: Reply) -> None:
    """Record that a reply could not be read, or what was removed to read it; else nothing."""
    if reply.unreadable is not None:
        _note(state, moment, agent, reply.unreadable.problem, reply.unreadable.detail)
    elif reply.recovered is not None:
        _note(state, moment, agent, "recovered", reply.recovered)


def note_prose(state: State, moment: Moment, agent: AgentId, inbox: Iterable[Message]) -> None:
    """Record that text reached a typed agent, which understands speech acts only."""
    senders = sorted(
        {m.sender for m in inbox if isinstance(m.content, Text) and m.sender is not None}
    )
    if senders:
        detail = f"text from {', '.join(f'agent {sender}' for sender in senders)}"
        _note(state, moment, agent, "prose_ignored", detail)


def _note(state: State, moment: Moment, agent: AgentId, kind: NoteKind, detail: str) -> None:
    note = ReplyNote(
        round=moment.round_index, phase=moment.phase, agent_id=agent, kind=kind, detail=detail
    )
    state.events.append(note)
