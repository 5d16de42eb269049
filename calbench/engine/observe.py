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
    return Observation(
        agent_id=agent,
        agent_ids=state.agent_ids,
        phase=phase,
        meeting=meeting if is_participant else HiddenMeeting(meeting.meeting_id, meeting.cost),
        round_index=moment.round_index,
        calendar=state.calendars[agent],
        messages=state.current[agent],
        earlier=state.earlier[agent],
        inbox=inbox,
        turn_index=moment.turn_index,
        turns_left=state.max_turns - 1 - moment.turn_index if phase is CHEAP_TALK else 0,
        attempt=moment.attempt,
        conflict=conflict,
        refusals=refusals,
        channels=state.channels,
        incurred_shown_cost=state.shown_cost_by_agent[agent],
        has_mediator=state.has_mediator,
        private_seed=state.private_seeds[agent],
        labels=state.labels[agent],
        decision_retries=state.decision_retries,
    )
