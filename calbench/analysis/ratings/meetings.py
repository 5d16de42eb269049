"""Who met whom: games in which two players both sat, and what chains of games link."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from calbench.stats.sums import Ints


@dataclass(frozen=True, slots=True)
class Meetings:
    """Who met whom in some games.

    Attributes:
        games: in how many games both sat, ``[player, player]``; on the diagonal, in how many
            each sat.
        first: the first of all players that some chain of games links each with, ``[player]``.
    """

    games: Ints
    first: Ints

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield every two players, in their order."""
        yield from combinations(range(len(self.first)), 2)

    def is_linked(self, one: int, other: int) -> bool:
        """Whether some chain of games links two players."""
        return bool(self.first[one] == self.first[other])

    def never_met(self, player: int) -> Ints:
        """Return the players with whom one never sat in a game."""
        return np.flatnonzero((self.games[player] == 0) & (np.arange(len(self.first)) != player))


def meetings_of(games: Ints, players: Ints, num_players: int) -> Meetings:
    """Count who met whom.

    Args:
        games: of each seat, its game, from 0.
        players: of each seat, the number of its player.
        num_players: players are numbered below this.
    """
    sat = np.zeros((int(games.max(initial=-1)) + 1, num_players), dtype=np.int64)
    sat[games, players] = 1
    together = sat.T @ sat
    return Meetings(together, _first_linked(together > 0))


def _first_linked(met: np.ndarray) -> Ints:
    """Return the first player of each one's component of a symmetric graph."""
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(met, directed=False)
    _, firsts, labels = np.unique(component, return_index=True, return_inverse=True)
    return np.asarray(firsts[labels], dtype=np.int64)
