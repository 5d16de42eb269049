"""The page that says what a run takes: measured terms times the number of games."""

from collections.abc import Sequence

from calbench.report import columns
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

TERMS, COSTS, EXPONENTS = "terms.csv", "costs.csv", "exponents.csv"

TYPED, COHORT = "typed agents", "one seventh each"
"""Players in the table of costs that are no model."""


def content(site: Site) -> Content | None:
    """Return what runs take; no page without the measurements."""
    terms, costs, fitted = map(site.published.optional, (TERMS, COSTS, EXPONENTS))
    if not (terms and costs and fitted):
        return None
    priced = [row for row in costs if row["dollars"] is not None]
    return Content(
        {
            "term": {row["term"]: row for row in terms},
            "terms": terms,
            "games": [columns.number("games", digits=0)],
            "typed": [row for row in costs if row["players"] == TYPED],
            "cohort": [row for row in costs if row["players"] == COHORT],
            "dollars": _wide(priced, ("players",), "games", "dollars"),
            "sizes": {row["games"]: f"{int(row['games']):,}" for row in costs},
            "axes": {row["axis"]: f"over {row['axis']}" for row in fitted},
            "exponents": _wide(fitted, ("step", "team"), "axis", "exponent"),
            "notes": list(dict.fromkeys(row["note"] for row in fitted if row["note"])),
        }
    )


def _wide(rows: Sequence[Row], names: Sequence[str], across: str, value: str) -> list[Row]:
    """Return a row for each that names tell apart, with a column for each value of ``across``."""
    return [
        {**own[0], **{row[across]: row[value] for row in own}}
        for own in grouped(rows, *names).values()
    ]
