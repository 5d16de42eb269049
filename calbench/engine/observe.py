"""The only function from the state to what an agent sees: auditing privacy means reading this.

An agent sees its own calendar, messages addressed to it or sent by it, and of the meeting
under discussion its participants only if it is one of them (paper, appendix A.1). Shown
costs stand in calendars; accounting costs are in no observation. A seat with private chance
sees its own seed and nobody else's. A seat that uses language sees the labels of its own
errands and of meetings it takes part in.
"""

from calbench.domain.calendars import HiddenMeeting
from calbench.domain.ids import AgentId
from calbench.domain.messages import Message
from calbench.domain.observations import CHEAP_TALK, REFLECTION, Observation
from calbench.engine.state import Moment, State

_new = tuple.__new__


def observe(
    state: State,
    moment: Moment,
    agent: AgentId,
    inbox: tuple[Message, ...] = (),
    conflict: str | None = None,
) -> Observation:
    """Return what one agent may know at this moment; its refusals are named only once."""
    meeting, phase, turn_index = moment.meeting, moment.phase, moment.turn_index
    # What is only measured uses nothing up.
    refusals = () if phase is REFLECTION else state.refusals[agent]
    if refusals:
        state.refusals[agent] = ()
    # As Observation(...), which would first take the fields for arguments, in every turn.
    seen: Observation = _new(
        Observation,
        (
            agent,
            state.agent_ids,
            phase,
            meeting
            if agent in meeting.participants
            else HiddenMeeting(meeting.meeting_id, meeting.cost),
            moment.round_index,
            state.calendars[agent],
            state.current[agent],
            state.earlier[agent],
            inbox,
            turn_index,
            state.max_turns - 1 - turn_index if phase is CHEAP_TALK else 0,
            moment.attempt,
            conflict,
            refusals,
            state.channels,
            state.shown_cost_by_agent[agent],
            state.has_mediator,
            state.private_seeds[agent],
            state.labels[agent],
            state.decision_retries,
        ),
    )
    return seen
