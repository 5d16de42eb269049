"""Ratings of players that met in mixed teams, and players without a rating."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import nan

import numpy as np
import pandas as pd

from calbench.analysis.measures import MIXED, joint_kind
from calbench.analysis.rating_pools import GAME_COLUMNS, IDENTITY, RATINGS, is_in_pool
from calbench.analysis.rating_scopes import EVERY_KIND, NOT_MEASURED, Scope, rated_scopes
from calbench.analysis.registry import Settings, table
from calbench.facts.columns import PLAYER_KIND, Column, chosen, columns
from calbench.facts.storage import Facts
from calbench.metrics.players import Player
from calbench.stats.spec import RATING_DIGITS

DIGEST_DIGITS = 8
"""Of the SHA-256 of a player's settings, shown in tables [C]."""

SCOPE = columns("""
    pool (text; C): models (and custom agents) or scripted (a demonstration); never rated together
    setting (text): setting of the scenarios, or all of them: all
    settings_digest (text): of the settings that define the player, first 8 digits
    """)
"""Columns that tables of ratings share."""

RAW = ("assigned", "scheduled", "excess_cost", "excess_vps", "vps_kind")
"""What is averaged of a seat of an unrated player."""

REFERENCE = "reference"
"""Kind of the silent seat that is rated beside the players."""


def _rating_columns(name: str, meaning: str) -> tuple[Column, ...]:
    """Return the columns of one of the ratings."""
    return columns(f"""
    {name}_events (count, games): with a score for at least two players of the pool
    {name}_mu (number, skill; P): skill: {meaning} // orders of games
    {name}_sigma (number, skill; P): uncertainty // orders of games
    {name}_ordinal (number, skill; P): mu - 3 sigma // orders of games
    {name}_spread (number, skill): standard deviation of the ordinal over orders
    """)


def _named(mmr: str) -> str:
    """Return the ratings of an MMR as a list of words."""
    return ", ".join(rating.name for rating in RATINGS if getattr(rating, mmr))


def _weights() -> str:
    """Return the weights of the authors' MMR as a list of words."""
    return ", ".join(f"{r.weight:.2f} of {r.name}" for r in RATINGS if r.weight)


@lru_cache(maxsize=1)
def scopes_of(facts: Facts, settings: Settings) -> tuple[Scope, ...]:
    """Rate every pool in every setting of a run."""
    agents = facts.of_all_games("agents", (*GAME_COLUMNS, "is_excluded"))
    return tuple(rated_scopes(agents, settings.analysis.ratings))


def _names(scope: Scope) -> np.ndarray:
    return np.array([player.name for player in scope.players], dtype=object)


def described(scope: Scope, players: Sequence[Player]) -> dict[str, str | list[str]]:
    """Return the columns that say which players of a scope rows are about."""
    return {
        "pool": scope.pool,
        "setting": scope.setting,
        "player": [each.name for each in players],
        "kind": [each.kind for each in players],
        "settings_digest": [each.settings_digest[:DIGEST_DIGITS] for each in players],
    }


def _digests(scope: Scope) -> np.ndarray:
    return np.array([p.settings_digest[:DIGEST_DIGITS] for p in scope.players], dtype=object)


