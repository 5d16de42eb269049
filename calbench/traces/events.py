"""The events of a game, in the order they happened (paper, appendix A.6, Table 5).

The engine makes them without validation; they are validated when they are read from a file.
Those of every turn are ``frequent``. Calendars are recorded as item ids (``null`` is free); the
scenario in the same trace says what each id is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field

from calbench.domain.actions import (
    Action,
    DirectMessage,
    RecordedAction,
    RecordedCalendarAction,
    Reschedule,
    Schedule,
)
from calbench.domain.frequent import frequent, recorded
from calbench.domain.ids import AgentId, ItemId, MeetingId, Slot
from calbench.domain.messages import Announcement, CostReport, RecordedContent, Text
from calbench.domain.observations import Phase
from calbench.domain.replies import Problem
from calbench.domain.usage import Usage
from calbench.errors import Halt
from calbench.files import printable

CalendarIds = tuple[ItemId | None, ...]

Outcome = Literal[
    "scheduled",
    "inconsistent_slots",
    "no_batch",
    "earlier_meeting_broken",
    "provider_fault",
    "budget_stop",
]
"""How a meeting ended."""

OVER_CAP = "The cap of "
"""How the reason of an :class:`InvalidToolCall` begins if a message was one too many."""


@recorded
class GameStart:
    """What the game is about. Costs are those stored with the scenario, absent if unknown."""

    type: Literal["game_start"] = "game_start"
    seed: int
    num_agents: int
    num_slots: int
    num_meetings: int
    optimal_cost: int | None
    greedy_cost: int | None
    nosy_agents: tuple[AgentId, ...]


@recorded
class AgentRegistered:
    """An agent takes its seat. Typed protocols have no system prompt."""

    type: Literal["agent_registered"] = "agent_registered"
    agent_id: AgentId
    player: str
    system_prompt: str | None
    calendar: CalendarIds
    is_nosy: bool


@recorded
class RoundStart:
    """A round begins; one round per meeting."""

    type: Literal["round_start"] = "round_start"
    round: int
    meeting_id: MeetingId
    participants: tuple[AgentId, ...]
    speaker_order: tuple[AgentId, ...]


@frequent
class TurnStart:
    """An agent is asked to talk. ``inbox`` holds the event indices of the messages it reads."""

    type: Literal["turn_start"] = field(default="turn_start", kw_only=True)
    round: int
    turn: int
    agent_id: AgentId
    phase: Phase
    inbox: tuple[int, ...]
    prompt: str | None


@frequent
class TurnEnd:
    """What the agent did in its turn, refused actions included."""

    type: Literal["turn_end"] = field(default="turn_end", kw_only=True)
    round: int
    turn: int
    agent_id: AgentId
    actions: tuple[RecordedAction, ...]
    thinking: str | None
    usage: Usage | None
    reply_keys: tuple[str, ...]


@frequent
class _ChannelMessage:
    """A delivered message; ``chars`` is the length of a text."""

    type: str = field(default="", kw_only=True)
    round: int
    turn: int
    from_agent: AgentId
    to_agents: tuple[AgentId, ...]
    meeting_id: MeetingId
    content: RecordedContent
    chars: int | None


@frequent
class DmSent(_ChannelMessage):
    """A private message was delivered."""

    type: Literal["dm_sent"] = field(default="dm_sent", kw_only=True)


@frequent
class ParticipantGroupchatSent(_ChannelMessage):
    """A message was delivered to the other participants of the meeting."""

    type: Literal["participant_groupchat_sent"] = field(
        default="participant_groupchat_sent", kw_only=True
    )


@frequent
class AllAgentGroupchatSent(_ChannelMessage):
    """A message was delivered to all other agents."""

    type: Literal["all_agent_groupchat_sent"] = field(
        default="all_agent_groupchat_sent", kw_only=True
    )


@recorded
class SealedSent:
    """A cost vector was handed to the mediator; no agent receives it [C]."""

    type: Literal["sealed_sent"] = "sealed_sent"
    round: int
    turn: int
    from_agent: AgentId
    to_agents: tuple[AgentId, ...]
    meeting_id: MeetingId
    content: CostReport


@recorded
class AnnouncementSent:
    """The mediator tells the participants the slot it chose; no agent's message [C]."""

    type: Literal["announcement"] = "announcement"
    round: int
    turn: int
    to_agents: tuple[AgentId, ...]
    meeting_id: MeetingId
    content: Announcement


