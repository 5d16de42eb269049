"""One setting of an experiment: its rows of every table, and how many agent-games count."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from calbench.analysis.summary import setting_title
from calbench.report import numbers
from calbench.report.results import ExperimentResults, Row


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
        return setting_title(self.results.name, self.setting)

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
        rows = self.rows("agent_game_counts.csv")
        return {(row["team"], row["measure"]): int(row["agent_games"]) for row in rows}

    def team_header(self, row: Row) -> str:
        """Return the header of a team's row."""
        return numbers.team_header(row["team"], self.kind_by_team.get(row["team"]))
