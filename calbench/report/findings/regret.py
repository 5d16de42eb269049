"""How often the best schedule got out of reach."""

from calbench.report.columns import decimal
from calbench.report.findings.contest import contest
from calbench.report.findings.finding import Cell, Finding, Link, Part, Team, interval
from calbench.report.site import Site

REGRET = "regret_by_team.csv"

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
    said: list[Part] = [
        *("In ", Cell(row["optimum_unreachable"]), " of ", Cell(row["games_searched"])),
        *(f" {found.setting} games of ", Team(row["team"])),
        ", which pays least" if len(found.leaders) == 1 else ", one of those that pay least",
        ", some step put the cheapest schedule of all meetings out of reach: a share of ",
        *(Cell(row["unreachable_share"], 2), *interval(row, "unreachable_share", 2), "."),
    ]
    is_most = decimal(row["unreachable_share"]) > HALF
    title = (
        "Even the cheapest team loses the optimum in most games"
        if is_most
        else "How often the cheapest team loses the optimum"
    )
    links = (Link("Where excess cost comes from", "results/regret.html"),)
    return Finding(title, tuple(said), links)
