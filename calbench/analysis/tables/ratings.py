"""Ratings of players that met in mixed teams, and players without a rating."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import nan

import numpy as np
import pandas as pd

from calbench.analysis.measures import MIXED, joint_kind
from calbench.analysis.ratings.pools import GAME_COLUMNS, IDENTITY, RATINGS, is_in_pool
from calbench.analysis.ratings.scopes import EVERY_KIND, NOT_MEASURED, Scope, rated_scopes
from calbench.analysis.settings import Settings
from calbench.analysis.tables.registry import table
from calbench.facts.columns import (
    COST,
    PLAYER,
    PLAYER_KIND,
    SETTING,
    SLOTS,
    VPS_KIND,
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
    "models (and custom agents) or scripted (a demonstration); never rated together",
    "C",
)
SCOPE = text("setting", "setting of the scenarios, or all of them: all")
DIGEST = text("settings_digest", "of the settings that define the player, first 8 digits")
POINTS = "points"
REFERENCE = "reference"
"""Kind of the silent seat that is rated beside the players."""
ORDERS = "orders of games"


def _rating_columns(name: str, meaning: str) -> tuple[Column, ...]:
    """Return the columns of one of the ratings."""
    return (
        count(f"{name}_events", "games", "with a score for at least two players of the pool"),
        number(f"{name}_mu", "skill", f"skill: {meaning}", ORDERS, "P"),
        number(f"{name}_sigma", "skill", "uncertainty", ORDERS, "P"),
        number(f"{name}_ordinal", "skill", "mu - 3 sigma", ORDERS, "P"),
        number(f"{name}_spread", "skill", "standard deviation of the ordinal over orders"),
    )


def _named(mmr: str) -> str:
    """Return the ratings of an MMR as a list of words."""
    return ", ".join(rating.name for rating in RATINGS if getattr(rating, mmr))


@lru_cache(maxsize=1)
def scopes_of(facts: Facts, settings: Settings) -> tuple[Scope, ...]:
    """Rate every pool in every setting of a run."""
    agents = facts.of_all_games("agents", (*GAME_COLUMNS, "is_excluded"))
    return tuple(rated_scopes(agents, settings.analysis.ratings))


def _names(scope: Scope) -> np.ndarray:
    return np.array([player.name for player in scope.players], dtype=object)


def _digests(scope: Scope) -> np.ndarray:
    return np.array([p.settings_digest[:DIGEST_DIGITS] for p in scope.players], dtype=object)


@table(
    "ratings.csv",
    (
        POOL,
        SCOPE,
        PLAYER,
        count(
            "rank",
            "",
            "by MMR among players of the same vps_kind, equal for equal MMR; empty without one",
        ),
        count("rank_low", "", "best rank of the interval over scenarios"),
        count("rank_high", "", "worst rank of the interval over scenarios"),
        count("tie_group", "", "players of the same vps_kind that are not told apart"),
        number("mmr", POINTS, f"mean of the ordinals of {_named('in_mmr')}, scaled", ORDERS),
        number("mmr_spread", POINTS, "its standard deviation over orders"),
        count("games", "games", "games scored in which it took part"),
        count("games_excluded", "games", "games recorded and excluded"),
        *(column for rating in RATINGS for column in _rating_columns(rating.name, rating.meaning)),
        text(
            "component",
            "first of the players that a chain of games links with it; ranks across components "
            "mean nothing",
            "C",
        ),
        listed("never_met", "players with whom it never shared a game", "C"),
        text(
            "kind",
            f"{PLAYER_KIND.meaning}; or {REFERENCE}: a silent seat beside every rated game",
            "C",
        ),
        text("settings_digest", f"{DIGEST.meaning}; of the reference: {REFERENCE}"),
        number(
            "mmr_paper",
            POINTS,
            f"by the paper's formula: mean of the ordinals of {_named('in_paper')}, scaled; nobody "
            "is ranked by it, as it rewards silence",
            ORDERS,
            "P, C",
        ),
        truth("is_below_silence", "its MMR is lower than that of the silent reference", "C"),
        text("vps_kind", "how V was measured in its games; empty: not measured", "P"),
    ),
    key="pool setting player kind settings_digest",
)
def ratings(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Players of every pool and setting by rank, their ratings averaged over orders of games."""
    return map(_standings, scopes_of(facts, settings))


def _standings(scope: Scope) -> pd.DataFrame:
    """Return the players by rank, with the silent reference in its place by MMR.

    Where privacy was measured in several ways there are as many ranks, and it comes last.
    """
    names, found = _names(scope), scope.standings
    numbers = found["number"].to_numpy()
    never = [" ".join(names[scope.meetings.never_met(player)]) for player in numbers]
    players = found.assign(
        pool=scope.pool,
        setting=scope.setting,
        player=names[numbers],
        component=names[scope.meetings.first[numbers]],
        never_met=never,
        kind=[scope.players[player].kind for player in numbers],
        settings_digest=_digests(scope)[numbers],
    )
    reference = scope.silence.assign(
        pool=scope.pool,
        setting=scope.setting,
        player="silence",
        kind=REFERENCE,
        settings_digest=REFERENCE,
    )
    every = pd.concat([players, reference], ignore_index=True)
    if len(set(found.loc[found["rank"].notna(), "vps_kind"])) > 1:
        return every
    return every.sort_values("mmr", ascending=False, kind="stable", ignore_index=True)


