"""Which teams have a page of their own, and where it is."""

from calbench.report.experiment import checked_id
from calbench.report.tables import Row

FOLDER = "players"

TAKEN = frozenset({"index", "readme"})
"""Names, in small letters, that MkDocs and file systems take for the page of a whole folder."""


def has_page(row: Row) -> bool:
    """Return whether a row of the leaderboard is of a team with a page.

    The optimum, which is of no experiment, plays no games.
    """
    return bool(row["experiment"]) and row["team"].lower() not in TAKEN


def path_of(team: str) -> str:
    """Return the path of a team's page below the site's ``docs``.

    Raises:
        CalbenchError: the id cannot be part of a path.
    """
    return f"{FOLDER}/{checked_id(team, 'team')}.md"
