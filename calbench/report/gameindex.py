"""The index of the trace browser: what the finder shows and sorts by, in columns.

Numbers of a game are those of its row in ``games.csv``; labels told and patterns are those of
``audit_games.csv``, which is written here. Games stand scenario by scenario, and for each
scenario team by team.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from calbench.errors import FileError
from calbench.metrics.measure import METRICS_VERSION
from calbench.metrics.speech.conversation import GameAudit
from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.games import shown_note
from calbench.report.packing import column
from calbench.report.results import ExperimentResults, Row
from calbench.report.special import write_table
from calbench.scenarios.labels import TIERS
from calbench.scenarios.models import Scenario

NUMBERS: Mapping[str, str] = {
    "scheduled": "scheduled",
    "cost": "cost",
    "excess": "excess_cost",
    "messages": "messages",
    "vps": "excess_vps",
}
"""What a game is sorted by, and the column of ``games.csv`` that says it."""

GAME_COLUMNS = (*NUMBERS, "halted", "texts", "told", "tier", "patterns")
"""Of a game in the index: ``texts`` counts its messages in words, ``told`` the private labels
that were told, ``tier`` is the place of the highest one, from 1, ``patterns`` has a bit for each
pattern that occurs, in the paper's order."""

AUDIT_COLUMNS = (
    "setting",
    "team",
    "scenario_id",
    "labels_told",
    *(f"told_{tier}" for tier in TIERS),
    *(pattern.name for pattern in PATTERNS),
    "metrics_version",
)
"""Columns of ``audit_games.csv``: counts of each game, as ``audit_leaks.csv`` and
``audit_patterns.csv`` add them up."""


@dataclass
class ExperimentIndex:
    """Takes the games of one experiment.

    Attributes:
        per_setting: scenarios whose games are shown, evenly over each setting; ``None``: all.
        kind_by_team: kinds in words, of the teams that have games; filled from outside.
    """

    results: ExperimentResults
    per_setting: int | None
    kind_by_team: dict[str, str] = field(default_factory=dict)
    _games: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    _audits: list[dict[str, str]] = field(default_factory=list)
    _rows: Mapping[tuple[str, str], Row] | None = None

    def add(self, team: str, scenario_id: str, texts: int, audit: GameAudit | None) -> None:
        """Take one game.

        Raises:
            FileError: no row of ``games.csv`` tells of it.
        """
        if self._rows is None:
            rows = self.results.table("games.csv")
            self._rows = {(row["team"], row["scenario_id"]): row for row in rows}
        row = self._rows.get((team, scenario_id))
        if row is None:
            table = self.results.tables / "games.csv"
            raise FileError(f"{table}: has no game of {team} on {scenario_id}; analyze again")
        numbers = [_number(row[name]) for name in NUMBERS.values()]
        self._games[team, scenario_id] = [
            *numbers,
            row["is_lost"] == "true" or None,
            texts,
            *_found(audit),
        ]
        if audit is not None:
            self._audits.append(_audit_row(row, audit))

    def write_audits(self, path: Path) -> None:
        """Write the audits of all games, if there are any."""
        if self._audits:
            write_table(path, self._audits, AUDIT_COLUMNS)

    def data(self) -> dict[str, Any]:
        """Return the entry of the index."""
        teams = [team for team in self.results.teams if team in self.kind_by_team]
        scenarios = self.results.spread(self.per_setting)
        note = shown_note(self.results, self.per_setting)
        places = [(team, each.scenario_id) for each in scenarios for team in teams]
        games = [self._games[place] for place in places if place in self._games]
        missing = [n for n, place in enumerate(places) if place not in self._games]
        return {
            "name": self.results.name,
            **({"note": note} if note else {}),
            "teams": [[team, self.kind_by_team[team]] for team in teams],
            "scenarios": scenario_columns(scenarios),
            "missing": missing,
            "games": dict(zip(GAME_COLUMNS, map(column, zip(*games, strict=True)), strict=True)),
        }


class GameIndex:
    """Takes the experiments of the site one after another."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []

    @contextmanager
    def experiment(
        self, results: ExperimentResults, per_setting: int | None
    ) -> Iterator[ExperimentIndex]:
        """Take the games of an experiment, of so many scenarios a setting if not of all.

        One without games is left out.
        """
        entry = ExperimentIndex(results, per_setting)
        yield entry
        if entry.kind_by_team:
            self._entries.append(entry.data())

    def data(self) -> dict[str, Any]:
        """Return the index."""
        return {
            "tiers": list(TIERS),
            "patterns": [pattern.name for pattern in PATTERNS],
            "experiments": self._entries,
        }


def scenario_columns(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Return what the index says of scenarios: thirds and best costs are ``null`` if unknown."""
    best = [None if each.oracle is None else each.oracle.best for each in scenarios]
    thirds = [None if each.difficulty is None else each.difficulty.tertile for each in scenarios]
    return {
        "id": [each.scenario_id for each in scenarios],
        "setting": column([each.setting for each in scenarios]),
        "third": column(thirds),
        "meetings": column([len(each.meetings) for each in scenarios]),
        "optimum": column([None if each is None else each.cost for each in best]),
    }


def _number(text: str) -> float | int | None:
    if not text:
        return None
    value = float(text)
    return int(value) if value.is_integer() else value


def _found(audit: GameAudit | None) -> tuple[int | None, int | None, int | None]:
    """Return labels told, the place of the highest tier from 1, and a bit for each pattern."""
    if audit is None:
        return None, None, None
    tiers = [place for place, tier in enumerate(TIERS, 1) if audit.told.get(tier)]
    bits = sum(1 << n for n, pattern in enumerate(PATTERNS) if pattern.name in audit.patterns)
    return sum(audit.told.values()), max(tiers, default=0), bits


def _audit_row(row: Row, audit: GameAudit) -> dict[str, str]:
    return {
        **{name: row[name] for name in ("setting", "team", "scenario_id")},
        "labels_told": str(sum(audit.told.values())),
        **{f"told_{tier}": str(audit.told.get(tier, 0)) for tier in TIERS},
        **{pattern.name: str(audit.patterns.get(pattern.name, 0)) for pattern in PATTERNS},
        "metrics_version": str(METRICS_VERSION),
    }
