"""The outcome of each meeting, and how many of its meetings an agent has (section 3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from calbench.domain.ids import AgentId, MeetingId, Slot
from calbench.metrics.usage import MESSAGES
from calbench.scenarios.models import Scenario
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
