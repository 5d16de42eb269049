"""Ratings of players along many orders of their games, and ranks with intervals (appendix E).

A rating depends on the order of the games, so it is averaged over random orders. The uncertainty
of a rank follows from resampled units (scenarios, for instance) with all their games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import e

import numpy as np

from calbench.domain.randomness import derived_seed
from calbench.stats.plackett_luce import (
    LAST,
    NO_EVENT,
    Event,
    Skills,
    Update,
    check_against_library,
    rated_seats,
)
from calbench.stats.resampling import resample_weights
from calbench.stats.spec import RATING_DIGITS, RatingSpec
from calbench.stats.sums import Floats, Ints

CHECKED = 6
"""First games of a ranking that are rated by the library, too [C]: one that computes otherwise does
so in each of them."""

FACTOR_ONE = e - 1
FACTOR_TWO = e**2 - 1
"""Gaps, in margins, whose factor in the library is 1 and 2 (see
:mod:`calbench.stats.plackett_luce`).

The margin is the smallest at which a gap of the median range of a game counts as much as a rank
alone, and the widest gap at most twice [C]: beyond 2 the library expects the more skilled of two
to lose.
"""


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings, averaged over orders, and ranks by MMR; what is absent is not a number.

    With joined games there is one player more, the guest, the last: rated, but never ranked.

    Attributes:
        events: games that changed a rating, ``[rating, player]``.
        mu: skill, ``[rating, player]``; absent without an event.
        sigma: its uncertainty, ``[rating, player]``.
        ordinal: ``mu - 3 sigma``, ``[rating, player]``.
        spread: standard deviation of the ordinal over orders, ``[rating, player]``.
        mmr: matchmaking rating, ``[player]``; it and all below are absent unless each rating of
            the MMR had an event.
        mmr_spread: standard deviation over orders.
        rank: from 1, among players of its kind; those with the same MMR share the better one.
        low: best rank in the interval; absent below two units.
        high: worst rank.
        tie_group: from 1; the rank intervals of one group overlap: its players are not told
            apart.
    """

    events: Ints
    mu: Floats
    sigma: Floats
    ordinal: Floats
    spread: Floats
    mmr: Floats
    mmr_spread: Floats
    rank: Floats
    low: Floats
    high: Floats
    tie_group: Floats


def rate(
    events: Sequence[Event],
    units: Ints,
    num_players: int,
    in_mmr: Sequence[bool],
    spec: RatingSpec,
    *names: str,
    kinds: Ints | None = None,
    joined: Sequence[Event] = (),
) -> Ratings:
    """Rate players along random orders of their games, and rank them.

    Args:
        events: the games; random orders are drawn from their order here.
        units: unit of each event for resampling, numbered from 0 without gaps.
        num_players: players are numbered below this.
        in_mmr: whether the MMR counts each rating.
        spec: orders, resamples, seed, confidence and scale.
        names: what the orders are for; equal names give equal orders.
        kinds: kind of each player; only those of one kind are ranked against each other.
        joined: the same games with a guest, player ``num_players``, in one more seat, the first.

    Raises:
        CalbenchError: the installed library computes other ratings.
    """
    num_rated = num_players + bool(joined)
    update = Update(events, num_rated, len(in_mmr))
    counts = event_counts(events, num_players, len(in_mmr))
    if joined:
        counts = np.hstack([counts, event_counts(joined, num_rated, len(in_mmr))[:, -1:]])
    counted = np.flatnonzero(in_mmr)
    skills = _over_orders(update, events, joined, spec, *names)
    found = _averaged(skills, counts)
    rated = np.flatnonzero((counts[counted] > 0).all(axis=0))
    if rated.size:
        mmr = mmr_of(skills, counted, spec)[:, rated]
        found.mmr[rated] = np.round(mmr.mean(axis=0), RATING_DIGITS)
        found.mmr_spread[rated] = _orders_last(mmr).std(-1)
    ranked = rated[rated < num_players]
    if ranked.size:
        own = np.zeros(num_players, dtype=np.int64) if kinds is None else kinds
        in_rank = Update([event.only(counted) for event in events], num_players, len(counted))
        drawn = _resampled(in_rank, units, spec, *names)
        _rank(found, ranked, own[ranked], drawn, spec)
    return found


