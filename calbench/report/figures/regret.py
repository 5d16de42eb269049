"""What meetings cost too much, who bears it, and where it came from."""

from collections.abc import Mapping

from calbench.analysis.tables.regret import NEVER
from calbench.report.columns import decimal
from calbench.report.figures import words
from calbench.report.figures.charts import Series, bars, dots, height
from calbench.report.figures.figure import Figure, columns_of, selected
from calbench.report.figures.style import Style, Value
from calbench.report.figures.views import View, value, who
from calbench.report.tables import Row

PARTS: Mapping[str, str] = {
    "slot_choice": "Slot choice",
    "avoidable_moves": "Avoidable moves",
    "failed_rounds": "Failed rounds",
}
"""Of excess cost, in ``regret.csv``."""

LATE = ("#0072b2", "#d55e00", "#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#999999")
"""The kept games first, then the rounds."""


def fairness(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return fairness cost with the range over equally cheap schedules (paper, Figure 4)."""
    ties = {row["team"]: row for row in view.rows("sensitivity.csv")}
    rows = [
        {
            **row,
            **{
                name: ties.get(row["team"], {}).get(name, "")
                for name in ("fairness_least", "fairness_greatest")
            },
        }
        for row in view.leaderboard
        if row["fairness"]
    ]
    columns = (*columns_of("team", measures=("fairness",)), "fairness_least", "fairness_greatest")
    names = [row["team"] for row in rows]
    ranges = {
        row["team"]: Value(row["fairness"], row["fairness_least"], row["fairness_greatest"])
        for row in rows
        if row["fairness_least"]
    }
    found = {row["team"]: value(row, "fairness") for row in rows}
    return Figure(
        key=f"fairness-{view.key}",
        title=f"Fairness cost, {view.title}",
        says=words.extremes({row["team"]: row["fairness"] for row in rows}, "fairness cost"),
        drawn=dots(
            names,
            [Series(f"against the canonical one, {view.confidence} interval", found)],
            "Fairness in accounting cost (less is fairer)",
            style_by_name=style_by_name,
            ranges=Series("least to greatest over equally cheap optima", ranges),
        ),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("leaderboard.csv"), view.source("sensitivity.csv")),
        note="Left is fairer. The grey bar is no interval: it shows how far the choice among "
        "equally cheap optimal schedules alone moves the number.",
        height=height(len(names), 3),
    )  # fmt: skip


def completion(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return excess per meeting of seats that got all their meetings (paper, Table 11)."""
    rows = [row for row in view.rows("completion_regret.csv") if row["mean_excess"]]
    columns = (
        *columns_of("player", "teams", "seats", "full_seats", measures=("mean_excess",)),
        *columns_of(measures=("nonzero_regret",)),
    )
    cells = {who(row): row["mean_excess"] for row in rows}
    return Figure(
        key=f"completion-{view.key}",
        title=f"Excess of seats with all their meetings, {view.title}",
        says=f"{words.extremes(cells, 'excess per scheduled meeting')} "
        + words.extremes(
            {who(r): r["nonzero_regret"] for r in rows}, "share of seats with any regret"
        ),
        drawn=dots(
            list(cells),
            [Series("mean", {who(row): value(row, "mean_excess") for row in rows})],
            "Excess per scheduled meeting in accounting cost, seats with all their meetings",
            style_by_name=style_by_name,
        ),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("completion_regret.csv"),),
        note="Only agent-games in which every assigned meeting was placed; "
        f"bars are {view.confidence} intervals over scenarios. "
        "Players without such a seat are left out.",
        height=height(len(cells)),
    )


def split(view: View) -> Figure:
    """Return excess per game, split by its cause."""
    rows = view.rows("excess_parts.csv")
    names = [row["team"] for row in rows]
    found = {name: {row["team"]: value(row, name) for row in rows} for name in ("excess", *PARTS)}
    columns = columns_of("team", "games", measures=("excess", *PARTS))
    most = words.extremes({row["team"]: row["excess"] for row in rows}, "excess cost of a game")
    return Figure(
        key=f"split-{view.key}",
        title=f"Where excess cost came from, {view.title}",
        says=" ".join([most, *_main_parts(rows)]),
        drawn=bars(
            names,
            [Series(title, found[name]) for name, title in PARTS.items()],
            "Excess of a game in accounting cost",
            ends=Series(f"all of it, {view.confidence} interval", found["excess"]),
            colours=("#56b4e9", "#e69f00", "#d55e00"),
        ),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("regret.csv"),),
        note="Means over games, all agents together. Slot choice: another slot than the oracle's "
        "cost more. Avoidable moves: more was moved than its slot needed. Failed rounds: moves "
        "for a meeting that then was not placed.",
        height=height(len(names), 3),
    )


def _main_parts(rows: list[Row]) -> list[str]:
    """Return which cause is the largest, and of whom."""
    teams: dict[str, list[str]] = {}
    for row in rows:
        part = max(PARTS, key=lambda name: decimal(row[name]))
        if decimal(row[part]) > 0:
            teams.setdefault(PARTS[part], []).append(row["team"])
    return [f"{part} is the largest part of {words.joined(who)}." for part, who in teams.items()]


def optimum_unreachable(view: View) -> Figure:
    """Return in which round the optimum went out of reach, as shares of games."""
    rows = view.rows("optimum_unreachable_shares.csv")
    names = list(dict.fromkeys(row["team"] for row in rows))
    shares: dict[str, dict[str, Value]] = {NEVER: {}}
    for row in rows:
        shares.setdefault(row["unreachable_from"], {})[row["team"]] = value(row, "share")
    columns = columns_of("team", "unreachable_from", "games", "searched_games", measures=("share",))
    first = {t: v.cell for t, v in shares.get("Meeting 1", {}).items()}
    kept = {team: each.cell for team, each in shares[NEVER].items()}
    return Figure(
        key=f"optimum-{view.key}",
        title=f"When the optimum became unreachable, {view.title}",
        says=words.extremes(kept, "share of games that keep the optimum")
        + (" " + words.extremes(first, "share that loses it in meeting 1") if first else ""),
        drawn=bars(
            names,
            [Series(place, found) for place, found in shares.items()],
            "Share of games",
            ends=Series(f"never, Wilson {view.confidence}", shares[NEVER]),
            is_share=True,
            colours=LATE,
        ),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("optimum_unreachable.csv"),),
        note="The first turn after which no completion of the game reaches the oracle's cost, by "
        "meeting; a meeting that is not placed loses it too.",
        height=height(len(names), 6),
    )  # fmt: skip


def prior_moves(view: View, style_by_name: Mapping[str, Style]) -> Figure:
    """Return how many earlier meetings a seat moves in a game (paper, Figure 9)."""
    rows = [row for row in view.rows("prior_moves.csv") if row["meetings_moved"]]
    columns = columns_of("player", "teams", "agent_games", measures=("meetings_moved",))
    cells = {who(row): row["meetings_moved"] for row in rows}
    return Figure(
        key=f"prior-{view.key}",
        title=f"Earlier meetings moved, {view.title}",
        says=words.extremes(cells, "earlier meetings moved per agent-game"),
        drawn=dots(
            list(cells),
            [Series("mean", {who(row): value(row, "meetings_moved") for row in rows})],
            "Distinct earlier meetings moved per agent-game",
            style_by_name=style_by_name,
        ),
        columns=columns,
        rows=selected(rows, columns),
        sources=(view.source("prior_moves.csv"),),
        note=f"Bars are {view.confidence} intervals over scenarios.",
        height=height(len(cells)),
    )
