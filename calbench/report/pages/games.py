"""The page of games: what it lists without scripts. The trace browser reads page data."""

from calbench.report.games.featured import featured
from calbench.report.pages.page import Content
from calbench.report.site import Site


def content(site: Site) -> Content:
    """Return the featured games."""
    return Content({"featured": featured(site)})
