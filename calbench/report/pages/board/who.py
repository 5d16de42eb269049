"""Who a team is: its kind, what its configuration says of it, and who sits in its seats."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from calbench.report.experiment import Experiment
from calbench.report.games.files import kind_words
from calbench.report.kind import DEGENERATE, MODEL, PROTOCOL, SCRIPTED, Kind, kind_of
from calbench.report.site import Site
from calbench.report.tables import Row, Tables

TAKEN = frozenset({"index", "readme"})
"""Names, in small letters, that MkDocs and file systems take for the page of a whole folder."""


def has_page(row: Row) -> bool:
    """Return whether a row of the leaderboard is of a team with a page.

    The optimum, which is of no experiment, plays no games.
    """
    return bool(row["experiment"]) and row["team"].lower() not in TAKEN


EXPLAINED = {PROTOCOL: "teams", SCRIPTED: "scripted", MODEL: "models", DEGENERATE: "degenerate"}
"""Where the method page has a kind of player."""

Seats = tuple[tuple[str, str], ...]
"""Player and kind by seat."""


@dataclass(frozen=True)
class Who:
    """A team.

    Attributes:
        team: its id.
        words: of what it consists, as tables say it.
        kind: that of its players.
        says: what it does, in a sentence; empty if its configuration is not ours.
        explained: section of the method page.
        seats: the player of each seat in its first game with its kind, if there are several.
    """

    team: str
    words: str
    kind: Kind
    says: str
    explained: str
    seats: Seats

    @property
    def is_typed(self) -> bool:
        """Whether nobody in it writes in words."""
        return self.kind in {PROTOCOL, DEGENERATE}


def who(site: Site, team: str, experiment: Experiment) -> Who:
    """Return who a team is, with the seats of an experiment that it played."""
    words = site.kind_by_team.get(team, "")
    kind = kind_of(words)
    says = site.about.get(team, "")
    return Who(team, words, kind, says, EXPLAINED.get(kind, "teams"), _seats(team, experiment))


def _seats(team: str, experiment: Experiment) -> Seats:
    """Return players and kinds by seat, of the first game of a team of several players."""
    tables = experiment.tables
    names = {r["player"] for r in tables.optional("players.csv") if team in r["teams"].split()}
    return _first_games(tables).get(team, ()) if len(names) > 1 else ()


@lru_cache(maxsize=32)
def _first_games(tables: Tables) -> Mapping[str, Seats]:
    """Return who sat in the first game of every team of an experiment.

    The table is large and nothing else on the site reads it, so its rows are not kept.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    first: dict[str, tuple[str, str]] = {}
    for row in tables.read("agent_games.csv") if tables.has("agent_games.csv") else ():
        game = (row["scenario_id"], row.get("replicate", "0"))
        if first.setdefault(row["team"], game) == game:
            seat = (row["player"], kind_words([row["kind"]]))
            found.setdefault(row["team"], []).append(seat)
    return {team: tuple(seats) for team, seats in found.items()}
