"""Players: all their seats in all teams; tokens, prices and replies."""

from functools import lru_cache

import numpy as np
import pandas as pd

from calbench.analysis.certainties import EXACT_MEASURES, exact_values, with_exact
from calbench.analysis.estimates import estimated_means, group_totals, numbered, scenario_sums
from calbench.analysis.measures import (
    BOUNDS,
    MEASURE_COLUMNS,
    is_unread,
    joint_kind,
    measured_values,
)
from calbench.analysis.registry import Settings, table
from calbench.analysis.tables.leaderboard import EXCLUDED_PERCENT, IS_FLAGGED, excluded_share
from calbench.domain.observations import DECISION
from calbench.facts.columns import chosen, count, listed
from calbench.facts.frames import kept
from calbench.facts.games import AGENTS
from calbench.facts.messages import CALLS, READ
from calbench.facts.storage import GAME, Facts
from calbench.metrics.usage import PROBLEMS
from calbench.stats.sums import Floats

TEAMS = listed(
    "teams",
    "teams of the player, separated by spaces; the same name with other settings is another player",
    "C",
)
GAMES = count("games", "games", "games scored in which it took part")
AGENT_GAMES = count("agent_games", "agent-games", "its seats in these games")
EXCLUDED = count("games_excluded", "games", "games recorded and excluded")

IDENTITY = ["player", "kind", "settings_digest", "model", "uses_language", "is_probing"]
"""What identifies a player: its name and the settings that define it."""

BY = ["setting", *IDENTITY]
ORDER = ["setting", "team_place", "player", "kind", "settings_digest"]
TOKENS = ["calls", "input_tokens", "cached_tokens", "output_tokens", "estimated_calls"]
PLAYER_KEY = "setting player kind teams"

NUMBER = "player_number"
"""Column with the number of a setting's player: one instead of the seven of :data:`BY`."""


def with_teams(seats: pd.DataFrame) -> pd.DataFrame:
    """Return the players of some seats, in the order of tables, with their teams.

    Players are ordered by their first team, then by name, kind and digest.

    Args:
        seats: of :func:`all_seats`.
    """
    sat = seats.drop_duplicates([NUMBER, "team"]).sort_values("team_place")
    teams = sat.groupby(NUMBER)["team"].agg(" ".join)
    players = sat.drop_duplicates(NUMBER)[[NUMBER, *BY, "team_place"]]
    players = players.assign(teams=players[NUMBER].map(teams).astype("str"))  # also of nobody
    return players.sort_values(ORDER, ignore_index=True)


def player_means(
    facts: Facts, settings: Settings, rows: pd.DataFrame, values: pd.DataFrame, *by: str
) -> pd.DataFrame:
    """Estimate means of every player, and of further groups, over its seats.

    Args:
        facts: of the run.
        settings: of the estimates.
        rows: of scored games, with ``setting``, ``scenario_id`` and :data:`NUMBER`.
        values: of each quantity, by row.
        by: further columns that name a group.

    Returns:
        As ``estimated_means``, with ``teams``, in the order of tables; groups of one player in
        the order of their first row.
    """
    found = estimated_means(rows, [NUMBER, *by], values, settings.analysis, bounds=BOUNDS)
    return scored_players(facts).merge(found, "inner", ["setting", NUMBER])


@lru_cache(maxsize=1)
def all_seats(facts: Facts) -> pd.DataFrame:
    """Return the agents of all games, with the position of their team and :data:`NUMBER`."""
    columns = ["setting", "team", "team_place", "scenario_id", "is_excluded"]
    seats = facts.of_all_games("agents", columns)
    return seats.assign(**{NUMBER: numbered(seats, BY)[1]})


@lru_cache(maxsize=1)
def scored_seats(facts: Facts) -> pd.DataFrame:
    """Return the agents of scored games, with the columns of :func:`all_seats`."""
    seats = all_seats(facts)
    return kept(seats, ~seats["is_excluded"].astype(bool)).reset_index(drop=True)


@lru_cache(maxsize=1)
def all_players(facts: Facts) -> pd.DataFrame:
    """Return the players of all games, with their teams, in the order of tables."""
    return with_teams(all_seats(facts))


@lru_cache(maxsize=1)
def scored_players(facts: Facts) -> pd.DataFrame:
    """Return the players of scored games, with the columns of :func:`all_players`."""
    return with_teams(scored_seats(facts))


