"""Carries messages: who receives what, and which are refused (paper, appendix A.4).

Sealed vectors go to the mediator, a trusted non-player that makes IMAP's choice from them [C]. It
is the ideal functionality of the cost-privacy plane: what coordination reveals if all agents trust
one party. It exists for one meeting, knows only the vectors given to it, and is part of the rules,
so replaying a trace includes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from calbench.domain.actions import (
    Action,
    BroadcastMessage,
    DirectMessage,
    ParticipantMessage,
    SealedReport,
    Utterance,
)
from calbench.domain.calendars import Meeting, all_slots
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Announcement, CostReport, Message, Text
from calbench.domain.observations import Refusal
from calbench.engine.state import Moment, State
from calbench.protocols.costs import CostVector, cheapest_slot
from calbench.traces.events import (
    OVER_CAP,
    AllAgentGroupchatSent,
    AnnouncementSent,
    DmSent,
    Event,
    InvalidToolCall,
    ParticipantGroupchatSent,
    SealedSent,
)


@dataclass(frozen=True, slots=True)
class Mediator:
    """What the mediator of one meeting knows.

    Attributes:
        participants: of the meeting.
        num_slots: slots of every calendar.
        vectors: the vectors received so far, by participant.
    """

    participants: tuple[AgentId, ...]
    num_slots: int
    vectors: Mapping[AgentId, CostVector] = field(default_factory=dict)

    def objection(self, sender: AgentId, report: CostReport) -> str | None:
        """Return why a vector cannot be accepted; ``None`` if it can."""
        if sender not in self.participants:
            return "Only participants of the current meeting may hand a vector to the mediator"
        if sender in self.vectors:
            return "The mediator has this agent's vector already"
        if report.slots != all_slots(self.num_slots) or len(report.costs) != self.num_slots:
            return "The mediator takes whole vectors only: one cost for every slot in order"
        return None

    def taking(self, sender: AgentId, report: CostReport) -> "Mediator":
        """Return the mediator with one more vector."""
        return replace(self, vectors={**self.vectors, sender: report.costs})

    @property
    def choice(self) -> Slot | None:
        """IMAP's choice once all vectors are in; ``None`` before, or without a joint slot."""
        if len(self.vectors) < len(self.participants):
            return None
        return cheapest_slot(list(self.vectors.values()))


_EVENT_BY_CHANNEL = {
    "dm": DmSent,
    "participant_groupchat": ParticipantGroupchatSent,
    "all_agent_groupchat": AllAgentGroupchatSent,
}


def send(
    state: State, moment: Moment, sender: AgentId, action: Utterance, sent_this_round: int
) -> tuple[AgentId, ...]:
    """Deliver one message, or record why it was refused.

    Args:
        state: modified in place.
        moment: when it is sent.
        sender: who sends it.
        action: the message.
        sent_this_round: messages that all agents have sent in this round so far.

    Returns:
        Its recipients, empty if it was refused.
    """
    meeting = moment.meeting
    recipients: tuple[AgentId, ...]
    if isinstance(action, DirectMessage):
        recipients = (action.to,)
        reason = _wrong_recipient(state, sender, action.to)
    else:
        recipients = _group(state, sender, action, meeting)
        reason = _wrong_group(sender, action, meeting, recipients)
    channel, content, meeting_id = action.type, action.content, meeting.meeting_id
    text = content.text if isinstance(content, Text) else None
    if channel not in state.channels:
        reason = _closed(channel)
    elif reason is None and text is not None and not text.strip():
        reason = "The message is empty"
    if reason is None:
        reason = _over_cap(state, sender, sent_this_round)
    if reason is not None:
        refuse(state, moment, sender, action, reason)
        return ()
    length = None if text is None else len(text)
    place = (moment.round_index, moment.turn_index)
    event = _EVENT_BY_CHANNEL[channel](*place, sender, recipients, meeting_id, content, length)
    _post(state, Message(sender, recipients, channel, meeting_id, content), event)
    return recipients


def _post(state: State, message: Message, event: Event) -> None:
    """Record a message, put it before its recipients and count it for its sender."""
    entry = (len(state.events), message)
    state.events.append(event)
    for recipient in message.recipients:
        state.unread[recipient].append(entry)
    if message.sender is not None:
        state.current[message.sender] += (message,)
        state.messages_sent_by_agent[message.sender] += 1


