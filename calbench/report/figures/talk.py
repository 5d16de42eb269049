"""How much is said, by whom, and what it buys (paper, Figure 3, appendices G.2 and G.3)."""

from collections.abc import Mapping

from calbench.report.columns import decimal
from calbench.report.figures import words
from calbench.report.figures.charts import Series, dots, height, lines
from calbench.report.figures.figure import Figure, columns_of, selected
from calbench.report.figures.scatter import HEIGHT, Axis, Point, scatter
from calbench.report.figures.style import Style, Value
from calbench.report.figures.views import View, value, who
from calbench.report.tables import Row

MESSAGES = Axis("Messages per scheduled meeting →", "messages")
EXCESS = Axis("↑ Excess per agent-game, accounting cost", "excess cost")

ROLES: Mapping[str, str] = {
    "first": "First speaker of the meeting",
    "subsequent": "Later speakers",
    "outsider": "Agents outside the meeting",
}
"""Who an agent is in a round (``messages_by_meeting.csv``)."""

QUANTITIES: Mapping[str, str] = {
    "vps": "VPS, slot-equivalents, of first speakers less that of later ones",
    "excess_cost": "Excess in accounting cost of first speakers less that of later ones",
}
"""What ``first_speaker.csv`` compares."""


def messages_excess(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return messages against excess cost, a point a player (paper, Figure 3)."""
    rows = [r for r in view.rows("players.csv") if r["messages"] and r["excess_cost"]]
    points = [
        Point(who(r), value(r, "messages"), value(r, "excess_cost"), style_by_name[who(r)])
        for r in rows
    ]
    columns = columns_of("player", "teams", measures=("messages", "excess_cost"))
    cost = {who(row): row["excess_cost"] for row in rows}
    said = {who(row): row["messages"] for row in rows}
    return Figure(
        key=f"messages-excess-{view.key}",
        title=f"Messages against excess cost, {view.title}",
        says=f"{words.extremes(said, 'messages per scheduled meeting')} "
        f"{words.extremes(cost, 'excess cost')} {_together(rows)}",
        drawn=scatter(points, MESSAGES, EXCESS),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("players.csv"),),
        note=f"A point each, with {view.confidence} intervals over scenarios both ways. "
        "Players who placed no meeting have no messages per meeting and are left out.",
        height=HEIGHT,
    )


def _together(rows: list[Row]) -> str:
    """Return whether whoever says most pays least."""
    if len(rows) < 2:
        return ""
    said = {who(row): decimal(row["messages"]) for row in rows}
    cost = {who(row): decimal(row["excess_cost"]) for row in rows}
    most = [name for name in said if said[name] == max(said.values())]
    is_least = any(cost[name] == min(cost.values()) for name in most)
    one = len(most) == 1
    least = ("pays" if one else "pay") if is_least else ("does not pay" if one else "do not pay")
    return f"{words.joined(most)}, who said most, {least} the least."


def messages_by_meeting(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return messages by place of the meeting and role of the speaker (paper, G.3)."""
    rows = [row for row in view.rows("messages_by_meeting.csv") if row["messages"]]
    is_spoken = any(row["role"] == "outsider" and decimal(row["messages"]) for row in rows)
    panels = {
        title: _lines([row for row in rows if row["role"] == role])
        for role, title in ROLES.items()
        if role != "outsider" or is_spoken
    }
    columns = columns_of(
        "player", "teams", "meeting_index", "role", "agent_rounds", measures=("messages",)
    )
    kept = [row for row in rows if ROLES[row["role"]] in panels]
    return Figure(
        key=f"messages-meeting-{view.key}",
        title=f"Messages by meeting and speaker, {view.title}",
        says=_meeting_words(kept),
        drawn=lines(
            panels,
            style_by_name,
            "Place of the meeting in the game, from 1",
            "↑ Messages of an agent in a meeting's round",
        ),
        columns=columns,
        rows=selected(kept, columns),
        sources=(view.source("messages_by_meeting.csv"),),
        note="Above whoever spoke first, below the others; "
        f"bars are {view.confidence} intervals over scenarios. "
        "Points of several teams lie a little apart. The table counts meetings from 0.",
        height=500 + 150 * (len(panels) > 2) + 22 * (len(style_by_name) > 6),
    )


def _lines(rows: list[Row]) -> dict[str, dict[int, Value]]:
    found: dict[str, dict[int, Value]] = {}
    for row in rows:
        found.setdefault(who(row), {})[int(row["meeting_index"]) + 1] = value(row, "messages")
    return found


def _meeting_words(rows: list[Row]) -> str:
    said = []
    for role, title in ROLES.items():
        own = [row for row in rows if row["role"] == role]
        if not own:
            continue
        last = max((int(row["meeting_index"]) for row in own), default=0)
        for place in sorted({0, last}):
            cells = {who(r): r["messages"] for r in own if int(r["meeting_index"]) == place}
            said.append(f"{title}, meeting {place + 1}: {words.extremes(cells, 'messages')}")
    return " ".join(said)


def first_speaker(view: View, quantity: str) -> Figure:
    """Return what speaking first changes, paired (paper, Table 12)."""
    level = view.results.level
    rows = [r for r in view.rows("first_speaker.csv") if r["quantity"] == quantity]
    rows = [row for row in rows if row["difference"]]
    columns = (
        *columns_of("player", "teams", "quantity", "first_mean", "subsequent_mean", "pairs"),
        *columns_of(measures=("difference",)),
        "p",
        "p_adjusted",
    )
    names = [who(row) for row in rows]
    clear = [who(row) for row in rows if decimal(row["p_adjusted"] or "1") < decimal(level)]
    found = {who(row): value(row, "difference") for row in rows}
    series = [
        Series(title, {name: found[name] for name in names if (name in clear) is wanted})
        for title, wanted in (
            (f"adjusted p below {level}", True),
            (f"adjusted p from {level} up", False),
        )
    ]
    cells = {name: each.cell for name, each in found.items()}
    return Figure(
        key=f"first-{'vps' if quantity == 'vps' else 'cost'}-{view.key}",
        title=f"Speaking first, {'VPS' if quantity == 'vps' else 'excess cost'}, {view.title}",
        says=words.extremes(cells, "difference of first speakers to later ones")
        + (
            f" Adjusted p below {level}: {words.joined(clear)}."
            if clear
            else f" No adjusted p is below {level}."
        ),
        drawn=dots(names, series, QUANTITIES[quantity]),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("first_speaker.csv"),),
        note=f"Mean of paired differences with {view.confidence} intervals over scenarios; "
        "right of zero the first speaker loses more. "
        "p by permutation, corrected by Benjamini and Hochberg.",
        height=height(len(names), 2),
    )
