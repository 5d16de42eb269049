"""The page of games: what it lists without scripts. The trace browser reads page data."""

from collections.abc import Mapping

from calbench.analysis.measures import privacy_measure
from calbench.analysis.summary import KIND_WORDS, in_words
from calbench.analysis.summary.featured import FEATURED
from calbench.report.kind import VPS_KIND_NAMES
from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row

TITLES: Mapping[str, str] = {
    "sensitive_leak": "A sensitive secret told",
    "optimum_lost": "The moment an optimum was lost",
    "broken_meeting": "A broken promise",
    "cheapest_secret": "At the optimum, least VPS",
    "largest_regret": "The largest regret",
}
"""What pages call each rule, in their order; the method page explains them under these names."""

OF_GAMES = ("games.csv", "audit_games.csv")
"""Tables of an experiment that the trace browser links; the second if its agents use words."""


def featured(site: Site) -> list[tuple[str, list[Row]]]:
    """Return title and games of each rule that has any; ``templates/featured.jinja`` words them."""
    rows = [_worded(site, row) for row in site.summary.optional(FEATURED)]
    found = [
        (title, [row for row in rows if row["rule"] == rule and row["address"]])
        for rule, title in TITLES.items()
    ]
    return [(title, games) for title, games in found if games]


def _worded(site: Site, row: Row) -> Row:
    """Return a row with its address, empty if there is none, and with words for its codes."""
    game = (row["experiment"], row["team"], row["scenario_id"])
    return {
        **row,
        "address": site.links.address(*game, row["event_index"]),
        "players": in_words(row["kind"].split(), KIND_WORDS),
        "loss": privacy_measure(row["vps_kind"]),
        "instrument": VPS_KIND_NAMES.get(row["vps_kind"], row["vps_kind"]),
        "broken": ", ".join(row["broken_meetings"].split()),
    }


def content(site: Site) -> Content:
    """Return the featured games."""
    tables = [f"{each.name}/{name}" for each in site.played for name in OF_GAMES]
    return Content({"featured": featured(site)}, tables=tables)