def hand_over(
    state: State,
    moment: Moment,
    sender: AgentId,
    action: SealedReport,
    mediator: Mediator | None,
    sent_this_round: int,
) -> Mediator | None:
    """Give a vector to the mediator, or record why it was refused; the last one makes it speak.

    Returns:
        The mediator with that vector; ``None`` if it was refused.
    """
    if mediator is None:
        refuse(state, moment, sender, action, _closed(action.type))
        return None
    report = action.content
    reason = mediator.objection(sender, report) or _over_cap(state, sender, sent_this_round)
    if reason is not None:
        refuse(state, moment, sender, action, reason)
        return None
    meeting = moment.meeting
    sealed = SealedSent(
        round=moment.round_index,
        turn=moment.turn_index,
        from_agent=sender,
        to_agents=(),
        meeting_id=meeting.meeting_id,
        content=report,
    )
    _post(state, Message(sender, (), action.type, meeting.meeting_id, report), sealed)
    after = mediator.taking(sender, report)
    if after.choice is not None:
        recipients = tuple(sorted(meeting.participants))
        content = Announcement(slot=after.choice)
        announced = AnnouncementSent(
            round=moment.round_index,
            turn=moment.turn_index,
            to_agents=recipients,
            meeting_id=meeting.meeting_id,
            content=content,
        )
        message = Message(None, recipients, "sealed", meeting.meeting_id, content)
        _post(state, message, announced)
    return after


def read_inbox(
    state: State, agent: AgentId, meeting: Meeting
) -> tuple[tuple[int, ...], tuple[Message, ...]]:
    """Move an agent's unread messages to its transcript; return event indices and messages.

    A message about an earlier meeting that is read late joins the earlier messages.
    """
    unread = state.unread[agent]
    if not unread:
        return (), ()
    state.unread[agent] = []
    indices: tuple[int, ...]
    messages: tuple[Message, ...]
    indices, messages = zip(*unread, strict=True)
    if messages[0].meeting_id == meeting.meeting_id:
        # Messages wait in the order they were sent: none is older than the first.
        state.current[agent] += messages
    else:
        about = meeting.meeting_id
        state.current[agent] += tuple([m for m in messages if m.meeting_id == about])
        state.earlier[agent] += tuple([m for m in messages if m.meeting_id != about])
    return indices, messages


def refuse(state: State, moment: Moment, agent: AgentId, action: Action, reason: str) -> None:
    """Record an action that is not carried out; its author learns of it at its next turn."""
    state.refusals[agent] += (Refusal(action, reason),)
    state.events.append(
        InvalidToolCall(
            round=moment.round_index,
            phase=moment.phase,
            agent_id=agent,
            action=action,
            reason=reason,
        )
    )


def _group(
    state: State,
    sender: AgentId,
    action: ParticipantMessage | BroadcastMessage,
    meeting: Meeting,
) -> tuple[AgentId, ...]:
    everyone = (
        state.agent_ids if isinstance(action, BroadcastMessage) else sorted(meeting.participants)
    )
    return tuple([agent for agent in everyone if agent != sender])


def _wrong_recipient(state: State, sender: AgentId, recipient: AgentId) -> str | None:
    """Return why nobody can receive a private message; ``None`` if somebody can."""
    if recipient == sender:
        return "A message to oneself"
    if not 0 <= recipient < len(state.agent_ids):
        return f"There is no agent {recipient}"
    return None


def _wrong_group(
    sender: AgentId,
    action: ParticipantMessage | BroadcastMessage,
    meeting: Meeting,
    recipients: tuple[AgentId, ...],
) -> str | None:
    """Return why the sender cannot write to a group; ``None`` if it can."""
    if isinstance(action, ParticipantMessage) and sender not in meeting.participants:
        return "Only participants of the current meeting may write to participant_groupchat"
    return None if recipients else "The message has no recipient"


def _closed(route: str) -> str:
    return f"The channel {route} is closed in this game"


def _over_cap(state: State, sender: AgentId, sent_this_round: int) -> str | None:
    """Return why a message is one too many, of all agents or of its sender."""
    most, most_own = state.limits.dm_cap, state.limits.agent_cap
    if most is not None and sent_this_round >= most:
        return f"{OVER_CAP}{most} messages in this round is reached"
    # Counted only if all that it said and heard about the meeting would be too many.
    if most_own is not None and len(state.current[sender]) >= most_own:
        own = sum(message.sender == sender for message in state.current[sender])
        if own >= most_own:
            return f"{OVER_CAP}{most_own} messages of an agent in this round is reached"
    return None
