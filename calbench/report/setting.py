"""One setting of an experiment, as pages show it."""

from dataclasses import dataclass
from functools import cached_property

from calbench.analysis.measures import MEASURES
from calbench.analysis.summary import setting_title
from calbench.report.experiment import Experiment
from calbench.report.tables import Row


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

    def rows(self, table: str, **where: str) -> list[Row]:
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
        counts = {(row["team"], f"{row['measure']}_n"): row["agent_games"] for row in rows}
        names = [f"{each.name}_n" for each in MEASURES]
        return [
            {**row, **{name: counts.get((row["team"], name), "") for name in names}}
            for row in self.leaderboard
        ]

    def counts(self, name: str) -> list[str]:
        """Return the different numbers in a column of the leaderboard, least ones first."""
        return sorted({row[name] for row in self.leaderboard}, key=int)

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
    return row["player"] if " " in row["teams"] or not row["teams"] else row["teams"]
