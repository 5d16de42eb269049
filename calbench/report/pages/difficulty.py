"""How hard the suites are: feasible fractions by setting and third."""

from calbench.analysis.tables.difficulty import UNCUT
from calbench.facts.games import FRACTION_DIGITS
from calbench.report.columns import decimal
from calbench.report.figures.difficulty import difficulties
from calbench.report.pages import gallery
from calbench.report.pages.page import Content
from calbench.report.setting import Setting
from calbench.report.site import Site
from calbench.scenarios.difficulty import TERTILES


def content(site: Site) -> Content:
    """Return the feasible fraction of every scenario, their ranges, and what difficulty does."""
    fractions = {each.title: fractions_of(each) for each in site.settings}
    names = dict.fromkeys(each.experiment.name for each in site.settings)
    figure = difficulties(fractions, [f"{name}/games.csv" for name in names])
    ranges = site.summary.optional("difficulty.csv")
    drawn = gallery.content(site, "difficulty")
    return Content(
        {"fractions": figure, "ranges": ranges, **drawn.values}, figures=[figure, *drawn.figures]
    )


def fractions_of(setting: Setting) -> dict[str, list[str]]:
    """Return the feasible fractions of a suite by third (games.csv).

    Scenarios without a fraction are left out; those without a third are listed as "all".
    """
    scenarios = {row["scenario_id"]: row for row in setting.rows("games.csv")}
    found: dict[str, list[str]] = {third: [] for third in (*TERTILES, UNCUT)}
    for row in scenarios.values():
        if row["feasible_fraction"]:
            shown = f"{decimal(row['feasible_fraction']):.{FRACTION_DIGITS}f}"
            found[row["tertile"] or UNCUT].append(shown)
    return {third: cells for third, cells in found.items() if cells}
