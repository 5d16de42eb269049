"""Compact letter display: letters for groups in which nobody significantly differs from anybody.

Two can each be tied with a third and differ from one another, so one may be in several groups:
they are the maximal cliques of the graph of ties (Piepho 2004, "An algorithm for a letter-based
representation of all-pairwise comparisons", J. Computational and Graphical Statistics 13).
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from calbench.stats.sums import Floats, Ints

Truths = npt.NDArray[np.bool_]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def rank_ranges(signs: Floats) -> tuple[Ints, Ints, Ints]:
    """Return the best and worst rank that comparisons leave to each, and among how many.

    Above somebody stand those that significantly beat it, below it those that it beats.

    Args:
        signs: ``[item, item]``: 1 where the row is significantly better than the column, -1 where
            it is worse, 0 where they are tied, not a number where they were not compared.
    """
    compared = ~np.isnan(signs)
    low = 1 + (compared & (signs < 0)).sum(axis=1)
    high = 1 + (compared & (signs <= 0)).sum(axis=1)
    return low, high, 1 + compared.sum(axis=1)


def tie_cliques(tied: Truths) -> list[tuple[int, ...]]:
    """Return the largest sets in which everybody is tied with everybody, singles included.

    Maximal cliques by Bron and Kerbosch, with a pivot.

    Args:
        tied: ``[item, item]``, symmetric; the diagonal plays no part.
    """
    items = range(len(tied))
    neighbours = [frozenset(j for j in items if tied[i, j] and j != i) for i in items]
    found: list[tuple[int, ...]] = []

    def extend(group: tuple[int, ...], left: frozenset[int], done: frozenset[int]) -> None:
        if not left and not done:
            found.append(tuple(sorted(group)))
            return
        pivot = max(sorted(left | done), key=lambda item: len(neighbours[item] & left))
        for item in sorted(left - neighbours[pivot]):
            extend((*group, item), left & neighbours[item], done & neighbours[item])
            left -= {item}
            done |= {item}

    if items:
        extend((), frozenset(items), frozenset())
    return sorted(found)


def compact_letters(
    tied: Truths, rank: Ints | Sequence[int], used: int = 0
) -> list[tuple[str, ...]]:
    """Return the letters of each item; none for who differs from all.

    Args:
        tied: ``[item, item]``, symmetric; the diagonal plays no part.
        rank: best rank of each item: better groups come first in the alphabet.
        used: how many letters are taken already.
    """
    groups = sorted(
        (group for group in tie_cliques(tied) if len(group) > 1),
        key=lambda group: ([rank[item] for item in group], group),
    )
    return [
        tuple(letter(number) for number, group in enumerate(groups, used) if item in group)
        for item in range(len(tied))
    ]


def letter(number: int) -> str:
    """Return the letter of a group, from 0; behind z comes a2."""
    round_, place = divmod(number, len(LETTERS))
    return LETTERS[place] + (str(round_ + 1) if round_ else "")
