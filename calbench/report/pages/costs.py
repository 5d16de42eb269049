"""The page that says what a run takes: measured terms times the number of games."""

from collections.abc import Sequence

from calbench.report import columns
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row

TERMS, COSTS, EXPONENTS = "terms.csv", "costs.csv", "exponents.csv"

TYPED, COHORT = "typed agents", "one seventh each"
"""Players in the table of costs that are no model."""


def content(site: Site) -> Content | None:
    """Return what runs take; no page without the measurements."""
    terms, costs, fitted = map(site.published.optional, (TERMS, COSTS, EXPONENTS))
    if not (terms and costs and fitted):
        return None
    sizes = dict.fromkeys(row["games"] for row in costs)
    axes = dict.fromkeys(row["axis"] for row in fitted)
    return Content(
        {
            "term": {row["term"]: row for row in terms},
            "terms": terms,
            "games": [columns.number("games", digits=0)],
            "typed": [row for row in costs if row["players"] == TYPED],
            "cohort": [row for row in costs if row["players"] == COHORT],
            "dollars": _wide([row for row in costs if row["dollars"]], "games", "dollars"),
            "sizes": {size: f"{int(size):,}" for size in sizes},
            "axes": {axis: f"over {axis}" for axis in axes},
            "exponents": _wide(fitted, "axis", "exponent"),
            "notes": list(dict.fromkeys(row["note"] for row in fitted if row["note"])),
        }
    )


def _wide(rows: Sequence[Row], across: str, value: str) -> list[Row]:
    """Return a row for each player, or for each step and team, with a column for each size."""
    wide: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        head = {name: row[name] for name in ("players", "step", "team") if name in row}
        wide.setdefault(tuple(head.values()), head)[row[across]] = row[value]
    return list(wide.values())
