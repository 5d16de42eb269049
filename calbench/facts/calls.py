"""Facts of calls: what language players were asked, the tokens, and how replies were read."""

from collections.abc import Iterator
from typing import NamedTuple

from calbench.domain.ids import AgentId
from calbench.domain.observations import CHEAP_TALK, REFLECTION
from calbench.facts.columns import columns
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


CALLS = Fact(
    "calls",
    _calls,
    columns("""
    event_index round
    phase (text; P): CHEAP_TALK, VOLUNTARY, DECISION or REFLECTION
    agent_id player kind
    model (text): its model, as LiteLLM spells it
    attempt (count; P): sweep of cheap talk, or retry of a batch, from 0; empty in reflection
    calls (count, calls): recorded replies to get the answer, at least one; 0 where no model was
        asked
    input_tokens (count, tokens; P): sent, including cached ones
    cached_tokens (count, tokens; P): of these, from the provider's cache
    output_tokens (count, tokens; P): received
    is_estimated (truth; C): tokens are estimated from the lengths of the texts
    reading (text; C): read, recovered after a cut, or why it was not readable
    is_rejected (truth; P): a batch that broke a rule and was not applied
    """),
    {
        "round": "event.round",
        "phase": _phase,
        "agent_id": "event.agent_id",
        "player": "player.name",
        "kind": "player.kind",
        "model": "player.model",
        "attempt": _attempt,
        "calls": _replies,
        "input_tokens": _used("input_tokens"),
        "cached_tokens": _used("cached_tokens"),
        "output_tokens": _used("output_tokens"),
        "is_estimated": _used("is_estimated"),
        "reading": _reading,
        "is_rejected": "is_rejected",
    },
    is_large=True,
)
"""Every answer of a language player, in excluded games too: they were paid for."""
