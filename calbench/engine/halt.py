"""The end of a game that cannot go on: recorded whole, and left out of every score."""

from calbench.domain.ids import MeetingId
from calbench.domain.observations import Observation
from calbench.engine.rounds import round_start
from calbench.engine.state import State
from calbench.errors import Halt
from calbench.scenarios.models import Scenario
from calbench.traces.events import GameHalted, Resolution
from calbench.traces.models import RoundOutcome


def halt(
    state: State, scenario: Scenario, observation: Observation, reason: Halt, detail: str
) -> None:
    """Record why, and the round at hand with all that were to follow as lost.

    Args:
        state: of the game where it stopped.
        scenario: what the game is about.
        observation: what the agent that could not answer was asked with.
        reason: a provider's fault, or the end of the budget.
        detail: in words; holds no key and no address.
    """
    state.events.append(
        GameHalted(
            round=observation.round_index,
            phase=observation.phase,
            agent_id=observation.agent_id,
            reason=reason,
            detail=detail,
        )
    )
    for round_index in range(len(state.outcomes), len(scenario.meetings)):
        entry = scenario.meetings[round_index]
        meeting_id = MeetingId(entry.meeting_id)
        if round_index > observation.round_index:  # opened only to be resolved
            state.events.append(round_start(scenario, entry, round_index))
        slots = state.slots_of(scenario.meeting_by_id[meeting_id])
        state.events.append(
            Resolution(
                round=round_index,
                meeting_id=meeting_id,
                coordinated=False,
                outcome=reason,
                slot_by_agent=slots,
                broken_meetings=(),
            )
        )
        state.outcomes.append(
            RoundOutcome(meeting_id=meeting_id, coordinated=False, slot_by_agent=dict(slots))
        )