@table(
    "players.csv",
    """
    setting player games
    scenarios (count, scenarios): distinct scenarios of these games
    measure_columns vps_kind exact kind teams agent_games games_excluded excluded_percent is_flagged
    """,
    key=PLAYER_KEY,
    of=[GAMES, EXACT_MEASURES, TEAMS, AGENT_GAMES, EXCLUDED, EXCLUDED_PERCENT, IS_FLAGGED],
    measure_columns=MEASURE_COLUMNS,
)
@lru_cache(maxsize=1)
def players(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every measure of every player over all its seats, with its interval.

    A player of whose replies none could be read has no measures.
    """
    everyone, scored = all_seats(facts), scored_seats(facts)
    values = measured_values(scored, [NUMBER])
    exact = exact_values(facts, scored, settings.measure.vps_floor)
    sums = scenario_sums(scored, [NUMBER], values, exact=exact)
    means, ranges = sums.means(settings.analysis, bounds=BOUNDS), sums.ranges()
    own = scored.groupby(NUMBER)
    games = everyone[[NUMBER, "game", "is_excluded"]].drop_duplicates().groupby(NUMBER)
    found = pd.DataFrame(
        {
            "games_excluded": games["is_excluded"].sum(),
            "games": own["game"].nunique(),
            "scenarios": own["scenario_id"].nunique(),
            "agent_games": own.size(),
            "vps_kind": own["vps_kind"].agg(joint_kind),
        }
    ).reset_index()
    rows = all_players(facts).merge(found, "left", NUMBER)
    for part in (means, ranges):
        rows = rows.merge(part, "left", ["setting", NUMBER])
    counted = rows.fillna({"games": 0, "scenarios": 0, "agent_games": 0})
    return excluded_share(with_exact(counted))


@table(
    "usage.csv",
    """
    setting team player games agent_games tokens
    price_usd (precise, US$; P, prices C): of these tokens; empty if unknown
    price_usd_per_game (precise, US$ per game): price_usd / games // games
    games_excluded
    price_usd_excluded (precise, US$): of the calls in excluded games
    """,
    key="setting team player",
    of=[GAMES, AGENT_GAMES, EXCLUDED],
    tokens=chosen(AGENTS.columns, " ".join(TOKENS)),
)
@lru_cache(maxsize=1)
def usage(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Use of models by language players: calls, tokens and prices (appendix C)."""
    agents = all_seats(facts)
    speaking = agents[agents["uses_language"].astype(bool)]
    by = ["setting", "team_place", "team", *IDENTITY]
    is_excluded = speaking["is_excluded"].astype(bool)
    is_first = ~speaking.duplicated([*by, "game"])
    counts = speaking[TOKENS].assign(agent_games=1, games=is_first).astype("float64")
    scored, excluded = counts.where(~is_excluded), counts.where(is_excluded)
    rows = group_totals(
        pd.concat([speaking[by], scored, excluded.add_suffix("_excluded")], axis="columns"), by
    )
    rows = rows[rows["calls"] + rows["calls_excluded"] > 0]
    rows = rows.assign(
        price_usd=prices(settings, rows),
        price_usd_excluded=prices(settings, rows, "_excluded"),
    )
    per_game = rows["price_usd"] / rows["games"].where(rows["games"] > 0)
    return rows.assign(price_usd_per_game=per_game).sort_values(ORDER)


def prices(settings: Settings, rows: pd.DataFrame, end: str = "") -> Floats:
    """Return the price of each row's tokens in US$; not a number if price or tokens are unknown.

    Args:
        settings: with prices.
        rows: with ``model`` and tokens.
        end: of the names of the columns with tokens.
    """
    names = ("input_tokens", "cached_tokens", "output_tokens")
    tokens = rows[[f"{name}{end}" for name in names]].astype("float64").to_numpy().tolist()
    known = map(settings.prices.get, rows["model"])
    found = [
        np.nan if price is None else price.usd(*each)
        for price, each in zip(known, tokens, strict=True)
    ]
    return np.array(found, dtype=np.float64)


@table(
    "reply_outcomes.csv",
    """
    setting player
    replies (count, replies): answers to turns, decisions and reflections in games scored
    readings kind teams
    """,
    key=PLAYER_KEY,
    of=[TEAMS],
    readings=chosen(AGENTS.columns, f"read recovered {' '.join(PROBLEMS)}"),
)
def reply_outcomes(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """How the replies of language players were read."""
    names = ["replies", "read", "recovered", *PROBLEMS]
    totals = group_totals(scored_seats(facts)[[NUMBER, *names]], [NUMBER])
    everyone = all_players(facts)
    speaking = everyone[everyone["uses_language"].astype(bool)]
    return speaking.merge(totals, "left", NUMBER).fillna(dict.fromkeys(names, 0))


@table(
    "answers_by_phase.csv",
    """
    setting team player kind phase
    answers (count, answers): in games scored
    read (count, answers): of these, readable, also after a cut
    accepted (count, batches): of these, applied; empty but in DECISION, where every answer is a
        batch
    read_share (number): read, as a share of 1 // answers
    accepted_share (number): accepted, as a share of 1 // answers
    """,
    key="setting team player kind phase",
    needs="calls",
    of=CALLS.columns,
)
def answers_by_phase(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """How often what a phase asks for came: readable answers, and batches that were applied."""
    by = ["setting", "team_place", "team", "player", "kind", "phase"]
    names = ["phase", "player", "kind", "reading", "is_rejected"]
    found = []
    for rows in facts.batches("calls", names):
        scored = rows[rows[GAME].isin(facts.scored.index)]
        read = scored["reading"].isin([READ, "recovered"])
        accepted = read & ~scored["is_rejected"].astype(bool)
        counted = scored.assign(answers=1, read=read.astype(int), accepted=accepted.astype(int))
        named = facts.named(counted, ["setting", "team_place", "team"])
        found.append(named.groupby(by, as_index=False)[["answers", "read", "accepted"]].sum())
    totals = pd.concat(found).groupby(by, as_index=False).sum()
    has_batch = totals["phase"].isin([str(DECISION)])
    totals["accepted"] = totals["accepted"].where(has_batch)
    return totals.assign(
        read_share=totals["read"] / totals["answers"],
        accepted_share=totals["accepted"] / totals["answers"],
    )


@table(
    "scheduled_by_player.csv",
    """
    setting player kind teams
    agent_games (count, agent-games): number in the mean
    scheduled (number, meetings; P): mean of an agent's S // agent_games
    """,
    key=PLAYER_KEY,
    of=[TEAMS],
)
def scheduled_by_player(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Mean number of scheduled meetings of an agent, by player (Table 1)."""
    seats = scored_seats(facts)
    read = seats[~is_unread(seats, [NUMBER])]
    totals = group_totals(read[[NUMBER, "scheduled"]].assign(agent_games=1), [NUMBER])
    rows = all_players(facts).merge(totals, "left", NUMBER).fillna({"agent_games": 0})
    return rows.assign(
        scheduled=rows["scheduled"] / rows["agent_games"].where(rows["agent_games"] > 0)
    )
