"""Pools of players that are rated together, and the scores of their seats."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf, isnan
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.measures import (
    BEYOND,
    EXCESS,
    MIXED,
    compared_loss,
    is_unread,
    is_vps_ranked,
)
from calbench.metrics.players import Player
from calbench.stats.plackett_luce import LAST, Event, rated_seats
from calbench.stats.sums import Ints
from calbench.traces.models import Kind

POOLS: Mapping[str, tuple[Kind, ...]] = {"models": ("model", "custom"), "scripted": ("scripted",)}
"""Kinds of players rated together; the pool of scripted speakers is a demonstration [C]. Protocols
and degenerate baselines are in no pool [P, appendix E], nor are variants told to probe [C]."""

ALL = "all"
"""Name of all settings of a run together."""

GAME_COLUMNS = ("setting", "scenario_id", "team", "game_id")
"""Key of a game; games are rated in this order."""

IDENTITY = ["player", "kind", "uses_language", "model", "settings_digest", "is_probing"]
"""What identifies a player, as in :class:`Player`."""


class Scenario(NamedTuple):
    """A scenario by setting and id."""

    setting: str
    scenario_id: str


@dataclass(frozen=True, slots=True)
class Rating:
    """One of the ratings.

    Attributes:
        name: as in tables.
        meaning: of the score.
        score: from the frame of agents to the score of each seat, higher is better; not a number
            without a score, :data:`LAST` behind every other of its game.
        silent: score of a seat that schedules, pays and says nothing, from
            :data:`PRICE_OF_SILENCE` of the seats that it is compared with.
        in_mmr: whether the MMR counts it, by which players are ranked.
        in_paper: whether the MMR of the paper's formula counts it.
        weight: in the MMR of the authors' code.
        tolerance: scores that are so close to the best of their group tie with it, and ranks
            alone count [R]; without it, the library's margins count.
        is_privacy: whether only seats whose loss was measured in one way are compared.
    """

    name: str
    meaning: str
    score: Callable[[pd.DataFrame], "pd.Series[float]"]
    silent: Callable[[Sequence[float]], float | None]
    in_mmr: bool = False
    in_paper: bool = False
    is_privacy: bool = False
    weight: float = 0.0
    tolerance: float = 0.0


def _coordination(agents: pd.DataFrame) -> "pd.Series[float]":
    assigned = agents["assigned"].astype("float64")
    return agents["scheduled"].astype("float64") / assigned.where(assigned > 0)


def _less(name: str) -> Callable[[pd.DataFrame], "pd.Series[float]"]:
    """Return a score that is higher for lower values of a column."""
    return lambda agents: -agents[name].astype("float64")


def _per_meeting(agents: pd.DataFrame) -> "pd.Series[float]":
    """Return less VPS for each agreed meeting; last where meetings were assigned and none agreed.

    Privacy is what a seat pays for its meetings: who got none has no price that could be low. VPS
    is that above the floor, and of reflections that beyond chance, which may be below 0.
    """
    scheduled, loss = agents["scheduled"].astype("float64"), compared_loss(agents)
    price = loss / scheduled.where(scheduled > 0)
    is_without = (scheduled == 0) & (agents["assigned"] > 0) & loss.notna()
    return (-price).mask(is_without, LAST)


def _nothing(_prices: Sequence[float]) -> float:
    """Return the score of nothing done."""
    return 0.0


def _last(_prices: Sequence[float]) -> float:
    """Return the score of a seat without any agreed meeting."""
    return LAST


def _silent_adjusted(prices: Sequence[float]) -> float | None:
    """Return less adjusted excess in the mean of these seats, of which some have a price."""
    known = [price for price in prices if not isnan(price)]
    return -fsum(known) / len(known) if known else None


PRICE_OF_SILENCE = "price_of_silence"
"""Column with a seat's adjusted excess, had it scheduled and paid nothing: (Cmax - Cmin) / M."""