@recorded
class InvalidToolCall:
    """An action that was not carried out: recorded, not delivered, not counted."""

    type: Literal["invalid_tool_call"] = "invalid_tool_call"
    round: int
    phase: Phase
    agent_id: AgentId
    action: RecordedAction
    reason: str


@frequent
class DecideStart:
    """An agent is asked for a batch; ``attempt`` counts its retries in this phase."""

    type: Literal["decide_start"] = field(default="decide_start", kw_only=True)
    round: int
    phase: Phase
    agent_id: AgentId
    attempt: int
    calendar: CalendarIds
    prompt: str | None


@frequent
class DecideEnd:
    """The batch an agent submitted, refused actions included."""

    type: Literal["decide_end"] = field(default="decide_end", kw_only=True)
    round: int
    phase: Phase
    agent_id: AgentId
    attempt: int
    actions: tuple[RecordedAction, ...]
    thinking: str | None
    usage: Usage | None
    reply_keys: tuple[str, ...]


@recorded
class BatchRejected:
    """A batch broke a rule and was not applied."""

    type: Literal["batch_rejected"] = "batch_rejected"
    round: int
    phase: Phase
    agent_id: AgentId
    attempt: int
    conflict: str
    actions: tuple[RecordedCalendarAction, ...]


@recorded
class BatchWithheld:
    """A batch broke no rule, but where all are applied together or not at all, it was not.

    ``reason`` says what of the meeting's batches did not allow it: one was missing at the end of
    the phase, or one, a rejected one too, named a blocked item of its author.
    """

    type: Literal["batch_withheld"] = "batch_withheld"
    round: int
    agent_id: AgentId
    attempt: int
    actions: tuple[RecordedCalendarAction, ...]
    reason: Literal["missing", "blocked"]


@frequent
class BatchApplied:
    """A batch was applied; ``cost`` is what its owner paid in the accounting."""

    type: Literal["batch_applied"] = field(default="batch_applied", kw_only=True)
    round: int
    phase: Phase
    agent_id: AgentId
    attempt: int
    actions: tuple[RecordedCalendarAction, ...]
    cost: int
    calendar: CalendarIds


@recorded
class ConsistencyViolation:
    """A meeting that must be in one slot of all its participants is not.

    ``slot_by_agent`` maps each participant, as a string, to its slot or null.
    """

    type: Literal["consistency_violation"] = "consistency_violation"
    round: int
    meeting_id: MeetingId
    is_earlier: bool
    slot_by_agent: dict[str, Slot | None]


@recorded
class Resolution:
    """How the round ended."""

    type: Literal["resolution"] = "resolution"
    round: int
    meeting_id: MeetingId
    coordinated: bool
    outcome: Outcome
    slot_by_agent: dict[str, Slot | None]
    broken_meetings: tuple[MeetingId, ...]


NoteKind = Problem | Literal["recovered", "prose_ignored"]


@recorded
class ReplyNote:
    """How a reply was read, or that a message was not.

    A model's reply that could not be read counts as no action (``detail`` says where it went
    wrong). ``recovered`` names what was removed to read a reply. ``prose_ignored`` marks text
    that reached a typed agent, which cannot read it.
    """

    type: Literal["reply_note"] = "reply_note"
    round: int
    phase: Phase
    agent_id: AgentId
    kind: NoteKind
    detail: str


@recorded
class ChancesStated:
    """Beside the reflection that follows: chances in percent that slots are occupied, by target.

    Since prompts v3 [C]; there is none if no list of chances could be read.
    """

    type: Literal["chances_stated"] = "chances_stated"
    round: int
    agent_id: AgentId
    occupied_by_target: dict[str, tuple[int, ...]]


@recorded
class Reflection:
    """Answer to a call that only measures: belief movement by target agent and slot, -3..3.

    ``expected_by_target`` is the expected movement under the token log-probabilities, where
    the model gives them. An answer that could not be read has no targets; a note says why.
    """

    type: Literal["reflection"] = "reflection"
    round: int
    agent_id: AgentId
    prompt: str | None
    delta_by_target: dict[str, tuple[int, ...]]
    expected_by_target: dict[str, tuple[float, ...]] | None
    usage: Usage | None
    reply_keys: tuple[str, ...]


@recorded
class GameHalted:
    """The game could not continue because an agent got no answer. It is not scored."""

    type: Literal["game_halted"] = "game_halted"
    round: int
    phase: Phase
    agent_id: AgentId
    reason: Halt
    detail: str


