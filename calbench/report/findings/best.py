"""Who pays least, and at what price of privacy."""

from collections.abc import Sequence

from calbench.report.columns import decimal
from calbench.report.findings.contest import COST, VPS, Contest, contest, greatest, least
from calbench.report.findings.finding import Cell, Finding, Link, Part, Parts, teams_of, value
from calbench.report.site import Site
from calbench.report.tables import Row

TRUSTING = "mediator"
"""Its agents give what they know to somebody who is no player, which no measure counts."""


def least_cost(site: Site) -> Finding | None:
    """Say who pays least, who is not shown to pay more, and what these give away."""
    found = contest(site)
    if found is None:
        return None
    leaders, undecided = found.leaders, found.undecided
    said: list[Part] = [
        *("Of ", Cell(leaders[0][f"{COST}_ranked"]), f" {found.noun} on "),
        *(Cell(leaders[0]["scenarios"]), f" {found.setting} scenarios, "),
        *teams_of(leaders),
        " pay the least, " if len(leaders) > 1 else " pays the least, ",
        *(value(leaders[0], COST), " adjusted excess cost per meeting"),
        " each." if len(leaders) > 1 else ".",
    ]
    if undecided:
        verb = "are" if len(undecided) > 1 else "is"
        said += [" ", *teams_of(undecided), f" {verb} not significantly different."]
    said += _given_away(found, [*leaders, *undecided])
    links = (
        Link("All ranks", "leaderboard.html"),
        Link("What each team does", "method.html#teams"),
    )
    return Finding(_title(found, [*leaders, *undecided]), tuple(said), links)


def _title(found: Contest, best: Sequence[Row]) -> str:
    if _differ(found, best):
        return (
            "The same cost, at different prices of privacy"
            if len(found.leaders) == len(best)
            else "No significant difference in cost, different prices of privacy"
        )
    return "Who schedules at the least cost"


def _differ(found: Contest, best: Sequence[Row]) -> bool:
    values = {decimal(row[VPS]) for row in best if row[VPS]}
    return len(found.instruments) == 1 and len(values) > 1


def _given_away(found: Contest, best: Sequence[Row]) -> Parts:
    """Return what the best give away, and who else stays within the allowance."""
    measured = [row for row in best if row[VPS]]
    if len(found.instruments) != 1 or not measured:
        return ()
    low, high = least(measured, VPS), greatest(measured, VPS)
    said: list[Part] = [" Excess VPS, what they give away beyond an allowance, is "]
    if _differ(found, best):
        said += ["from ", value(low[0], VPS), " (", *teams_of(low), ") to "]
        said += [value(high[0], VPS), " (", *teams_of(high), ")."]
    else:
        said += [value(low[0], VPS), "."]
    if any(row["team"] == TRUSTING for row in low) and _is_zero(low[0][VPS]):
        said += [" ", *teams_of([{"team": TRUSTING}]), " needs a third party that all trust."]
    names = {row["team"] for row in best}
    silent = [row for row in found.rows if row["team"] not in names and _is_zero(row[VPS])]
    if silent:
        cheapest = least(silent, COST)
        is_one = len(cheapest) == 1
        said += [" ", *teams_of(cheapest), " stays" if is_one else " stay"]
        said += [" within the allowance (excess VPS ", value(cheapest[0], VPS), ")"]
        said += [", but pays " if is_one else ", but pay ", value(cheapest[0], COST), "."]
    return tuple(said)


def _is_zero(cell: str) -> bool:
    return bool(cell) and decimal(cell) == 0
