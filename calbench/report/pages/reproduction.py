"""The page that holds the printed numbers of the paper's Table 2 against ours."""

from collections.abc import Sequence
from typing import Any

from calbench.analysis.summary.exact import PLAYED
from calbench.analysis.summary.table2 import HALVES, SINGLE, SUITE_SIZE
from calbench.report.experiment import Experiment
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

EXACT = "table2_cells.csv"
TABLE = "table2.csv"
TRIED = "tried.csv"
DRAWS = "table2_draws.csv"
LINES = "table2_rows.csv"
RISES = "table2_rises.csv"
COUNTS = "table2_counts.csv"

LIMITS = {PLAYED: "published games", "table2-text": "the paper's text"}
"""Experiments on the same tasks by other limits, and whose these are."""

LINE = ("published_team", "experiment", "team")
"""What names a published row and a variant of ours in the tables."""


def content(site: Site) -> Content | None:
    """Return the paper's protocols on its own tasks, and what fresh draws say by chance."""
    experiments = site.on("reproduction")
    if not experiments:
        return None
    cells = site.summary.optional(EXACT)
    lines = grouped(site.summary.optional(LINES), "setting")
    return Content(
        {
            "exact": _exact(cells),
            "equal": sum(row["equal"] for row in cells),
            "ties": sum(row["cause"] == "ties" for row in cells),
            "lines": {half: _lines(site, half, rows) for half, rows in lines.items()},
            "rises": _with_cells(grouped(site.summary.optional(RISES), *LINE)),
            "counts": site.summary.optional(COUNTS),
            "limits": _limits(experiments),
            "tried": site.published.optional(TRIED),
            "files": [
                EXACT,
                DRAWS,
                LINES,
                RISES,
                COUNTS,
                f"published/{TABLE}",
                f"published/{TRIED}",
            ],
        }
    )


SOURCES = (PLAYED, *HALVES)
"""Experiments whose games are those of the paper's own tasks, whole."""

WELFARE = "dsm-welfare"

SEARCHES = {WELFARE: "exhaustive", SINGLE[WELFARE]: "one offer"}
"""Teams that play it, and how long they search."""


def inconsistencies(site: Site) -> Content:
    """Return our numbers on the places where the paper does not fit its own games."""
    played = [
        {**row, "coordination": own["coordination"], "experiment": each.name}
        for each in site.experiments
        if each.name in SOURCES
        for row in each.tables.optional("authors.csv")
        if row["setting"] in HALVES and row["games"] == SUITE_SIZE
        for own in each.tables.optional("leaderboard.csv", setting=row["setting"])
        if own["team"] == row["team"]
    ]
    found = {(row["setting"], row["team"]): row for row in played}
    cells = site.summary.optional(EXACT)
    used = [(half, team) for half in HALVES for team in SEARCHES if (half, team) in found]
    return Content(
        {
            "burdens": [found[half, "imap"] for half in HALVES if (half, "imap") in found],
            "searches": [
                {**found[key], "search": SEARCHES[key[1]], "printed": _printed(site, key[0])}
                for key in used
            ],
            "unequal": [row for row in cells if row["cause"] == "ties"],
            "unexplained": [row for row in cells if row["cause"].startswith("open")],
            "files": [
                *dict.fromkeys(f"{row['experiment']}/authors.csv" for row in found.values()),
                *([EXACT] if cells else []),
            ],
        }
    )


def _printed(site: Site, half: str) -> Row:
    """Return the row of DSM-welfare in the paper's Table 2."""
    rows = site.published.optional(TABLE, source="paper", setting=half, team=WELFARE)
    return rows[0] if rows else {}


def _exact(cells: list[Row]) -> dict[str, list[dict[str, Any]]]:
    """Return for each half the rows of Table 2, with their cells on the paper's own tasks."""
    halves: dict[str, list[dict[str, Any]]] = {}
    for (half, team), own in grouped(cells, "setting", "team").items():
        row = {"protocol": team, "cells": {cell["measure"]: cell for cell in own}}
        halves.setdefault(str(half), []).append(row)
    return halves


def _limits(experiments: Sequence[Experiment]) -> list[Row]:
    """Return the rows of teams that played the same tasks by both limits, side by side."""
    own = [each for each in experiments if each.name in LIMITS]
    if len(own) < len(LIMITS):
        return []
    rows = [
        {**row, "limits": LIMITS[each.name]}
        for each in own
        for row in each.tables.rows("leaderboard.csv")
    ]
    return [row for pair in grouped(rows, "setting", "team").values() for row in pair]


def _lines(site: Site, half: str, rows: list[Row]) -> list[dict[str, Any]]:
    """Return the published rows of a setting, each with its numbers' tests and its own."""
    cells = _with_cells(grouped(site.summary.optional(DRAWS, setting=half), *LINE))
    joint = {tuple(row[name] for name in LINE): row for row in rows}
    return [{**joint[tuple(each[name] for name in LINE)], **each} for each in cells]


def _with_cells(groups: dict[tuple[Any, ...], list[Row]]) -> list[dict[str, Any]]:
    """Return the lines of a table of numbers, each with its numbers by measure."""
    return [
        {**dict(zip(LINE, line, strict=True)), "cells": {row["measure"]: row for row in rows}}
        for line, rows in groups.items()
    ]
