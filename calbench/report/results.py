"""What the site shows: tables, suites and traces of experiments, and tables over several runs."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from calbench.analysis.datapackage import read_settings
from calbench.analysis.settings import Settings
from calbench.errors import CalbenchError, FileError
from calbench.files import printable, read_bytes
from calbench.scenarios.models import ID_PATTERN, Scenario
from calbench.scenarios.storage import iter_suite, read_suite
from calbench.traces.models import Trace
from calbench.traces.storage import TraceReader

Row = Mapping[str, str]
"""A row of a table by column. Cells stay text, as the table has them; empty is absent."""


@dataclass(frozen=True)
class ExperimentResults:
    """Where the results of one experiment stand.

    Attributes:
        name: of the experiment; it becomes part of page names.
        suite: suite file, one scenario a line.
        tables: folder with the CSV tables.
        traces: folder with ``<team>/<scenario_id>.json``.
    """

    name: str
    suite: Path
    tables: Path
    traces: Path

    def __post_init__(self) -> None:
        """Refuse a name that cannot be part of a file name."""
        checked_id(self.name, "experiment")

    def table(self, name: str) -> list[Row]:
        """Read a table, e.g. ``leaderboard.csv``.

        Raises:
            FileError: it cannot be read, or a row does not fit its header.
        """
        return read_table(self.tables / name)

    def optional(self, name: str) -> list[Row]:
        """Read a table that not every run has; no rows if it is absent.

        Raises:
            FileError: it cannot be read, or a row does not fit its header.
        """
        return self.table(name) if (self.tables / name).is_file() else []

    @cached_property
    def made_with(self) -> Settings:
        """The settings that made its tables.

        Raises:
            FileError: what describes the tables cannot be read.
        """
        return read_settings(self.tables)

    @property
    def confidence(self) -> str:
        """Of its intervals, as pages say it."""
        return percent(self.made_with.analysis.confidence)

    @property
    def level(self) -> str:
        """Corrected p-values below it tell two teams apart."""
        return f"{round(1 - self.made_with.analysis.confidence, 10):g}"

    @cached_property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The suite, in the order of its file."""
        return read_suite(self.suite)

    def scenarios_as_read(self) -> Iterator[Scenario]:
        """Yield the suite while it is read, so that work on its games begins at once."""
        known = vars(self)
        if "scenarios" in known:
            yield from self.scenarios
            return
        read = []
        for scenario in iter_suite(self.suite):
            read.append(scenario)
            yield scenario
        known["scenarios"] = tuple(read)  # where the property above keeps them

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The settings of the leaderboard, in its order."""
        rows = self.table("leaderboard.csv")
        return tuple(dict.fromkeys(checked_id(row["setting"], "setting") for row in rows))

    @cached_property
    def teams(self) -> tuple[str, ...]:
        """The teams of the leaderboard, in its order."""
        rows = self.table("leaderboard.csv")
        return tuple(dict.fromkeys(checked_id(row["team"], "team") for row in rows))

    @cached_property
    def unreachable_by_game(self) -> Mapping[tuple[str, str], Row]:
        """Where each game's optimum went out of reach, by team and scenario, if it is known."""
        if not (self.tables / "optimum_unreachable.csv").is_file():
            return {}
        return {
            (row["team"], row["scenario_id"]): row for row in self.table("optimum_unreachable.csv")
        }

    def spread(self, per_setting: int | None) -> tuple[Scenario, ...]:
        """Return at most so many scenarios of each setting, evenly over the suite's order.

        Suites stand in the order of difficulty, so every third is there alike.
        """
        if per_setting is None:
            return self.scenarios
        places: set[str] = set()
        for setting in dict.fromkeys(scenario.setting for scenario in self.scenarios):
            ids = [s.scenario_id for s in self.scenarios if s.setting == setting]
            count = min(per_setting, len(ids))
            places.update(ids[place * len(ids) // count] for place in range(count))
        return tuple(scenario for scenario in self.scenarios if scenario.scenario_id in places)

    def traces_of(self, team: str, scenarios: Sequence[Scenario] | None = None) -> Iterator[Trace]:
        """Yield a team's traces in the order of the suite; games that are missing are left out.

        Args:
            team: its id.
            scenarios: of which games, if not of all.

        Raises:
            FileError: a trace does not fit, or is of another scenario, team or file name.
        """
        for scenario in self.scenarios if scenarios is None else scenarios:
            path = self.traces / team / f"{scenario.scenario_id}.json"
            if path.is_file():
                yield ScenarioTraces(self.suite, scenario).read(path, team)


def percent(share: float) -> str:
    """Return a share as pages say it."""
    return f"{round(100 * share, 8):g}%"


def confidence_of(experiments: Iterable[ExperimentResults]) -> str:
    """Return the confidence of the intervals of some experiments, as pages say it."""
    return " or ".join(dict.fromkeys(results.confidence for results in experiments))


def level_of(experiments: Iterable[ExperimentResults]) -> str:
    """Return below which level p-values tell teams of some experiments apart, likewise."""
    return " or ".join(dict.fromkeys(results.level for results in experiments))


@dataclass(frozen=True)
class Summary:
    """Tables over several runs, which :mod:`calbench.analysis.summary` makes.

    Attributes:
        folder: where they are.
    """

    folder: Path

    def has(self, name: str) -> bool:
        """Whether there is such a table."""
        return (self.folder / name).is_file()

    def table(self, name: str) -> list[Row]:
        """Read a table, e.g. ``leaderboard.csv``; no rows if there was nothing to bring together.

        Raises:
            FileError: it cannot be read, or a row does not fit its header.
        """
        return read_table(self.folder / name) if self.has(name) else []

    def rows_by_experiment(self, name: str) -> dict[str, list[Row]]:
        """Read a table whose rows name their experiment.

        Raises:
            FileError: it cannot be read, or a row does not fit its header.
        """
        found: dict[str, list[Row]] = {}
        for row in self.table(name):
            found.setdefault(row["experiment"], []).append(row)
        return found


class ScenarioTraces:
    """Reads the traces of games on one scenario of a suite."""

    def __init__(self, suite: Path, scenario: Scenario) -> None:
        self._suite = suite
        self._scenario = scenario
        self._reader = TraceReader(scenario)
        self._same = scenario

    def read(self, path: Path, team: str) -> Trace:
        """Read the trace of a team's game.

        Raises:
            FileError: it does not fit, or is of another scenario or team.
        """
        trace = self._reader.read(path)
        if not self._is_same(trace.scenario):
            raise FileError(f"{path}: its scenario is not the one of {self._suite}; play again")
        if trace.config.team.team_id != team:
            raise FileError(f"{path}: it was played by {trace.config.team.team_id}")
        return trace

    def _is_same(self, scenario: Scenario) -> bool:
        """Compare what a game depends on; oracle and difficulty are derived."""
        if scenario is not self._same:
            if scenario.play_digest != self._scenario.play_digest:
                return False
            self._same = scenario
        return True


def checked_id(text: str, kind: str) -> str:
    """Return an id that may become part of a file name or an address.

    Raises:
        CalbenchError: it holds anything but letters, digits, dots, dashes and underscores.
    """
    if re.fullmatch(ID_PATTERN.strip("^$"), text) is None:
        raise CalbenchError(
            f"{kind} {printable(text)!r:.80}: only letters, digits, '.', '_' and '-' may stand "
            "in a name; rename it"
        )
    return text


def read_table(path: Path) -> list[Row]:
    """Read a CSV file with a header.

    Raises:
        FileError: it cannot be read, or a row does not fit its header.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: byte {error.start + 1} is not UTF-8") from error
    lines = filter(None, csv.reader(io.StringIO(text, newline="")))
    header = next(lines, [])
    rows: list[Row] = []
    for number, cells in enumerate(lines, start=2):
        if len(cells) != len(header):
            raise FileError(f"{path}, line {number}: not as many cells as the header has columns")
        rows.append(dict(zip(header, cells, strict=True)))
    return rows
