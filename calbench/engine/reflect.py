"""REFLECTION: after a round, language agents are asked what they came to believe (appendix F).

This is only a measurement: it is recorded and changes neither the state nor later observations.
"""

from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId
from calbench.domain.observations import REFLECTION
from calbench.domain.replies import Reply
from calbench.engine.notes import note_reply
from calbench.engine.observe import observe
from calbench.engine.state import Moment, State
from calbench.engine.talk import Asking
from calbench.traces.events import Reflection


def reflection(
    state: State, meeting: Meeting, agents: tuple[AgentId, ...], round_index: int
) -> Asking:
    """Ask these agents at once, after the round is resolved."""
    if not agents:
        return
    moment = Moment(round_index, meeting, REFLECTION)
    replies = yield {agent: observe(state, moment, agent) for agent in agents}
    for agent in agents:
        _record(state, moment, agent, replies[agent])


def _record(state: State, moment: Moment, agent: AgentId, reply: Reply) -> None:
    beliefs = reply.beliefs
    state.events.append(
        Reflection(
            round=moment.round_index,
            agent_id=agent,
            prompt=reply.prompt,
            delta_by_target={} if beliefs is None else beliefs.delta,
            expected_by_target=None if beliefs is None else beliefs.expected,
            usage=reply.usage,
            reply_keys=reply.reply_keys,
        )
    )
    note_reply(state, moment, agent, reply)
