"""The page with the paper's Table 2 and the authors' release beside our numbers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from calbench.analysis.measures import HEADLINE
from calbench.analysis.summary.pool import ARBITRARY
from calbench.analysis.summary.table2 import FAIRNESS
from calbench.analysis.tables.difficulty import DRAW
from calbench.report.experiment import Experiment, confidence_of
from calbench.report.pages.page import Content
from calbench.report.role import Variant
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

EXACT = "table2_exact.csv"
TABLE = "table2.csv"
CELLS = "table2_cells.csv"
LINES = "table2_rows.csv"
RISES = "table2_rises.csv"
COUNTS = "table2_counts.csv"

FAIRNESS_RANGE = ("fairness_least", "fairness", "fairness_greatest")

LINE = ("source", "setting", "published_team", "experiment", "team")
"""What names a published row and a variant of ours in the tables."""


@dataclass(frozen=True)
class Played:
    """One way in which we played a protocol of the paper's table, and its results."""

    experiment: Experiment
    variant: Variant
    site: Site

    @property
    def names(self) -> dict[str, str]:
        """What rows call it."""
        return {"protocol": self.variant.protocol, "source": self.variant.label}

    def summed_up(self, setting: str) -> dict[str, Row]:
        """Return mean, least and greatest of every measure over the suites of a setting."""
        rows = self.site.summary.rows(
            TABLE, experiment=self.experiment.name, setting=setting, team=self.variant.team
        )
        return {row["measure"]: row for row in rows}

    def suites(self, setting: str) -> list[Row]:
        """Return its rows of the leaderboard with the seed of each suite, by seed."""
        found = []
        for row in self.experiment.tables.rows("leaderboard.csv", team=self.variant.team):
            draw = re.fullmatch(DRAW, row["setting"])
            if draw is not None and draw[1] == setting:
                found.append({**row, **self.names, "seed": int(draw[2])})
        return sorted(found, key=lambda row: row["seed"])


def content(site: Site) -> Content | None:
    """Return the paper's protocols on several draws of each suite, and what others measured."""
    experiments = site.on("reproduction")
    if not experiments:
        return None
    played = _played(site, experiments)
    settings = list(dict.fromkeys(row["setting"] for row in site.summary.rows(TABLE)))
    return Content(
        {
            "confidence": confidence_of(experiments),
            "exact": _exact(site),
            "equal": sum(row["equal"] for row in site.summary.optional(EXACT)),
            "compared": {each: list(_compared(site, played, each)) for each in settings},
            "suites": {
                each: [row for own in played for row in own.suites(each)] for each in settings
            },
            "lines": {each: list(_lines(site, played, each)) for each in settings},
            "rises": list(_rises(site, played)),
            "counts": site.summary.optional(COUNTS),
            "arbitrary": ARBITRARY,
            "ties": [row for each in settings for row in _ties(played, each)],
            "files": _files(experiments),
        }
    )


def _exact(site: Site) -> dict[str, list[dict[str, Any]]]:
    """Return for each half the rows of Table 2, with their cells on the paper's own tasks."""
    rows = grouped(site.summary.optional(EXACT), "setting", "team")
    halves: dict[str, list[dict[str, Any]]] = {}
    for (half, team), cells in rows.items():
        row = {"protocol": team, "cells": {cell["measure"]: cell for cell in cells}}
        halves.setdefault(str(half), []).append(row)
    return halves


def _played(site: Site, experiments: Sequence[Experiment]) -> list[Played]:
    """Return our variants, those first that the tables put first."""
    found = [Played(each, variant, site) for each in experiments for variant in each.role.variants]
    rows = site.summary.optional(LINES)
    places = dict.fromkeys((row["experiment"], row["team"]) for row in rows)
    order = {place: number for number, place in enumerate(places)}
    last = len(order)
    return sorted(found, key=lambda own: order.get((own.experiment.name, own.variant.team), last))


def _compared(site: Site, played: Sequence[Played], setting: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a setting's table, protocol by protocol: paper, release, ours."""
    theirs = site.published.optional(TABLE, setting=setting)
    for protocol in dict.fromkeys(each.variant.protocol for each in played):
        ours = [each for each in played if each.variant.protocol == protocol]
        team = ours[0].variant.published_team
        for source in ("paper", "release"):
            for row in theirs:
                if (row["source"], row["team"]) == (source, team):
                    names = {"protocol": protocol, "source": _source(row)}
                    yield {**row, **names, "measured": None}
        for each in ours:
            measured = each.summed_up(setting)
            if not measured.keys().isdisjoint(HEADLINE):
                yield {**each.names, "measured": measured, "note": ""}


def _ties(played: Sequence[Played], setting: str) -> Iterator[Row]:
    """Yield how far fairness moves over optimal schedules, means of the suites."""
    for each in played:
        measured = each.summed_up(setting)
        if "fairness" in measured:
            means = {n: measured[n]["mean"] if n in measured else None for n in FAIRNESS_RANGE}
            yield {"setting": setting, **each.names, **means}


def _lines(site: Site, played: Sequence[Played], setting: str) -> Iterator[dict[str, Any]]:
    """Yield the published rows of a setting, each with its numbers' tests and its own."""
    tests = grouped(site.summary.optional(LINES, setting=setting), *LINE)
    cells = grouped(site.summary.optional(CELLS, setting=setting), *LINE)
    names = {(each.experiment.name, each.variant.team): each.names for each in played}
    for line, rows in tests.items():
        source, _, _, experiment, team = line
        joint = {row["ties"]: row for row in rows}
        if (experiment, team) in names:
            ours = names[experiment, team]
            yield {
                "protocol": ours["protocol"],
                "ours": ours["source"],
                "theirs": source,
                "cells": {row["measure"]: row for row in cells[line]},
                "joint": [joint[ties] for ties in FAIRNESS],
            }


def _rises(site: Site, played: Sequence[Played]) -> Iterator[dict[str, Any]]:
    """Yield how much the numbers of each published row rise from one half to the other."""
    rises = grouped(site.summary.optional(RISES), "experiment", "team")
    for each in played:
        rows = rises.get((each.experiment.name, each.variant.team))
        if rows is not None:
            cells = {row["measure"]: row for row in rows}
            yield {"protocol": each.variant.protocol, "ours": each.variant.label, "cells": cells}


def _source(row: Row) -> str:
    """Return what the page calls the source of a published row."""
    source, cap = str(row["source"]), row["max_turns_per_round"]
    if row["team"] != "sd-map" or cap is None:
        return source
    return f"{source}, cap of {cap}" + (" as stated" if source == "paper" else "")


def _files(experiments: Sequence[Experiment]) -> list[str]:
    tables = ("leaderboard.csv", "sensitivity.csv")
    ours = [f"{each.name}/{table}" for each in experiments for table in tables]
    return [EXACT, TABLE, CELLS, LINES, RISES, COUNTS, f"published/{TABLE}", *ours]
