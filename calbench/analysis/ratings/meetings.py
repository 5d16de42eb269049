"""Which players met: games of every two players, and chains of games between them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calbench.stats.sums import Ints


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
