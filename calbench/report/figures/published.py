"""Figures of the numbers that the paper prints: apart from ours, of other games."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, selected
from calbench.report.figures.scatter import HEIGHT, Point, scatter
from calbench.report.figures.style import Value, styles
from calbench.report.figures.talk import EXCESS, MESSAGES
from calbench.report.tables import Row

PRINTED = "as the paper prints it"

NOTE = (
    "Copied from the paper, whose games, models and scenarios are not ours; it prints no intervals."
)

Read = Callable[[str], Sequence[Row]]
"""Reads a table of published numbers by its name."""


@dataclass(frozen=True, slots=True)
class Printed:
    """Columns of a published table that one figure draws, by player.

    Attributes:
        table: its file.
        columns: what is drawn, with its name in the legend.
        title: of the figure.
        axis: title of the horizontal axis.
    """

    table: str
    columns: Mapping[str, str]
    title: str
    axis: str


DOTS: Mapping[str, Printed] = {
    "completion": Printed(
        "table11.csv",
        {"mean_excess": "both settings"},
        "Excess of seats with all their meetings",
        "Excess per scheduled meeting in accounting cost, seats with all their meetings",
    ),
    "first-vps": Printed(
        "table12.csv",
        {"vps_difference": "both settings"},
        "Speaking first, VPS",
        "VPS, slot-equivalents, of first speakers less that of later ones",
    ),
    "first-cost": Printed(
        "table12.csv",
        {"cost_difference": "both settings"},
        "Speaking first, excess cost",
        "Excess in accounting cost of first speakers less that of later ones",
    ),
}


def figures(read: Read) -> dict[str, list[Figure]]:
    """Return the published figures by the name of the section they stand in."""
    models = read("table1.csv")
    settings = list(dict.fromkeys(row["setting"] for row in models))
    return {
        "messages-excess": [_messages_excess(models, setting) for setting in settings],
        "fairness": [_fairness(models, settings)],
        **{name: [_dots(name, about, read(about.table))] for name, about in DOTS.items()},
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
        sources=("published/table1.csv",),
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
            f"{each.name}: "
            + words.extremes({n: v.cell for n, v in each.values.items()}, "fairness cost")
            for each in series
        ),
        drawn=dots(names, series, "Fairness in accounting cost (less is fairer)"),
        columns=columns,
        rows=selected(models, columns),
        sources=("published/table1.csv",),
        note=NOTE,
        height=height(len(names), 2),
    )


def _dots(name: str, about: Printed, found: Sequence[Row]) -> Figure:
    rows = [row for row in found if all(row[column] for column in about.columns)]
    series = [
        Series(title, {row["player"]: Value(row[column]) for row in rows})
        for column, title in about.columns.items()
    ]
    names = [row["player"] for row in rows]
    columns = ("source", "player", *about.columns, "note")
    return Figure(
        key=f"published-{name}",
        title=f"{about.title}, {PRINTED}",
        says=" ".join(
            words.extremes({n: v.cell for n, v in each.values.items()}, about.axis.lower())
            for each in series
        ),
        drawn=dots(names, series, about.axis, style_by_name=styles(names)),
        columns=columns,
        rows=selected(rows, columns),
        sources=(f"published/{about.table}",),
        note=f"{NOTE} Both settings together.",
        height=height(len(names)),
    )
