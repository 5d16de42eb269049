"""What meetings cost too much, who bears it, and where it came from."""

from collections.abc import Mapping

from calbench.analysis.tables.regret import NEVER
from calbench.report.experiment import Setting, player_of
from calbench.report.figures.charts import Series, bars, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.style import Styles, Value
from calbench.report.tables import grouped

PARTS: Mapping[str, str] = {
    "slot_choice": "Slot choice",
    "avoidable_moves": "Avoidable moves",
    "failed_rounds": "Failed rounds",
}
"""Of excess cost, in ``excess_parts.csv``."""

TIES = ("fairness_least", "fairness_greatest")
"""Of ``sensitivity.csv``."""

FAIRNESS = "Fairness in accounting cost (less is fairer)"
SEATS = "Excess per scheduled meeting in accounting cost, seats with all their meetings"
MOVES = "Distinct earlier meetings moved per agent-game"
"""Titles of axes."""


@section("cost", "fairness", "Fairness cost", "leaderboard.csv", "sensitivity.csv")
def fairness(setting: Setting, style_by_name: Styles) -> Figure:
    """Return fairness cost with the range over equally cheap schedules (paper, Figure 4)."""
    ties = {row["team"]: row for row in setting.rows("sensitivity.csv")}
    rows = [
        {**row, **{name: ties.get(row["team"], {}).get(name) for name in TIES}}
        for row in setting.leaderboard
        if row["fairness"] is not None
    ]
    legend = f"against the canonical one, {setting.confidence} interval"
    found = Series.of(legend, rows, "fairness")
    ranges = {
        row["team"]: Value(row["fairness"], *(row[name] for name in TIES))
        for row in rows
        if row["fairness_least"] is not None
    }
    return Figure(
        measured=("fairness",),
        drawn=dots(
            list(found.values),
            [found],
            FAIRNESS,
            style_by_name=style_by_name,
            ranges=Series("least to greatest over equally cheap optima", ranges),
        ),
        columns=(*columns_of("team", measures=("fairness",)), *TIES),
        rows=rows,
        height=height(len(rows), 3),
    )


@section("cost", "split", "Where excess cost came from", "excess_parts.csv")
def split(setting: Setting, _looks: Styles) -> Figure:
    """Return excess per game, split by its cause."""
    rows = setting.rows("excess_parts.csv")
    every = Series.of(f"all of it, {setting.confidence} interval", rows, "excess")
    return Figure(
        drawn=bars(
            list(every.values),
            [Series.of(title, rows, name) for name, title in PARTS.items()],
            "Excess of a game in accounting cost",
            ends=every,
        ),
        measured=tuple(PARTS),
        columns=columns_of("team", "games", measures=("excess", *PARTS)),
        rows=rows,
        height=height(len(rows), 3),
    )


@section("cost", "optimum", "When the optimum became unreachable", "optimum_unreachable_shares.csv")
def optimum_unreachable(setting: Setting, _looks: Styles) -> Figure:
    """Return in which round the optimum became unreachable, as shares of games."""
    rows = setting.rows("optimum_unreachable_shares.csv")
    names = list(dict.fromkeys(row["team"] for row in rows))
    by_place = {NEVER: [], **grouped(rows, "unreachable_from")}
    series = [Series.of(place, own, "share") for place, own in by_place.items()]
    kept = Series(f"never, {setting.confidence} interval", series[0].values)
    return Figure(
        drawn=bars(names, series, "Share of games", ends=kept, is_share=True),
        measured=("share",),
        columns=columns_of(
            "team", "unreachable_from", "games", "searched_games", measures=("share",)
        ),
        rows=rows,
        height=height(len(names), 6),
    )


@section("cost", "completion", "Excess of seats with all their meetings", "completion_regret.csv")
def completion(setting: Setting, style_by_name: Styles) -> Figure:
    """Return excess per meeting of seats that got all their meetings (paper, Table 11).

    In accounting costs, as all else on the page; the paper counts in those that agents are shown.
    """
    return _by_player(
        setting,
        style_by_name,
        "completion_regret.csv",
        SEATS,
        measure="mean_excess",
        columns=columns_of(
            "player", "teams", "seats", "full_seats", measures=("mean_excess", "nonzero_regret")
        ),
    )


@section("cost", "prior", "Earlier meetings moved", "prior_moves.csv")
def prior_moves(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how many earlier meetings a seat moves in a game (paper, Figure 9)."""
    return _by_player(
        setting,
        style_by_name,
        "prior_moves.csv",
        MOVES,
        measure="meetings_moved",
        columns=columns_of("player", "teams", "agent_games", measures=("meetings_moved",)),
    )


def _by_player(
    setting: Setting,
    style_by_name: Styles,
    table: str,
    axis: str,
    measure: str,
    columns: tuple[str, ...],
) -> Figure:
    """Return a measure of players."""
    rows = [row for row in setting.rows(table) if row[measure] is not None]
    found = Series.of("mean", rows, measure, player_of)
    return Figure(
        measured=(measure,),
        drawn=dots(list(found.values), [found], axis, style_by_name=style_by_name),
        columns=columns,
        rows=rows,
        height=height(len(rows)),
    )
