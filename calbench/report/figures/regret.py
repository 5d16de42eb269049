"""What meetings cost too much, who bears it, and where it came from."""

from collections.abc import Mapping, Sequence

from calbench.analysis.tables.regret import NEVER
from calbench.report.columns import decimal
from calbench.report.figures import words
from calbench.report.figures.charts import Series, bars, dots, height
from calbench.report.figures.figure import Drawn, columns_of, section
from calbench.report.figures.style import Styles, Value
from calbench.report.setting import Setting, player_of
from calbench.report.tables import Row

PARTS: Mapping[str, str] = {
    "slot_choice": "Slot choice",
    "avoidable_moves": "Avoidable moves",
    "failed_rounds": "Failed rounds",
}
"""Of excess cost, in ``excess_parts.csv``."""

LATE = ("#0072b2", "#d55e00", "#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#999999")
"""The kept games first, then the rounds."""

TIES = ("fairness_least", "fairness_greatest")
"""Of ``sensitivity.csv``."""


@section("cost", "fairness", "Fairness cost", "leaderboard.csv", "sensitivity.csv")
def fairness(setting: Setting, style_by_name: Styles) -> Drawn:
    """Return fairness cost with the range over equally cheap schedules (paper, Figure 4)."""
    ties = {row["team"]: row for row in setting.rows("sensitivity.csv")}
    rows = [
        {**row, **{name: ties.get(row["team"], {}).get(name, "") for name in TIES}}
        for row in setting.leaderboard
        if row["fairness"]
    ]
    found = Series(
        f"against the canonical one, {setting.confidence} interval",
        {row["team"]: Value.of(row, "fairness") for row in rows},
    )
    ranges = {
        row["team"]: Value(row["fairness"], *(row[name] for name in TIES))
        for row in rows
        if row["fairness_least"]
    }
    return Drawn(
        says=words.extremes(found.cells, "fairness cost"),
        drawn=dots(
            list(found.values),
            [found],
            "Fairness in accounting cost (less is fairer)",
            style_by_name=style_by_name,
            ranges=Series("least to greatest over equally cheap optima", ranges),
        ),
        columns=(*columns_of("team", measures=("fairness",)), *TIES),
        rows=rows,
        note="Left is fairer. The grey bar is not an interval: it shows how far the choice among "
        "equally cheap optimal schedules alone moves the number.",
        height=height(len(rows), 3),
    )


@section("cost", "split", "Where excess cost came from", "excess_parts.csv")
def split(setting: Setting, _: Styles) -> Drawn:
    """Return excess per game, split by its cause."""
    rows = setting.rows("excess_parts.csv")
    found = {
        name: {row["team"]: Value.of(row, name) for row in rows} for name in ("excess", *PARTS)
    }
    every = Series(f"all of it, {setting.confidence} interval", found["excess"])
    return Drawn(
        says=" ".join([words.extremes(every.cells, "excess cost of a game"), *_main_parts(rows)]),
        drawn=bars(
            list(every.values),
            [Series(title, found[name]) for name, title in PARTS.items()],
            "Excess of a game in accounting cost",
            ends=every,
            colours=("#56b4e9", "#e69f00", "#d55e00"),
        ),
        columns=columns_of("team", "games", measures=("excess", *PARTS)),
        rows=rows,
        note="Means over games, all agents together. Slot choice: another slot than the oracle's "
        "cost more. Avoidable moves: more was moved than its slot needed. Failed rounds: moves "
        "for a meeting that then was not placed.",
        height=height(len(rows), 3),
    )


def _main_parts(rows: Sequence[Row]) -> list[str]:
    """Return which cause is the largest, and of which teams."""
    teams: dict[str, list[str]] = {}
    for row in rows:
        part = max(PARTS, key=lambda name: decimal(row[name]))
        if decimal(row[part]) > 0:
            teams.setdefault(PARTS[part], []).append(row["team"])
    return [f"{part} is the largest part of {words.joined(who)}." for part, who in teams.items()]


@section("cost", "optimum", "When the optimum became unreachable", "optimum_unreachable_shares.csv")
def optimum_unreachable(setting: Setting, _: Styles) -> Drawn:
    """Return in which round the optimum became unreachable, as shares of games."""
    rows = setting.rows("optimum_unreachable_shares.csv")
    names = list(dict.fromkeys(row["team"] for row in rows))
    shares: dict[str, dict[str, Value]] = {NEVER: {}}
    for row in rows:
        shares.setdefault(row["unreachable_from"], {})[row["team"]] = Value.of(row, "share")
    series = [Series(place, found) for place, found in shares.items()]
    kept = Series(f"never, Wilson {setting.confidence}", shares[NEVER])
    said = [words.extremes(kept.cells, "share of games that keep the optimum reachable")]
    said += [
        words.extremes(each.cells, "share in which meeting 1 makes it unreachable")
        for each in series
        if each.name == "Meeting 1"
    ]
    return Drawn(
        says=" ".join(said),
        drawn=bars(names, series, "Share of games", ends=kept, is_share=True, colours=LATE),
        columns=columns_of(
            "team", "unreachable_from", "games", "searched_games", measures=("share",)
        ),
        rows=rows,
        note="The first turn after which no completion of the game reaches the oracle's cost, by "
        "meeting; a meeting that is not placed counts too.",
        height=height(len(names), 6),
    )


@section("cost", "completion", "Excess of seats with all their meetings", "completion_regret.csv")
def completion(setting: Setting, style_by_name: Styles) -> Drawn:
    """Return excess per meeting of seats that got all their meetings (paper, Table 11)."""
    rows = [row for row in setting.rows("completion_regret.csv") if row["mean_excess"]]
    some = {player_of(row): row["nonzero_regret"] for row in rows}
    found = _means(rows, "mean_excess")
    return Drawn(
        says=f"{words.extremes(found.cells, 'excess per scheduled meeting')} "
        f"{words.extremes(some, 'share of seats with any regret')}",
        drawn=dots(
            list(some),
            [found],
            "Excess per scheduled meeting in accounting cost, seats with all their meetings",
            style_by_name=style_by_name,
        ),
        columns=columns_of(
            "player", "teams", "seats", "full_seats", measures=("mean_excess", "nonzero_regret")
        ),
        rows=rows,
        note="Only agent-games in which every assigned meeting was placed; "
        f"bars are {setting.confidence} intervals over scenarios. "
        "Players without such a seat are left out.",
        height=height(len(rows)),
    )


@section("cost", "prior", "Earlier meetings moved", "prior_moves.csv")
def prior_moves(setting: Setting, style_by_name: Styles) -> Drawn:
    """Return how many earlier meetings a seat moves in a game (paper, Figure 9)."""
    rows = [row for row in setting.rows("prior_moves.csv") if row["meetings_moved"]]
    found = _means(rows, "meetings_moved")
    axis = "Distinct earlier meetings moved per agent-game"
    return Drawn(
        says=words.extremes(found.cells, "earlier meetings moved per agent-game"),
        drawn=dots(list(found.values), [found], axis, style_by_name=style_by_name),
        columns=columns_of("player", "teams", "agent_games", measures=("meetings_moved",)),
        rows=rows,
        note=f"Bars are {setting.confidence} intervals over scenarios.",
        height=height(len(rows)),
    )


def _means(rows: Sequence[Row], measure: str) -> Series:
    return Series("mean", {player_of(row): Value.of(row, measure) for row in rows})
