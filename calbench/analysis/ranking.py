"""The events of one pool and setting, rated along many orders and ranked (appendix E)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calbench.analysis.estimates import resample_weights
from calbench.analysis.rated import RATINGS, RatedGame
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
from calbench.domain.randomness import derived_seed
from calbench.stats.spec import RATING_DIGITS, AnalysisSpec, RatingSpec


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


class Ranking:
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
        mmr = mmr_of(self._over_orders, spec)[:, chosen]
        mean = np.round(mmr.mean(axis=0), RATING_DIGITS)
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
        mmr = mmr_of(self._update.along(_padded(orders)), spec)[:, chosen]
        mean = mmr.reshape(spec.resamples, spec.orders_per_resample, len(chosen)).mean(axis=1)
        best, worst = ranks_of(np.round(mean, RATING_DIGITS))
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


def mmr_of(skills: Skills, spec: RatingSpec) -> Floats:
    """Return the MMR ``[order, player]``: the mean of three ordinals, scaled [P; scale C]."""
    counted = [index for index, rating in enumerate(RATINGS) if rating.in_mmr]
    mean: Floats = skills.ordinal[:, counted].mean(axis=1)
    return spec.mmr_start + spec.mmr_scale * mean


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
