"""What can be chosen on the leaderboard: views, and in each the pools of teams that compete.

Rows of one view have the same scenarios and channels. Ranks run within one experiment, so each
experiment of a view is a pool with a table of its own; degenerate baselines and the exact optimum
are in it, apart from those that compete.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calbench.report.experiment import confidence_of, level_of
from calbench.report.kind import DEGENERATE, KINDS, REFERENCE, Kind, kind_of
from calbench.report.pages.board.fields import VPS_FIELDS
from calbench.report.site import Site
from calbench.report.tables import Row

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
        names = list(dict.fromkeys(row["experiment"] for row in self.rows if row["experiment"]))
        groups: dict[str, list[Row]] = {name: [] for name in names or [""]}
        for row in self.rows:
            groups[row["experiment"] or next(iter(groups))].append(row)
        return tuple(map(_pool, groups.values()))


def views_of(site: Site) -> tuple[View, ...]:
    """Return what can be chosen on the leaderboard."""
    by_name = {each.name: each for each in site.ranked}
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in site.summary.optional("leaderboard.csv"):
        groups.setdefault((row["setting"], row["channel"]), []).append(row)
    found = []
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
