"""What a trace says about reading: replies that were hard to read, text that nobody read."""

from collections.abc import Iterable

from calbench.domain.ids import AgentId
from calbench.domain.messages import Message, Text
from calbench.domain.replies import Reply
from calbench.engine.state import Moment, State
from calbench.traces.events import ReplyNote


def note_reply(state: State, moment: Moment, agent: AgentId, reply: Reply) -> None:
    """Record that a reply could not be read, or what was cut away to read it."""
    if reply.unreadable is not None:
        state.events.append(
            ReplyNote(
                round=moment.round_index,
                phase=moment.phase,
                agent_id=agent,
                kind=reply.unreadable.problem,
                detail=reply.unreadable.detail,
            )
        )
    elif reply.recovered is not None:
        state.events.append(
            ReplyNote(
                round=moment.round_index,
                phase=moment.phase,
                agent_id=agent,
                kind="recovered",
                detail=reply.recovered,
            )
        )


def note_prose(state: State, moment: Moment, agent: AgentId, inbox: Iterable[Message]) -> None:
    """Record that text reached a typed agent, which reads speech acts only and stays silent."""
    senders = sorted(
        {m.sender for m in inbox if isinstance(m.content, Text) and m.sender is not None}
    )
    if senders:
        state.events.append(
            ReplyNote(
                round=moment.round_index,
                phase=moment.phase,
                agent_id=agent,
                kind="prose_ignored",
                detail=f"text from {', '.join(f'agent {sender}' for sender in senders)}",
            )
        )
