"""How unevenly cost is borne."""

from calbench.report.columns import decimal
from calbench.report.findings.contest import contest, greatest, least
from calbench.report.findings.finding import Finding
from calbench.report.sentence import cell, link, measured, said, teams, text
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
    sentence = said(
        "On {scenarios} {setting} scenarios {even} {share} what meetings cost most evenly "
        "({least}, 0 is even), {uneven} least evenly ({most}).",
        scenarios=cell(rows[0]["scenarios"]),
        setting=found.setting,
        even=teams(low),
        share="share" if len(low) > 1 else "shares",
        least=measured(low[0], FAIRNESS),
        uneven=teams(high),
        most=measured(high[0], FAIRNESS),
    )
    links = link("Cost and fairness", "results/cost.html")
    return Finding(text("Who bears the cost"), sentence, links)
