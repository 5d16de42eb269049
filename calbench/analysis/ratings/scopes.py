"""Ratings of one pool in one setting, or in all settings of a run together (appendix E)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calbench.analysis.ratings.meetings import Meetings, meetings_of
from calbench.analysis.ratings.pools import (
    ALL,
    POOLS,
    RATING_NAMES,
    RATINGS,
    Scenario,
    events_of,
    game_starts,
    pool_seats,
    with_players,
)
from calbench.metrics.players import Player
from calbench.stats.plackett_luce import Event, rated_seats
from calbench.stats.ratings import Ratings, margin_of, ranges_of, rate
from calbench.stats.spec import DEFAULT_RATINGS, RatingSpec

MARGIN_COLUMNS = ["setting", "rating", "events", "median_range", "greatest_range", "margin"]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The ratings of one pool in one setting, or in all.

    Attributes:
        pool: one of :data:`POOLS`.
        setting: of its games, or :data:`ALL`.
        players: by number, in their order.
        standings: one row per player: its ``number``, games, ratings and rank; by rank, players
            without one last.
        margins: one row per setting and rating: ranges within games, and the margin.
        meetings: which players met, by number.
        seats: of scored games, each with the ``number`` of its player.
    """

    pool: str
    setting: str
    players: tuple[Player, ...]
    standings: pd.DataFrame
    margins: pd.DataFrame
    meetings: Meetings
    seats: pd.DataFrame

    def warnings(self) -> Iterator[str]:
        """Yield limits of the ranks: players that never met, and that no games link."""
        place = f"{self.pool}, {self.setting}"
        groups: dict[int, list[str]] = {}
        for player, first in zip(self.players, self.meetings.first.tolist(), strict=True):
            groups.setdefault(first, []).append(player.name)
        if len(groups) > 1:
            names = "; ".join(", ".join(names) for names in groups.values())
            yield f"{place}: no chain of games links these groups, so ranks do not either: {names}"
        for one, other in self.meetings.pairs():
            if not self.meetings.games[one, other] and self.meetings.is_linked(one, other):
                first, second = self.players[one].name, self.players[other].name
                yield f"{place}: {first} and {second} never met, only through others"


def settings_of(seats: pd.DataFrame) -> list[str]:
    """Return the settings of a pool, and ``all`` if there are several."""
    settings = sorted(seats["setting"].unique())
    return [*settings, ALL] if len(settings) > 1 else settings


def rated_scopes(agents: pd.DataFrame, spec: RatingSpec = DEFAULT_RATINGS) -> Iterator[Scope]:
    """Rate every pool in every setting.

    Args:
        agents: as for :func:`pool_seats`.
        spec: settings of the ratings.

    Raises:
        CalbenchError: the installed library computes other ratings.
    """
    for pool in POOLS:
        seats = pool_seats(agents, pool)
        for setting in settings_of(seats):
            yield rated_scope(seats, pool, setting, spec)


def rated_scope(
    pooled: pd.DataFrame,
    pool: str,
    setting: str,
    spec: RatingSpec = DEFAULT_RATINGS,
    entrants: Sequence[Player] = (),
) -> Scope:
    """Rate one pool in one setting, or in ``all``.

    Args:
        pooled: seats of the pool, from :func:`pool_seats`.
        pool: its name.
        setting: of the games.
        spec: settings of the ratings.
        entrants: further players to list, with or without games.

    Raises:
        CalbenchError: the installed library computes other ratings.
    """
    own = pooled if setting == ALL else pooled[pooled["setting"] == setting]
    seats, players = with_players(own, entrants)
    is_excluded = seats["is_excluded"].to_numpy(dtype=bool)
    scored = seats[~is_excluded].reset_index(drop=True)
    starts = game_starts(scored)
    games = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    meetings = meetings_of(games, scored["number"].to_numpy(), len(players))
    ratings, margins = _rated(scored, starts, len(players), spec, pool, setting)
    excluded = seats[is_excluded].drop_duplicates(
        ["setting", "scenario_id", "team", "game_id", "number"]
    )
    standings = _standings(ratings).assign(
        games=meetings.games.diagonal(),
        games_excluded=np.bincount(excluded["number"], minlength=len(players)),
    )
    standings = standings.sort_values(["rank", "number"], ignore_index=True)
    return Scope(pool, setting, players, standings, margins, meetings, scored)


def _rated(
    seats: pd.DataFrame, starts: np.ndarray, num_players: int, spec: RatingSpec, *names: str
) -> tuple[Ratings, pd.DataFrame]:
    """Rate the games in which two players meet, with the margins of their settings."""
    scenarios = [
        Scenario(*row) for row in seats[list(Scenario._fields)].iloc[starts[:-1]].to_numpy()
    ]
    met = [
        (scenario, event)
        for scenario, event in zip(scenarios, events_of(seats, starts), strict=True)
        if any(rated_seats(event, rating) for rating in range(len(RATINGS)))
    ]
    margins = _margins(met)
    by_setting = {
        setting: tuple(rows["margin"]) for setting, rows in margins.groupby("setting", sort=False)
    }
    events = [
        Event(event.players, event.scores, by_setting[scenario.setting]) for scenario, event in met
    ]
    place = {scenario: unit for unit, scenario in enumerate(sorted({s for s, _ in met}))}
    units = np.array([place[scenario] for scenario, _ in met], dtype=np.int64)
    in_mmr = [rating.in_mmr for rating in RATINGS]
    return rate(events, units, num_players, in_mmr, spec, *names), margins


def _margins(games: Sequence[tuple[Scenario, Event]]) -> pd.DataFrame:
    """Return the margins of each rating by setting, because scales differ."""
    by_setting: dict[str, list[Event]] = {}
    for scenario, event in games:
        by_setting.setdefault(scenario.setting, []).append(event)
    rows = []
    for setting, events in by_setting.items():
        for number, name in enumerate(RATING_NAMES):
            ranges = ranges_of(events, number)
            median = np.median(ranges) if ranges.size else np.nan
            greatest = ranges.max(initial=-np.inf) if ranges.size else np.nan
            rows.append((setting, name, len(ranges), median, greatest, margin_of(ranges)))
    return pd.DataFrame(rows, columns=MARGIN_COLUMNS)


def _standings(ratings: Ratings) -> pd.DataFrame:
    """Return ratings and ranks, one row per player by number."""
    columns: dict[str, np.ndarray] = {
        "number": np.arange(len(ratings.rank)),
        "rank": ratings.rank,
        "rank_low": ratings.low,
        "rank_high": ratings.high,
        "tie_group": ratings.tie_group,
        "mmr": ratings.mmr,
        "mmr_spread": ratings.mmr_spread,
    }
    for row, name in enumerate(RATING_NAMES):
        for end in ("events", "mu", "sigma", "ordinal", "spread"):
            columns[f"{name}_{end}"] = getattr(ratings, end)[row]
    return pd.DataFrame(columns)
