"""Pages of figures: sections with a figure for each setting, of which a reader chooses one."""

from collections.abc import Callable
from dataclasses import dataclass

from calbench.report.figures import audits, difficulty, regret, talk
from calbench.report.figures.figure import REGISTERED, Figure
from calbench.report.figures.published import published_figures
from calbench.report.pages.page import Content
from calbench.report.setting import Setting
from calbench.report.site import Site

MODULES = (talk, regret, difficulty, audits)
"""What registers sections."""

SECTIONS = tuple(REGISTERED)
"""Every section of a page of figures."""


@dataclass(frozen=True, slots=True)
class View:
    """The figure of one setting in one section; it may have nothing to draw."""

    setting: Setting
    figure: Figure
    is_first: bool


@dataclass(frozen=True, slots=True)
class Views:
    """What a section shows: its figures by setting, and those of others' numbers."""

    name: str
    views: tuple[View, ...]
    published: tuple[Figure, ...]


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
    drawn = {
        section.name: [(setting, section.figure(setting, site.styles)) for setting in site.views]
        for section in SECTIONS
        if section.page == page
    }
    shown = [
        setting
        for place, setting in enumerate(site.views)
        if any(figures[place][1].rows for figures in drawn.values())
    ]
    sections = {
        name: Views(
            name,
            tuple(View(s, figure, s is shown[0]) for s, figure in figures if s in shown),
            tuple(published_figures(site.published, name)),
        )
        for name, figures in drawn.items()
    }
    return Content(
        {"sections": sections},
        figures=[
            figure
            for section in sections.values()
            for figure in (*(view.figure for view in section.views), *section.published)
            if figure.rows
        ],
    )
