"""One setting of an experiment: its rows of every table, and how many agent-games count."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from calbench.analysis.measures import MEASURES
from calbench.report import numbers
from calbench.report.results import ExperimentResults, Row

IS_COUNTED: Mapping[str, Callable[[Row], bool]] = {
    "coordination": lambda row: int(row["assigned"]) > 0,
    "excess_cost_per_meeting": lambda row: int(row["scheduled"]) > 0,
    "adjusted_excess_cost": lambda row: int(row["assigned"]) > 0,
    "messages": lambda row: int(row["scheduled"]) > 0,
    "excess_vps": lambda row: bool(row["excess_vps"]),
    "excess_vps_participants": lambda row: bool(row["excess_vps_participants"]),
}
"""Which rows of ``agent_games.csv`` count for a measure; elsewhere all do (section 4.2)."""


@dataclass(frozen=True)
class SettingResults:
    """One setting of one experiment."""

    results: ExperimentResults
    setting: str
    kind_by_team: Mapping[str, str]

    @property
    def slug(self) -> str:
        """Its part of page names."""
        name = self.results.name
        return self.setting if name == self.setting else f"{name}-{self.setting}"

    @property
    def title(self) -> str:
        """Its name on pages."""
        name = self.results.name
        return self.setting if name == self.setting else f"{name}: {self.setting}"

    def rows(self, table: str) -> list[Row]:
        """Return this setting's rows of a table that has a column for it."""
        return [row for row in self.results.table(table) if row["setting"] == self.setting]

    @cached_property
    def leaderboard(self) -> list[Row]:
        """Its rows of the leaderboard."""
        return self.rows("leaderboard.csv")

    @cached_property
    def agent_games(self) -> dict[tuple[str, str], int]:
        """How many agent-games count, by team and measure."""
        scenarios = {s.scenario_id: s for s in self.results.scenarios if s.setting == self.setting}
        counts: dict[tuple[str, str], int] = {}
        for row in self.results.table("agent_games.csv"):
            scenario = scenarios.get(row["scenario_id"])
            if scenario is None:
                continue
            is_complete = scenario.oracle is None or scenario.oracle.infeasible is None
            for measure in MEASURES:
                test = IS_COUNTED.get(measure.name)
                is_counted = test is None or test(row)
                if measure.name == "adjusted_excess_cost" and not is_complete:
                    is_counted = False
                key = row["team"], measure.name
                counts[key] = counts.get(key, 0) + is_counted
        return counts

    def team_header(self, row: Row) -> str:
        """Return the header of a team's row."""
        return numbers.team_header(row["team"], self.kind_by_team.get(row["team"]))
