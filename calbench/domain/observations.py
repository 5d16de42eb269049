"""Everything an agent may know when it is asked, and nothing else."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from calbench.domain.actions import Action
from calbench.domain.calendars import Calendar, HiddenMeeting, Meeting
from calbench.domain.ids import AgentId, ItemId
from calbench.domain.messages import Channel, Content, Message
from calbench.files import shorten

C = TypeVar("C", bound=Content)


class Phase(StrEnum):
    """The phases of a round in which agents are asked (paper, section 3).

    REFLECTION is the measurement after a round (appendix F): it changes nothing.

    >>> [each.value for each in Phase]
    ['CHEAP_TALK', 'VOLUNTARY', 'DECISION', 'REFLECTION']
    """

    CHEAP_TALK = "CHEAP_TALK"
    VOLUNTARY = "VOLUNTARY"
    DECISION = "DECISION"
    REFLECTION = "REFLECTION"


CHEAP_TALK, VOLUNTARY, DECISION, REFLECTION = Phase
"""The members as plain names: looking one up in the enumeration is slow."""


class Refusal(NamedTuple):
    """An action of an earlier turn that was not carried out, and why (appendix A.4).

    >>> Refusal(Schedule(MeetingId(1), Slot(3)), "slot 3 is not free").reason
    'slot 3 is not free'

    Attributes:
        action: that was not carried out.
        reason: why, in a sentence.
    """

    action: Action
    reason: str


NO_LABELS: Mapping[ItemId, str] = MappingProxyType({})


class Briefing(NamedTuple):
    """What an agent is told once, before the first round (appendix A.2).

    >>> briefing: Briefing = player.briefing
    >>> briefing.num_slots, briefing.num_meetings, briefing.max_turns_per_round
    (16, 5, 100)

    Attributes:
        agent_id: whom it is for.
        agent_ids: all agents of the game, from 0.
        num_slots: slots of every calendar.
        num_meetings: meetings that will be discussed, one a round.
        channels: the open ones.
        max_turns_per_round: sweeps of talk in a round at most.
        decision_retries: batches after the first that a decision may take.
        message_cap: messages of all agents in a round at most; ``None``: any number.
        agent_cap: the same of each agent.
        commits_together: whether a decision's batches are applied all or none.
        canary: mark of benchmark data, which means nothing in the game; ``None``: not told.
    """

    agent_id: AgentId
    agent_ids: tuple[AgentId, ...]
    num_slots: int
    num_meetings: int
    channels: frozenset[Channel]
    max_turns_per_round: int
    decision_retries: int
    message_cap: int | None
    agent_cap: int | None = None
    commits_together: bool = False
    canary: str | None = None


class Observation(NamedTuple):
    """An agent's view of the game at one moment; a tuple, which nobody can alter (appendix A.1).

    >>> observation: Observation = seen[0]
    >>> observation.phase.value, observation.meeting
    ('CHEAP_TALK', Meeting(meeting_id=1, participants=(0, 1, 3), cost=1))

    Attributes:
        agent_id: whom this observation is for.
        agent_ids: all agents of the game.
        phase: the active phase.
        meeting: the meeting under discussion; an outsider sees a :class:`HiddenMeeting`.
        round_index: number of the round, from 0.
        calendar: the agent's own calendar.
        messages: messages of *this* meeting that the agent sent or read, in order.
        earlier: messages of earlier meetings that it sent or read, in order.
        inbox: messages read with this observation; also the last of ``messages`` or ``earlier``.
        turn_index: number of the sweep of talk, from 0.
        turns_left: sweeps that can still follow this one.
        attempt: 0 for the first batch of a decision, then 1, 2, ... for retries.
        conflict: why the last batch was rejected.
        refusals: actions refused since the agent was last asked.
        channels: the open channels.
        incurred_shown_cost: shown cost of the agent's own moves so far.
        has_mediator: whether the team has a mediator that takes sealed vectors [C].
        private_seed: seed of the agent's private chance in this round, in no other agent's
            observation; only for seats that need it [C].
        labels: private labels by item id, of the agent's own errands and of meetings it
            takes part in; only for seats that use language.
        decision_retries: batches that may follow a rejected one.
    """

    agent_id: AgentId
    agent_ids: tuple[AgentId, ...]
    phase: Phase
    meeting: Meeting | HiddenMeeting
    round_index: int
    calendar: Calendar
    messages: tuple[Message, ...]
    earlier: tuple[Message, ...]
    inbox: tuple[Message, ...]
    turn_index: int
    turns_left: int
    attempt: int
    conflict: str | None
    refusals: tuple[Refusal, ...]
    channels: frozenset[Channel]
    incurred_shown_cost: int
    has_mediator: bool = False
    private_seed: int | None = None
    labels: Mapping[ItemId, str] = NO_LABELS
    decision_retries: int = 0

    def __repr__(self) -> str:
        """Say it in one line; long fields as what they hold."""
        return (
            f"Observation(agent_id={self.agent_id}, phase={self.phase}, "
            f"round_index={self.round_index}, turn_index={self.turn_index}, "
            f"meeting={shorten(repr(self.meeting), 200)}, {len(self.calendar)} slots, "
            f"{len(self.messages)} messages, {len(self.inbox)} of them in the inbox, "
            f"{len(self.earlier)} earlier)"
        )

    def heard(self, kind: type[C]) -> Iterator[tuple[AgentId, C]]:
        """Yield (sender, content) of this meeting's messages of one kind from other agents."""
        me = self.agent_id
        for message in self.messages:
            sender = message.sender
            if sender is not None and sender != me and isinstance(message.content, kind):
                yield sender, message.content

    def has_said(self, kind: type[Content]) -> bool:
        """Whether the agent itself sent a message of one kind about this meeting."""
        me = self.agent_id
        for message in self.messages:  # a plain loop: asked in every turn
            if message.sender == me and isinstance(message.content, kind):
                return True
        return False

    def said(self, kind: type[C]) -> Iterator[C]:
        """Yield the contents of one kind that the agent itself sent about this meeting."""
        me = self.agent_id
        for message in self.messages:
            if message.sender == me and isinstance(message.content, kind):
                yield message.content
