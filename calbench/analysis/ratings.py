"""Ratings of players that meet in games: OpenSkill with margins, proof of order (appendix E)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calbench.analysis.apart import ApartBook
from calbench.analysis.ranking import Rank, Ranking, Skill
from calbench.analysis.rated import (
    ALL,
    POOLS,
    RATINGS,
    Meetings,
    RatedGame,
    events_of,
    is_in_pool,
    margin_of,
    ranges_of,
    rated_game,
)
from calbench.analysis.skill import Event, rated_seats
from calbench.metrics.game import GameScore
from calbench.metrics.seats import Player
from calbench.stats.spec import DEFAULT_RATINGS, RatingSpec


@dataclass(frozen=True, slots=True)
class Standing:
    """One player in one pool and setting.

    Attributes:
        games: games scored in which it sat.
        games_lost: games recorded and left out.
        skills: by name of the rating; ``None`` without an event.
        rank: ``None`` unless each rating of the MMR had an event.
        component: first of the players that some chain of games links it with.
        never_met: with whom it never sat in a game.
    """

    player: Player
    games: int
    games_lost: int
    skills: Mapping[str, Skill | None]
    rank: Rank | None
    component: Player
    never_met: tuple[Player, ...]


@dataclass(frozen=True, slots=True)
class Margin:
    """The margin of a rating, and the ranges within games that gave it."""

    events: int
    median_range: float | None
    greatest_range: float | None
    margin: float


@dataclass(frozen=True, slots=True)
class Scope:
    """The ratings of one pool in one setting, or in all.

    Attributes:
        standings: by rank, players without one last.
        margins: by setting, in the order of the ratings.
        meetings: who met whom.
    """

    pool: str
    setting: str
    standings: tuple[Standing, ...]
    margins: Mapping[str, tuple[Margin, ...]]
    meetings: Meetings

    def warnings(self) -> Iterator[str]:
        """Yield what ranks cannot say: players that never met, and that nothing links."""
        place = f"{self.pool}, {self.setting}"
        firsts = self.meetings.components()
        groups: dict[Player, list[str]] = {}
        for player, first in firsts.items():
            groups.setdefault(first, []).append(player.name)
        if len(groups) > 1:
            names = "; ".join(", ".join(names) for names in groups.values())
            yield f"{place}: no chain of games links these groups, so ranks do not either: {names}"
        for one, other, games in self.meetings.pairs():
            if not games and firsts[one] == firsts[other]:
                yield f"{place}: {one.name} and {other.name} never met, only through others"


class RatingBook:
    """Takes the scores of games in any order; ratings do not depend on it."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._games: dict[str, dict[tuple[str, ...], RatedGame]] = {pool: {} for pool in POOLS}
        self._lost: dict[str, dict[tuple[str, Player], int]] = {pool: {} for pool in POOLS}
        self._known: dict[Player, Player] = {}
        self.apart = ApartBook()

    def add(self, score: GameScore) -> None:
        """Take one game; of a lost one only that it was lost.

        Raises:
            ValueError: the game was taken already.
        """
        for pool in POOLS:
            if score.is_lost:
                lost = self._lost[pool]
                for player in {a.player for a in score.agents if is_in_pool(a.player, pool)}:
                    key = (score.setting, player)
                    lost[key] = lost.get(key, 0) + 1
            elif (game := rated_game(score, pool)) is not None:
                place = (*game.scenario, game.team, game.game_id)
                if place in self._games[pool]:
                    raise ValueError(f"two games are called {place}")
                players = tuple(self._known.setdefault(p, p) for p in game.players)
                self._games[pool][place] = game._replace(players=players)
        if not score.is_lost:
            self.apart.add(score)

    def games(self, pool: str, setting: str = ALL) -> list[RatedGame]:
        """Return the games with seats of a pool, by setting, scenario, team and id."""
        games = self._games[pool]
        return [games[key] for key in sorted(games) if setting in (ALL, key[0])]

    def settings(self, pool: str) -> list[str]:
        """Return the settings in which a pool played, and ``all`` where there are several."""
        settings = sorted({key[0] for key in self._games[pool]} | {s for s, _ in self._lost[pool]})
        return [*settings, ALL] if len(settings) > 1 else settings

    def scopes(self, spec: RatingSpec = DEFAULT_RATINGS) -> Iterator[Scope]:
        """Rate every pool in every setting."""
        for pool in POOLS:
            for setting in self.settings(pool):
                yield self.scope(pool, setting, spec)

    def scope(
        self,
        pool: str,
        setting: str,
        spec: RatingSpec = DEFAULT_RATINGS,
        entrants: Sequence[Player] = (),
    ) -> Scope:
        """Rate one pool in one setting, or in ``all``; ``entrants`` need not have played."""
        games = self.games(pool, setting)
        lost: dict[Player, int] = {}
        for (place, player), count in self._lost[pool].items():
            if setting in (ALL, place):
                lost[player] = lost.get(player, 0) + count
        sat = {player for game in games for player in game.players}
        players = sorted({*sat, *lost, *entrants}, key=lambda player: player.order)
        moving = [
            game
            for game, event in zip(games, events_of(games, players), strict=True)
            if any(rated_seats(event, rating) for rating in range(len(RATINGS)))
        ]
        margins = _margins(moving, events_of(moving, players))
        events = [
            replace(event, margins=tuple(m.margin for m in margins[game.scenario.setting]))
            for game, event in zip(moving, events_of(moving, players), strict=True)
        ]
        rated = Ranking(moving, events, len(players))
        ranks = rated.ranks(spec, pool, setting)
        meetings = Meetings(games, players)
        components = meetings.components()
        standings = [
            Standing(
                player=player,
                games=sum(player in game.players for game in games),
                games_lost=lost.get(player, 0),
                skills=rated.skills(number),
                rank=ranks[number],
                component=components[player],
                never_met=meetings.never_met(player),
            )
            for number, player in enumerate(players)
        ]
        return Scope(pool, setting, tuple(sorted(standings, key=_place)), margins, meetings)


def _place(standing: Standing) -> tuple[bool, int, tuple[str, str, str]]:
    rank = standing.rank
    return rank is None, 0 if rank is None else rank.rank, standing.player.order


def _margins(games: Sequence[RatedGame], events: Sequence[Event]) -> dict[str, tuple[Margin, ...]]:
    """Return the margin of each rating by setting: scales differ, so none is pooled."""
    by_setting: dict[str, list[Event]] = {}
    for game, event in zip(games, events, strict=True):
        by_setting.setdefault(game.scenario.setting, []).append(event)
    return {
        setting: tuple(_margin(ranges_of(found, index)) for index in range(len(RATINGS)))
        for setting, found in by_setting.items()
    }


def _margin(ranges: Sequence[float]) -> Margin:
    return Margin(
        events=len(ranges),
        median_range=float(np.median(ranges)) if ranges else None,
        greatest_range=max(ranges) if ranges else None,
        margin=margin_of(ranges),
    )
