"""Ratings of players that meet in games: OpenSkill with margins, proof of order (appendix E)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from calbench.analysis.estimates import resample_weights
from calbench.analysis.rated import (
    ALL,
    POOLS,
    RATINGS,
    Meetings,
    RatedGame,
    events_of,
    margin_of,
    ranges_of,
    rated_game,
)
from calbench.analysis.skill import (
    NO_EVENT,
    Event,
    Floats,
    Ints,
    Skills,
    Update,
    check_against_library,
    rated_seats,
)
from calbench.analysis.spec import AnalysisSpec
from calbench.domain.randomness import derived_seed
from calbench.metrics.game import GameScore
from calbench.metrics.seats import Player

MMR_START = 1000.0
"""MMR of a fresh player, whose ordinals are 0 [C]."""

MMR_SCALE = 40.0
"""Points of MMR for one of the mean ordinal [C]: skill 25, where all start, known for sure would
be 2000."""

DIGITS = 4
"""MMRs that agree to so many decimals share a rank [C]: last bits differ between processors."""


class RatingSpec(BaseModel):
    """Settings of ratings.

    Attributes:
        orders: random orders of the games over which ratings are averaged; 200 [C].
        resamples: resamples of the scenarios behind rank intervals [C].
        orders_per_resample: random orders over which each resample is averaged [C].
        seed: of orders and resamples [C].
        confidence: share of the resamples that a rank interval holds [C].
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    orders: Annotated[int, Field(ge=1)] = 200
    resamples: Annotated[int, Field(ge=1)] = 200
    orders_per_resample: Annotated[int, Field(ge=1)] = 4
    seed: Annotated[int, Field(ge=0)] = 0
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95


