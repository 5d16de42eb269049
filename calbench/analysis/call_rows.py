"""The answers of players that speak in words, one row each: what was asked, paid and read."""

from collections.abc import Iterator

from calbench.analysis.cells import Cell, trimmed
from calbench.analysis.rows import PRICE_DIGITS, line
from calbench.analysis.usage import Prices, price_of
from calbench.domain.observations import CHEAP_TALK, REFLECTION
from calbench.domain.replies import Usage
from calbench.metrics.outcomes import is_lost
from calbench.metrics.seats import Player, players_of
from calbench.metrics.usage import tokens_of
from calbench.traces.events import DecideEnd, Event, Reflection, ReplyNote, TurnEnd
from calbench.traces.models import Trace

Answer = TurnEnd | DecideEnd | Reflection


def call_rows(trace: Trace, prices: Prices) -> Iterator[str]:
    """Yield a game's lines of ``calls.parquet`` without a version; lost games have theirs too.

    Args:
        trace: the game.
        prices: what tokens cost, where known.
    """
    team, scenario = trace.config.team, trace.scenario
    if not team.uses_language:
        return
    players = players_of(team, scenario.num_agents)
    lost = is_lost(trace.events)
    # A note stands right behind the answer that it is about.
    followed = zip(trace.events, (*trace.events[1:], None), strict=True)
    for index, (event, after) in enumerate(followed):
        if isinstance(event, Answer) and players[event.agent_id].uses_language:
            player = players[event.agent_id]
            yield line(
                scenario.setting,
                scenario.scenario_id,
                team.team_id,
                trace.game_id,
                index,
                event.round,
                *_place(event),
                event.agent_id,
                player.name,
                player.kind,
                _attempt(event),
                *_token_cells(event, event.usage),
                _reading(event, after),
                _price(event, player, prices),
                lost,
            )


def _place(event: Answer) -> tuple[Cell]:
    if isinstance(event, DecideEnd):
        return (str(event.phase),)
    return (str(CHEAP_TALK if isinstance(event, TurnEnd) else REFLECTION),)


def _attempt(event: Answer) -> int | None:
    if isinstance(event, Reflection):
        return None
    return event.turn if isinstance(event, TurnEnd) else event.attempt


def _token_cells(event: Answer, usage: Usage | None) -> tuple[Cell, ...]:
    if usage is None:
        return (len(event.reply_keys), None, None, None, None)
    calls = tokens_of(usage, event.reply_keys).calls
    return (
        calls,
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        usage.is_estimated,
    )


def _reading(event: Answer, after: Event | None) -> str:
    if isinstance(after, ReplyNote) and after.agent_id == event.agent_id:
        return "read" if after.kind == "prose_ignored" else after.kind
    return "read"


def _price(event: Answer, player: Player, prices: Prices) -> str | None:
    price = price_of(player, prices)
    if price is None or event.usage is None:
        return None
    return trimmed(price.of(tokens_of(event.usage, event.reply_keys)), PRICE_DIGITS)
