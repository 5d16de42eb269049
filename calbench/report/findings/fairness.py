"""How unevenly cost is borne."""

from calbench.report.columns import decimal
from calbench.report.findings.contest import contest, greatest, least
from calbench.report.findings.finding import Cell, Finding, Link, Part, teams_of, value
from calbench.report.site import Site

FAIRNESS = "fairness"


def unequal_burden(site: Site) -> Finding | None:
    """Say which ranked teams bear cost most and least evenly."""
    found = contest(site)
    rows = [row for row in found.rows if row[FAIRNESS]] if found else []
    if found is None or not rows:
        return None
    low, high = least(rows, FAIRNESS), greatest(rows, FAIRNESS)
    if decimal(low[0][FAIRNESS]) == decimal(high[0][FAIRNESS]):
        return None
    said: list[Part] = [
        *("On ", Cell(rows[0]["scenarios"]), f" {found.setting} scenarios ", *teams_of(low)),
        *(" share" if len(low) > 1 else " shares", " what meetings cost most evenly ("),
        *(value(low[0], FAIRNESS), ", 0 is even), ", *teams_of(high), " least evenly ("),
        *(value(high[0], FAIRNESS), ")."),
    ]
    links = (Link("Cost and fairness", "results/cost.html"),)
    return Finding("Who bears the cost", tuple(said), links)
