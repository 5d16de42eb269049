"""What meetings cost too much, who bears it, and where it came from."""

from collections.abc import Mapping, Sequence

from calbench.analysis.tables.regret import NEVER
from calbench.report.columns import largest_of
from calbench.report.figures import finding, words
from calbench.report.figures.charts import Series, bars, dots, height
from calbench.report.figures.figure import Figure, columns_of, section
from calbench.report.figures.style import Styles, Value
from calbench.report.setting import Setting, player_of
from calbench.report.tables import Row

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
"""Titles of axes."""


@section("cost", "fairness", "Fairness cost", "leaderboard.csv", "sensitivity.csv")
def fairness(setting: Setting, style_by_name: Styles) -> Figure:
    """Return fairness cost with the range over equally cheap schedules (paper, Figure 4)."""
    ties = {row["team"]: row for row in setting.rows("sensitivity.csv")}
    rows = [
        {**row, **{name: ties.get(row["team"], {}).get(name, "") for name in TIES}}
        for row in setting.leaderboard
        if row["fairness"]
    ]
    legend = f"against the canonical one, {setting.confidence} interval"
    found = Series.of(legend, rows, "fairness")
    ranges = {
        row["team"]: Value(row["fairness"], *(row[name] for name in TIES))
        for row in rows
        if row["fairness_least"]
    }
    return Figure(
        says=words.extremes(found.cells, "fairness cost"),
        finding=finding.spread(
            finding.competing(found.values, style_by_name),
            "fairness cost",
            ("shares the cost most evenly", "share the cost most evenly"),
            "least evenly",
        ),
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
def split(setting: Setting, style_by_name: Styles) -> Figure:
    """Return excess per game, split by its cause."""
    rows = setting.rows("excess_parts.csv")
    every = Series.of(f"all of it, {setting.confidence} interval", rows, "excess")
    return Figure(
        says=" ".join(
            [
                words.extremes(every.cells, "excess cost of a game"),
                *(f"{part}." for part in _main_parts(rows)),
            ]
        ),
        drawn=bars(
            list(every.values),
            [Series.of(title, rows, name) for name, title in PARTS.items()],
            "Excess of a game in accounting cost",
            ends=every,
        ),
        finding=_main_part(rows, style_by_name),
        measured=tuple(PARTS),
        columns=columns_of("team", "games", measures=("excess", *PARTS)),
        rows=rows,
        height=height(len(rows), 3),
    )


def _by_part(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the teams by their largest part in words, parts of most teams first."""
    found: dict[str, list[str]] = {}
    for row in rows:
        parts = [PARTS[name] for name in largest_of(row, PARTS)]
        if parts:
            both = " and ".join([parts[0], *(part.lower() for part in parts[1:])])
            found.setdefault(both, []).append(row["team"])
    return dict(sorted(found.items(), key=lambda each: -len(each[1])))


def _main_parts(rows: Sequence[Row]) -> list[str]:
    """Return which cause is the largest, and of which teams."""
    return [
        f"{part} {'are the largest parts' if ' and ' in part else 'is the largest part'} "
        f"of {words.joined(who)}"
        for part, who in _by_part(rows).items()
    ]


def _main_part(rows: Sequence[Row], style_by_name: Styles) -> str:
    """Return of which teams each cause is the largest, by means, the most frequent first."""
    every = {row["team"]: row["excess"] for row in rows}
    teams = finding.competing(every, style_by_name)
    found = _by_part([row for row in rows if row["team"] in teams])
    said = [f"{part.lower()} of {words.joined(who)}" for part, who in found.items()]
    if not said:
        return ""
    return f"the largest mean part of excess cost (not tested): {'; '.join(said)}"


@section("cost", "optimum", "When the optimum became unreachable", "optimum_unreachable_shares.csv")
def optimum_unreachable(setting: Setting, style_by_name: Styles) -> Figure:
    """Return in which round the optimum became unreachable, as shares of games."""
    rows = setting.rows("optimum_unreachable_shares.csv")
    names = list(dict.fromkeys(row["team"] for row in rows))
    places = dict.fromkeys((NEVER, *(row["unreachable_from"] for row in rows)))
    series = [
        Series.of(place, [row for row in rows if row["unreachable_from"] == place], "share")
        for place in places
    ]
    kept = Series(f"never, {setting.confidence} interval", series[0].values)
    said = [words.extremes(kept.cells, "share of games that keep the optimum reachable")]
    said += [
        words.extremes(each.cells, "share in which meeting 1 makes it unreachable")
        for each in series
        if each.name == "Meeting 1"
    ]
    return Figure(
        says=" ".join(said),
        drawn=bars(names, series, "Share of games", ends=kept, is_share=True),
        finding=finding.spread(
            finding.competing(kept.values, style_by_name),
            "share of games with the optimum in reach",
            ("keeps the optimum in reach least often", "keep the optimum in reach least often"),
            "most often",
        ),
        measured=("share",),
        named="unreachable_from",
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
    rows = [row for row in setting.rows("completion_regret.csv") if row["mean_excess"]]
    some = {player_of(row): row["nonzero_regret"] for row in rows}
    found = Series.of("mean", rows, "mean_excess", player_of)
    return Figure(
        says=f"{words.extremes(found.cells, 'excess per scheduled meeting in accounting cost')} "
        f"{words.extremes(some, 'share of seats with any regret')}",
        drawn=dots(list(some), [found], SEATS, style_by_name=style_by_name),
        finding=finding.spread(
            finding.competing(found.values, style_by_name),
            "excess cost with all meetings placed",
            ("pays least with all meetings placed", "pay least with all meetings placed"),
        ),
        measured=("mean_excess",),
        columns=columns_of(
            "player",
            "teams",
            "seats",
            "full_seats",
            measures=("mean_excess", "nonzero_regret"),
        ),
        rows=rows,
        height=height(len(rows)),
    )


@section("cost", "prior", "Earlier meetings moved", "prior_moves.csv")
def prior_moves(setting: Setting, style_by_name: Styles) -> Figure:
    """Return how many earlier meetings a seat moves in a game (paper, Figure 9)."""
    rows = [row for row in setting.rows("prior_moves.csv") if row["meetings_moved"]]
    found = Series.of("mean", rows, "meetings_moved", player_of)
    axis = "Distinct earlier meetings moved per agent-game"
    return Figure(
        says=words.extremes(found.cells, "earlier meetings moved per agent-game"),
        finding=finding.spread(
            finding.competing(found.values, style_by_name),
            "number of earlier meetings moved",
            ("moves fewest earlier meetings", "move fewest earlier meetings"),
        ),
        measured=("meetings_moved",),
        drawn=dots(list(found.values), [found], axis, style_by_name=style_by_name),
        columns=columns_of("player", "teams", "agent_games", measures=("meetings_moved",)),
        rows=rows,
        height=height(len(rows)),
    )
