"""How much is said, by whom, and what it costs to speak first (paper, sections 4 and G)."""

from collections.abc import Mapping, Sequence

from calbench.report.experiment import Setting, player_of
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.lines import lines
from calbench.report.figures.scatter import HEIGHT, Axis, Point, scatter
from calbench.report.figures.style import Styles, Value
from calbench.report.tables import Row, grouped

MESSAGES = Axis("Messages per scheduled meeting →", "messages")
EXCESS = Axis("↑ Excess per agent-game, accounting cost", "excess cost")

ROLES: Mapping[str, str] = {
    "first": "First speaker of the meeting",
    "subsequent": "Later speakers",
    "outsider": "Agents outside the meeting",
}
"""Who an agent is in a round (``messages_by_meeting.csv``)."""

VPS = "VPS, slot-equivalents, of first speakers less that of later ones"
COST = "Excess in shown cost of first speakers less that of later ones"
"""Axes of what ``first_speaker.csv`` compares."""

FIRST = ("player", "teams", "quantity", "first_mean", "subsequent_mean", "pairs")
"""Columns of that table which a figure has before the difference."""


@section("talk", "messages-excess", "Messages against excess cost", "players.csv")
def messages_excess(setting: Setting, style_by_name: Styles) -> Figure:
    """Return messages against excess cost, a point for each player (paper, Figure 3)."""
    rows = [
        row
        for row in setting.rows("players.csv")
        if row["messages"] is not None and row["excess_cost"] is not None
    ]
    points = [
        Point(
            player_of(row),
            Value.of(row, "messages"),
            Value.of(row, "excess_cost"),
            style_by_name[player_of(row)],
        )
        for row in rows
    ]
    return Figure(
        measured=("messages", "excess_cost"),
        drawn=scatter(points, MESSAGES, EXCESS),
        columns=columns_of("player", "teams", measures=("messages", "excess_cost")),
        rows=rows,
        height=HEIGHT,
    )


@section("talk", "messages-meeting", "Messages by meeting and speaker", "messages_by_meeting.csv")
def messages_by_meeting(setting: Setting, style_by_name: Styles) -> Figure:
    """Return messages by place of the meeting and role of the speaker (paper, G.3)."""
    every = [r for r in setting.rows("messages_by_meeting.csv") if r["messages"] is not None]
    talking = {row["role"] for row in every if row["messages"] or row["role"] != "outsider"}
    rows = [row for row in every if row["role"] in talking]
    panels: dict[str, dict[str, dict[int, Value]]] = {
        title: {} for role, title in ROLES.items() if role != "outsider" or role in talking
    }
    for row in rows:
        found = panels[ROLES[row["role"]]].setdefault(player_of(row), {})
        found[row["meeting_index"] + 1] = Value.of(row, "messages")
    tall = 500 + 150 * (len(panels) > 2)
    return Figure(
        measured=("messages",),
        drawn=lines(
            panels,
            style_by_name,
            "Place of the meeting in the game, from 1",
            "↑ Messages of an agent in a meeting's round",
            tall,
        ),
        columns=columns_of(
            "player", "teams", "meeting_index", "role", "agent_rounds", measures=("messages",)
        ),
        rows=rows,
        height=tall,
    )


@section("talk", "first-vps", "Speaking first, VPS", "first_speaker.csv")
def first_vps(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how much more first speakers give away, paired (paper, Table 12).

    The players whose VPS one instrument measured, that of the first: another has no place here.
    """
    drawn = next(iter(grouped(_compared(setting, "vps"), "vps_kind").values()), [])
    return _first(setting, style_by_name, drawn, VPS)


@section("talk", "first-cost", "Speaking first, excess cost", "first_speaker.csv")
def first_cost(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how much more first speakers pay, paired (paper, Table 12)."""
    return _first(setting, style_by_name, _compared(setting, "shown_excess_cost"), COST)


def _compared(setting: Setting, quantity: str) -> list[Row]:
    """Return the players with a difference in a quantity."""
    rows = setting.rows("first_speaker.csv", quantity=quantity)
    return [row for row in rows if row["difference"] is not None]


def _first(setting: Setting, style_by_name: Styles, rows: Sequence[Row], axis: str) -> Figure:
    level = setting.experiment.level
    found = Series.of("", rows, "difference", player_of)
    clear = {
        player_of(row)
        for row in rows
        if row["p_adjusted"] is not None and row["p_adjusted"] < float(level)
    }
    series = [
        Series(
            title,
            {name: v for name, v in found.values.items() if (name in clear) is wanted},
            is_open=not wanted,
        )
        for title, wanted in (
            (f"adjusted p below {level}", True),
            (f"adjusted p from {level} up", False),
        )
    ]
    return Figure(
        measured=("difference",),
        drawn=dots(list(found.values), series, axis, style_by_name=style_by_name),
        columns=(*columns_of(*FIRST, measures=("difference",)), "p", "p_adjusted"),
        rows=rows,
        height=height(len(found.values), 2),
    )
