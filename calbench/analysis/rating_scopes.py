"""Ratings of one pool in one setting, or in all settings of a run together (appendix E)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.rating_pools import (
    ALL,
    POOLS,
    RATING_NAMES,
    RATINGS,
    GameEvent,
    Rating,
    events_of,
    game_starts,
    pool_seats,
    tied,
    with_players,
)
from calbench.metrics.players import Player
from calbench.stats.plackett_luce import Event, rated_seats
from calbench.stats.ratings import Ratings, further_ranks, margin_of, ranges_of, rate
from calbench.stats.spec import DEFAULT_RATINGS, RatingSpec
from calbench.stats.sums import Floats, Ints


@dataclass(frozen=True, slots=True)
class Meetings:
    """Which players met in some games.

    Attributes:
        games: number of common games, ``[player, player]``; on the diagonal, of each player.
        first: the first of all players that a chain of games links with each, ``[player]``.
    """

    games: Ints
    first: Ints

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield every two players, in their order."""
        yield from combinations(range(len(self.first)), 2)

    def is_linked(self, one: int, other: int) -> bool:
        """Whether a chain of games links two players."""
        return bool(self.first[one] == self.first[other])

    def never_met(self, player: int) -> Ints:
        """Return the players with whom a player never shared a game."""
        return np.flatnonzero((self.games[player] == 0) & (np.arange(len(self.first)) != player))


def meetings_of(games: Ints, players: Ints, num_players: int) -> Meetings:
    """Count the games of every two players.

    Args:
        games: game of each seat, from 0.
        players: player of each seat, by number.
        num_players: players are numbered below this.
    """
    sat = np.zeros((int(games.max(initial=-1)) + 1, num_players), dtype=np.int64)
    sat[games, players] = 1
    together = sat.T @ sat
    return Meetings(together, _first_linked(together > 0))


def _first_linked(met: np.ndarray) -> Ints:
    """Return the first player of the component of each, in a symmetric graph."""
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(met, directed=False)
    _, firsts, labels = np.unique(component, return_index=True, return_inverse=True)
    return np.asarray(firsts[labels], dtype=np.int64)


EVERY_KIND, NOT_MEASURED = "all", "none"
"""Words for ways of measuring privacy: it does not matter which, and there was none."""


class MarginKey(NamedTuple):
    """What a margin is for; ``measured_by`` is the way in which privacy was measured."""

    setting: str
    rating: str
    measured_by: str


class MarginRow(NamedTuple):
    """Ranges of scores within games, and the margin that follows."""

    events: int
    median_range: float
    greatest_range: float
    margin: float


class RatedGames(NamedTuple):
    """The games in which two players met, as events of the ratings.

    Attributes:
        events: with the margins of their settings, in the order of games.
        units: scenario of each, numbered from 0.
        kinds: number of the ways in which the losses of each player were measured.
        spec: settings of the ratings.
    """

    events: Sequence[Event]
    units: Ints
    kinds: Ints
    spec: RatingSpec


