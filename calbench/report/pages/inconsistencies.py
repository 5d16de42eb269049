"""The page with places of the paper that do not fit each other, and their arithmetic."""

from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import grouped

ARITHMETIC = "arithmetic.csv"


def content(site: Site) -> Content | None:
    """Return the numbers of each topic, as printed and as computed from printed ones."""
    if not site.published.has(ARITHMETIC):
        return None
    topics = grouped(site.published.rows(ARITHMETIC), "topic")
    return Content({"topics": topics, "files": [f"published/{ARITHMETIC}"]})
