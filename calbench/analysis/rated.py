"""Games as ratings see them: a few numbers for each seat, in an order of their own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import e
from statistics import median
from typing import NamedTuple

from calbench.analysis.skill import Event, rated_seats
from calbench.metrics.game import AgentGame, GameScore
from calbench.metrics.seats import Player
from calbench.traces.models import Kind

POOLS: dict[str, tuple[Kind, ...]] = {"models": ("model", "custom"), "scripted": ("scripted",)}
"""Who is rated with whom; the pool of scripted speakers is a demonstration [C]. Protocols and
degenerate baselines are in no pool [P, appendix E], nor are variants that are told to probe [C]."""

ALL = "all"
"""Stands for all settings of a run together."""

FACTOR_ONE = e - 1
FACTOR_TWO = e**2 - 1
"""Gaps, in margins, whose factor in the library is 1 and 2 (see :mod:`calbench.analysis.skill`).

The margin is the least at which a gap as wide as a game's median range counts as a rank alone
does, and the widest gap seen not more than twice [C]: beyond 2 the library expects the more
skilled of two to lose.
"""


@dataclass(frozen=True, slots=True)
class Rating:
    """One of the separate ratings: what a seat scores in a game, higher is better."""

    name: str
    meaning: str
    score: Callable[[AgentGame], float | None]
    in_mmr: bool


def _coordination(agent: AgentGame) -> float | None:
    return agent.scheduled / agent.assigned if agent.assigned else None


def _shown_excess(agent: AgentGame) -> float:
    return -float(agent.shown_excess_cost)


def _excess_cost(agent: AgentGame) -> float:
    return -float(agent.excess_cost)


def _excess_vps(agent: AgentGame) -> float | None:
    return None if agent.excess_vps is None else -agent.excess_vps


RATINGS = (
    Rating("coordination", "share of its meetings that were scheduled", _coordination, True),
    Rating("shown_excess_cost", "less excess by the costs agents are shown", _shown_excess, True),
    Rating("excess_cost", "less excess in the accounting", _excess_cost, False),
    Rating("excess_vps", "less VPS above the floor", _excess_vps, True),
)
"""Three ratings, and the excess of the accounting beside them [P, appendix E; C]."""


class Scenario(NamedTuple):
    """A scenario by setting and id."""

    setting: str
    scenario_id: str


class RatedGame(NamedTuple):
    """One game: its place among others, and the seats of one pool. Sorted by its place."""

    scenario: Scenario
    team: str
    game_id: str
    agents: tuple[int, ...]
    players: tuple[Player, ...]
    scores: tuple[tuple[float | None, ...], ...]


def is_in_pool(player: Player, pool: str) -> bool:
    """Whether a player is rated in one of :data:`POOLS`."""
    return player.kind in POOLS[pool] and not player.is_probing


def rated_game(score: GameScore, pool: str) -> RatedGame | None:
    """Return a game's seats of one pool; ``None`` if there are none."""
    agents = [agent for agent in score.agents if is_in_pool(agent.player, pool)]
    if not agents:
        return None
    return RatedGame(
        scenario=Scenario(score.setting, score.scenario_id),
        team=score.team_id,
        game_id=score.game_id,
        agents=tuple(agent.agent_id for agent in agents),
        players=tuple(agent.player for agent in agents),
        scores=tuple(tuple(rating.score(agent) for agent in agents) for rating in RATINGS),
    )


def events_of(games: Iterable[RatedGame], players: Sequence[Player]) -> list[Event]:
    """Return the games with players by their place in a list, as yet without margins."""
    number = {player: place for place, player in enumerate(players)}
    none = (0.0,) * len(RATINGS)
    return [Event(tuple(number[p] for p in game.players), game.scores, none) for game in games]


def ranges_of(events: Iterable[Event], rating: int) -> list[float]:
    """Return how far apart the best and worst score of each event are."""
    ranges = []
    for event in events:
        scores = [event.scores[rating][seat] for seat in rated_seats(event, rating)]
        known = [score for score in scores if score is not None]
        if known:
            ranges.append(max(known) - min(known))
    return ranges


def margin_of(ranges: Iterable[float]) -> float:
    """Return the margin for games with these ranges; 0, ranks alone, where nobody differed."""
    wide = [width for width in ranges if width > 0]
    return max(median(wide) / FACTOR_ONE, max(wide) / FACTOR_TWO) if wide else 0.0


class Meetings:
    """Who met whom: games in which two players of a pool both sat."""

    def __init__(self, games: Iterable[RatedGame], players: Sequence[Player]) -> None:
        """Count."""
        self.players = tuple(players)
        self._games: dict[frozenset[Player], int] = {}
        for game in games:
            for pair in combinations(sorted(set(game.players), key=lambda p: p.order), 2):
                key = frozenset(pair)
                self._games[key] = self._games.get(key, 0) + 1

    def games(self, one: Player, other: Player) -> int:
        """Return in how many games both sat."""
        return self._games.get(frozenset((one, other)), 0)

    def pairs(self) -> Iterator[tuple[Player, Player, int]]:
        """Yield every pair of players, in their order, with its number of games."""
        for one, other in combinations(self.players, 2):
            yield one, other, self.games(one, other)

    def never_met(self, player: Player) -> tuple[Player, ...]:
        """Return the players with whom one never sat in a game."""
        return tuple(p for p in self.players if p != player and not self.games(player, p))

    def components(self) -> dict[Player, Player]:
        """Return for each player the first of all that some chain of games links it with."""
        first = {player: player for player in self.players}
        for one, other, games in self.pairs():
            if games and first[one] != first[other]:
                kept, gone = sorted((first[one], first[other]), key=self.players.index)
                first = {p: kept if f == gone else f for p, f in first.items()}
        return first