MARGIN_COLUMNS = [*MarginKey._fields, *MarginRow._fields]


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The ratings of one pool in one setting, or in all.

    Attributes:
        pool: one of :data:`POOLS`.
        setting: of its games, or :data:`ALL`.
        players: by number, in their order.
        standings: one row per player: its ``number``, games, ratings and rank; by the way in
            which privacy was measured and rank, players without one last.
        silence: the row of the silent reference, without games and rank; none without any game
            in which two players met.
        margins: one row per setting, rating and way of measuring privacy: ranges within games,
            and the margin.
        meetings: which players met, by number.
        seats: of scored games, each with the ``number`` of its player.
        rated: the games that made the ratings.
    """

    pool: str
    setting: str
    players: tuple[Player, ...]
    standings: pd.DataFrame
    silence: pd.DataFrame
    margins: pd.DataFrame
    meetings: Meetings
    seats: pd.DataFrame
    rated: RatedGames

    def further_ranks(self, times: int) -> pd.DataFrame:
        """Return the rank interval to expect of several times as many scenarios, by player.

        Returns:
            ``low`` and ``high`` by number; see :func:`calbench.stats.ratings.further_ranks`.
        """
        low, high = further_ranks(
            self.rated.events,
            self.rated.units,
            len(self.players),
            [rating.in_mmr for rating in RATINGS],
            self.rated.spec,
            self.pool,
            self.setting,
            kinds=self.rated.kinds,
            times=times,
        )
        return pd.DataFrame({"low": low, "high": high})

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
    kinds = _kinds(scored, len(players))
    ratings, margins, rated_games = _rated(scored, starts, kinds, spec, pool, setting)
    rated = _standings(ratings, kinds, spec)
    own, silence = rated.iloc[: len(players)], rated.iloc[len(players) :]
    excluded = seats[is_excluded].drop_duplicates(
        ["setting", "scenario_id", "team", "game_id", "number"]
    )
    standings = own.assign(
        is_below_silence=_is_below(own["mmr"], silence["mmr"]),
        games=meetings.games.diagonal(),
        games_excluded=np.bincount(excluded["number"], minlength=len(players)),
    )
    standings = standings.sort_values(["vps_kind", "rank", "number"], ignore_index=True)
    standings = standings.sort_values("rank", key=pd.isna, kind="stable", ignore_index=True)
    return Scope(pool, setting, players, standings, silence, margins, meetings, scored, rated_games)


def _is_below(mmr: "pd.Series[float]", silence: "pd.Series[float]") -> "pd.Series[bool]":
    """Whether players rank below silence; unknown without both ratings."""
    return (mmr < silence.max()).astype("boolean").where(mmr.notna() & bool(silence.notna().any()))


def _rated(
    seats: pd.DataFrame, starts: Ints, kinds: Sequence[str], spec: RatingSpec, *names: str
) -> tuple[Ratings, pd.DataFrame, RatedGames]:
    """Rate the games in which two players meet, with the margins of their settings.

    The silent reference joins each of them as the last player; it moves nobody.
    """
    met = [
        game
        for game in events_of(seats, starts)
        if any(rated_seats(game.event, rating) for rating in range(len(RATINGS)))
    ]
    margins = _margins(met)
    events = [_with_ties(game.event, _margins_of(game, margins)) for game in met]
    joined = [_with_ties(_joined(game, len(kinds)), _margins_of(game, margins)) for game in met]
    place = {scenario: unit for unit, scenario in enumerate(sorted({g.scenario for g in met}))}
    units = np.array([place[game.scenario] for game in met], dtype=np.int64)
    in_mmr = [rating.in_mmr for rating in RATINGS]
    codes = np.unique(np.array(kinds, dtype=object).astype(str), return_inverse=True)[1]
    found = rate(events, units, len(kinds), in_mmr, spec, *names, kinds=codes, joined=joined)
    rows = [[*key, *row] for key, row in margins.items()]
    games = RatedGames(events, units, codes, spec)
    return found, pd.DataFrame(rows, columns=MARGIN_COLUMNS), games


def _with_ties(event: Event, margins: tuple[float, ...]) -> Event:
    """Return an event with margins, and with ties in the ratings that have them instead."""
    scores = zip(RATINGS, event.scores, strict=True)
    return Event(event.players, tuple(tied(own, r.tolerance) for r, own in scores), margins)


def _joined(game: GameEvent, guest: int) -> Event:
    """Return a game with a silent guest in one more seat, the first."""
    pairs = zip(game.silent, game.event.scores, strict=True)
    players = (guest, *game.event.players)
    return replace(game.event, players=players, scores=tuple((own, *each) for own, each in pairs))


def _margins(games: Sequence[GameEvent]) -> dict[MarginKey, MarginRow]:
    """Return the margins of each rating by setting and way of measuring, because scales differ."""
    by_setting: dict[str, list[GameEvent]] = {}
    for game in games:
        by_setting.setdefault(game.scenario.setting, []).append(game)
    rows: dict[MarginKey, MarginRow] = {}
    for setting in sorted(by_setting):
        own = by_setting[setting]
        for number, rating in enumerate(RATINGS):
            if rating.tolerance:
                continue
            for kind in sorted({_measured_by(rating, game) for game in own}):
                events = [game.event for game in own if _measured_by(rating, game) == kind]
                ranges = ranges_of(events, number)
                median = float(np.median(ranges)) if ranges.size else np.nan
                greatest = float(ranges.max()) if ranges.size else np.nan
                row = MarginRow(len(ranges), median, greatest, margin_of(ranges))
                rows[MarginKey(setting, rating.name, kind)] = row
    return rows


def _measured_by(rating: Rating, game: GameEvent) -> str:
    """Return how the losses that a rating compares were measured, in the words of tables."""
    return game.kind or NOT_MEASURED if rating.is_privacy else EVERY_KIND


def _margins_of(game: GameEvent, margins: Mapping[MarginKey, MarginRow]) -> tuple[float, ...]:
    setting = game.scenario.setting
    return tuple(
        0.0
        if rating.tolerance
        else margins[MarginKey(setting, rating.name, _measured_by(rating, game))].margin
        for rating in RATINGS
    )


def _kinds(seats: pd.DataFrame, num_players: int) -> list[str]:
    """Return how the privacy losses of each player were measured, by number; several joined."""
    found: list[set[str]] = [set() for _ in range(num_players)]
    for player, kind in zip(seats["number"].tolist(), seats["vps_kind"].tolist(), strict=True):
        found[player] |= {kind} - {""}
    return [" ".join(sorted(kinds)) for kinds in found]


def _standings(ratings: Ratings, kinds: Sequence[str], spec: RatingSpec) -> pd.DataFrame:
    """Return ratings and ranks, one row per player by number; the last is the reference."""
    in_paper = [place for place, rating in enumerate(RATINGS) if rating.in_paper]
    columns: dict[str, np.ndarray] = {
        "number": np.arange(len(ratings.rank)),
        "vps_kind": np.array([*kinds, ""], dtype=object)[: len(ratings.rank)],
        "rank": ratings.rank,
        "rank_low": ratings.low,
        "rank_high": ratings.high,
        "tie_group": ratings.tie_group,
        "mmr": ratings.mmr,
        "mmr_spread": ratings.mmr_spread,
        "mmr_paper": spec.mmr_start + spec.mmr_scale * ratings.ordinal[in_paper].mean(axis=0),
        "mmr_authors": spec.mmr_start + spec.mmr_scale * _weighted(ratings),
    }
    for row, name in enumerate(RATING_NAMES):
        for end in ("events", "mu", "sigma", "ordinal", "spread"):
            columns[f"{name}_{end}"] = getattr(ratings, end)[row]
    return pd.DataFrame(columns)


def _weighted(ratings: Ratings) -> Floats:
    """Return the ordinals of every player, weighted as in the authors' code [R]."""
    places = [place for place, rating in enumerate(RATINGS) if rating.weight]
    weights = np.array([RATINGS[place].weight for place in places])
    return np.asarray(weights @ ratings.ordinal[places])
