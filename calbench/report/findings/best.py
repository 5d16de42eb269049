"""Who of ranked teams pays least, at what price of privacy, and what else sets them apart."""

from collections.abc import Sequence

from calbench.report.columns import COST, VPS, decimal
from calbench.report.figures.instruments import named
from calbench.report.findings.contest import Contest, Finding, contest, greatest, least
from calbench.report.sentence import (
    Sentence,
    cell,
    estimate,
    link,
    measured,
    names,
    said,
    teams,
    text,
)
from calbench.report.site import REGRET, Site
from calbench.report.tables import Row


def price_of_words(site: Site) -> Finding | None:
    """Say what scripted speakers pay and give away, the least and the most of them."""
    found = contest(site, "scripted speakers")
    if found is None or len(found.instruments) != 1:
        return None
    low, high = least(found.rows, VPS), greatest(found.rows, VPS)
    if decimal(low[0][VPS]) == decimal(high[0][VPS]):
        return None
    leaders = found.leaders
    sentence = said(
        "Among scripted speakers on {scenarios} {setting} scenarios, {who} {pay} the least, {cost} "
        "adjusted excess cost per meeting. By {instrument}, {quiet} {give} least away (excess VPS "
        "{least}), {loud} most ({most}).{others}",
        scenarios=cell(leaders[0]["scenarios"]),
        setting=found.setting,
        who=teams(leaders),
        pay="pay" if len(leaders) > 1 else "pays",
        cost=measured(leaders[0], COST),
        instrument=named(low[0]["vps_kind"]),
        quiet=teams(low),
        give="give" if len(low) > 1 else "gives",
        least=measured(low[0], VPS),
        loud=teams(high),
        most=measured(high[0], VPS),
        others=found.others(" In cost "),
    )
    links = link("Scripted speakers", "results/language.html")
    return Finding(text("Speakers differ in what they give away"), sentence, links)


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