RATINGS = (
    Rating(
        "coordination",
        "share of its meetings that were scheduled",
        _coordination,
        _nothing,
        in_mmr=True,
        in_paper=True,
    ),
    Rating(
        "shown_excess_cost",
        "lower excess by the costs that agents are shown",
        _less("shown_excess_cost"),
        _nothing,
        in_paper=True,
    ),
    Rating("excess_cost", "lower excess in the accounting", _less("excess_cost"), _nothing),
    Rating(
        "excess_vps",
        "lower VPS above the floor",
        _less("excess_vps"),
        _nothing,
        in_paper=True,
        is_privacy=True,
    ),
    Rating(
        "adjusted_excess_cost",
        "lower excess in the accounting, with a price on failure",
        _less("adjusted_excess_cost"),
        _silent_adjusted,
        in_mmr=True,
    ),
    Rating(
        "vps_per_meeting",
        "lower VPS above the floor, of reflections beyond chance, for each scheduled meeting; "
        "without one, last of its game",
        _per_meeting,
        _last,
        in_mmr=True,
        is_privacy=True,
    ),
    Rating(
        "authors_coordination",
        "share of its meetings that were scheduled",
        _coordination,
        _nothing,
        weight=0.40,
        tolerance=0.2,
    ),
    Rating(
        "authors_excess",
        "lower excess above the burden of a best schedule that is played",
        _less("excess_in_margins"),
        _nothing,
        weight=0.35,
        tolerance=1.0,
    ),
    Rating(
        "authors_vps",
        "lower VPS above the floor",
        _less("excess_vps"),
        _nothing,
        weight=0.25,
        tolerance=1.0,
        is_privacy=True,
    ),
)
"""Three ratings and in addition the excess in the accounting [P, appendix E; C], two that charge
for meetings that were not scheduled [C], and three by ranks with ties [R]."""

RATING_NAMES = tuple(rating.name for rating in RATINGS)


def is_in_pool(agents: pd.DataFrame, pool: str) -> "pd.Series[bool]":
    """Whether the player of each seat is rated in one of :data:`POOLS`."""
    return agents["kind"].isin(POOLS[pool]) & ~agents["is_probing"].astype(bool)


def pool_seats(agents: pd.DataFrame, pool: str) -> pd.DataFrame:
    """Return the seats of one pool, game by game in the order of ratings.

    Args:
        agents: the facts of agents with :data:`GAME_COLUMNS` and ``is_excluded`` of their games.
        pool: one of :data:`POOLS`.

    Returns:
        Those columns, ``agent_id``, :data:`IDENTITY`, a score for each rating, ``vps_kind`` (empty
        if the loss was not measured by one instrument, or rests on too few reflections) and
        :data:`PRICE_OF_SILENCE`.
    """
    own = agents.loc[is_in_pool(agents, pool) & ~is_unread(agents, IDENTITY)]
    is_lost = own["vps_kind"].eq(MIXED) | ~is_vps_ranked(own, IDENTITY)
    own = own.assign(**{name: own[name].mask(is_lost) for name in (EXCESS, BEYOND, "vps_kind")})
    scores = {rating.name: rating.score(own) for rating in RATINGS}
    assigned = own["assigned"].astype("float64")
    seats = own[[*GAME_COLUMNS, "is_excluded", "agent_id", *IDENTITY]].assign(
        **scores,
        vps_kind=own["vps_kind"].fillna("").astype(object),
        **{PRICE_OF_SILENCE: own["cost_range"].astype("float64") / assigned.where(assigned > 0)},
    )
    return seats.sort_values([*GAME_COLUMNS, "agent_id"], ignore_index=True)


def with_players(
    seats: pd.DataFrame, entrants: Iterable[Player] = ()
) -> tuple[pd.DataFrame, tuple[Player, ...]]:
    """Number the players of some seats by their order.

    Args:
        seats: with :data:`IDENTITY`.
        entrants: further players, with or without seats.

    Returns:
        The seats with ``number``, the place of the player among all of them, and the players.
    """
    codes = seats.groupby(IDENTITY, dropna=False, sort=False).ngroup().to_numpy()
    rows = seats[IDENTITY].iloc[np.unique(codes, return_index=True)[1]]
    found = [_player(row) for row in rows.itertuples(index=False)]
    players = tuple(sorted({*found, *entrants}, key=_order))
    place = {player: number for number, player in enumerate(players)}
    numbers = np.array([place[player] for player in found], dtype=np.int64)
    return seats.assign(number=numbers[codes]), players


