"""Figures of the numbers that the paper prints: separate from ours, since of other games."""

from collections.abc import Callable, Mapping, Sequence

from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, selected
from calbench.report.figures.scatter import HEIGHT, Point, scatter
from calbench.report.figures.style import Styles, Value, styles
from calbench.report.figures.talk import COST, EXCESS, MESSAGES, VPS
from calbench.report.tables import Row, Tables

PRINTED = "as the paper prints it"

NOTE = (
    "Copied from the paper, whose games, models and scenarios are not ours; it prints no intervals."
)

MODELS = "table1.csv"

Figures = Callable[[Tables], list[Figure]]
"""What makes the figures of a section."""


def published_figures(tables: Tables, section: str) -> list[Figure]:
    """Return the figures of others' numbers in a section; none where these are absent."""
    return PUBLISHED[section](tables) if section in PUBLISHED and tables.has(MODELS) else []


def _messages_excess(tables: Tables) -> list[Figure]:
    models = tables.rows(MODELS)
    look = styles(list(dict.fromkeys(row["player"] for row in models)))
    return [
        _plane(setting, tables.rows(MODELS, setting=setting), look)
        for setting in dict.fromkeys(row["setting"] for row in models)
    ]


def _plane(setting: str, rows: Sequence[Row], look: Styles) -> Figure:
    said = {row["player"]: row["messages"] for row in rows}
    cost = {row["player"]: row["excess_cost"] for row in rows}
    points = [
        Point(name, Value(said[name]), Value(cost[name]), look[name], is_open=True) for name in said
    ]
    columns = ("source", "setting", "player", "messages", "excess_cost", "note")
    return Figure(
        key=f"published-messages-excess-{setting}",
        title=f"Messages against excess cost, {setting}, {PRINTED}",
        says=f"{words.extremes(said, 'messages')} {words.extremes(cost, 'excess cost')}",
        drawn=scatter(points, MESSAGES, EXCESS),
        columns=columns,
        rows=selected(rows, columns),
        sources=(f"published/{MODELS}",),
        note=NOTE,
        height=HEIGHT,
    )


def _fairness(tables: Tables) -> list[Figure]:
    models = tables.rows(MODELS)
    names = list(dict.fromkeys(row["player"] for row in models))
    series = [
        Series(
            setting,
            {row["player"]: Value(row["fairness"]) for row in models if row["setting"] == setting},
        )
        for setting in dict.fromkeys(row["setting"] for row in models)
    ]
    columns = ("source", "setting", "player", "fairness", "note")
    says = [f"{each.name}: {words.extremes(each.cells, 'fairness cost')}" for each in series]
    return [
        Figure(
            key="published-fairness",
            title=f"Fairness cost, {PRINTED}",
            says=" ".join(says),
            drawn=dots(names, series, "Fairness in accounting cost (less is fairer)"),
            columns=columns,
            rows=selected(models, columns),
            sources=(f"published/{MODELS}",),
            note=NOTE,
            height=height(len(names), 2),
        )
    ]


def _dots(section: str, title: str, axis: str, table: str, column: str) -> Figures:
    """Return what makes a figure of the numbers of one column by player."""
    columns = ("source", "player", column, "note")

    def made(tables: Tables) -> list[Figure]:
        rows = [row for row in tables.rows(table) if row[column]]
        series = Series("both settings", {row["player"]: Value(row[column]) for row in rows})
        names = list(series.values)
        return [
            Figure(
                key=f"published-{section}",
                title=f"{title}, {PRINTED}",
                says=words.extremes(series.cells, axis.lower()),
                drawn=dots(names, [series], axis, style_by_name=styles(names)),
                columns=columns,
                rows=selected(rows, columns),
                sources=(f"published/{table}",),
                note=f"{NOTE} Both settings together.",
                height=height(len(names)),
            )
        ]

    return made


PUBLISHED: Mapping[str, Figures] = {
    "messages-excess": _messages_excess,
    "fairness": _fairness,
    "completion": _dots(
        "completion",
        "Excess of seats with all their meetings",
        "Excess per scheduled meeting in accounting cost, seats with all their meetings",
        "table11.csv",
        "mean_excess",
    ),
    "first-vps": _dots("first-vps", "Speaking first, VPS", VPS, "table12.csv", "vps_difference"),
    "first-cost": _dots(
        "first-cost", "Speaking first, excess cost", COST, "table12.csv", "cost_difference"
    ),
}
"""By section."""