@table(
    "ratings.csv",
    f"""
    pool setting player
    rank (count): by MMR among players of the same vps_kind, equal for equal MMR; empty without one
    rank_low (count): best rank of the interval over scenarios
    rank_high (count): worst rank of the interval over scenarios
    tie_group (count): players of the same vps_kind that are not told apart
    mmr (number, points): mean of the ordinals of {_named("in_mmr")}, scaled // orders of games
    mmr_spread (number, points): its standard deviation over orders
    games (count, games): games scored in which it took part
    games_excluded (count, games): games recorded and excluded
    every_rating
    component (text; C): first of the players that a chain of games links with it; ranks across
        components mean nothing
    never_met (list; C): players with whom it never shared a game
    kind (text; C): {PLAYER_KIND.meaning}; or {REFERENCE}: a silent seat beside every rated game
    settings_digest (text): of the settings that define the player, first 8 digits; of the
        reference: {REFERENCE}
    mmr_paper (number, points; P, C): by the paper's formula: mean of the ordinals of
        {_named("in_paper")}, scaled; nobody is ranked by it, as it rewards silence // orders of
        games
    mmr_authors (number, points; R, scale C): by the authors' code: {_weights()}, scaled; ranks with
        ties in place of margins; nobody is ranked by it // orders of games
    is_below_silence (truth; C): its MMR is lower than that of the silent reference
    vps_kind (text; P): how V was measured in its games; empty: not measured
    """,
    key="pool setting player kind settings_digest",
    of=SCOPE,
    every_rating=(
        column
        for rating in RATINGS
        if not rating.tolerance
        for column in _rating_columns(rating.name, rating.meaning)
    ),
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
        **described(scope, [scope.players[number] for number in numbers]),
        component=names[scope.meetings.first[numbers]],
        never_met=never,
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
    """
    pool setting player
    other (text): another player of the pool
    games (count, games): games with both
    is_linked (truth; C): a chain of games links them
    settings_digest
    other_settings_digest (text): the same for the other
    """,
    key="pool setting player other settings_digest other_settings_digest",
    of=SCOPE,
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
    f"""
    pool setting
    rating (text; P): one of the ratings
    measured_by (text; C): vps_kind of the losses that it compares; {NOT_MEASURED}: they were not
        measured; {EVERY_KIND}: other ratings
    events (count, games): games that changed it
    median_range (number, score): median of best minus worst score, without seats that are last as
        they agreed on nothing // events
    greatest_range (number, score): greatest of the ranges
    margin (number, score; P, calibration C): passed to the library: of the ranges above 0 the
        median / (e - 1) or the greatest / (e^2 - 1), whichever is larger; 0: ranks alone
    """,
    key="pool setting rating measured_by",
    of=SCOPE,
)
def ratings_margins(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Score margins of every rating, separate for each setting."""
    for scope in scopes_of(facts, settings):
        yield scope.margins[scope.margins["setting"] == scope.setting].assign(pool=scope.pool)


UNRATED = columns(
    """
    setting player kind
    place (count; P): by coordination, then excess cost, then VPS if one instrument measured all
        that are equal so far; else they share it
    games (count, games): games scored in which it took part
    agent_games (count, agent-games): its seats in these games
    coordination (number, percent; P): mean of S / M // agent-games with M > 0
    excess_cost (number, accounting cost; R, C): mean of E // agent-games
    excess_vps (number, slot-equivalents; P, R): mean of max(0, V - floor) // measured
    vps_kind settings_digest
    is_probing (truth; P): a variant told to probe for private facts
    """,
    of=chosen(SCOPE, "settings_digest"),
)


@table("ratings_unrated.csv", UNRATED, key="setting player kind settings_digest is_probing")
def ratings_unrated(facts: Facts, _settings: Settings) -> pd.DataFrame:
    """Means of unrated players: protocols, baselines, scripted speakers, probing variants."""
    agents = facts.of_games("agents", GAME_COLUMNS)
    by = ["setting", *IDENTITY]
    own = agents.loc[~is_in_pool(agents, "models"), [*by, "game", *RAW]]
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
    shares = Counter(zip(known["scheduled"].tolist(), known["assigned"].tolist(), strict=True))
    return {
        "games": seats["game"].nunique(),
        "agent_games": len(seats),
        "coordination": _mean((100 * Fraction(*each), n) for each, n in shares.items()),
        "excess_cost": _mean(Counter(seats["excess_cost"].tolist()).items()),
        "excess_vps": nan if kind == MIXED else _mean(Counter(loss.tolist()).items()),
        "vps_kind": kind,
    }


def _mean(counts: Iterable[tuple[float | Fraction, int]]) -> float:
    """Return the mean of values with the number of each; not a number of nothing."""
    total, number = Fraction(0), 0
    for value, count in counts:
        total, number = total + Fraction(value) * count, number + count
    return float(total / number) if number else nan


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
