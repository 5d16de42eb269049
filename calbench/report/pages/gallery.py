"""Pages of figures: sections with a figure for each setting, of which a reader chooses one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from calbench.analysis.tables.difficulty import UNCUT
from calbench.facts.games import FRACTION_DIGITS
from calbench.report.columns import decimal
from calbench.report.figures import audits, difficulty, regret, talk, words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import REGISTERED, Figure, Section
from calbench.report.figures.finding import spread
from calbench.report.figures.frontier import lines_of
from calbench.report.figures.plane import planes_of
from calbench.report.figures.regret import FAIRNESS
from calbench.report.figures.scatter import HEIGHT, Point, scatter
from calbench.report.figures.style import SYMBOLS, Style, Value, styles
from calbench.report.figures.talk import COST, EXCESS, MESSAGES, VPS
from calbench.report.kind import PUBLISHED
from calbench.report.pages import hardness
from calbench.report.pages.page import Content
from calbench.report.setting import Setting
from calbench.report.site import FRONT, PAPER, Site
from calbench.report.tables import Row, Tables
from calbench.scenarios.difficulty import TERTILES

SEATS = "Excess per scheduled meeting in shown cost, seats with all their meetings"
"""The paper's scale."""

DOTS: Mapping[str, tuple[str, str, str]] = {
    "completion": (SEATS, "table11.csv", "mean_excess"),
    "first-vps": (VPS, "table12.csv", "vps_difference"),
    "first-cost": (COST, "table12.csv", "cost_difference"),
}
"""Axis, table and column of figures that show one number for each model, by section."""


LEAST: Mapping[str, tuple[str, str]] = {
    "completion": (
        "pays least shown cost with all meetings placed",
        "pay least shown cost with all meetings placed",
    ),
    "first-vps": ("gives least extra away when first", "give least extra away when first"),
    "first-cost": ("pays least extra when first", "pay least extra when first"),
}
EVENLY = (("shares the cost most evenly", "share the cost most evenly"), "least evenly")
"""What titles say of those at the ends."""


def published_figures(tables: Tables, section: Section) -> list[Figure]:
    """Return the figures of others' numbers in a section; none where these are absent."""
    if not tables.has(PAPER):
        return []
    if section.name == "messages-excess":
        return list(_planes(tables, section))
    if section.name == "fairness":
        return [_fairness(tables, section)]
    return [_dots(tables, section)] if section.name in DOTS else []


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


def _planes(tables: Tables, section: Section) -> Iterator[Figure]:
    """Yield messages against excess cost in each setting."""
    models = tables.rows(PAPER)
    look = styles(dict.fromkeys(_players(models), PUBLISHED))
    for setting in dict.fromkeys(row["setting"] for row in models):
        rows = tables.rows(PAPER, setting=setting)
        said, cost = ({r["player"]: r[name] for r in rows} for name in ("messages", "excess_cost"))
        points = [
            Point(name, Value(said[name]), Value(cost[name]), look[name], is_open=True)
            for name in said
        ]
        yield _figure(
            f"{section.name}-{setting}",
            f"{section.title}, {setting}",
            PAPER,
            ("setting", "player", "messages", "excess_cost"),
            rows,
            says=f"{words.extremes(said, 'messages')} {words.extremes(cost, 'excess cost')}",
            drawn=scatter(points, MESSAGES, EXCESS),
            finding=spread(
                {name: Value(cell) for name, cell in cost.items()},
                "excess cost",
                ("pays least", "pay least"),
            ),
            measured=("messages", "excess_cost"),
            height=HEIGHT,
        )


def _fairness(tables: Tables, section: Section) -> Figure:
    """Return fairness cost in both settings."""
    models = tables.rows(PAPER)
    names = _players(models)
    series = [
        Series(setting, _values(tables.rows(PAPER, setting=setting), "fairness"))
        for setting in dict.fromkeys(row["setting"] for row in models)
    ]
    evenly = spread(series[0].values, "fairness cost", *EVENLY) if series else ""
    looks = {each.name: Style(PUBLISHED.colour, SYMBOLS[at]) for at, each in enumerate(series)}
    says = [f"{each.name}: {words.extremes(each.cells, 'fairness cost')}" for each in series]
    return _figure(
        section.name,
        section.title,
        PAPER,
        ("setting", "player", "fairness"),
        models,
        says=" ".join(says),
        drawn=dots(names, series, FAIRNESS, style_by_name=looks),
        measured=("fairness",),
        finding=f"{series[0].name}: {evenly}" if series else "",
        height=height(len(names), 2),
    )


def _dots(tables: Tables, section: Section) -> Figure:
    """Return one number for each model, both settings together."""
    axis, table, column = DOTS[section.name]
    rows = [row for row in tables.rows(table) if row[column]]
    series = Series("both settings", _values(rows, column))
    names = list(series.values)
    return _figure(
        section.name,
        section.title,
        table,
        ("player", column),
        rows,
        says=words.extremes(series.cells, axis.lower()),
        finding=spread(series.values, axis.lower(), LEAST[section.name]),
        measured=(column,),
        drawn=dots(names, [series], axis, style_by_name=styles(dict.fromkeys(names, PUBLISHED))),
        height=height(len(names)),
    )


def _players(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["player"] for row in rows))


def _values(rows: Sequence[Row], column: str) -> dict[str, Value]:
    return {row["player"]: Value(row[column]) for row in rows}


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
