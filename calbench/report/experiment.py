"""One experiment of the site: its tables, its suite and its traces; and each of its settings."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from calbench.analysis.datapackage import read_settings
from calbench.analysis.measures import MEASURES
from calbench.analysis.registry import Settings
from calbench.analysis.summary import evenly, setting_title
from calbench.errors import CalbenchError, FileError
from calbench.files import printable
from calbench.report.role import Role
from calbench.report.tables import Row, Tables
from calbench.scenarios.models import ID_PATTERN, Scenario
from calbench.scenarios.storage import read_suite
from calbench.traces.catalog import Catalog
from calbench.traces.models import Trace
from calbench.traces.storage import parsed_trace

BASELINES = "privacy/vps_baselines.csv"
"""What VPS would be without knowledge."""


@dataclass(frozen=True)
class Experiment:
    """The results of one experiment.

    Attributes:
        name: of the experiment; it becomes part of page names.
        suite: suite file, one scenario a line.
        folder: folder with its CSV tables.
        traces: folder with ``<team>/<scenario_id>.json``.
        role: what it is for.
        is_joint: whether it has all teams with games on its scenarios, also those of other
            experiments.
        unpublished: its teams that are of a run of one's own, and whether all their games were
            verified.
        part: how many scenarios of another experiment it has, in words.
        facts: folder of what its games were measured into; absent: pages that show messages judge
            them again.
        about: what its teams do, by team.
    """

    name: str
    suite: Path
    folder: Path
    traces: Path
    role: Role = field(default_factory=Role)
    is_joint: bool = False
    unpublished: Mapping[str, bool] = field(default_factory=dict, hash=False)
    part: str = ""
    facts: Path | None = None
    about: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Refuse a name that cannot be part of a file name."""
        checked_id(self.name, "experiment")

    @cached_property
    def tables(self) -> Tables:
        """Its tables."""
        return Tables(self.folder)

    @property
    def title(self) -> str:
        """What captions call it."""
        title = self.role.title or self.name
        return title[:1].upper() + title[1:]

    @cached_property
    def made_with(self) -> Settings:
        """The settings that made its tables.

        Raises:
            FileError: what describes the tables cannot be read.
        """
        return read_settings(self.folder)

    @property
    def confidence(self) -> str:
        """Of its intervals, as pages say it: what they promise, and what their t quantiles are of.

        The difference is what skewed values take: [C] of :mod:`calbench.stats.intervals`.
        """
        spec = self.made_with.analysis
        return f"{percent(spec.confidence)} (t: {percent(spec.t_confidence)})"

    @property
    def level(self) -> str:
        """Corrected p-values below it tell two teams apart."""
        return f"{round(1 - self.made_with.analysis.confidence, 10):g}"

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The suite, in the order of its file."""
        return read_suite(self.suite)

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The settings of the leaderboard, in its order."""
        rows = self.tables.rows("leaderboard.csv")
        return tuple(dict.fromkeys(checked_id(row["setting"], "setting") for row in rows))

    @cached_property
    def teams(self) -> tuple[str, ...]:
        """The teams of the leaderboard, in its order."""
        rows = self.tables.rows("leaderboard.csv")
        return tuple(dict.fromkeys(checked_id(row["team"], "team") for row in rows))

    def by_game(self, table: str) -> Mapping[tuple[str, str], Row]:
        """Return the rows of a table of games by team and scenario; none if it is absent.

        Of a team's several games on a scenario it is the first, which pages show.
        """
        rows = self.tables.optional(table)
        first = [row for row in rows if not row.get("replicate")]
        return {(row["team"], row["scenario_id"]): row for row in first}

    @cached_property
    def shown(self) -> tuple[Scenario, ...]:
        """The scenarios whose games the trace browser has, evenly over each setting.

        Suites are in the order of difficulty, so every third has its share.
        """
        if self.role.games == "all":
            return self.scenarios
        chosen: set[str] = set()
        for setting in dict.fromkeys(scenario.setting for scenario in self.scenarios):
            ids = [s.scenario_id for s in self.scenarios if s.setting == setting]
            chosen.update(evenly(ids, self.role.games))
        return tuple(scenario for scenario in self.scenarios if scenario.scenario_id in chosen)

    @property
    def shown_note(self) -> str:
        """Which games the trace browser has, where it has some and not all."""
        if not self.role.games:
            return ""
        suite, shown = len(self.scenarios), len(self.shown)
        if shown == suite:
            return ""
        return (
            f"{shown} of {suite} scenarios are shown here, as many of each setting and evenly over "
            f"its range of difficulty; the traces of all games are made in data/traces/{self.name}."
        )

    def traces_of(self, team: str, scenarios: Sequence[Scenario] | None = None) -> Iterator[Trace]:
        """Yield a team's traces in the order of the suite; games that are missing are left out.

        Args:
            team: its id.
            scenarios: of which games, if not of all.

        Raises:
            FileError: a trace does not fit, or is of another scenario, team or file name.
        """
        catalog = Catalog()
        for scenario in self.scenarios if scenarios is None else scenarios:
            path = self.traces / team / f"{scenario.scenario_id}.json"
            if catalog.has(path):
                yield ScenarioTraces(self.suite, scenario, catalog).read(path, team)[0]


