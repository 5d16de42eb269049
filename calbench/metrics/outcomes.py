"""The outcome of each meeting, and what each agent did in each round (section 3, G.2 to G.4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from calbench.domain.actions import Reschedule
from calbench.domain.frequent import passing
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.metrics.privacy.loss import AgentLoss
from calbench.metrics.usage import MESSAGES
from calbench.scenarios.models import ErrandEntry, MeetingEntry, Scenario
from calbench.traces.events import (
    BatchApplied,
    BatchRejected,
    Event,
    GameHalted,
    Outcome,
    Resolution,
    RoundStart,
)

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
"""The taxonomy, in the order of tables [C]."""

EXCLUDING: frozenset[Outcome] = frozenset({"provider_fault", "budget_stop"})
"""Outcomes that no agent caused: a game with one of them is recorded and excluded [C]."""


ENDS = (GameHalted, Resolution)
"""Events that end a round or a game."""


def is_excluded(events: Iterable[Event]) -> bool:
    """Whether a game is excluded from every number because no agent caused its end.

    A game that was halted after its last resolution, while agents reflected, is excluded too.
    """
    return any(
        isinstance(event, GameHalted) or event.outcome in EXCLUDING
        for event in events
        if isinstance(event, ENDS)
    )


@dataclass(frozen=True, slots=True)
class MeetingResult:
    """One meeting's outcome.

    Attributes:
        round: number of its round, from 0.
        participants: of the meeting, by ascending id.
        first_speaker: of its participants.
        outcome: according to its resolution.
        slot: the common slot; ``None`` unless it was scheduled.
        broken_meetings: earlier meetings that were broken at its resolution.
        messages: sent in its round by all agents; a group message counts once.
        cost: what all agents together paid in its round, in accounting cost.
        rejected_batches: batches rejected in its round.
    """

    meeting_id: MeetingId
    round: int
    participants: tuple[AgentId, ...]
    first_speaker: AgentId
    outcome: Outcome
    slot: Slot | None
    broken_meetings: tuple[MeetingId, ...]
    messages: int
    cost: int
    rejected_batches: int

    @property
    def is_scheduled(self) -> bool:
        """Whether all participants have it in one slot and no earlier meeting was broken."""
        return self.outcome == "scheduled"


def meeting_results(events: Iterable[Event]) -> tuple[MeetingResult, ...]:
    """Return the results in the order of the rounds; a round without resolution has none."""
    results = []
    start: RoundStart | None = None
    messages = cost = rejected = 0
    for event in events:
        if isinstance(event, RoundStart):
            start, messages, cost, rejected = event, 0, 0, 0
        elif isinstance(event, MESSAGES):
            messages += 1
        elif isinstance(event, BatchApplied):
            cost += event.cost
        elif isinstance(event, BatchRejected):
            rejected += 1
        elif isinstance(event, Resolution) and start is not None:
            results.append(_result(start, event, messages, cost, rejected))
    return tuple(results)


def _result(
    start: RoundStart, end: Resolution, messages: int, cost: int, rejected: int
) -> MeetingResult:
    slot = next(iter(end.slot_by_agent.values())) if end.outcome == "scheduled" else None
    return MeetingResult(
        meeting_id=end.meeting_id,
        round=end.round,
        participants=tuple(sorted(start.participants)),
        first_speaker=start.speaker_order[0],
        outcome=end.outcome,
        slot=slot,
        broken_meetings=end.broken_meetings,
        messages=messages,
        cost=cost,
        rejected_batches=rejected,
    )


def assigned_by_agent(scenario: Scenario) -> tuple[int, ...]:
    """Return M: how many meetings of the scenario each agent takes part in [P]."""
    counts = [0] * scenario.num_agents
    for meeting in scenario.meetings:
        for agent in meeting.participants:
            counts[agent] += 1
    return tuple(counts)


def scheduled_by_agent(results: Sequence[MeetingResult], num_agents: int) -> tuple[int, ...]:
    """Return S: how many of each agent's meetings were scheduled [P]."""
    counts = [0] * num_agents
    for result in results:
        if result.is_scheduled:
            for agent in result.participants:
                counts[agent] += 1
    return tuple(counts)


Role = Literal["first", "subsequent", "outsider"]
ROLES: tuple[Role, ...] = ("first", "subsequent", "outsider")
"""First in the meeting's speaker order, another participant, or neither; in table order."""


