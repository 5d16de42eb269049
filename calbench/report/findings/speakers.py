"""What it takes to agree in plain words."""

from calbench.report.columns import decimal
from calbench.report.figures.instruments import named
from calbench.report.findings.contest import VPS, contest, greatest, least
from calbench.report.findings.finding import Cell, Finding, Link, Part, teams_of, value
from calbench.report.site import Site


def price_of_words(site: Site) -> Finding | None:
    """Say what scripted speakers pay and give away, the least and the most of them."""
    found = contest(site, "scripted speakers")
    if found is None or len(found.instruments) != 1:
        return None
    low, high = least(found.rows, VPS), greatest(found.rows, VPS)
    if decimal(low[0][VPS]) == decimal(high[0][VPS]):
        return None
    leaders = found.leaders
    said: list[Part] = [
        *("Among scripted speakers on ", Cell(leaders[0]["scenarios"])),
        *(f" {found.setting} scenarios, ", *teams_of(leaders)),
        *(" pay" if len(leaders) > 1 else " pays", " the least, "),
        *(value(leaders[0], "adjusted_excess_cost"), " adjusted excess cost per meeting. "),
        *(f"By {named(low[0]['vps_kind'])}, ", *teams_of(low)),
        *(" give" if len(low) > 1 else " gives", " least away (excess VPS ", value(low[0], VPS)),
        *("), ", *teams_of(high), " most (", value(high[0], VPS), ")."),
    ]
    if found.undecided:
        verb = "are" if len(found.undecided) > 1 else "is"
        said += [" In cost ", *teams_of(found.undecided), f" {verb} not significantly different."]
    links = (Link("Scripted speakers", "results/language.html"),)
    return Finding("Speakers differ in what they give away", tuple(said), links)
