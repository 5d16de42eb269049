"""Figures of the numbers that the paper prints: separate from ours, since of other games."""

from collections.abc import Sequence

from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, selected
from calbench.report.figures.scatter import HEIGHT, Point, scatter
from calbench.report.figures.style import Value, styles
from calbench.report.figures.talk import COST, EXCESS, MESSAGES, VPS
from calbench.report.tables import Row, Tables

PRINTED = "as the paper prints it"

NOTE = (
    "Copied from the paper, whose games, models and scenarios are not ours; it prints no intervals."
)

MODELS = "table1.csv"


def published_figures(tables: Tables) -> dict[str, list[Figure]]:
    """Return the figures of others' numbers by their section; none where these are absent."""
    if not tables.has(MODELS):
        return {}
    models = tables.rows(MODELS)
    settings = list(dict.fromkeys(row["setting"] for row in models))
    return {
        "messages-excess": [_messages_excess(models, setting) for setting in settings],
        "fairness": [_fairness(models, settings)],
        "completion": [
            _dots(
                tables,
                "table11.csv",
                "mean_excess",
                "completion",
                "Excess of seats with all their meetings",
                "Excess per scheduled meeting in accounting cost, seats with all their meetings",
            )
        ],
        **{
            section: [
                _dots(tables, "table12.csv", column, section, f"Speaking first, {short}", axis)
            ]
            for column, (section, short, axis) in (
                ("vps_difference", VPS),
                ("cost_difference", COST),
            )
        },
    }


def _messages_excess(models: Sequence[Row], setting: str) -> Figure:
    rows = [row for row in models if row["setting"] == setting]
    look = styles(list(dict.fromkeys(row["player"] for row in models)))
    points = [
        Point(row["player"], Value(row["messages"]), Value(row["excess_cost"]), look[row["player"]],
              is_open=True)
        for row in rows
    ]  # fmt: skip
    said = {row["player"]: row["messages"] for row in rows}
    cost = {row["player"]: row["excess_cost"] for row in rows}
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


def _fairness(models: Sequence[Row], settings: Sequence[str]) -> Figure:
    names = list(dict.fromkeys(row["player"] for row in models))
    series = [
        Series(s, {r["player"]: Value(r["fairness"]) for r in models if r["setting"] == s})
        for s in settings
    ]
    columns = ("source", "setting", "player", "fairness", "note")
    return Figure(
        key="published-fairness",
        title=f"Fairness cost, {PRINTED}",
        says=" ".join(
            f"{each.name}: {words.extremes(each.cells, 'fairness cost')}" for each in series
        ),
        drawn=dots(names, series, "Fairness in accounting cost (less is fairer)"),
        columns=columns,
        rows=selected(models, columns),
        sources=(f"published/{MODELS}",),
        note=NOTE,
        height=height(len(names), 2),
    )


def _dots(tables: Tables, table: str, column: str, section: str, title: str, axis: str) -> Figure:
    """Return the numbers of one column by player."""
    rows = [row for row in tables.rows(table) if row[column]]
    series = Series("both settings", {row["player"]: Value(row[column]) for row in rows})
    names = list(series.values)
    columns = ("source", "player", column, "note")
    return Figure(
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
