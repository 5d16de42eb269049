"""The draws of each canonical suite on which the protocols of Table 2 were played."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from calbench.report import numbers
from calbench.report.results import Row
from calbench.report.special import CAP4, REPRODUCTION, SpecialResults

COLUMNS = ("experiment", "setting", "team", "suites", "measure", "mean", "least", "greatest")
"""Of ``tables/table2.csv``, our side of the comparison."""

DRAW = re.compile(r"(.+)-seed([0-9]+)")
"""A setting that is one of several draws of a suite."""


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

    @cached_property
    def published(self) -> list[Row]:
        """What others measured."""
        return self.special.published_rows("table2.csv")

    def draws(self, table: str, variant: Variant, setting: str) -> list[tuple[str, Row]]:
        """Return a variant's rows of a table, with the seed of each draw, by seed."""
        results = self.special.named(variant.experiment)
        found = []
        for row in [] if results is None else results.table(table):
            draw = DRAW.fullmatch(row["setting"])
            if draw is not None and draw[1] == setting and row["team"] == variant.team:
                found.append((draw[2], row))
        return sorted(found, key=lambda each: int(each[0]))

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The settings that were drawn, in the order of the leaderboard."""
        results = self.special.named(REPRODUCTION)
        rows = [] if results is None else results.table("leaderboard.csv")
        draws = [DRAW.fullmatch(row["setting"]) for row in rows]
        return tuple(dict.fromkeys(draw[1] for draw in draws if draw is not None))

    @cached_property
    def rows(self) -> list[Row]:
        """Mean, least and greatest of every measure over the draws."""
        return [
            row
            for setting in self.settings
            for variant in VARIANTS
            for table, measures in (
                ("leaderboard.csv", numbers.HEADLINE),
                ("sensitivity.csv", ("fairness_least", "fairness_greatest")),
            )
            for measure in measures
            for row in self._summary(variant, setting, table, measure)
        ]

    def _summary(self, variant: Variant, setting: str, table: str, measure: str) -> list[Row]:
        cells = [row[measure] for _, row in self.draws(table, variant, setting) if row[measure]]
        if not cells:
            return []
        values = [numbers.decimal(cell) for cell in cells]
        mean = (sum(values, Decimal(0)) / len(values)).quantize(Decimal("0.0001"))
        place = (variant.experiment, setting, variant.team, str(len(cells)), measure)
        found = (str(mean), str(min(values)), str(max(values)))
        return [dict(zip(COLUMNS, (*place, *found), strict=True))]

    def summary(self, variant: Variant, setting: str, measure: str) -> Row | None:
        """Return one row of :attr:`rows`, or ``None`` if nothing was measured."""
        place = (variant.experiment, setting, variant.team, measure)
        names = ("experiment", "setting", "team", "measure")
        return next((r for r in self.rows if tuple(r[name] for name in names) == place), None)
