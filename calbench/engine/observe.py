"""The only function from the state to what an agent sees: read this to audit privacy.

An agent sees its own calendar, messages addressed to it or sent by it, and of the meeting
under discussion its participants only if it is one of them (paper, appendix A.1). Calendars
hold shown costs; accounting costs are in no observation. A seat with private chance sees its
own seed and no other. A seat that uses language sees the labels of its own errands and of
meetings it takes part in.
"""

from calbench.domain.calendars import HiddenMeeting
from calbench.domain.ids import AgentId
from calbench.domain.messages import Message
from calbench.domain.observations import CHEAP_TALK, REFLECTION, Observation
from calbench.engine.state import Moment, State


def observe(
    state: State,
    moment: Moment,
    agent: AgentId,
    inbox: tuple[Message, ...] = (),
    conflict: str | None = None,
) -> Observation:
    """Return what one agent may know at this moment; its refusals are reported only once."""
    meeting, phase = moment.meeting, moment.phase
    # A reflection only measures, so it uses nothing up.
    refusals = () if phase is REFLECTION else state.refusals[agent]
    if refusals:
        state.refusals[agent] = ()
    is_participant = agent in meeting.participants
    shown = meeting if is_participant else HiddenMeeting(meeting.meeting_id, meeting.cost)
    limits = state.limits
    turns_left = limits.max_turns_per_round - 1 - moment.turn_index if phase is CHEAP_TALK else 0
    # By position, in the order of the class: names would double the time, and every turn has one.
    return Observation(
        agent,
        state.agent_ids,
        phase,
        shown,
        moment.round_index,
        state.calendars[agent],
        state.current[agent],
        state.earlier[agent],
        inbox,
        moment.turn_index,
        turns_left,
        moment.attempt,
        conflict,
        refusals,
        state.channels,
        state.shown_cost_by_agent[agent],
        state.has_mediator,
        state.private_seeds[agent],
        state.labels[agent],
        limits.decision_retries,
    )