def percent(share: float) -> str:
    """Return a share as pages say it."""
    return f"{round(100 * share, 8):g}%"


def confidence_of(experiments: Iterable[Experiment]) -> str:
    """Return the confidence of the intervals of some experiments, as pages say it."""
    return " or ".join(dict.fromkeys(results.confidence for results in experiments))


def level_of(experiments: Iterable[Experiment]) -> str:
    """Return the level below which p-values tell teams apart, as pages say it."""
    return " or ".join(dict.fromkeys(results.level for results in experiments))


@dataclass(frozen=True)
class Setting:
    """One setting of one experiment."""

    experiment: Experiment
    name: str

    @property
    def slug(self) -> str:
        """Its part of page names, keys and anchors."""
        name = self.experiment.name
        return name if name == self.name or self._is_alone else f"{name}-{self.name}"

    @property
    def title(self) -> str:
        """Its name on pages."""
        experiment = self.experiment
        named = experiment.title if experiment.role.title else experiment.name
        is_named = experiment.name == self.name or self._is_alone
        return named if is_named else setting_title(named, self.name)

    @property
    def _is_alone(self) -> bool:
        """Whether its experiment is a view of runs of one's own, which has no other setting."""
        return self.experiment.is_joint

    @cached_property
    def suite_digest(self) -> str:
        """Of its scenarios; settings of one digest are comparable (standings.csv)."""
        rows = self.rows("standings.csv")
        return rows[0]["suite_digest"] if rows else ""

    @property
    def confidence(self) -> str:
        """Of its intervals, as pages say it."""
        return self.experiment.confidence

    def rows(self, table: str, **where: Any) -> list[Row]:
        """Return its rows of a table; none where a run has no such table."""
        return self.experiment.tables.optional(table, setting=self.name, **where)

    def source(self, table: str) -> str:
        """Return where the site has one of its tables, below ``tables``."""
        return f"{self.experiment.name}/{table}"

    @cached_property
    def leaderboard(self) -> list[Row]:
        """Its rows of the leaderboard."""
        return self.rows("leaderboard.csv")

    @cached_property
    def counted(self) -> list[Row]:
        """Its rows of the leaderboard, with the number of agent-games as ``<measure>_n``."""
        rows = self.rows("agent_game_counts.csv")
        counts = {(row["team"], row["measure"]): row["agent_games"] for row in rows}
        return [
            {**row, **{f"{m.name}_n": counts.get((row["team"], m.name)) for m in MEASURES}}
            for row in self.leaderboard
        ]

    def counts(self, name: str) -> list[int]:
        """Return the different numbers in a column of the leaderboard, least ones first."""
        return sorted({row[name] for row in self.leaderboard})

    @cached_property
    def players(self) -> list[str]:
        """Its teams, and its players by the name that figures give them."""
        return [
            *(row["team"] for row in self.leaderboard),
            *(player_of(row) for row in self.rows("players.csv")),
        ]


def player_of(row: Row) -> str:
    """Return the name of a row by player: its team, unless it sat in several.

    Protocols with several settings share a player's name; their teams do not.
    """
    return str(row["teams"][0] if len(row["teams"]) == 1 else row["player"])


class ScenarioTraces:
    """Reads the traces of games on one scenario of a suite."""

    def __init__(self, suite: Path, scenario: Scenario, catalog: Catalog) -> None:
        self._suite = suite
        self._scenario = scenario
        self._catalog = catalog
        self._same = scenario

    def read(self, path: Path, team: str) -> tuple[Trace, bytes]:
        """Read the trace of a team's game, and return its file as well.

        Raises:
            FileError: it does not fit, or is of another scenario or team.
        """
        data = self._catalog.read(path)
        trace = parsed_trace(path, data, self._same)
        if trace.scenario is not self._same:  # what a game depends on; the rest is derived
            if trace.scenario.play_digest != self._scenario.play_digest:
                raise FileError(f"{path}: its scenario is not the one of {self._suite}; play again")
            self._same = trace.scenario
        if trace.config.team.team_id != team:
            raise FileError(f"{path}: it was played by {trace.config.team.team_id}")
        return trace, data


def checked_id(text: str, kind: str) -> str:
    """Return an id that may become part of a file name or an address.

    Raises:
        CalbenchError: it holds anything but letters, digits, dots, dashes and underscores.
    """
    if re.fullmatch(ID_PATTERN.strip("^$"), text) is None:
        raise CalbenchError(
            f"{kind} {printable(text)!r:.80}: a name has only letters, digits, '.', '_' "
            "and '-'; rename it"
        )
    return text
