"""Games that were lost: recorded, left out of every number, and said so in every row."""

LOST_LIMIT_PERCENT = 5.0
"""Rows that lost more games than this are flagged [C]."""


def lost_percent(games: int, games_lost: int) -> float:
    """Return the share of the recorded games that were lost.

    Args:
        games: games scored.
        games_lost: games recorded and left out; one of the two is positive.
    """
    return 100 * games_lost / (games + games_lost)
