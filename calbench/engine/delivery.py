"""Carries messages: who receives what, and which are refused (paper, appendix A.4)."""

from calbench.domain.actions import (
    Action,
    BroadcastMessage,
    DirectMessage,
    ParticipantMessage,
    SealedReport,
    Utterance,
)
from calbench.domain.calendars import Meeting
from calbench.domain.ids import AgentId, Slot
from calbench.domain.messages import Announcement, Message, Text
from calbench.domain.observations import Refusal
from calbench.engine.mediator import Mediator
from calbench.engine.state import Moment, State, Unread
from calbench.traces.events import (
    AllAgentGroupchatSent,
    AnnouncementSent,
    DmSent,
    InvalidToolCall,
    ParticipantGroupchatSent,
    SealedSent,
)

_EVENT_BY_CHANNEL = {
    "dm": DmSent,
    "participant_groupchat": ParticipantGroupchatSent,
    "all_agent_groupchat": AllAgentGroupchatSent,
}


def send(
    state: State, moment: Moment, sender: AgentId, action: Utterance, sent_this_round: int
) -> tuple[AgentId, ...]:
    """Deliver one message, or record why not.

    Args:
        state: changed in place.
        moment: when it is sent.
        sender: who sends it.
        action: the message.
        sent_this_round: messages delivered in this round so far, by all agents.

    Returns:
        Its recipients, empty if it was refused.
    """
    meeting = moment.meeting
    reason = _objection(state, sender, action, meeting, sent_this_round)
    if reason is not None:
        refuse(state, moment, sender, action, reason)
        return ()
    recipients = _recipients(state, sender, action, meeting)
    content = action.content
    message = Message(sender, recipients, action.type, meeting.meeting_id, content)
    entry = Unread(len(state.events), message)
    state.events.append(
        _EVENT_BY_CHANNEL[action.type](
            round=moment.round_index,
            turn=moment.turn_index,
            from_agent=sender,
            to_agents=recipients,
            meeting_id=meeting.meeting_id,
            content=content,
            chars=len(content.text) if isinstance(content, Text) else None,
        )
    )
    for recipient in recipients:
        state.unread[recipient].append(entry)
    state.current[sender] += (message,)
    state.messages_sent_by_agent[sender] += 1
    return recipients


def hand_over(
    state: State,
    moment: Moment,
    sender: AgentId,
    action: SealedReport,
    mediator: Mediator | None,
    sent_this_round: int,
) -> Mediator | None:
    """Hand a vector to the mediator, or record why not; the last one makes it speak.

    Returns:
        The mediator with that vector, ``None`` if it was refused.
    """
    if mediator is None:
        refuse(state, moment, sender, action, _closed(action.type))
        return None
    report = action.content
    reason = mediator.objection(sender, report) or _over_cap(state, sent_this_round)
    if reason is not None:
        refuse(state, moment, sender, action, reason)
        return None
    meeting_id = moment.meeting.meeting_id
    state.events.append(
        SealedSent(
            round=moment.round_index,
            turn=moment.turn_index,
            from_agent=sender,
            to_agents=(),
            meeting_id=meeting_id,
            content=report,
        )
    )
    state.current[sender] += (Message(sender, (), action.type, meeting_id, report),)
    state.messages_sent_by_agent[sender] += 1
    after = mediator.taking(sender, report)
    if after.choice is not None:
        _announce(state, moment, after.choice)
    return after


def _announce(state: State, moment: Moment, slot: Slot) -> None:
    """Let the mediator tell all participants; it waits in their inboxes like any message."""
    meeting = moment.meeting
    recipients = tuple(sorted(meeting.participants))
    content = Announcement(slot=slot)
    entry = Unread(
        len(state.events), Message(None, recipients, "sealed", meeting.meeting_id, content)
    )
    state.events.append(
        AnnouncementSent(
            round=moment.round_index,
            turn=moment.turn_index,
            to_agents=recipients,
            meeting_id=meeting.meeting_id,
            content=content,
        )
    )
    for recipient in recipients:
        state.unread[recipient].append(entry)


def read_inbox(
    state: State, agent: AgentId, meeting: Meeting
) -> tuple[tuple[int, ...], tuple[Message, ...]]:
    """Drain an agent's inbox into its transcript; return event indices and messages.

    A message keeps the meeting it was about: one read late joins the earlier messages.
    """
    unread = state.unread[agent]
    if not unread:
        return (), ()
    state.unread[agent] = []
    messages = tuple([entry.message for entry in unread])
    if messages[0].meeting_id == meeting.meeting_id:
        # Messages wait in the order they were sent: none behind the first is older.
        state.current[agent] += messages
    else:
        about = meeting.meeting_id
        state.current[agent] += tuple([m for m in messages if m.meeting_id == about])
        state.earlier[agent] += tuple([m for m in messages if m.meeting_id != about])
    return tuple([entry.event_index for entry in unread]), messages


def refuse(state: State, moment: Moment, agent: AgentId, action: Action, reason: str) -> None:
    """Record an action that is not carried out; its author is told at its next turn."""
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


def _recipients(
    state: State, sender: AgentId, action: Utterance, meeting: Meeting
) -> tuple[AgentId, ...]:
    if isinstance(action, DirectMessage):
        return (action.to,)
    everyone = (
        state.agent_ids if isinstance(action, BroadcastMessage) else sorted(meeting.participants)
    )
    return tuple([agent for agent in everyone if agent != sender])


def _objection(
    state: State, sender: AgentId, action: Utterance, meeting: Meeting, sent_this_round: int
) -> str | None:
    """Return why a message cannot be delivered, or ``None`` if it can."""
    if action.type not in state.channels:
        return _closed(action.type)
    misaddressed = _misaddressed(state, sender, action, meeting)
    if misaddressed is not None:
        return misaddressed
    if isinstance(action.content, Text) and not action.content.text.strip():
        return "The message is empty"
    return _over_cap(state, sent_this_round)


def _closed(route: str) -> str:
    return f"The channel {route} is closed in this game"


def _over_cap(state: State, sent_this_round: int) -> str | None:
    if state.message_cap is not None and sent_this_round >= state.message_cap:
        return f"The cap of {state.message_cap} messages in this round is reached"
    return None


def _misaddressed(state: State, sender: AgentId, action: Utterance, meeting: Meeting) -> str | None:
    if isinstance(action, DirectMessage):
        if action.to == sender:
            return "A message to oneself"
        return None if action.to in state.agent_ids else f"There is no agent {action.to}"
    if isinstance(action, ParticipantMessage) and sender not in meeting.participants:
        return "Only participants of the current meeting may write to participant_groupchat"
    if not _recipients(state, sender, action, meeting):
        return "The message has no recipient"
    return None
