"""Messages and calls, one row each."""

from collections.abc import Iterator

import pandas as pd

from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.players import prices
from calbench.facts.columns import GAME_ID, SCENARIO, SETTING, TEAM
from calbench.facts.messages import CALLS, MESSAGES
from calbench.facts.storage import Facts

GAME_OF_ROW = (SETTING, SCENARIO, TEAM, GAME_ID)
NAMES_OF_GAME = (*(column.name for column in GAME_OF_ROW), "replicate")

TOLD = tuple(column for column in MESSAGES.columns if column.name != "text")
"""Columns of the table of messages; their words are only in the facts."""


@table(
    "privacy/messages.parquet",
    (*GAME_OF_ROW, *TOLD),
    key="setting scenario_id team event_index",
    needs="messages",
)
def messages(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Every message of every scored game, and what its words reveal."""
    for rows in facts.batches("messages", [column.name for column in TOLD]):
        yield facts.named(rows, NAMES_OF_GAME)


@table(
    "privacy/calls.parquet",
    """
    game_of_row event_index round phase agent_id player kind attempt calls input_tokens
    cached_tokens output_tokens is_estimated reading is_rejected
    price_usd (fine, US$; P): of these tokens, if the price is known
    is_excluded (truth; C): of an excluded game: paid, but in no mean
    """,
    key="setting scenario_id team event_index",
    needs="calls",
    of=CALLS.columns,
    game_of_row=GAME_OF_ROW,
)
def calls(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Every answer of a language player with its tokens and price, in excluded games too."""
    for rows in facts.batches("calls"):
        named = facts.named(rows, (*NAMES_OF_GAME, "is_excluded"))
        yield named.assign(price_usd=prices(settings, rows))