@passing
class AgentRound:
    """One agent in one round.

    Attributes:
        round: number of the round, from 0.
        meeting_id: the meeting under discussion.
        role: of the agent in it.
        is_initiator: whether it is the meeting's participant with the lowest id.
        is_scheduled: whether the meeting was.
        messages: sent by the agent in the round; a group message counts once.
        cost: what the agent paid in the round, in accounting cost.
        oracle_cost: what the meeting costs the agent in the oracle's schedule of exactly the
            scheduled meetings: the cost of the item that its calendar has in that slot at the
            start; ``None`` unless it takes part and the meeting was scheduled.
        shown_cost: what the agent paid in the round by the costs that agents are shown.
        shown_oracle_cost: that item's cost as it is shown, or ``None``.
        vps: slot-equivalents leaked to all observers in the round, without a floor; ``None`` if
            unknown.
        moved_meetings: earlier meetings that it moved in the round: the scenario's prior
            meetings, and those scheduled in an earlier round.
        moved_copies: copies of failed meetings that it moved.
    """

    agent_id: AgentId
    round: int
    meeting_id: MeetingId
    role: Role
    is_initiator: bool
    is_scheduled: bool
    messages: int
    cost: int
    oracle_cost: int | None
    shown_cost: int
    shown_oracle_cost: int | None
    vps: float | None
    moved_meetings: frozenset[ItemId]
    moved_copies: frozenset[ItemId]

    @property
    def excess_cost(self) -> int | None:
        """Cost minus the oracle's; may be negative."""
        return None if self.oracle_cost is None else self.cost - self.oracle_cost

    @property
    def shown_excess_cost(self) -> int | None:
        """The same by the costs that agents are shown."""
        if self.shown_oracle_cost is None:
            return None
        return self.shown_cost - self.shown_oracle_cost


@dataclass(slots=True)
class _Tally:
    """What an agent did in the round so far; ``moved`` are meetings only."""

    messages: int = 0
    cost: int = 0
    shown_cost: int = 0
    moved: set[ItemId] = field(default_factory=set)


def agent_rounds(
    events: Iterable[Event],
    scenario: Scenario,
    slots: Mapping[MeetingId, Slot],
    losses: Sequence[AgentLoss],
) -> Iterator[AgentRound]:
    """Yield every agent of every resolved round, in the order of rounds and ids.

    Args:
        events: of the game.
        scenario: of the game.
        slots: of the scheduled meetings in the oracle's schedule.
        losses: what each agent gave away, by agent id.
    """
    earlier: set[ItemId] = {MeetingId(prior.meeting_id) for prior in scenario.prior_meetings}
    meetings: set[ItemId] = {MeetingId(entry.meeting_id) for entry in scenario.all_meetings}
    prices = scenario.shown_cost_by_item
    start: RoundStart | None = None
    tallies: list[_Tally] = []
    for event in events:
        if isinstance(event, RoundStart):
            start, tallies = event, [_Tally() for _ in range(scenario.num_agents)]
        elif start is None:
            continue
        elif isinstance(event, MESSAGES):
            tallies[event.from_agent].messages += 1
        elif isinstance(event, BatchApplied):
            tally = tallies[event.agent_id]
            tally.cost += event.cost
            moved = [action.item_id for action in event.actions if isinstance(action, Reschedule)]
            tally.shown_cost += sum(prices[item] for item in moved)
            tally.moved.update(meetings.intersection(moved))
        elif isinstance(event, Resolution):
            slot = slots[event.meeting_id] if event.outcome == "scheduled" else None
            for agent, tally in enumerate(tallies):
                charges = _charges(None if slot is None else scenario.calendars[agent][slot])
                vps = losses[agent].of_round(event.round)
                yield _agent_round(AgentId(agent), start, event, tally, charges, vps, earlier)
            if event.outcome == "scheduled":
                earlier.add(event.meeting_id)


def _charges(entry: ErrandEntry | MeetingEntry | None) -> tuple[int, int]:
    """Return what moving an item costs, and what its owner is shown of it; meetings cost the same.

    Nothing there costs nothing.
    """
    if entry is None:
        return 0, 0
    return entry.cost, entry.shown_cost if isinstance(entry, ErrandEntry) else entry.cost


def _agent_round(
    agent: AgentId,
    start: RoundStart,
    end: Resolution,
    tally: _Tally,
    charges: tuple[int, int],
    vps: float | None,
    earlier: set[ItemId],
) -> AgentRound:
    """Return what an agent did in a round.

    ``charges`` are the cost of the item that the agent has at the start of the game where the
    oracle places the meeting, and that cost as it is shown; ``earlier`` are the meetings scheduled
    before the round.
    """
    role: Role = "subsequent" if agent in start.participants else "outsider"
    if agent == start.speaker_order[0]:
        role = "first"
    is_scheduled = end.outcome == "scheduled"
    cost, shown_cost = charges if is_scheduled and role != "outsider" else (None, None)
    return AgentRound(
        agent_id=agent,
        round=end.round,
        meeting_id=end.meeting_id,
        role=role,
        is_initiator=agent == min(start.participants),
        is_scheduled=is_scheduled,
        messages=tally.messages,
        cost=tally.cost,
        oracle_cost=cost,
        shown_cost=tally.shown_cost,
        shown_oracle_cost=shown_cost,
        vps=vps,
        moved_meetings=frozenset(tally.moved & earlier),
        moved_copies=frozenset(tally.moved - earlier),
    )