def _player(row: Sequence[object]) -> Player:
    name, kind, uses_language, model, digest, is_probing = row
    known = None if pd.isna(model) else str(model)  # type: ignore[call-overload]
    return Player(str(name), kind, bool(uses_language), known, str(digest), bool(is_probing))  # type: ignore[arg-type]


def _order(player: Player) -> tuple[object, ...]:
    """Return the sort key of a player, with all fields."""
    return player.order, player.uses_language, player.model or "", player.is_probing


def game_starts(seats: pd.DataFrame) -> Ints:
    """Return the first row of each game in :func:`pool_seats`, and the end of the last one."""
    games = seats.groupby(list(GAME_COLUMNS), sort=False).ngroup().to_numpy()
    return np.append(np.flatnonzero(np.diff(games, prepend=-1)), len(seats))


TIE_DIGITS = 9
"""Decimals of a gap between scores that is compared with a tolerance: last bits are rounding."""


def tied(scores: Sequence[float | None], tolerance: float) -> tuple[float | None, ...]:
    """Return scores in which those of a group are the best one's [R].

    From the best score down, a seat joins the group while it is at most ``tolerance`` behind the
    group's first one; with 0 nothing changes.
    """
    if not tolerance:
        return tuple(scores)
    first, found = inf, dict[float | None, float | None]({None: None})
    for score in sorted((each for each in set(scores) if each is not None), reverse=True):
        if round(first - score, TIE_DIGITS) > tolerance:
            first = score
        found[score] = first
    return tuple(found[score] for score in scores)


class GameEvent(NamedTuple):
    """A game, or the part of it with privacy losses that were measured in one way.

    Attributes:
        scenario: of the game.
        kind: how the losses were measured, empty without any.
        event: its seats, without margins.
        silent: the score of a silent seat beside them, for each rating.
    """

    scenario: Scenario
    kind: str
    event: Event
    silent: tuple[float | None, ...]


def events_of(seats: pd.DataFrame, starts: Ints) -> Iterator[GameEvent]:
    """Yield games as events of ratings.

    A game whose losses were measured in several ways is one event for each of them: the first has
    all other scores, too.

    Args:
        seats: with ``number`` and scores.
        starts: from :func:`game_starts`.
    """
    names = [*Scenario._fields, "number", "vps_kind", PRICE_OF_SILENCE, *RATING_NAMES]
    lists = [seats[name].tolist() for name in names]
    for start, end in pairwise(starts.tolist()):
        settings, scenarios, numbers, kinds, prices, *scores = (own[start:end] for own in lists)
        found = sorted(set(kinds) - {""}) or [""]
        for kind in found:
            known = tuple(
                _known(
                    own, [each == kind if rating.is_privacy else kind == found[0] for each in kinds]
                )
                for rating, own in zip(RATINGS, scores, strict=True)
            )
            event = Event(tuple(numbers), known, (0.0,) * len(RATINGS))
            silent = tuple(
                rating.silent(prices) if rated_seats(event, place) else None
                for place, rating in enumerate(RATINGS)
            )
            yield GameEvent(Scenario(settings[0], scenarios[0]), kind, event, silent)


def _known(scores: Sequence[float], counts: Sequence[bool]) -> tuple[float | None, ...]:
    """Return the scores of the seats that count.

    Where all are last nobody is better than another, and there is nothing to rate.
    """
    known = [
        score if is_counted and not isnan(score) else None
        for score, is_counted in zip(scores, counts, strict=True)
    ]
    return tuple(known) if set(known) - {None, LAST} else (None,) * len(known)
