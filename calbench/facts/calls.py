"""Facts of calls: what players that speak in words were asked, took and gave to read."""

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
from calbench.facts.fact import Fact, MeasuredGame
from calbench.metrics.usage import ANSWERS, tokens_of
from calbench.traces.events import DecideEnd, Event, Reflection, ReplyNote, TurnEnd

Answer = TurnEnd | DecideEnd | Reflection

READ = "read"
"""Reading of an answer that needed no note, or one that says only what was passed over."""


class Call(NamedTuple):
    """One answer; tokens are absent where no model was asked."""

    event_index: int
    round: int
    phase: str
    agent_id: AgentId
    player: str
    kind: str
    model: str | None
    attempt: int | None
    calls: int
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    is_estimated: bool | None
    reading: str


def _calls(game: MeasuredGame) -> Iterator[Call]:
    if not game.trace.config.team.uses_language:
        return
    events = game.trace.events
    # A note stands right behind the answer that it is about.
    for index, (event, after) in enumerate(zip(events, (*events[1:], None), strict=True)):
        if isinstance(event, ANSWERS) and game.players[event.agent_id].uses_language:
            yield _call(index, event, after, game)


def _call(index: int, event: Answer, after: Event | None, game: MeasuredGame) -> Call:
    player, usage = game.players[event.agent_id], event.usage
    replies = len(event.reply_keys)
    return Call(
        event_index=index,
        round=event.round,
        phase=_phase(event),
        agent_id=event.agent_id,
        player=player.name,
        kind=player.kind,
        model=player.model,
        attempt=_attempt(event),
        calls=replies if usage is None else tokens_of(usage, event.reply_keys).calls,
        input_tokens=None if usage is None else usage.input_tokens,
        cached_tokens=None if usage is None else usage.cached_tokens,
        output_tokens=None if usage is None else usage.output_tokens,
        is_estimated=None if usage is None else usage.is_estimated,
        reading=_reading(event, after),
    )


def _phase(event: Answer) -> str:
    if isinstance(event, DecideEnd):
        return str(event.phase)
    return str(CHEAP_TALK if isinstance(event, TurnEnd) else REFLECTION)


def _attempt(event: Answer) -> int | None:
    if isinstance(event, Reflection):
        return None
    return event.turn if isinstance(event, TurnEnd) else event.attempt


def _reading(event: Answer, after: Event | None) -> str:
    if isinstance(after, ReplyNote) and after.agent_id == event.agent_id:
        return READ if after.kind == "prose_ignored" else after.kind
    return READ


CALLS = Fact(
    "calls",
    _calls,
    (
        EVENT,
        ROUND,
        text("phase", "CHEAP_TALK, VOLUNTARY, DECISION or REFLECTION", "P"),
        AGENT,
        PLAYER,
        PLAYER_KIND,
        text("model", "behind it, as LiteLLM spells it"),
        Column(
            "attempt",
            "integer",
            "",
            "sweep of cheap talk, or retry of a batch in its phase, from 0; empty in reflection",
            origin="P",
        ),
        count(
            "calls",
            "calls",
            "recorded replies behind the answer, one at least; 0 where no model was asked",
        ),
        count("input_tokens", "tokens", "sent, cached ones included", "P"),
        count("cached_tokens", "tokens", "of these, kept by the provider", "P"),
        count("output_tokens", "tokens", "received", "P"),
        truth("is_estimated", "tokens taken from the lengths of the texts", "C"),
        text("reading", "read, recovered after a cut, or why it could not be read", "C"),
    ),
    is_large=True,
)
"""Every answer of a player in words, in excluded games too: they were paid for."""
