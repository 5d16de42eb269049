"""Pages of figures: sections with a figure for each setting, of which a reader chooses one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from calbench.report.experiment import Setting
from calbench.report.figures import audits, difficulty, regret, talk
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import REGISTERED, Figure, Section
from calbench.report.figures.plane import lines_of, planes_of
from calbench.report.figures.regret import FAIRNESS
from calbench.report.figures.scatter import HEIGHT, Point, scatter
from calbench.report.figures.style import SYMBOLS, Style, Value, styles
from calbench.report.figures.talk import COST, EXCESS, MESSAGES, VPS
from calbench.report.kind import PUBLISHED
from calbench.report.pages.page import Content
from calbench.report.site import FRONT, PAPER, Site
from calbench.report.tables import Row, Tables, grouped

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


SEATS = "Excess per scheduled meeting in shown cost, seats with all their meetings"
"""The paper's scale."""

DOTS: Mapping[str, tuple[str, str, str]] = {
    "completion": (SEATS, "table11.csv", "mean_excess"),
    "first-vps": (VPS, "table12.csv", "vps_difference"),
    "first-cost": (COST, "table12.csv", "cost_difference"),
}
"""Axis, table and column of figures that show one number for each model, by section."""


def published_figures(tables: Tables, section: Section) -> list[Figure]:
    """Return the figures of others' numbers in a section; none where these are absent."""
    by_setting = grouped(tables.optional(PAPER), "setting")
    if not by_setting:
        return []
    if section.name == "messages-excess":
        return [_plane(section, setting, rows) for setting, rows in by_setting.items()]
    if section.name == "fairness":
        return [_fairness(section, by_setting)]
    return [_dots(section, tables)] if section.name in DOTS else []


def _figure(
    key: str, title: str, table: str, columns: Sequence[str], rows: Sequence[Row], **shown: Any
) -> Figure:
    return Figure(
        key=f"published-{key}",
        title=f"{title}, as the paper prints it",
        sources=[f"published/{table}"],
        columns=("source", *columns, "note"),
        rows=rows,
        **shown,
    )


def _plane(section: Section, setting: str, rows: Sequence[Row]) -> Figure:
    """Return messages against excess cost in a setting."""
    said, cost = _values(rows, "messages"), _values(rows, "excess_cost")
    look = styles(dict.fromkeys(said, PUBLISHED))
    points = [Point(name, said[name], cost[name], look[name], is_open=True) for name in said]
    return _figure(
        f"{section.name}-{setting}",
        f"{section.title}, {setting}",
        PAPER,
        ("setting", "player", "messages", "excess_cost"),
        rows,
        drawn=scatter(points, MESSAGES, EXCESS),
        measured=("messages", "excess_cost"),
        height=HEIGHT,
    )


def _fairness(section: Section, by_setting: Mapping[str, Sequence[Row]]) -> Figure:
    """Return fairness cost in every setting."""
    series = [Series(setting, _values(rows, "fairness")) for setting, rows in by_setting.items()]
    names = list(dict.fromkeys(name for each in series for name in each.values))
    looks = {each.name: Style(PUBLISHED.colour, SYMBOLS[at]) for at, each in enumerate(series)}
    return _figure(
        section.name,
        section.title,
        PAPER,
        ("setting", "player", "fairness"),
        [row for rows in by_setting.values() for row in rows],
        drawn=dots(names, series, FAIRNESS, style_by_name=looks),
        measured=("fairness",),
        height=height(len(names), 2),
    )


def _dots(section: Section, tables: Tables) -> Figure:
    """Return one number for each model, both settings together."""
    axis, table, column = DOTS[section.name]
    rows = [row for row in tables.rows(table) if row[column] is not None]
    values = _values(rows, column)
    looks = styles(dict.fromkeys(values, PUBLISHED))
    return _figure(
        section.name,
        section.title,
        table,
        ("player", column),
        rows,
        drawn=dots(list(values), [Series("both settings", values)], axis, style_by_name=looks),
        measured=(column,),
        height=height(len(values)),
    )


def _values(rows: Sequence[Row], column: str) -> dict[str, Value]:
    return {row["player"]: Value(row[column]) for row in rows}


def plane_page(site: Site) -> Content:
    """Return the planes of each setting, one for each instrument of VPS, and their numbers."""
    planes = [_planes(site, each) for each in site.settings]
    return Content(
        {
            "planes": planes,
            "has_lines": any(each["swept"] for each in planes),
            "swept_by": site.on("plane"),
            "has_front": site.summary.has(FRONT),
        },
        figures=[figure for each in planes for figure in each["figures"]],
    )


def _planes(site: Site, setting: Setting) -> dict[str, Any]:
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
