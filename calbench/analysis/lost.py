"""Games that were lost: recorded, left out of every number, and said so in every row."""

LOST_LIMIT_PERCENT = 5.0
"""Rows that lost more games than this are flagged [C]."""


class WithLostGames:
    """A row that says how many of its games were lost.

    Attributes:
        games: games scored.
        games_lost: games recorded and left out; one of the two is positive.
    """

    __slots__ = ()
    games: int
    games_lost: int

    @property
    def lost_percent(self) -> float:
        """Share of the recorded games that were lost."""
        return 100 * self.games_lost / (self.games + self.games_lost)

    @property
    def is_flagged(self) -> bool:
        """Whether so many games were lost that the row should not be relied on."""
        return self.lost_percent > LOST_LIMIT_PERCENT
