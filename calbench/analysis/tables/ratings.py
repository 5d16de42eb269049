"""Ratings of players that met in mixed teams, and the players that stand beside them unrated."""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import nan

import numpy as np
import pandas as pd

from calbench.analysis.ratings.pools import GAME_COLUMNS, IDENTITY, RATINGS, is_in_pool
from calbench.analysis.ratings.scopes import Scope, rated_scopes
from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import (
    COST,
    PLAYER,
    PLAYER_KIND,
    SETTING,
    SLOTS,
    Column,
    count,
    listed,
    number,
    text,
    truth,
)
from calbench.facts.storage import Facts
from calbench.stats.spec import RATING_DIGITS

DIGEST_DIGITS = 8
"""Of the SHA-256 of a player's settings, shown in tables [C]."""

POOL = text(
    "pool",
    "models (with code of one's own) or scripted (a demonstration); never rated together",
    "C",
)
SCOPE = text("setting", "setting of the scenarios, or all together: all")
DIGEST = text("settings_digest", "of the settings that define it, first 8 digits")
POINTS = "points"
ORDERS = "orders of games"


def _rating_columns(name: str, meaning: str) -> tuple[Column, ...]:
    """Return the columns of one of the ratings."""
    return (
        count(
            f"{name}_events",
            "games",
            "games that moved this rating: two players of the pool have a score",
        ),
        number(f"{name}_mu", "skill", f"skill: {meaning}", ORDERS, "P"),
        number(f"{name}_sigma", "skill", "uncertainty", ORDERS, "P"),
        number(f"{name}_ordinal", "skill", "mu - 3 sigma", ORDERS, "P"),
        number(f"{name}_spread", "skill", "deviation of the ordinal over orders of games"),
    )


@lru_cache(maxsize=1)
def scopes_of(facts: Facts, settings: Settings) -> tuple[Scope, ...]:
    """Rate every pool in every setting of a run."""
    agents = facts.of_all_games("agents", (*GAME_COLUMNS, "is_excluded"))
    return tuple(rated_scopes(agents, settings.analysis.ratings))


def _together(frames: Iterable[pd.DataFrame], columns: Iterable[str]) -> pd.DataFrame:
    """Return frames below each other; of none, one without rows."""
    found = list(frames)
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(columns))


def _names(scope: Scope) -> np.ndarray:
    return np.array([player.name for player in scope.players], dtype=object)


def _digests(scope: Scope) -> np.ndarray:
    return np.array([p.settings_digest[:DIGEST_DIGITS] for p in scope.players], dtype=object)


STANDINGS = (
    POOL,
    SCOPE,
    PLAYER,
    count("rank", "", "by MMR; same MMR, same rank; empty without one"),
    count("rank_low", "", "best rank of the interval over scenarios"),
    count("rank_high", "", "worst rank of the interval over scenarios"),
    count("tie_group", "", "players whose ranks do not differ significantly"),
    number("mmr", POINTS, "mean of three ordinals, scaled", ORDERS, "P, C"),
    number("mmr_spread", POINTS, "its deviation over orders of games"),
    count("games", "games", "games scored in which it sat"),
    count("games_excluded", "games", "games recorded and left out"),
    *(column for rating in RATINGS for column in _rating_columns(rating.name, rating.meaning)),
    text(
        "component",
        "first of the players that some chain of games links it with; ranks across components "
        "mean nothing",
        "C",
    ),
    listed("never_met", "players with whom it never sat in a game", "C"),
    PLAYER_KIND,
    DIGEST,
)