DEFAULT_RATINGS = RatingSpec()
"""What published ratings use."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A player's rating in one respect, averaged over orders.

    Attributes:
        events: games that moved it.
        spread: standard deviation of the ordinal over orders.
    """

    events: int
    mu: float
    sigma: float
    ordinal: float
    spread: float


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a player stands.

    Attributes:
        mmr: matchmaking rating.
        mmr_spread: standard deviation over orders.
        rank: from 1; players with the same MMR share the better one.
        low: best rank that the interval holds; ``None`` below two scenarios.
        high: worst rank.
        tie_group: from 1; the ranks of one group are not told apart.
    """

    mmr: float
    mmr_spread: float
    rank: int
    low: int | None
    high: int | None
    tie_group: int


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
        for pool, kinds in POOLS.items():
            if score.is_lost:
                lost = self._lost[pool]
                for player in {a.player for a in score.agents if a.player.kind in kinds}:
                    key = (score.setting, player)
                    lost[key] = lost.get(key, 0) + 1
            elif (game := rated_game(score, kinds)) is not None:
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
        rated = _Rated(moving, events, len(players))
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


class _Rated:
    """The events of one scope, rated along many orders."""

    def __init__(
        self,
        games: Sequence[RatedGame],
        events: Sequence[Event],
        num_players: int,
    ) -> None:
        self._events = events
        self._scenarios = [game.scenario for game in games]
        self._update = Update(events, num_players, len(RATINGS))
        self._num_players = num_players
        self._counts = [[0] * num_players for _ in RATINGS]
        for event in events:
            for rating, counts in enumerate(self._counts):
                for player in {event.players[seat] for seat in rated_seats(event, rating)}:
                    counts[player] += 1
        self._over_orders: Skills | None = None

    def ranks(self, spec: RatingSpec, *names: str) -> list[Rank | None]:
        """Rate along all orders and resamples; return each player's rank, if it has one."""
        self._over_orders = self._average(spec, *names)
        is_ranked = [
            all(self._counts[index][p] for index, rating in enumerate(RATINGS) if rating.in_mmr)
            for p in range(self._num_players)
        ]
        chosen = [player for player, is_in in enumerate(is_ranked) if is_in]
        if not chosen:
            return [None] * self._num_players
        mmr = mmr_of(self._over_orders)[:, chosen]
        mean = np.round(mmr.mean(axis=0), DIGITS)
        intervals = self._intervals(spec, chosen, *names)
        best, _ = ranks_of(mean[np.newaxis])
        groups = tie_groups([int(rank) for rank in best[0]], intervals)
        found: list[Rank | None] = [None] * self._num_players
        for place, player in enumerate(chosen):
            found[player] = Rank(
                mmr=float(mean[place]),
                mmr_spread=float(mmr[:, place].std()),
                rank=int(best[0, place]),
                low=intervals[place][0],
                high=intervals[place][1],
                tie_group=groups[place],
            )
        return found

    def skills(self, player: int) -> dict[str, Skill | None]:
        """Return a player's ratings by name; :meth:`ranks` was called before."""
        found: dict[str, Skill | None] = {}
        for index, rating in enumerate(RATINGS):
            events = self._counts[index][player]
            found[rating.name] = None
            if events and self._over_orders is not None:
                ordinal = self._over_orders.ordinal[:, index, player]
                found[rating.name] = Skill(
                    events=events,
                    mu=float(self._over_orders.mu[:, index, player].mean()),
                    sigma=float(self._over_orders.sigma[:, index, player].mean()),
                    ordinal=float(ordinal.mean()),
                    spread=float(ordinal.std()),
                )
        return found

    def _average(self, spec: RatingSpec, *names: str) -> Skills:
        bits = np.random.PCG64(derived_seed(spec.seed, "rating orders", *names))
        every = np.arange(len(self._events))
        orders = [_shuffled(every, bits) for _ in range(spec.orders)]
        skills = self._update.along(np.array(orders, dtype=np.int64))
        check_against_library(self._events, [int(i) for i in orders[0]], skills)
        return skills

    def _intervals(
        self, spec: RatingSpec, chosen: Sequence[int], *names: str
    ) -> list[tuple[int | None, int | None]]:
        """Return the rank interval of each chosen player, over resampled scenarios.

        Resamples draw scenarios with all their games; a player that one leaves out stands in
        it as a newcomer.
        """
        scenarios = sorted(set(self._scenarios))
        if len(scenarios) < 2:
            return [(None, None)] * len(chosen)
        place = {scenario: index for index, scenario in enumerate(scenarios)}
        of_event = np.array([place[scenario] for scenario in self._scenarios])
        drawing = AnalysisSpec(bootstrap_resamples=spec.resamples, bootstrap_seed=spec.seed)
        bits = np.random.PCG64(derived_seed(spec.seed, "resample orders", *names))
        orders: list[Ints] = []
        for weights in resample_weights(len(scenarios), drawing, "ratings", *names):
            for row in weights.astype(np.int64):
                drawn = np.repeat(np.arange(len(self._events)), row[of_event])
                orders += [_shuffled(drawn, bits) for _ in range(spec.orders_per_resample)]
        mmr = mmr_of(self._update.along(_padded(orders)))[:, chosen]
        mean = mmr.reshape(spec.resamples, spec.orders_per_resample, len(chosen)).mean(axis=1)
        best, worst = ranks_of(np.round(mean, DIGITS))
        tail = (1 - spec.confidence) / 2
        lows = np.quantile(best, tail, axis=0, method="inverted_cdf")
        highs = np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf")
        return [(int(low), int(high)) for low, high in zip(lows, highs, strict=True)]


def _shuffled(events: Ints, bits: np.random.PCG64) -> Ints:
    """Return the events in random order, from raw bits, whose sequence numpy guarantees."""
    return events[np.argsort(bits.random_raw(len(events)), kind="stable")]


def _padded(orders: Sequence[Ints]) -> Ints:
    longest = max(len(order) for order in orders)
    padded = np.full((len(orders), longest), NO_EVENT, dtype=np.int64)
    for row, order in zip(padded, orders, strict=True):
        row[: len(order)] = order
    return padded


def mmr_of(skills: Skills) -> Floats:
    """Return the MMR ``[order, player]``: the mean of three ordinals, scaled [P; scale C]."""
    counted = [index for index, rating in enumerate(RATINGS) if rating.in_mmr]
    mean: Floats = skills.ordinal[:, counted].mean(axis=1)
    return MMR_START + MMR_SCALE * mean


