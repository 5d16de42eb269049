"""Columns of the tables of messages and of calls: one row each, the finest there are."""

from calbench.analysis.audits.own_slot import NAMES as OWN_SLOT
from calbench.analysis.columns import (
    AGENT,
    GAME_ID,
    PLAYER,
    PLAYER_KIND,
    ROUND,
    SCENARIO,
    SETTING,
    SLOTS,
    TEAM,
    Column,
)

EVENT = Column("event_index", "integer", "", "event of the trace, from 0", origin="P")
IN_WORDS = "of a message in words; empty for a typed one"

MESSAGES = (
    SETTING,
    SCENARIO,
    TEAM,
    GAME_ID,
    EVENT,
    ROUND,
    Column("turn", "integer", "", "number of the sweep in its round, from 0", origin="P"),
    Column("sender", "integer", "", "agent that sent it; empty: the mediator"),
    PLAYER,
    PLAYER_KIND,
    Column("recipients", "list", "", "agents it was delivered to, separated by spaces"),
    Column("channel", "text", "", "channel it was sent on", origin="P"),
    Column("source", "text", "", "kind of message; text is in words", origin="P"),
    Column("chars", "integer", "characters", f"length {IN_WORDS}", origin="C"),
    Column("updates", "integer", "updates", "beliefs about typed agents it moved", origin="P"),
    Column(
        "vps",
        "number",
        SLOTS,
        "change of sum |b - prior| over all pairs that it caused, before the floor; negative where "
        "it moved beliefs back; empty in words, which reflections measure",
        origin="C",
    ),
    Column("patterns", "list", "", f"behaviour patterns {IN_WORDS}, or none", origin="P"),
    Column(
        "own_slot", "list", "", f"of {', '.join(OWN_SLOT)}: those {IN_WORDS}, or none", origin="P"
    ),
    Column("labels_told", "integer", "labels", f"private labels {IN_WORDS}", origin="P"),
    Column("leak_tier", "text", "", "most private tier of these labels", origin="P"),
)

CALLS = (
    SETTING,
    SCENARIO,
    TEAM,
    GAME_ID,
    EVENT,
    ROUND,
    Column("phase", "text", "", "CHEAP_TALK, VOLUNTARY, DECISION or REFLECTION", origin="P"),
    AGENT,
    PLAYER,
    PLAYER_KIND,
    Column(
        "attempt",
        "integer",
        "",
        "sweep of cheap talk, or retry of a batch in its phase, from 0; empty in reflection",
        origin="P",
    ),
    Column(
        "calls",
        "integer",
        "calls",
        "recorded replies behind the answer, one at least; 0 where no model was asked",
        origin="C",
    ),
    Column("input_tokens", "integer", "tokens", "sent, cached ones included", origin="P"),
    Column("cached_tokens", "integer", "tokens", "of these, kept by the provider", origin="P"),
    Column("output_tokens", "integer", "tokens", "received", origin="P"),
    Column("is_estimated", "truth", "", "tokens taken from the lengths of the texts", origin="C"),
    Column(
        "reading",
        "text",
        "",
        "read, recovered after a cut, or why it could not be read",
        origin="C",
    ),
    Column("price_usd", "number", "US$", "of these tokens, where the price is known", origin="P"),
    Column("is_lost", "truth", "", "of a lost game: paid, but in no mean", origin="C"),
)
