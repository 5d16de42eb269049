"""Pages of figures: sections with a figure for each setting, of which a reader chooses one."""

from collections.abc import Callable
from typing import Any

from calbench.analysis.tables.difficulty import UNCUT
from calbench.facts.games import FRACTION_DIGITS
from calbench.report.columns import decimal
from calbench.report.figures import audits, difficulty, regret, talk
from calbench.report.figures.figure import REGISTERED
from calbench.report.figures.frontier import lines_of
from calbench.report.figures.plane import planes_of
from calbench.report.figures.published import published_figures
from calbench.report.pages import hardness
from calbench.report.pages.page import Content
from calbench.report.setting import Setting
from calbench.report.site import FRONT, Site
from calbench.scenarios.difficulty import TERTILES

MODULES = (talk, regret, difficulty, audits)
"""What registers sections."""

SECTIONS = tuple(REGISTERED)
"""Every section of a page of figures."""


def of(page: str) -> Callable[[Site], Content | None]:
    """Return what makes the content of a page that has nothing but figures."""

    def made(site: Site) -> Content | None:
        found = content(site, page)
        return found if found.figures else None

    return made


def content(site: Site, page: str) -> Content:
    """Return the sections of a page by name, and the figures in them.

    A setting is offered where one of the page's sections has something to draw of it.
    """
    own = [section for section in SECTIONS if section.page == page]
    drawn = {
        setting: {each.name: each.figure(setting, site.styles) for each in own}
        for setting in site.views
    }
    shown = [each for each, figures in drawn.items() if any(f.rows for f in figures.values())]
    sections: dict[str, dict[str, Any]] = {
        each.name: {
            "name": each.name,
            "views": [(setting, drawn[setting][each.name]) for setting in shown],
            "published": published_figures(site.published, each),
        }
        for each in own
    }
    every = [
        figure
        for each in sections.values()
        for figure in (*(figure for _, figure in each["views"]), *each["published"])
    ]
    return Content({"sections": sections}, figures=[figure for figure in every if figure.rows])


def plane_page(site: Site) -> Content:
    """Return the planes of each setting, one for each instrument of VPS, and their numbers."""
    planes = [_plane(site, each) for each in site.settings]
    return Content(
        {
            "planes": planes,
            "has_lines": any(each["swept"] for each in planes),
            "swept_by": site.on("plane"),
            "has_front": site.summary.has(FRONT),
        },
        figures=[figure for each in planes for figure in each["figures"]],
    )


def _plane(site: Site, setting: Setting) -> dict[str, Any]:
    return {
        "setting": setting,
        "figures": planes_of(site, setting),
        "rows": site.with_kinds(setting.leaderboard),
        "swept": [
            {**row, "swept": line.name, "value": label}
            for line in lines_of(site, setting)
            for label, row in line.points
        ],
    }


def difficulty_page(site: Site) -> Content:
    """Return the feasible fraction of every scenario, their ranges, and what difficulty does."""
    fractions = {each.title: fractions_of(each) for each in site.settings}
    names = dict.fromkeys(each.experiment.name for each in site.settings)
    figure = difficulty.difficulties(fractions, [f"{name}/games.csv" for name in names])
    ranges = site.summary.optional("difficulty.csv")
    drawn = content(site, "difficulty")
    return Content(
        {
            "fractions": figure,
            "ranges": ranges,
            "hardness": hardness.shown(site),
            "measure_titles": hardness.MEASURE_TITLES,
            "predictor_titles": hardness.PREDICTOR_TITLES,
            **drawn.values,
        },
        figures=[figure, *drawn.figures],
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
