"""The page with the published numbers that the last version of the metrics changed."""

from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row

COLUMNS, HEADLINE = "changed_columns.csv", "changed_headline.csv"


def content(site: Site) -> Content | None:
    """Return counts of changes by column, and headline numbers and ranges that changed themselves.

    Of headline numbers of which only the interval changed there is a count; the file has all.
    """
    if not site.published.has(COLUMNS):
        return None
    rows = site.published.rows(HEADLINE)
    changed = [row for row in rows if row["old"] != row["new"] or not row["old"]]
    return Content(
        {
            "columns": _by_table(site.published.rows(COLUMNS)),
            "changed": _by_table(changed),
            "only_interval": len(rows) - len(changed),
            "files": [f"published/{name}" for name in (COLUMNS, HEADLINE)],
        }
    )


def _by_table(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["table"], []).append(row)
    return found
