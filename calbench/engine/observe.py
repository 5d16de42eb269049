"""The only function from the state to what an agent sees: auditing privacy means reading this.

An agent sees its own calendar, messages addressed to it or sent by it, and of the meeting
under discussion its participants only if it is one of them (paper, appendix A.1). Shown
costs stand in calendars; accounting costs are in no observation. A seat with private chance
sees its own seed and nobody else's.
"""

from calbench.domain.calendars import HiddenMeeting
from calbench.domain.ids import AgentId
from calbench.domain.messages import Message
from calbench.domain.observations import CHEAP_TALK, Observation
from calbench.engine.state import Moment, State


def observe(
    state: State,
    moment: Moment,
    agent: AgentId,
    *,
    inbox: tuple[Message, ...] = (),
    conflict: str | None = None,
) -> Observation:
    """Return what one agent may know at this moment; its refusals are named only once."""
    meeting = moment.meeting
    is_talk = moment.phase is CHEAP_TALK
    refusals = state.refusals[agent]
    if refusals:
        state.refusals[agent] = ()
    return Observation(
        agent,
        state.agent_ids,
        moment.phase,
        meeting
        if agent in meeting.participants
        else HiddenMeeting(meeting.meeting_id, meeting.cost),
        moment.round_index,
        state.calendars[agent],
        state.current[agent],
        state.earlier[agent],
        inbox,
        moment.turn_index,
        state.max_turns - 1 - moment.turn_index if is_talk else 0,
        moment.attempt,
        conflict,
        refusals,
        state.channels,
        state.shown_cost_by_agent[agent],
        state.has_mediator,
        state.private_seeds[agent],
    )
