"""Who pays least, and at what price of privacy."""

from collections.abc import Sequence

from calbench.report.columns import COST, VPS, decimal
from calbench.report.findings.contest import Contest, contest, greatest, least
from calbench.report.findings.finding import Finding
from calbench.report.sentence import Sentence, cell, link, measured, names, said, teams, text
from calbench.report.site import Site
from calbench.report.tables import Row

TRUSTING = "mediator"
"""Its agents give what they know to somebody who is no player, which no measure counts."""


def least_cost(site: Site) -> Finding | None:
    """Say who pays least, who is not shown to pay more, and what these give away."""
    found = contest(site)
    if found is None:
        return None
    leaders, is_one = found.leaders, len(found.leaders) == 1
    best = [*leaders, *found.undecided]
    sentence = said(
        "Of {ranked} {noun} on {scenarios} {setting} scenarios, {who} {pay} the least, {cost} "
        "adjusted excess cost per meeting{each}.{others}{privacy}",
        ranked=cell(leaders[0][f"{COST}_ranked"]),
        noun=found.noun,
        scenarios=cell(leaders[0]["scenarios"]),
        setting=found.setting,
        who=teams(leaders),
        pay="pays" if is_one else "pay",
        cost=measured(leaders[0], COST),
        each="" if is_one else " each",
        others=found.others(" "),
        privacy=_given_away(found, best),
    )
    links = (
        *link("All ranks", "leaderboard.html"),
        *link("What each team does", "method.html#teams"),
    )
    return Finding(text(_title(found, best)), sentence, links)


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


def _given_away(found: Contest, best: Sequence[Row]) -> Sentence:
    """Return what the best give away, and who else stays within the allowance."""
    counted = [row for row in best if row[VPS]]
    if len(found.instruments) != 1 or not counted:
        return ()
    low, high = least(counted, VPS), greatest(counted, VPS)
    loss = measured(low[0], VPS)
    if _differ(found, best):
        loss = said(
            "from {low} ({few}) to {high} ({many})",
            low=loss,
            few=teams(low),
            high=measured(high[0], VPS),
            many=teams(high),
        )
    is_trusting = any(row["team"] == TRUSTING for row in low) and _is_zero(low[0][VPS])
    trust = said(" {who} needs a third party that all trust.", who=names([TRUSTING]))
    return said(
        " Excess VPS, what they give away beyond an allowance, is {loss}.{trust}{silent}",
        loss=loss,
        trust=trust if is_trusting else (),
        silent=_silent(found, best),
    )


def _silent(found: Contest, best: Sequence[Row]) -> Sentence:
    """Return who else stays within the allowance, and what the cheapest of them pay."""
    known = {row["team"] for row in best}
    silent = [row for row in found.rows if row["team"] not in known and _is_zero(row[VPS])]
    if not silent:
        return ()
    cheapest = least(silent, COST)
    is_one = len(cheapest) == 1
    return said(
        " {who} {stay} within the allowance (excess VPS {loss}), but {pay} {cost}.",
        who=teams(cheapest),
        stay="stays" if is_one else "stay",
        loss=measured(cheapest[0], VPS),
        pay="pays" if is_one else "pay",
        cost=measured(cheapest[0], COST),
    )


def _is_zero(cell: str) -> bool:
    return bool(cell) and decimal(cell) == 0
