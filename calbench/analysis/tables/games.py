"""Single games, their agents and meetings, messages and calls."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from calbench.analysis.measures import MEASURE_BY_NAME, team_values
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.players import prices
from calbench.facts.columns import GAME_ID, SCENARIO, SETTING, TEAM, chosen
from calbench.facts.games import AGENTS, BASELINES, GAMES, MEETINGS
from calbench.facts.messages import CALLS, MESSAGES
from calbench.facts.storage import Facts

MEASURED = chosen(
    GAMES.columns,
    "cost oracle_cost excess_cost messages message_bytes vps excess_vps excess_vps_participants "
    "vps_beyond_chance bits "
    "fairness fairness_least fairness_greatest is_fairness_sampled vps_kind "
    "fairness_vectors",
)
"""Columns that are empty for excluded games."""


@table(
    "games.csv",
    """
    setting scenario_id team game_id tertile feasible_fraction is_excluded meetings scheduled
    measured
    """,
    key="setting team scenario_id",
    of=GAMES.columns,
    measured=MEASURED,
)
def games(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Every game recorded; excluded ones have no measures."""
    found, measured = facts.games, [column.name for column in MEASURED]
    is_scored = ~found["is_excluded"].astype(bool)
    return found.assign(**{name: found[name].where(is_scored) for name in measured})


@table(
    "agent_games.csv",
    """
    scenario_id team agent_id assigned scheduled cost oracle_cost excess_cost messages_sent vps
    excess_vps excess_vps_participants vps_kind bits bits_costs certain_slots outcome_bits kind
    setting player baselines
    """,
    key="setting team scenario_id agent_id",
    of=AGENTS.columns,
    baselines=BASELINES,
)
def agent_games(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Every agent of every scored game."""
    return facts.of_games("agents")


@table("meetings.csv", (SCENARIO, TEAM, *MEETINGS.columns), key="team scenario_id meeting_id")
def meetings(facts: Facts, _settings: Settings) -> Iterator[pd.DataFrame]:
    """Every meeting of every game recorded, in the order of the rounds."""
    return map(facts.named, facts.batches("meetings"))


TYPICAL_BY = MEASURE_BY_NAME["adjusted_excess_cost"]
"""What orders the games of a team [C]: the measure of cost that counts failures."""

BEST, TYPICAL, WORST = "best", "typical", "worst"
"""The first game in that order, the one in the middle, and the first of the most expensive."""

DECIMALS = 9
"""Of a game's mean before games are compared, as far as sums of floats agree [C]."""


@table(
    "typical_games.csv",
    f"""
    setting team
    which (text; C): place among the scored games of the team in this order, ties in the order of
        scenarios: best, typical (the median; of two in the middle the first) or worst
    scenario_id
    {TYPICAL_BY.name} (number, {TYPICAL_BY.unit}; {TYPICAL_BY.origin}): mean over the game's agents
        of: {TYPICAL_BY.definition} // {TYPICAL_BY.denominator}
    meetings scheduled cost oracle_cost excess_cost messages vps_kind excess_vps vps_beyond_chance
    """,
    key="setting team which",
    of=GAMES.columns,
)
def typical_games(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """The best, the median and the worst game of every team, by adjusted excess cost.

    A game has the mean of its agents, as the team has. Of a scenario that a team plays several
    times only the first game counts, which is the one that can be stepped through.
    """
    agents = facts.of_games("agents")
    cost = team_values(facts)[TYPICAL_BY.name]
    means = cost.groupby(agents["game"]).mean().round(DECIMALS).dropna()
    games = facts.scored[facts.scored["replicate"] == 0]
    games = games.assign(**{TYPICAL_BY.name: games["game"].map(means)})
    by, name = ["setting", "team_place", "team"], TYPICAL_BY.name
    ordered = games.dropna(subset=name).sort_values([*by, name], kind="stable", ignore_index=True)
    costs = ordered.groupby(by)[name]
    is_dearest = ordered[name] == costs.transform("max")
    size = costs.size().to_numpy()
    most = is_dearest.groupby([ordered[each] for each in by]).sum().to_numpy()
    # Three of a team's games may be one and the same.
    places = np.stack([np.zeros_like(size), (size - 1) // 2, size - most], axis=1)
    chosen_games = ordered.iloc[((np.cumsum(size) - size)[:, np.newaxis] + places).ravel()]
    return chosen_games.assign(which=[BEST, TYPICAL, WORST] * len(size))


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
