"""What a game took: messages, tokens, and replies that could or could not be read."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self, get_args

import orjson
from pydantic import TypeAdapter

from calbench.domain.messages import RecordedContent
from calbench.domain.replies import Problem
from calbench.domain.usage import Usage
from calbench.traces.events import (
    AllAgentGroupchatSent,
    DecideEnd,
    DecideStart,
    DmSent,
    Event,
    ParticipantGroupchatSent,
    Reflection,
    ReplyNote,
    SealedSent,
    TurnEnd,
    TurnStart,
)

_CONTENTS: TypeAdapter[list[RecordedContent]] = TypeAdapter(list[RecordedContent])

PROBLEMS: tuple[Problem, ...] = get_args(Problem)
"""Why a reply could not be read, in the order of tables."""

ANSWERS = (TurnEnd, DecideEnd, Reflection)
"""Events with a reply. A tuple, because a union would be made again for every event."""

MESSAGES = (DmSent, ParticipantGroupchatSent, AllAgentGroupchatSent, SealedSent)
"""Events with a message of an agent, as a tuple."""

_ASKING = frozenset({TurnStart, TurnEnd, DecideStart, DecideEnd})
"""Events of asking an agent: most of a game, and of interest only for tokens and replies."""


def happened(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the events that are not about asking an agent: what changed, was said or resolved."""
    return tuple([event for event in events if type(event) not in _ASKING])


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of model calls, reflections included.

    Attributes:
        calls: behind the replies; a reply made from several recorded ones has several.
        estimated_calls: of these, calls whose provider gave no counts.
        input_tokens: of everything sent, including ``cached_tokens``.
        cached_tokens: that the provider had kept from an earlier call.
        output_tokens: of everything received.
    """

    calls: int = 0
    estimated_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Self) -> "Tokens":
        return Tokens(
            self.calls + other.calls,
            self.estimated_calls + other.estimated_calls,
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
        )


NO_TOKENS = Tokens()
"""Tokens of a player without a model."""


@dataclass(frozen=True, slots=True)
class ReplyCounts:
    """How replies of language agents were read.

    Attributes:
        replies: answers to turns, decisions and reflections.
        recovered: of these, read after something was removed.
        unread: replies that could not be read, by reason, in the order of :data:`PROBLEMS`.
    """

    replies: int = 0
    recovered: int = 0
    unread: tuple[int, ...] = (0,) * len(PROBLEMS)

    @property
    def read(self) -> int:
        """Replies that were read, including recovered ones."""
        return self.replies - sum(self.unread)


def tokens_by_agent(events: Iterable[Event], num_agents: int) -> tuple[Tokens, ...]:
    """Return the tokens of each agent's calls in a game, by agent id (appendix C)."""
    totals = [NO_TOKENS] * num_agents
    for event in events:
        if isinstance(event, ANSWERS) and event.usage is not None:
            totals[event.agent_id] += tokens_of(event.usage, event.reply_keys)
    return tuple(totals)


def tokens_of(usage: Usage, reply_keys: Sequence[str]) -> Tokens:
    """Return the tokens of one answer, made from these recorded replies."""
    calls = max(1, len(reply_keys))
    return Tokens(
        calls=calls,
        estimated_calls=calls if usage.is_estimated else 0,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
    )


def reply_counts_by_agent(events: Iterable[Event], num_agents: int) -> tuple[ReplyCounts, ...]:
    """Return how each agent's replies were read, by agent id.

    Every turn is a reply, so for typed agents these counts only say how often they were asked.
    """
    notes: list[Counter[str]] = [Counter() for _ in range(num_agents)]
    for event in events:
        if isinstance(event, ANSWERS):
            notes[event.agent_id]["replies"] += 1
        elif isinstance(event, ReplyNote):
            notes[event.agent_id][event.kind] += 1
    return tuple(
        ReplyCounts(
            note["replies"], note["recovered"], tuple([note[problem] for problem in PROBLEMS])
        )
        for note in notes
    )


def messages_sent_by_agent(events: Iterable[Event], num_agents: int) -> tuple[int, ...]:
    """Return the messages each agent sent; a group message counts once, for its sender [P].

    Refused messages have no event and do not count.
    """
    counts = [0] * num_agents
    for event in events:
        if isinstance(event, MESSAGES):
            counts[event.from_agent] += 1
    return tuple(counts)


def message_bytes(events: Iterable[Event]) -> int:
    """Return the length of all messages' contents as JSON in UTF-8 without spaces [C].

    Contents are counted as sent: a group message once, and without its envelope.
    """
    contents = [event.content for event in events if isinstance(event, MESSAGES)]
    brackets, commas = 2, max(len(contents) - 1, 0)
    try:  # the same bytes as pydantic's, in a fifth of the time
        written = orjson.dumps(contents)
    except orjson.JSONEncodeError:  # a number of more than 64 bits
        written = _CONTENTS.dump_json(contents)
    return len(written) - brackets - commas
