"""What a trace says about reading: unreadable or recovered replies, and text nobody can read."""

from collections.abc import Iterable

from calbench.domain.ids import AgentId
from calbench.domain.messages import Message, Text
from calbench.domain.replies import Reply
from calbench.engine.state import Moment, State
from calbench.traces.events import NoteKind, ReplyNote


def note_reply(state: State, moment: Moment, agent: AgentId, reply: Reply) -> None:
    """Record that a reply could not be read, or what was removed to read it; else nothing."""
    if reply.unreadable is not None:
        _note(state, moment, agent, reply.unreadable.problem, reply.unreadable.detail)
    elif reply.recovered is not None:
        _note(state, moment, agent, "recovered", reply.recovered)


def note_prose(state: State, moment: Moment, agent: AgentId, inbox: Iterable[Message]) -> None:
    """Record that text reached a typed agent, which understands speech acts only."""
    senders = sorted(
        {m.sender for m in inbox if isinstance(m.content, Text) and m.sender is not None}
    )
    if senders:
        detail = f"text from {', '.join(f'agent {sender}' for sender in senders)}"
        _note(state, moment, agent, "prose_ignored", detail)


def _note(state: State, moment: Moment, agent: AgentId, kind: NoteKind, detail: str) -> None:
    note = ReplyNote(
        round=moment.round_index, phase=moment.phase, agent_id=agent, kind=kind, detail=detail
    )
    state.events.append(note)
