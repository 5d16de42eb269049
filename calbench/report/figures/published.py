"""Figures of the numbers that the paper prints: separate from ours, since of other games."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, Section
from calbench.report.figures.finding import spread
from calbench.report.figures.regret import FAIRNESS
from calbench.report.figures.scatter import HEIGHT, Point, scatter
from calbench.report.figures.style import SYMBOLS, Style, Value, styles
from calbench.report.figures.talk import COST, EXCESS, MESSAGES, VPS
from calbench.report.kind import PUBLISHED
from calbench.report.site import PAPER
from calbench.report.tables import Row, Tables

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