@recorded
class GameEnd:
    """The game is over."""

    type: Literal["game_end"] = "game_end"
    rounds_scheduled: int
    rounds_failed: int
    total_cost: int
    messages: int


MessageSent = DmSent | ParticipantGroupchatSent | AllAgentGroupchatSent | SealedSent
"""A message of an agent, as a trace records it (appendix A.6).

>>> said = next(event for event in trace.events if isinstance(event, MessageSent))
>>> said.from_agent, said.to_agents, said.content.text
(0, (1,), 'Let us take slot 0.')

Attributes:
    type: by which channel it went.
    round: in which it was sent, from 0.
    turn: the sweep of talk, from 0.
    from_agent: who said it.
    to_agents: who received it; nobody if it is sealed.
    meeting_id: of the meeting under discussion.
    content: what is said.
    chars: of a text, its length; a sealed one has no such field.
"""

Event = (
    GameStart
    | AgentRegistered
    | RoundStart
    | TurnStart
    | TurnEnd
    | MessageSent
    | AnnouncementSent
    | InvalidToolCall
    | DecideStart
    | DecideEnd
    | BatchRejected
    | BatchWithheld
    | BatchApplied
    | ConsistencyViolation
    | Resolution
    | ReplyNote
    | ChancesStated
    | Reflection
    | GameHalted
    | GameEnd
)
AnyEvent = Annotated[Event, Field(discriminator="type")]


def words(content: Any) -> str:
    """Return a message in words; of a typed one its kind, slot and costs."""
    if isinstance(content, Text):
        return printable(content.text)
    parts = [str(content.kind).replace("_", " ")]
    costs = getattr(content, "costs", None)
    if costs is not None:
        parts.append(" ".join("x" if cost is None else str(cost) for cost in costs))
    slot = getattr(content, "slot", None)
    if slot is not None:
        parts.append(f"slot {slot}")
    return printable(": ".join(parts))


def phase_of(event: Event) -> str | None:
    """Return the phase that an event belongs to; ``None`` between phases."""
    if isinstance(event, TurnEnd | MessageSent | AnnouncementSent):
        return Phase.CHEAP_TALK.value
    if isinstance(event, Reflection | ChancesStated):
        return Phase.REFLECTION.value
    own = Phase.DECISION if isinstance(event, BatchWithheld) else getattr(event, "phase", None)
    return None if own is None else own.value


def _listed(agents: Iterable[AgentId]) -> str:
    return ", ".join(map(str, agents))


def _actions(actions: Iterable[Action]) -> str:
    return "; ".join(map(_action, actions))


def _action(action: Action) -> str:
    if isinstance(action, Schedule):
        return f"meeting {action.meeting_id} into slot {action.slot}"
    if isinstance(action, Reschedule):
        return f"item {action.item_id} from slot {action.from_slot} to slot {action.to_slot}"
    to = f"to {action.to}" if isinstance(action, DirectMessage) else action.type
    return f"{to}: {words(action.content)}"


IN_WORDS: Mapping[type, Callable[[Any], str]] = {
    AgentRegistered: lambda event: event.player,
    RoundStart: lambda event: f"meeting {event.meeting_id} of agents {_listed(event.participants)}",
    **dict.fromkeys((TurnEnd, DecideEnd, BatchApplied), lambda event: _actions(event.actions)),
    **dict.fromkeys(
        (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, AnnouncementSent),
        lambda event: f"to {_listed(event.to_agents)}: {words(event.content)}",
    ),
    SealedSent: lambda event: words(event.content),
    InvalidToolCall: lambda event: f"{_action(event.action)}: {event.reason}",
    BatchRejected: lambda event: f"{_actions(event.actions)}: {event.conflict}",
    BatchWithheld: lambda event: f"{_actions(event.actions)}: {event.reason}",
    ConsistencyViolation: lambda event: f"meeting {event.meeting_id}: not in one slot of everybody",
    Resolution: lambda event: f"meeting {event.meeting_id}: {event.outcome}",
    ReplyNote: lambda event: f"{event.kind}: {event.detail}",
    GameHalted: lambda event: f"{event.reason}: {event.detail}",
    GameEnd: lambda event: f"{event.rounds_scheduled} scheduled, {event.rounds_failed} failed",
}
"""What an event adds in words to its kind, round and agent; the other kinds say all."""
