"""Compact letter display: letters for groups that are not told apart.

Two items may each be not told apart from a third and yet differ, so an item may be in several
groups: these are the maximal cliques of the graph of such pairs (Piepho 2004, "An algorithm for a
letter-based representation of all-pairwise comparisons", J. Computational and Graphical
Statistics 13).
"""

from collections.abc import Sequence

import numpy as np

from calbench.stats.sums import Floats, Ints, Truths

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def rank_ranges(signs: Floats) -> tuple[Ints, Ints, Ints]:
    """Return the best and worst rank that comparisons allow each item, and among how many.

    An item ranks below all that are significantly better and above all that are worse.

    Args:
        signs: ``[item, item]``: 1 where the row is significantly better than the column, -1 where
            it is worse, 0 where they are not told apart, not a number where they were not compared.
    """
    compared = ~np.isnan(signs)
    low = 1 + (compared & (signs < 0)).sum(axis=1)
    high = 1 + (compared & (signs <= 0)).sum(axis=1)
    return low, high, 1 + compared.sum(axis=1)


def cliques_of(alike: Truths) -> list[tuple[int, ...]]:
    """Return the largest sets of items that are all alike, pair by pair, single items included.

    Maximal cliques by the Bron-Kerbosch algorithm with a pivot.

    Args:
        alike: ``[item, item]``, symmetric; the diagonal is ignored.
    """
    items = range(len(alike))
    neighbours = [frozenset(j for j in items if alike[i, j] and j != i) for i in items]
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


def compact_letters(alike: Truths, rank: Ints | Sequence[int]) -> list[tuple[str, ...]]:
    """Return the letters of each item; none for an item that differs from all others.

    Args:
        alike: ``[item, item]``, symmetric; the diagonal is ignored.
        rank: best rank of each item; better groups come first in the alphabet.
    """
    groups = sorted(
        (group for group in cliques_of(alike) if len(group) > 1),
        key=lambda group: ([rank[item] for item in group], group),
    )
    return [
        tuple(letter(number) for number, group in enumerate(groups) if item in group)
        for item in range(len(alike))
    ]


def letter(number: int) -> str:
    """Return the letter of a group, from 0; after z comes a2."""
    round_, place = divmod(number, len(LETTERS))
    return LETTERS[place] + (str(round_ + 1) if round_ else "")
