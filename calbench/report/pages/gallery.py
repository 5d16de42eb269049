"""Pages of figures: sections with a figure for each setting, of which a reader chooses one."""

from collections.abc import Callable
from typing import Any

from calbench.report.figures import audits, difficulty, regret, talk
from calbench.report.figures.figure import REGISTERED
from calbench.report.figures.published import published_figures
from calbench.report.pages.page import Content
from calbench.report.site import Site

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
    sections = {section.name: section for section in SECTIONS if section.page == page}
    drawn = {
        name: [(setting, section.figure(setting, site.styles)) for setting in site.views]
        for name, section in sections.items()
    }
    shown = [
        setting
        for place, setting in enumerate(site.views)
        if any(figures[place][1].rows for figures in drawn.values())
    ]
    shown_in: dict[str, dict[str, Any]] = {
        name: {
            "name": name,
            "views": [(setting, figure) for setting, figure in drawn[name] if setting in shown],
            "published": published_figures(site.published, section),
        }
        for name, section in sections.items()
    }
    every = [
        figure
        for each in shown_in.values()
        for figure in (*(figure for _, figure in each["views"]), *each["published"])
    ]
    return Content({"sections": shown_in}, figures=[figure for figure in every if figure.rows])
