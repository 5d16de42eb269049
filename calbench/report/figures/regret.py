"""What meetings cost too much, who bears it, and where it came from."""

from collections import Counter
from collections.abc import Mapping

from calbench.report import numbers
from calbench.report.figures import words
from calbench.report.figures.charts import Series, bars, dots, height
from calbench.report.figures.estimated import means, share
from calbench.report.figures.figure import Figure, columns_of, selected
from calbench.report.figures.style import Style, Value
from calbench.report.figures.views import View, value, who
from calbench.report.results import Row

PARTS: Mapping[str, str] = {
    "slot_choice": "Slot choice",
    "avoidable_moves": "Avoidable moves",
    "failed_rounds": "Failed rounds",
}
"""Of excess cost, in ``regret.csv``."""

KEPT = "Never"

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
            [Series("against the canonical one, 95% interval", found)],
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
        note="Only agent-games in which every assigned meeting was placed; bars are 95% intervals "
        "over scenarios. Players without such a seat are left out.",
        height=height(len(cells)),
    )


def split(view: View) -> Figure:
    """Return excess per game, split by its cause."""
    games = [row for row in view.rows("games.csv") if row["is_lost"] != "true"]
    played = {(row["team"], row["scenario_id"]) for row in games}
    by_team: dict[str, list[Row]] = {row["team"]: [] for row in games}
    sums: dict[tuple[str, str], Counter[str]] = {key: Counter() for key in sorted(played)}
    for row in view.rows("regret.csv"):
        if (row["team"], row["scenario_id"]) in sums:
            for name in (*PARTS, "excess"):
                sums[row["team"], row["scenario_id"]][name] += int(row[name])
    for (team, scenario), total in sums.items():
        by_team[team].append(
            {"scenario_id": scenario, **{n: str(total[n]) for n in (*PARTS, "excess")}}
        )
    found = {name: means(by_team, name, "", "regret", view.setting) for name in (*PARTS, "excess")}
    names = [row["team"] for row in view.leaderboard if row["team"] in found["excess"]]
    columns = columns_of("team", "games", measures=("excess", *PARTS))
    rows = [_mean_row(team, str(len(by_team[team])), found) for team in names]
    most = words.extremes({row["team"]: row["excess"] for row in rows}, "excess cost of a game")
    return Figure(
        key=f"split-{view.key}",
        title=f"Where excess cost came from, {view.title}",
        says=" ".join([most, *_main_parts(rows)]),
        drawn=bars(
            names,
            [Series(title, found[name]) for name, title in PARTS.items()],
            "Excess of a game in accounting cost",
            ends=Series("all of it, 95% interval", found["excess"]),
            colours=("#56b4e9", "#e69f00", "#d55e00"),
        ),
        columns=columns,
        rows=tuple(rows),
        sources=(view.source("regret.csv"),),
        note="Means over games, all agents together. Slot choice: another slot than the oracle's "
        "cost more. Avoidable moves: more was moved than its slot needed. Failed rounds: moves "
        "for a meeting that then was not placed.",
        height=height(len(names), 3),
    )


def _mean_row(team: str, games: str, found: Mapping[str, Mapping[str, Value]]) -> Row:
    cells = {"team": team, "games": games}
    for name, by_team in found.items():
        each = by_team[team]
        cells |= {name: each.cell, f"{name}_low": each.low, f"{name}_high": each.high}
    return cells


def _main_parts(rows: list[Row]) -> list[str]:
    """Return which cause is the largest, and of whom."""
    teams: dict[str, list[str]] = {}
    for row in rows:
        part = max(PARTS, key=lambda name: numbers.decimal(row[name]))
        if numbers.decimal(row[part]) > 0:
            teams.setdefault(PARTS[part], []).append(row["team"])
    return [f"{part} is the largest part of {words.joined(who)}." for part, who in teams.items()]


def optimum_lost(view: View) -> Figure:
    """Return in which round the optimum went out of reach, as shares of games."""
    by_team: dict[str, Counter[str]] = {}
    for row in view.rows("optimum_lost.csv"):
        if row["is_searched"] == "true":
            place = f"Meeting {int(row['round']) + 1}" if row["round"] else KEPT
            by_team.setdefault(row["team"], Counter())[place] += 1
    names = [row["team"] for row in view.leaderboard if row["team"] in by_team]
    later = sorted({place for found in by_team.values() for place in found} - {KEPT})
    shares = {
        place: {team: share(by_team[team][place], by_team[team].total()) for team in names}
        for place in (KEPT, *later)
    }
    columns = ("team", "lost_in", "games", "searched_games", "share", "share_low", "share_high")
    rows = [
        dict(
            zip(
                columns,
                (team, place, str(by_team[team][place]), str(by_team[team].total()),
                 each.cell, each.low, each.high),
                strict=True,
            )
        )
        for place, found in shares.items()
        for team, each in found.items()
    ]  # fmt: skip
    first = {t: v.cell for t, v in shares.get("Meeting 1", {}).items()}
    kept = {team: each.cell for team, each in shares[KEPT].items()}
    return Figure(
        key=f"optimum-{view.key}",
        title=f"When the optimum was lost, {view.title}",
        says=words.extremes(kept, "share of games that keep the optimum")
        + (" " + words.extremes(first, "share that loses it in meeting 1") if first else ""),
        drawn=bars(
            names,
            [Series(place, found) for place, found in shares.items()],
            "Share of games",
            ends=Series("never, Wilson 95%", shares[KEPT]),
            is_share=True,
            colours=LATE,
        ),
        columns=columns,
        rows=tuple(rows),
        sources=(view.source("optimum_lost.csv"),),
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
        note="Bars are 95% intervals over scenarios.",
        height=height(len(cells)),
    )