@table("ratings.csv", STANDINGS, key="pool setting player kind settings_digest")
def ratings(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Players of every pool and setting by rank, their ratings averaged over orders of games."""
    return _together(map(_standings, scopes_of(facts, settings)), (c.name for c in STANDINGS))


def _standings(scope: Scope) -> pd.DataFrame:
    names, found = _names(scope), scope.standings
    numbers = found["number"].to_numpy()
    never = [" ".join(names[scope.meetings.never_met(player)]) for player in numbers]
    return found.assign(
        pool=scope.pool,
        setting=scope.setting,
        player=names[numbers],
        component=names[scope.meetings.first[numbers]],
        never_met=never,
        kind=[scope.players[player].kind for player in numbers],
        settings_digest=_digests(scope)[numbers],
    )


PAIRS = (
    POOL,
    SCOPE,
    PLAYER,
    text("other", "another player of the pool"),
    count("games", "games", "games in which both sat"),
    truth("is_linked", "some chain of games links them", "C"),
    DIGEST,
    text("other_settings_digest", "the same of the other"),
)


@table(
    "ratings_pairs.csv",
    PAIRS,
    key="pool setting player other settings_digest other_settings_digest",
)
def ratings_pairs(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Every two players of a pool: in how many games both sat, and whether any chain links them."""
    return _together(map(_pairs, scopes_of(facts, settings)), (c.name for c in PAIRS))


def _pairs(scope: Scope) -> pd.DataFrame:
    pairs = np.array(list(scope.meetings.pairs()), dtype=np.int64).reshape(-1, 2)
    one, other = pairs.T
    names, digests, first = _names(scope), _digests(scope), scope.meetings.first
    return pd.DataFrame(
        {
            "pool": scope.pool,
            "setting": scope.setting,
            "player": names[one],
            "other": names[other],
            "games": scope.meetings.games[one, other],
            "is_linked": first[one] == first[other],
            "settings_digest": digests[one],
            "other_settings_digest": digests[other],
        }
    )


MARGINS = (
    POOL,
    SCOPE,
    text("rating", "which of the ratings", "P"),
    count("events", "games", "games that moved it"),
    number("median_range", "score", "best less worst score", "events"),
    number("greatest_range", "score", "greatest of these"),
    number(
        "margin",
        "score",
        "given to the library: of the ranges above 0 the median / (e - 1) or the greatest / "
        "(e^2 - 1), whichever is more; 0: ranks alone",
        origin="P, calibration C",
    ),
)


@table("ratings_margins.csv", MARGINS, key="pool setting rating")
def ratings_margins(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Score margins of every rating, which settings have of their own and never together."""
    found = (
        scope.margins[scope.margins["setting"] == scope.setting].assign(pool=scope.pool)
        for scope in scopes_of(facts, settings)
    )
    return _together(found, (c.name for c in MARGINS))


UNRATED = (
    SETTING,
    PLAYER,
    PLAYER_KIND,
    Column("place", "integer", "", "by coordination, then excess cost, then VPS", origin="P"),
    count("games", "games", "games scored in which it sat"),
    count("agent_games", "agent-games", "seats it took in these games"),
    number("coordination", "percent", "mean of S / M", "agent-games with M > 0", "P"),
    number("excess_cost", COST, "mean of E", "agent-games", "F"),
    number("excess_vps", SLOTS, "mean of max(0, V - floor)", "measured", "P, F"),
    DIGEST,
    truth("is_probing", "a variant told to probe for private facts", "P"),
)


@table("ratings_unrated.csv", UNRATED, key="setting player kind settings_digest is_probing")
def ratings_unrated(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Unrated players by raw means: protocols, baselines, scripted speakers, probing variants."""
    agents = facts.of_games("agents", GAME_COLUMNS)
    own = agents[~is_in_pool(agents, "models")]
    by = ["setting", *IDENTITY]
    rows = [
        dict(zip(by, key, strict=True)) | _raw_means(seats)
        for key, seats in own.groupby(by, dropna=False, sort=False)
    ]
    found = _placed(pd.DataFrame(rows, columns=[column.name for column in UNRATED]))
    return found.assign(settings_digest=found["settings_digest"].str[:DIGEST_DIGITS])


def _raw_means(seats: pd.DataFrame) -> dict[str, float]:
    """Return the means of a player's seats, exact before each is rounded once."""
    known = seats[seats["assigned"] > 0]
    shares = map(Fraction, known["scheduled"].tolist(), known["assigned"].tolist())
    return {
        "games": seats["game"].nunique(),
        "agent_games": len(seats),
        "coordination": _mean(100 * share for share in shares),
        "excess_cost": _mean(map(Fraction, seats["excess_cost"].tolist())),
        "excess_vps": _mean(map(Fraction, seats["excess_vps"].dropna().tolist())),
    }


def _mean(values: Iterable[Fraction]) -> float:
    """Return a mean, not a number of nothing."""
    listed_values = list(values)
    return float(sum(listed_values) / len(listed_values)) if listed_values else nan


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with their place in their setting, best first; what is unknown comes last.

    Places compare what tables show: coordination descending, then excess, then VPS ascending.
    """
    signs = {"coordination": -1, "excess_cost": 1, "excess_vps": 1}
    shown = {
        f"by_{name}": rows[name].map(lambda value: round(value, RATING_DIGITS)) * sign
        for name, sign in signs.items()
    }
    keys = ["setting", *shown]
    ordered = rows.assign(**shown).sort_values(
        [*keys, "player", "kind", "settings_digest"], ignore_index=True
    )
    position = ordered.groupby("setting").cumcount() + 1
    return ordered.assign(place=position.mask(ordered.duplicated(keys)).ffill())
