"""The patterns of Table 15 that are found in a game's events, not in its words (appendix H)."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from calbench.domain.actions import Reschedule
from calbench.domain.ids import AgentId, MeetingId
from calbench.traces.events import BatchApplied, Resolution
from calbench.traces.models import Trace

CASCADE: Final = 2
"""Resolutions at which one meeting must be broken to cascade; the paper's number is unknown [C]."""


class Occurrence(NamedTuple):
    """One occurrence of a pattern, and the agents that caused it, if any.

    The event is the move, or the resolution at which it shows: of a cascade, the one at which the
    meeting is broken again.
    """

    pattern: str
    agents: tuple[AgentId, ...]
    event_index: int
    round: int


def occurrences(trace: Trace) -> Iterator[Occurrence]:
    """Yield the patterns in a game's events.

    A displaced meeting is attributed to the agents that moved it in that round, an ambiguous
    consensus to the participants that hold the meeting, a missing slot to the agent without it.
    """
    costly = _costly_errands(trace)
    broken: Counter[MeetingId] = Counter()
    cascades: dict[MeetingId, tuple[int, int]] = {}
    movers: dict[MeetingId, set[AgentId]] = {}
    for index, event in enumerate(trace.events):
        if isinstance(event, BatchApplied):
            for action in event.actions:
                if isinstance(action, Reschedule):
                    movers.setdefault(MeetingId(action.item_id), set()).add(event.agent_id)
                    if action.item_id in costly:
                        yield Occurrence(
                            "qualitative_flattening", (event.agent_id,), index, event.round
                        )
        elif isinstance(event, Resolution):
            broken.update(event.broken_meetings)
            for meeting in event.broken_meetings:
                if broken[meeting] == CASCADE:
                    cascades[meeting] = index, event.round
            yield from _at(index, event, movers)
            movers = {}
    for meeting in sorted(cascades):
        yield Occurrence("cascading_failure", (), *cascades[meeting])


def _at(
    index: int, event: Resolution, movers: dict[MeetingId, set[AgentId]]
) -> Iterator[Occurrence]:
    if event.broken_meetings:
        guilty = {agent for meeting in event.broken_meetings for agent in movers.get(meeting, ())}
        yield Occurrence("unilateral_displacement", tuple(sorted(guilty)), index, event.round)
    if event.coordinated:
        return
    held = {AgentId(int(a)): slot for a, slot in event.slot_by_agent.items() if slot is not None}
    if len(set(held.values())) > 1:
        yield Occurrence("ambiguous_consensus", tuple(sorted(held)), index, event.round)
    for agent in sorted(AgentId(int(agent)) for agent in event.slot_by_agent):
        if agent not in held:
            yield Occurrence("output_truncation", (agent,), index, event.round)


def _costly_errands(trace: Trace) -> frozenset[int]:
    """Return the errands of the highest shown cost; none if all cost the same."""
    cost_by_errand = {
        errand.errand_id: errand.shown_cost for _, _, errand in trace.scenario.errands
    }
    costs = set(cost_by_errand.values())
    if len(costs) < 2:
        return frozenset()
    return frozenset(errand for errand, cost in cost_by_errand.items() if cost == max(costs))
