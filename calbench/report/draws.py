"""The draws of each canonical suite on which the protocols of Table 2 were played."""

import re
from dataclasses import dataclass
from functools import cached_property

from calbench.analysis.tables.draws import DRAW
from calbench.report.results import ExperimentResults, Row, Summary
from calbench.report.special import CAP4, REPRODUCTION, SpecialResults


@dataclass(frozen=True, slots=True)
class Variant:
    """One way in which we played a protocol of the paper's table."""

    protocol: str
    published_team: str
    label: str
    experiment: str
    team: str


VARIANTS = (
    Variant("IMAP", "imap", "ours", REPRODUCTION, "imap"),
    Variant("DSM-private", "dsm-private", "ours", REPRODUCTION, "dsm-private"),
    Variant("DSM-welfare", "dsm-welfare", "ours", REPRODUCTION, "dsm-welfare"),
    Variant(
        "DSM-welfare", "dsm-welfare", "ours, batches: single", REPRODUCTION, "dsm-welfare-single"
    ),
    Variant("SD-MAP", "sd-map", "ours, cap of 15", REPRODUCTION, "sd-map"),
    Variant("SD-MAP", "sd-map", "ours, cap of 4", CAP4, "sd-map"),
)


@dataclass(frozen=True)
class Reproduction:
    """The paper's protocols on several draws of each suite, and what others measured."""

    special: SpecialResults
    summary: Summary

    @cached_property
    def published(self) -> list[Row]:
        """What others measured."""
        return self.special.published_rows("table2.csv")

    @property
    def experiments(self) -> list[ExperimentResults]:
        """The experiments on several draws that there are."""
        return [each for each in map(self.special.named, (REPRODUCTION, CAP4)) if each is not None]

    def draws(self, table: str, variant: Variant, setting: str) -> list[tuple[str, Row]]:
        """Return a variant's rows of a table, with the seed of each draw, by seed."""
        results = self.special.named(variant.experiment)
        found = []
        for row in [] if results is None else results.table(table):
            draw = re.fullmatch(DRAW, row["setting"])
            if draw is not None and draw[1] == setting and row["team"] == variant.team:
                found.append((draw[2], row))
        return sorted(found, key=lambda each: int(each[0]))

    @cached_property
    def rows(self) -> list[Row]:
        """Mean, least and greatest of every measure over the draws (table2.csv)."""
        return self.summary.table("table2.csv")

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The settings that were drawn."""
        return tuple(dict.fromkeys(row["setting"] for row in self.rows))

    def summed_up(self, variant: Variant, setting: str, measure: str) -> Row | None:
        """Return one row of :attr:`rows`, or ``None`` if nothing was measured."""
        place = (variant.experiment, setting, variant.team, measure)
        names = ("experiment", "setting", "team", "measure")
        return next((r for r in self.rows if tuple(r[name] for name in names) == place), None)
