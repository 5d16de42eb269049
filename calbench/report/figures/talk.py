"""How much is said, by whom, and what it buys (paper, Figure 3, appendices G.2 and G.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from calbench.report.columns import decimal
from calbench.report.figures import finding, words
from calbench.report.figures.charts import Series, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.instruments import by_instrument, named
from calbench.report.figures.lines import lines
from calbench.report.figures.scatter import HEIGHT, Axis, Point, scatter
from calbench.report.figures.style import Styles, Value
from calbench.report.setting import Setting, player_of
from calbench.report.tables import Row

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
    rows = [r for r in setting.rows("players.csv") if r["messages"] and r["excess_cost"]]
    said = {player_of(row): row["messages"] for row in rows}
    cost = {player_of(row): row["excess_cost"] for row in rows}
    points = [
        Point(name, Value.of(row, "messages"), Value.of(row, "excess_cost"), style_by_name[name])
        for name, row in zip(map(player_of, rows), rows, strict=True)
    ]
    return Figure(
        says=f"{words.extremes(said, 'messages per scheduled meeting')} "
        f"{words.extremes(cost, 'excess cost')} {_together(said, cost)}".rstrip(),
        finding=_talk_pays(said, rows, style_by_name),
        measured=("messages", "excess_cost"),
        drawn=scatter(points, MESSAGES, EXCESS),
        columns=columns_of("player", "teams", measures=("messages", "excess_cost")),
        rows=rows,
        height=HEIGHT,
    )


def _talk_pays(said: Mapping[str, str], rows: Sequence[Row], style_by_name: Styles) -> str:
    """Return whether those who say most pay least, or who pays what if there is nobody else."""
    values = {player_of(row): Value.of(row, "excess_cost") for row in rows}
    speaking, paying = (
        finding.competing(said, style_by_name),
        finding.competing(values, style_by_name),
    )
    alone = finding.spread(paying, "excess cost", ("pays least", "pay least"))
    cells = {name: value.cell for name, value in paying.items()}
    return _together(speaking, cells).rstrip(".") or alone


def _together(said: Mapping[str, str], cost: Mapping[str, str]) -> str:
    """Return whether those who say most pay least."""
    if len(said) < 2:
        return ""
    most, least = max(map(decimal, said.values())), min(map(decimal, cost.values()))
    names = [name for name, cell in said.items() if decimal(cell) == most]
    is_least = any(decimal(cost[name]) == least for name in names)
    one = len(names) == 1
    pay = ("pays" if one else "pay") if is_least else ("does not pay" if one else "do not pay")
    return f"{words.joined(names)}, who said most, {pay} the least."


@section("talk", "messages-meeting", "Messages by meeting and speaker", "messages_by_meeting.csv")
def messages_by_meeting(setting: Setting, style_by_name: Styles) -> Figure:
    """Return messages by place of the meeting and role of the speaker (paper, G.3)."""
    rows = [row for row in setting.rows("messages_by_meeting.csv") if row["messages"]]
    outside = [row for row in rows if row["role"] == "outsider"]
    if not any(decimal(row["messages"]) for row in outside):
        rows, outside = [row for row in rows if row not in outside], []
    panels: dict[str, dict[str, dict[int, Value]]] = {
        title: {} for role, title in ROLES.items() if role != "outsider" or outside
    }
    for row in rows:
        found = panels[ROLES[row["role"]]].setdefault(player_of(row), {})
        found[int(row["meeting_index"]) + 1] = Value.of(row, "messages")
    opening = {
        player_of(row): Value.of(row, "messages")
        for row in rows
        if row["role"] == "first" and row["meeting_index"] == "0"
    }
    height = 500 + 150 * (len(panels) > 2)
    return Figure(
        says=_meeting_words(rows),
        finding=finding.spread(
            finding.competing(opening, style_by_name),
            "number of messages of first speakers",
            ("opens with fewest messages", "open with fewest messages"),
        ),
        measured=("messages",),
        named="role",
        titles=ROLES,
        drawn=lines(
            panels,
            style_by_name,
            "Place of the meeting in the game, from 1",
            "↑ Messages of an agent in a meeting's round",
            height,
        ),
        columns=columns_of(
            "player", "teams", "meeting_index", "role", "agent_rounds", measures=("messages",)
        ),
        rows=rows,
        height=height,
    )


def _meeting_words(rows: Sequence[Row]) -> str:
    said = []
    for role, title in ROLES.items():
        own = [row for row in rows if row["role"] == role]
        places = [int(row["meeting_index"]) for row in own]
        for place in sorted({0, max(places)}) if own else ():
            cells = {player_of(r): r["messages"] for r in own if int(r["meeting_index"]) == place}
            said.append(f"{title}, meeting {place + 1}: {words.extremes(cells, 'messages')}")
    return " ".join(said)


@section("talk", "first-vps", "Speaking first, VPS", "first_speaker.csv")
def first_vps(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how much more first speakers give away, paired (paper, Table 12).

    The players whose VPS one instrument measured, that of the first; the words name the others.
    """
    drawn, *others = by_instrument(_compared(setting, "vps")).items() or [("", [])]
    left_out = [
        f"Not on this axis: {words.joined([player_of(row) for row in rows])}, by {named(kind)}."
        for kind, rows in others
    ]
    figure = _first(setting, style_by_name, drawn[1], VPS, "gives {} away", "give {} away")
    return replace(figure, says=" ".join([figure.says, *left_out]))


@section("talk", "first-cost", "Speaking first, excess cost", "first_speaker.csv")
def first_cost(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how much more first speakers pay, paired (paper, Table 12)."""
    rows = _compared(setting, "shown_excess_cost")
    return _first(setting, style_by_name, rows, COST, "pays {}", "pay {}")


def _compared(setting: Setting, quantity: str) -> list[Row]:
    """Return the players with a difference in a quantity."""
    rows = setting.rows("first_speaker.csv", quantity=quantity)
    return [row for row in rows if row["difference"]]


def _first(
    setting: Setting, style_by_name: Styles, rows: Sequence[Row], axis: str, *loses: str
) -> Figure:
    level = setting.experiment.level
    found = Series.of("", rows, "difference", player_of)
    clear = [player_of(r) for r in rows if decimal(r["p_adjusted"] or "1") < decimal(level)]
    says = f"Adjusted p below {level}: {words.joined(clear)}."
    if not clear:
        says = f"No adjusted p is below {level}."
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
        says=f"{words.extremes(found.cells, 'difference of first speakers to later ones')} {says}",
        finding=_who_loses(rows, clear, *loses),
        measured=("difference",),
        drawn=dots(list(found.values), series, axis, style_by_name=style_by_name),
        columns=(*columns_of(*FIRST, measures=("difference",)), "p", "p_adjusted"),
        rows=rows,
        height=height(len(found.values), 2),
    )


def _who_loses(rows: Sequence[Row], clear: Sequence[str], one: str, many: str) -> str:
    """Return which first speakers lose significantly more, and which less."""
    if not rows:
        return ""
    said = []
    for is_more, much in ((True, "significantly more"), (False, "significantly less")):
        names = [
            player_of(row)
            for row in rows
            if player_of(row) in clear and (decimal(row["difference"]) > 0) is is_more
        ]
        if names:
            said.append(f"{words.joined(names)} {finding.verb(names, one, many).format(much)}")
    found = ", ".join(said) or f"nobody {one.format('significantly more or less')}"
    return f"{found} when speaking first"
