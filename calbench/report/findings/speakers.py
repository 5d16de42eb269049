"""What it takes to agree in plain words."""

from calbench.report.columns import COST, VPS, decimal
from calbench.report.figures.instruments import named
from calbench.report.findings.contest import contest, greatest, least
from calbench.report.findings.finding import Finding
from calbench.report.sentence import cell, link, measured, said, teams, text
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
