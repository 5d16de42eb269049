"""What can be chosen on the leaderboard: views, and in each the pools of teams that compete.

Rows of one view have the same scenarios and channels. Ranks run within one experiment, so each
experiment of a view is a pool with a table of its own; degenerate baselines and the exact optimum
are in it, apart from those that compete.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from calbench.report.experiment import Experiment, confidence_of, level_of
from calbench.report.games.files import kind_words
from calbench.report.kind import (
    DEGENERATE,
    KINDS,
    MODEL,
    PROTOCOL,
    REFERENCE,
    SCRIPTED,
    Kind,
    kind_of,
)
from calbench.report.site import Site
from calbench.report.tables import Row, Tables, grouped

VPS_FIELDS: Mapping[str, str] = {
    "protocol": "by messages",
    "reflection": "by reflections",
    "expected": "by reflections, expected values",
    "mixed": "in several ways",
}
"""Ways in which privacy loss was measured. Numbers of two of them are not comparable, so each
has a column of its own, and nobody is ranked by two."""

APART = (DEGENERATE, REFERENCE)
"""Kinds that do not compete."""


@dataclass(frozen=True)
class Pool:
    """Teams that were compared with each other.

    Attributes:
        title: who they are, and how their privacy was measured.
        rows: of those that compete.
        apart: of degenerate baselines and the optimum.
    """

    title: str
    rows: tuple[Row, ...]
    apart: tuple[Row, ...]


@dataclass(frozen=True)
class View:
    """Rows of the leaderboard on the same scenarios and channels, the oracle's last.

    Corrected p-values below ``level`` are significant.
    """

    setting: str
    channel: str
    experiments: tuple[str, ...]
    rows: tuple[Row, ...]
    confidence: str
    level: str

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Its rows by experiment; the optimum, which is of none, is in the first pool."""
        first = next((row["experiment"] for row in self.rows if row["experiment"]), "")
        rows = sorted(self.rows, key=lambda row: not row["experiment"])
        own = [{**row, "pool": row["experiment"] or first} for row in rows]
        return tuple(map(_pool, grouped(own, "pool").values()))


def views_of(site: Site) -> tuple[View, ...]:
    """Return what can be chosen on the leaderboard."""
    by_name = {each.name: each for each in site.ranked}
    found = []
    groups = grouped(site.summary.optional("leaderboard.csv"), "setting", "channel")
    for (setting, channel), rows in groups.items():
        names = tuple(dict.fromkeys(row["experiment"] for row in rows if row["experiment"]))
        shown = [by_name[name] for name in names if name in by_name]
        view = View(setting, channel, names, tuple(rows), confidence_of(shown), level_of(shown))
        found.append(view)
    return tuple(found)


def _pool(rows: Sequence[Row]) -> Pool:
    competing: list[Row] = []
    apart: list[Row] = []
    for row in rows:
        (apart if kind_of(row["kind"]) in APART else competing).append(row)
    return Pool(_title(competing or apart), tuple(competing), tuple(apart))


def _title(rows: Iterable[Row]) -> str:
    """Return who is in a pool, and how their privacy was measured."""
    listed = list(rows)
    kinds = {kind_of(row["kind"]) for row in listed}
    ways = {row["vps_kind"] for row in listed}
    measured = [words for way, words in VPS_FIELDS.items() if way in ways]
    names = [each.name for each in KINDS if each in kinds]
    who = _joined([names[0], *(_lower(name) for name in names[1:])], "and") if names else "Nobody"
    return f"{who}, privacy {_joined(measured, 'or')}" if measured else who


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def _joined(words: Sequence[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def kinds_of(rows: Iterable[Row]) -> dict[str, Kind]:
    """Return the kind of player of what tables call one, for every kind of some rows."""
    return {row["kind"]: kind_of(row["kind"]) for row in rows}


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
    names = {r["player"] for r in tables.optional("players.csv") if team in r["teams"]}
    return _first_games(tables).get(team, ()) if len(names) > 1 else ()


@lru_cache(maxsize=32)
def _first_games(tables: Tables) -> Mapping[str, Seats]:
    """Return who sat in the first game of every team of an experiment.

    The table is large and nothing else on the site reads it, so its rows are not kept.
    """
    if not tables.has("agent_games.csv"):
        return {}
    rows = tables.read("agent_games.csv", ("team", "scenario_id", "replicate", "player", "kind"))
    found = {}
    for team, own in grouped(rows, "team").items():
        first = own[0]["scenario_id"], own[0].get("replicate")
        seats = [row for row in own if (row["scenario_id"], row.get("replicate")) == first]
        found[team] = tuple((row["player"], kind_words([row["kind"]])) for row in seats)
    return found
