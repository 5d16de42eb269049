"""Which teams have a page of their own."""

from calbench.report.tables import Row

TAKEN = frozenset({"index", "readme"})
"""Names, in small letters, that MkDocs and file systems take for the page of a whole folder."""


def has_page(row: Row) -> bool:
    """Return whether a row of the leaderboard is of a team with a page.

    The optimum, which is of no experiment, plays no games.
    """
    return bool(row["experiment"]) and row["team"].lower() not in TAKEN
