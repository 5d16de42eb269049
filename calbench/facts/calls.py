"""Facts of calls: what language players were asked, the tokens, and how replies were read."""

from collections.abc import Iterator
from typing import NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.observations import CHEAP_TALK, REFLECTION
from calbench.facts.columns import (
    AGENT,
    EVENT,
    PLAYER,
    PLAYER_KIND,
    ROUND,
    Column,
    count,
    text,
    truth,
)
from calbench.facts.fact import Fact, Find, MeasuredGame
from calbench.metrics.players import Player
from calbench.metrics.usage import ANSWERS, tokens_of
from calbench.traces.events import BatchRejected, DecideEnd, Event, Reflection, ReplyNote, TurnEnd

Answer = TurnEnd | DecideEnd | Reflection

READ = "read"
"""Reading of an answer without a note, or with one that only says what was ignored."""


class Call(NamedTuple):
    """One answer of a player, the event after it, and whether it was a batch that was rejected."""

    event_index: int
    event: Answer
    after: Event | None
    player: Player
    is_rejected: bool


def _calls(game: MeasuredGame) -> Iterator[Call]:
    if not game.trace.config.team.uses_language:
        return
    events = game.trace.events
    rejected = {_batch(event) for event in events if isinstance(event, BatchRejected)}
    for index, (event, after) in enumerate(zip(events, (*events[1:], None), strict=True)):
        if isinstance(event, ANSWERS) and game.players[event.agent_id].uses_language:
            is_rejected = isinstance(event, DecideEnd) and _batch(event) in rejected
            yield Call(index, event, after, game.players[event.agent_id], is_rejected)


def _batch(event: DecideEnd | BatchRejected) -> tuple[int, str, AgentId, int]:
    """Return what distinguishes a batch from all others of a game."""
    return event.round, str(event.phase), event.agent_id, event.attempt


def _phase(call: Call) -> str:
    if isinstance(call.event, DecideEnd):
        return str(call.event.phase)
    return str(CHEAP_TALK if isinstance(call.event, TurnEnd) else REFLECTION)


def _attempt(call: Call) -> int | None:
    if isinstance(call.event, Reflection):
        return None
    return call.event.turn if isinstance(call.event, TurnEnd) else call.event.attempt


def _replies(call: Call) -> int:
    usage, keys = call.event.usage, call.event.reply_keys
    return len(keys) if usage is None else tokens_of(usage, keys).calls


def _reading(call: Call) -> str:
    """Return how an answer was read: a note about it follows it at once."""
    note = call.after
    if isinstance(note, ReplyNote) and note.agent_id == call.event.agent_id:
        return READ if note.kind == "prose_ignored" else note.kind
    return READ


def _used(name: str) -> Find:
    """Return what finds an attribute of an answer's usage; absent where no model was asked."""
    return lambda call: None if call.event.usage is None else getattr(call.event.usage, name)


def _tokens(name: str, meaning: str) -> tuple[Column, Find]:
    return count(name, "tokens", meaning, "P"), _used(name)


CALLS = Fact(
    "calls",
    _calls,
    (
        EVENT,
        (ROUND, "event.round"),
        (text("phase", "CHEAP_TALK, VOLUNTARY, DECISION or REFLECTION", "P"), _phase),
        (AGENT, "event.agent_id"),
        (PLAYER, "player.name"),
        (PLAYER_KIND, "player.kind"),
        (text("model", "its model, as LiteLLM spells it"), "player.model"),
        (
            count(
                "attempt",
                "",
                "sweep of cheap talk, or retry of a batch, from 0; empty in reflection",
                "P",
            ),
            _attempt,
        ),
        (
            count(
                "calls",
                "calls",
                "recorded replies to get the answer, at least one; 0 where no model was asked",
            ),
            _replies,
        ),
        _tokens("input_tokens", "sent, including cached ones"),
        _tokens("cached_tokens", "of these, from the provider's cache"),
        _tokens("output_tokens", "received"),
        (
            truth("is_estimated", "tokens are estimated from the lengths of the texts", "C"),
            _used("is_estimated"),
        ),
        (text("reading", "read, recovered after a cut, or why it was not readable", "C"), _reading),
        (truth("is_rejected", "a batch that broke a rule and was not applied", "P"), "is_rejected"),
    ),
    is_large=True,
)
"""Every answer of a language player, in excluded games too: they were paid for."""