def ranks_of(mmr: Floats) -> tuple[Ints, Ints]:
    """Return the best and the worst rank each value can claim in its row, ties shared."""
    better = (mmr[:, np.newaxis, :] > mmr[:, :, np.newaxis]).sum(axis=-1)
    as_good = (mmr[:, np.newaxis, :] >= mmr[:, :, np.newaxis]).sum(axis=-1)
    return better + 1, as_good


def tie_groups(
    ranks: Sequence[int], intervals: Sequence[tuple[int | None, int | None]]
) -> list[int]:
    """Return a group for each player, from the best rank on [C].

    A player joins the group while its rank interval reaches that of the group's first; without
    intervals nobody is told apart.
    """
    groups = [0] * len(ranks)
    group, reach = 0, 0
    for place in sorted(range(len(ranks)), key=lambda p: (ranks[p], intervals[p][0] or 0, p)):
        low, high = intervals[place]
        if low is None or high is None:
            groups[place] = 1
            continue
        if low > reach:
            group, reach = group + 1, high
        groups[place] = group
    return groups


@dataclass(slots=True)
class _Sums:
    """Exact sums, so that the order of games does not show."""

    games: int = 0
    agent_games: int = 0
    coordination: Fraction = Fraction(0)
    assigned: int = 0
    excess_cost: int = 0
    vps: Fraction = Fraction(0)
    measured: int = 0


@dataclass(frozen=True, slots=True)
class Apart:
    """A protocol, baseline or scripted speaker: listed with raw means, never rated with models.

    Attributes:
        place: by coordination, then excess cost, then excess VPS [P, appendix E].
        coordination: percent, over agent-games with a meeting; ``None`` without any.
        excess_cost: accounting cost, over all agent-games.
        excess_vps: over those measured; ``None`` without any.
    """

    setting: str
    place: int
    player: Player
    games: int
    agent_games: int
    coordination: float | None
    excess_cost: float
    excess_vps: float | None


class ApartBook:
    """What stands beside the models."""

    def __init__(self) -> None:
        """Begin with no game."""
        self._sums: dict[tuple[str, Player], _Sums] = {}

    def add(self, score: GameScore) -> None:
        """Take one game that was not lost."""
        agents = [agent for agent in score.agents if agent.player.kind not in POOLS["models"]]
        for player in {agent.player for agent in agents}:
            self._sums.setdefault((score.setting, player), _Sums()).games += 1
        for agent in agents:
            sums = self._sums[score.setting, agent.player]
            sums.agent_games += 1
            sums.excess_cost += agent.excess_cost
            if agent.assigned:
                sums.coordination += Fraction(agent.scheduled, agent.assigned)
                sums.assigned += 1
            if agent.excess_vps is not None:
                sums.vps += Fraction(agent.excess_vps)
                sums.measured += 1

    def rows(self) -> Iterator[Apart]:
        """Yield setting by setting, best first; what is unknown comes last."""
        for setting in sorted({setting for setting, _ in self._sums}):
            rows = [_apart(s, p, sums) for (s, p), sums in self._sums.items() if s == setting]
            rows.sort(key=lambda row: (*_raw_order(row), row.player.order))
            orders = [_raw_order(row) for row in rows]
            for row, order in zip(rows, orders, strict=True):
                yield Apart(
                    row.setting,
                    orders.index(order) + 1,
                    row.player,
                    row.games,
                    row.agent_games,
                    row.coordination,
                    row.excess_cost,
                    row.excess_vps,
                )


def _apart(setting: str, player: Player, sums: _Sums) -> Apart:
    return Apart(
        setting=setting,
        place=0,
        player=player,
        games=sums.games,
        agent_games=sums.agent_games,
        coordination=float(100 * sums.coordination / sums.assigned) if sums.assigned else None,
        excess_cost=sums.excess_cost / sums.agent_games,
        excess_vps=float(sums.vps / sums.measured) if sums.measured else None,
    )


def _raw_order(row: Apart) -> tuple[float, ...]:
    """Compare what tables show: coordination descending, then excess, then VPS ascending."""
    coordination, vps = row.coordination, row.excess_vps
    return (
        float("inf") if coordination is None else -round(coordination, DIGITS),
        round(row.excess_cost, DIGITS),
        float("inf") if vps is None else round(vps, DIGITS),
    )
