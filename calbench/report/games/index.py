"""The index of the trace browser: what the finder shows and sorts by, in columns.

Numbers of a game are those of its row in ``games.csv``; labels told and patterns are those of
``audit_games.csv``. Games stand scenario by scenario, and for each
scenario team by team.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from calbench.errors import FileError
from calbench.metrics.speech.patterns import PATTERNS
from calbench.report.experiment import Experiment
from calbench.report.games.packing import column
from calbench.report.tables import Row
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


@dataclass
class ExperimentIndex:
    """Takes the games of one experiment.

    Attributes:
        kind_by_team: kinds in words, of the teams that have games; filled from outside.
    """

    results: Experiment
    kind_by_team: dict[str, str] = field(default_factory=dict)
    _games: dict[tuple[str, str], list[Any]] = field(default_factory=dict)

    @cached_property
    def _rows(self) -> Mapping[tuple[str, str], Row]:
        rows = self.results.tables.rows("games.csv")
        return {(row["team"], row["scenario_id"]): row for row in rows}

    @cached_property
    def _audits(self) -> Mapping[tuple[str, str], Row]:
        rows = self.results.tables.optional("audit_games.csv")
        return {(row["team"], row["scenario_id"]): row for row in rows}

    def add(self, team: str, scenario_id: str, texts: int) -> None:
        """Take one game.

        Raises:
            FileError: no row of ``games.csv`` tells of it.
        """
        row = self._rows.get((team, scenario_id))
        if row is None:
            table = self.results.folder / "games.csv"
            raise FileError(f"{table}: has no game of {team} on {scenario_id}; analyze again")
        numbers = [_number(row[name]) for name in NUMBERS.values()]
        self._games[team, scenario_id] = [
            *numbers,
            row["is_excluded"] == "true" or None,
            texts,
            *_found(self._audits.get((team, scenario_id))),
        ]

    def data(self) -> dict[str, Any]:
        """Return the entry of the index."""
        teams = [team for team in self.results.teams if team in self.kind_by_team]
        scenarios = self.results.shown
        note = self.results.shown_note
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
    def experiment(self, results: Experiment) -> Iterator[ExperimentIndex]:
        """Take the games of an experiment; one without games is left out."""
        entry = ExperimentIndex(results)
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


def _found(audit: Row | None) -> tuple[int | None, int | None, int | None]:
    """Return labels told, the place of the highest tier from 1, and a bit for each pattern."""
    if audit is None:
        return None, None, None
    tiers = [place for place, tier in enumerate(TIERS, 1) if audit[f"told_{tier}"] != "0"]
    bits = sum(1 << place for place, each in enumerate(PATTERNS) if audit[each.name] != "0")
    return int(audit["labels_told"]), max(tiers, default=0), bits
