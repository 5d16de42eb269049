"""The page that holds the printed numbers of the paper's Table 2 against ours."""

from typing import Any

from calbench.analysis.summary.table2 import RULES
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

EXACT = "table2_cells.csv"
TABLE = "table2.csv"
DRAWS = "table2_draws.csv"
LINES = "table2_rows.csv"
RISES = "table2_rises.csv"
COUNTS = "table2_counts.csv"

LINE = ("published_team", "experiment", "team")
"""What names a published row and a variant of ours in the tables."""


def content(site: Site) -> Content | None:
    """Return the paper's protocols on its own tasks, and what fresh draws say by chance."""
    if not site.on("reproduction"):
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
            "rules": RULES,
            "files": [EXACT, DRAWS, LINES, RISES, COUNTS, f"published/{TABLE}"],
        }
    )


def _exact(cells: list[Row]) -> dict[str, list[dict[str, Any]]]:
    """Return for each half the rows of Table 2, with their cells on the paper's own tasks."""
    halves: dict[str, list[dict[str, Any]]] = {}
    for (half, team), own in grouped(cells, "setting", "team").items():
        row = {"protocol": team, "cells": {cell["measure"]: cell for cell in own}}
        halves.setdefault(str(half), []).append(row)
    return halves


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