@table(
    "ratings_pairs.csv",
    (
        POOL,
        SCOPE,
        PLAYER,
        text("other", "another player of the pool"),
        count("games", "games", "games with both"),
        truth("is_linked", "a chain of games links them", "C"),
        DIGEST,
        text("other_settings_digest", "the same for the other"),
    ),
    key="pool setting player other settings_digest other_settings_digest",
)
def ratings_pairs(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Every two players of a pool: their common games, and whether a chain of games links them."""
    return map(_pairs, scopes_of(facts, settings))


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


@table(
    "ratings_margins.csv",
    (
        POOL,
        SCOPE,
        text("rating", "one of the ratings", "P"),
        text(
            "measured_by",
            f"vps_kind of the losses that it compares; {NOT_MEASURED}: they were not measured; "
            f"{EVERY_KIND}: other ratings",
            "C",
        ),
        count("events", "games", "games that changed it"),
        number(
            "median_range",
            "score",
            "median of best minus worst score, without seats that are last as they agreed on "
            "nothing",
            "events",
        ),
        number("greatest_range", "score", "greatest of the ranges"),
        number(
            "margin",
            "score",
            "passed to the library: of the ranges above 0 the median / (e - 1) or the greatest / "
            "(e^2 - 1), whichever is larger; 0: ranks alone",
            origin="P, calibration C",
        ),
    ),
    key="pool setting rating measured_by",
)
def ratings_margins(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Score margins of every rating, separate for each setting."""
    for scope in scopes_of(facts, settings):
        yield scope.margins[scope.margins["setting"] == scope.setting].assign(pool=scope.pool)


UNRATED = (
    SETTING,
    PLAYER,
    PLAYER_KIND,
    count(
        "place",
        "",
        "by coordination, then excess cost, then VPS if one instrument measured all that are "
        "equal so far; else they share it",
        "P",
    ),
    count("games", "games", "games scored in which it took part"),
    count("agent_games", "agent-games", "its seats in these games"),
    number("coordination", "percent", "mean of S / M", "agent-games with M > 0", "P"),
    number("excess_cost", COST, "mean of E", "agent-games", "F"),
    number("excess_vps", SLOTS, "mean of max(0, V - floor)", "measured", "P, F"),
    VPS_KIND,
    DIGEST,
    truth("is_probing", "a variant told to probe for private facts", "P"),
)


@table("ratings_unrated.csv", UNRATED, key="setting player kind settings_digest is_probing")
def ratings_unrated(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Means of unrated players: protocols, baselines, scripted speakers, probing variants."""
    agents = facts.of_games("agents", GAME_COLUMNS)
    own = agents[~is_in_pool(agents, "models")]
    by = ["setting", *IDENTITY]
    rows = [
        dict(zip(by, key, strict=True)) | _raw_means(seats)
        for key, seats in own.groupby(by, dropna=False, sort=False)
    ]
    found = _placed(pd.DataFrame(rows, columns=[column.name for column in UNRATED]))
    return found.assign(settings_digest=found["settings_digest"].str[:DIGEST_DIGITS])


def _raw_means(seats: pd.DataFrame) -> dict[str, float | str | None]:
    """Return the means over a player's seats, exact before they are rounded once."""
    known = seats[seats["assigned"] > 0]
    kind, loss = joint_kind(seats["vps_kind"]), seats["excess_vps"].dropna()
    shares = map(Fraction, known["scheduled"].tolist(), known["assigned"].tolist())
    return {
        "games": seats["game"].nunique(),
        "agent_games": len(seats),
        "coordination": _mean(100 * share for share in shares),
        "excess_cost": _mean(map(Fraction, seats["excess_cost"].tolist())),
        "excess_vps": nan if kind == MIXED else _mean(map(Fraction, loss.tolist())),
        "vps_kind": kind,
    }


def _mean(values: Iterable[Fraction]) -> float:
    """Return a mean, not a number of nothing."""
    listed_values = list(values)
    return float(sum(listed_values) / len(listed_values)) if listed_values else nan


def _placed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with their place in their setting, best first; unknown values come last.

    Places compare the numbers as shown: coordination descending, then excess, then VPS ascending,
    the last not between players whose VPS was measured by different instruments.
    """
    signs = {"coordination": -1, "excess_cost": 1, "excess_vps": 1}
    shown = {
        f"by_{name}": rows[name].map(lambda value: round(value, RATING_DIGITS)) * sign
        for name, sign in signs.items()
    }
    before = [f"by_{name}" for name in ("coordination", "excess_cost")]
    equal = rows.assign(**shown).groupby(["setting", *before], dropna=False)["vps_kind"]
    shown["by_excess_vps"] = shown["by_excess_vps"].where(equal.transform("nunique") < 2)
    keys = ["setting", *shown]
    ordered = rows.assign(**shown).sort_values(
        [*keys, "player", "kind", "settings_digest"], ignore_index=True
    )
    position = ordered.groupby("setting").cumcount() + 1
    return ordered.assign(place=position.mask(ordered.duplicated(keys)).ffill())
