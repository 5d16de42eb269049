"""Pools of players that are rated together, and the scores of their seats."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import NamedTuple

import numpy as np
import pandas as pd

from calbench.analysis.measures import is_unread
from calbench.metrics.players import Player
from calbench.stats.plackett_luce import Event
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
            without a score.
        in_mmr: whether the MMR counts it.
    """

    name: str
    meaning: str
    score: Callable[[pd.DataFrame], "pd.Series[float]"]
    in_mmr: bool


def _coordination(agents: pd.DataFrame) -> "pd.Series[float]":
    assigned = agents["assigned"].astype("float64")
    return agents["scheduled"].astype("float64") / assigned.where(assigned > 0)


def _less(name: str) -> Callable[[pd.DataFrame], "pd.Series[float]"]:
    """Return a score that is higher for lower values of a column."""
    return lambda agents: -agents[name].astype("float64")


RATINGS = (
    Rating("coordination", "share of its meetings that were scheduled", _coordination, True),
    Rating(
        "shown_excess_cost",
        "lower excess by the costs that agents are shown",
        _less("shown_excess_cost"),
        True,
    ),
    Rating("excess_cost", "lower excess in the accounting", _less("excess_cost"), False),
    Rating("excess_vps", "lower VPS above the floor", _less("excess_vps"), True),
)
"""Three ratings, and in addition the excess in the accounting [P, appendix E; C]."""

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
        Those columns, ``agent_id``, :data:`IDENTITY`, and a score for each rating.
    """
    own = agents.loc[is_in_pool(agents, pool) & ~is_unread(agents, IDENTITY)]
    scores = {rating.name: rating.score(own) for rating in RATINGS}
    seats = own[[*GAME_COLUMNS, "is_excluded", "agent_id", *IDENTITY]].assign(**scores)
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


def events_of(seats: pd.DataFrame, starts: Ints) -> list[Event]:
    """Return games as events of ratings, without margins.

    Args:
        seats: with ``number`` and scores.
        starts: from :func:`game_starts`.
    """
    numbers = seats["number"].tolist()
    scores = [
        [None if isnan(score) else score for score in seats[name].tolist()] for name in RATING_NAMES
    ]
    none = (0.0,) * len(RATINGS)
    return [
        Event(tuple(numbers[start:end]), tuple(tuple(each[start:end]) for each in scores), none)
        for start, end in pairwise(starts.tolist())
    ]
