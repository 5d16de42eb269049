"""What the switch of a page of figures chooses from: one setting of one experiment each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from calbench.report.figures.style import Value
from calbench.report.tables import Row
from calbench.report.special import CHANNELS, SMOLLM2, SpecialResults


@dataclass(frozen=True)
class View:
    """One setting of one experiment.

    Attributes:
        results: of the experiment.
        setting: its setting.
        title: its name for people.
    """

    results: ExperimentResults
    setting: str
    title: str

    @property
    def key(self) -> str:
        """Its part of keys and anchors."""
        name = self.results.name
        return self.setting if name == self.setting else f"{name}-{self.setting}"

    @property
    def confidence(self) -> str:
        """Of its intervals, as pages say it."""
        return self.results.confidence

    def source(self, table: str) -> str:
        """Return where the site has one of its tables."""
        return f"{self.results.name}/{table}"

    def rows(self, table: str) -> list[Row]:
        """Return its rows of a table that has a column for the setting.

        None where the table is absent: audits are made apart from the other tables.
        """
        if not (self.results.tables / table).is_file():
            return []
        return [row for row in self.results.table(table) if row["setting"] == self.setting]

    @cached_property
    def leaderboard(self) -> list[Row]:
        """Its rows of the leaderboard."""
        return self.rows("leaderboard.csv")


def views(experiments: Sequence[ExperimentResults], special: SpecialResults) -> list[View]:
    """Return every setting of the protocols, of the speakers by channel, and of the model."""
    named = [
        *((each, "") for each in experiments),
        *((each, f"Speakers, {CHANNELS[each.name]}") for each in special.of_channels()),
        *((each, "SmolLM2") for each in special.experiments if each.name == SMOLLM2),
    ]
    return [
        View(each, setting, _title(each, setting, prefix))
        for each, prefix in named
        for setting in each.settings
    ]


def _title(results: ExperimentResults, setting: str, prefix: str) -> str:
    if results.name == setting:
        return prefix or setting
    return f"{prefix or results.name}: {setting}"


def who(row: Row) -> str:
    """Return the name of a row by player: its team, unless it sat in several.

    Protocols with several settings share a player's name; their teams do not.
    """
    return row["player"] if " " in row["teams"] or not row["teams"] else row["teams"]


def value(row: Row, measure: str) -> Value:
    """Return a measure of a row with its interval."""
    return Value(row[measure], row[f"{measure}_low"], row[f"{measure}_high"])