def further_ranks(
    events: Sequence[Event],
    units: Ints,
    num_players: int,
    in_mmr: Sequence[bool],
    spec: RatingSpec,
    *names: str,
    kinds: Ints,
    times: int,
) -> tuple[Floats, Floats]:
    """Return the rank intervals to expect of several times as many units, like those there are.

    Each resample draws so many units instead of as many as there are [C]; all else is as in
    :func:`rate`, whose intervals these are with ``times`` of 1 and other draws.

    Returns:
        Best and worst rank in the interval, ``[player]``; absent where :func:`rate` has none.
    """
    counted = np.flatnonzero(in_mmr)
    low, high = np.full((2, num_players), np.nan)
    counts = event_counts(events, num_players, len(in_mmr))
    ranked = np.flatnonzero((counts[counted] > 0).all(axis=0))
    if not ranked.size:
        return low, high
    update = Update([event.only(counted) for event in events], num_players, len(counted))
    drawn = _resampled(update, units, spec, "further", *names, times=times)
    for kind in np.unique(kinds[ranked]):
        own = ranked[kinds[ranked] == kind]
        low[own], high[own] = _rank_intervals(drawn, own, spec)
    return low, high


def _averaged(skills: Skills, counts: Ints) -> Ratings:
    """Return ratings averaged over orders, without MMR and ranks."""
    mu, sigma, ordinal = map(_orders_last, (skills.mu, skills.sigma, skills.ordinal))
    averages = (mu.mean(-1), sigma.mean(-1), ordinal.mean(-1), ordinal.std(-1))
    return Ratings(
        counts,
        *(np.where(counts > 0, each, np.nan) for each in averages),
        *np.full((6, counts.shape[1]), np.nan),
    )


def _rank(
    found: Ratings, ranked: Ints, kinds: Ints, resampled: Floats | None, spec: RatingSpec
) -> None:
    """Fill in the ranks of some players and their intervals, kind by kind."""
    for kind in np.unique(kinds):
        own = ranked[kinds == kind]
        rank = ranks_of(found.mmr[np.newaxis, own])[0][0]
        low, high = _rank_intervals(resampled, own, spec)
        found.rank[own], found.low[own], found.high[own] = rank, low, high
        found.tie_group[own] = tie_groups(rank, low, high)


def event_counts(events: Sequence[Event], num_players: int, num_ratings: int) -> Ints:
    """Return how many events change each rating of each player, ``[rating, player]``."""
    counts = np.zeros((num_ratings, num_players), dtype=np.int64)
    for event in events:
        for rating in range(num_ratings):
            counts[rating, sorted({event.players[s] for s in rated_seats(event, rating)})] += 1
    return counts


def _over_orders(
    update: Update, events: Sequence[Event], joined: Sequence[Event], spec: RatingSpec, *names: str
) -> Skills:
    bits = np.random.PCG64(derived_seed(spec.seed, "rating orders", *names))
    every = np.arange(len(events))
    orders = [_shuffled(every, bits) for _ in range(spec.orders)]
    guest = Update(joined, update.num_players, update.num_ratings) if joined else None
    first = orders[0][:CHECKED]
    part = update.along(first[np.newaxis], guest)
    check_against_library(events, first.tolist(), part, joined)
    return update.along(np.array(orders, dtype=np.int64), guest)


def _orders_last(values: Floats) -> Floats:
    """Return ``[order, ...]`` as ``[..., order]``, contiguous: numpy then adds pairwise."""
    return np.ascontiguousarray(np.moveaxis(values, 0, -1))


