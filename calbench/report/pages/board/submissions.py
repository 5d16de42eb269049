"""The page of submissions: who handed in what, how much of it is proven, and by whose word."""

from calbench.report.pages.page import Content
from calbench.report.site import Site
from calbench.report.tables import Row


def content(site: Site) -> Content | None:
    """Return the teams that others handed in, by setting; no page if there are none."""
    if not site.submitted:
        return None
    found = [_with_games(site, row) for row in site.submitted]
    rows = sorted(found, key=lambda row: (row["place"], -row["coordination"], row["team"]))
    settings = sorted({row["setting"] for row in rows})
    by_setting = {name: [row for row in rows if row["setting"] == name] for name in settings}
    unshown = {row["tier"]: row["unshown"] for row in rows}
    return Content({"by_setting": by_setting, "unshown": unshown})


def _with_games(site: Site, row: Row) -> Row:
    """Return a row with the address of its first game in the trace browser, if that has any."""
    place = (row["experiment"], row["team"])
    found = (site.links.address(*place, scenario_id) for scenario_id in row["scenarios"])
    return {**row, "address": next(filter(None, found), "")}
