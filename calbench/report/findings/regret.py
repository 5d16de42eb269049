"""How often the best schedule got out of reach."""

from calbench.report.columns import decimal
from calbench.report.findings.contest import contest
from calbench.report.findings.finding import Finding
from calbench.report.sentence import cell, estimate, link, said, teams, text
from calbench.report.site import REGRET, Site

HALF = decimal("0.5")


def optimum_unreachable(site: Site) -> Finding | None:
    """Say in how many games the team that pays least lost the optimum."""
    found = contest(site)
    if found is None:
        return None
    best = found.leaders[0]
    where = {key: best[key] for key in ("experiment", "setting", "team")}
    row = next(iter(site.summary.optional(REGRET, **where)), None)
    if row is None or not row["unreachable_share"]:
        return None
    sentence = said(
        "In {lost} of {searched} {setting} games of {team}, {which}, some step put the cheapest "
        "schedule of all meetings out of reach: a share of {share}.",
        lost=cell(row["optimum_unreachable"]),
        searched=cell(row["games_searched"]),
        setting=found.setting,
        team=teams([row]),
        which="which pays least" if len(found.leaders) == 1 else "one of those that pay least",
        share=estimate(row, "unreachable_share", 2),
    )
    title = (
        "Even the cheapest team loses the optimum in most games"
        if decimal(row["unreachable_share"]) > HALF
        else "How often the cheapest team loses the optimum"
    )
    links = link("Where excess cost comes from", "results/regret.html")
    return Finding(text(title), sentence, links)