def _resampled(
    update: Update, units: Ints, spec: RatingSpec, *names: str, times: int = 1
) -> Floats | None:
    """Return the MMR over resampled units, ``[resample, player]``; ``None`` below two units.

    A resample draws as many units as there are, or several times as many. A player without a game
    in a resample has the rating of a new player in it.
    """
    num_units = int(units.max()) + 1
    if num_units < 2:
        return None
    bits = np.random.PCG64(derived_seed(spec.seed, "resample orders", *names))
    drawn = resample_weights(num_units, times * spec.resamples, spec.seed, "ratings", *names)
    weights = np.concatenate(list(drawn)).reshape(spec.resamples, times, num_units).sum(axis=1)
    orders: list[Ints] = []
    for row in weights.astype(np.int64):
        games = np.repeat(np.arange(len(units)), row[units])
        orders += [_shuffled(games, bits) for _ in range(spec.orders_per_resample)]
    mmr = mmr_of(update.along(_padded(orders)), range(update.num_ratings), spec)
    by_resample = mmr.reshape(spec.resamples, spec.orders_per_resample, mmr.shape[1])
    return np.asarray(np.round(by_resample.mean(axis=1), RATING_DIGITS))


def _rank_intervals(
    resampled: Floats | None, ranked: Ints, spec: RatingSpec
) -> tuple[Floats, Floats]:
    """Return the ends of the rank interval of each of some players."""
    if resampled is None:
        low, high = np.full((2, len(ranked)), np.nan)
        return low, high
    best, worst = ranks_of(resampled[:, ranked])
    tail = (1 - spec.confidence) / 2
    lows = np.quantile(best, tail, axis=0, method="inverted_cdf")
    highs = np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf")
    return lows.astype(np.float64), highs.astype(np.float64)


def _shuffled(events: Ints, bits: np.random.PCG64) -> Ints:
    """Return the events in random order, from raw bits, whose sequence numpy guarantees."""
    return events[np.argsort(bits.random_raw(len(events)), kind="stable")]


def _padded(orders: Sequence[Ints]) -> Ints:
    longest = max(len(order) for order in orders)
    padded = np.full((len(orders), longest), NO_EVENT, dtype=np.int64)
    for row, order in zip(padded, orders, strict=True):
        row[: len(order)] = order
    return padded


def mmr_of(skills: Skills, counted: Ints | Sequence[int], spec: RatingSpec) -> Floats:
    """Return the MMR ``[order, player]``: the mean of the counted ordinals, scaled [C]."""
    mean: Floats = skills.ordinal[:, counted].mean(axis=1)
    return spec.mmr_start + spec.mmr_scale * mean


def ranks_of(values: Floats) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each value in its row; they differ for ties."""
    better = (values[:, np.newaxis, :] > values[:, :, np.newaxis]).sum(axis=-1)
    as_good = (values[:, np.newaxis, :] >= values[:, :, np.newaxis]).sum(axis=-1)
    return better + 1, as_good


def tie_groups(ranks: Ints, low: Floats, high: Floats) -> Ints:
    """Return a group for each player, starting at the best rank [C].

    A player joins the group while its rank interval overlaps that of the group's first player;
    without intervals all players are in one group.

    Args:
        ranks: from 1, ``[player]``.
        low: best rank of the interval, ``[player]``.
        high: worst rank of the interval, ``[player]``.
    """
    groups = np.ones(len(ranks), dtype=np.int64)
    group, reach = 0, 0.0
    for place in [] if np.isnan(low).any() else np.lexsort((low, ranks)):
        if low[place] > reach:
            group, reach = group + 1, high[place]
        groups[place] = group
    return groups


def ranges_of(events: Sequence[Event], rating: int) -> Floats:
    """Return the range of the scores in each event that changes a rating, without last seats."""
    seated = [(event.scores[rating], rated_seats(event, rating)) for event in events]
    known = [
        [scores[seat] for seat in seats if scores[seat] != LAST] or [0.0]
        for scores, seats in seated
        if seats
    ]
    return np.array([np.ptp(np.array(scores, dtype=np.float64)) for scores in known])


def margin_of(ranges: Floats) -> float:
    """Return the margin for games with these ranges; 0, ranks alone, without any gap."""
    wide = ranges[ranges > 0]
    if not wide.size:
        return 0.0
    return max(float(np.median(wide)) / FACTOR_ONE, float(wide.max()) / FACTOR_TWO)
