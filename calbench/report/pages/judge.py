"""What judges of messages found: ours apart, and beside the paper only if models met a model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from calbench.analysis.summary import KIND_WORDS
from calbench.analysis.tables.judge import ALL_SETTINGS
from calbench.metrics.judge.scripted import SCRIPTED_JUDGE
from calbench.report.experiment import Experiment
from calbench.report.site import Site
from calbench.report.tables import Row, grouped

SUMS = "judge_totals.csv"
"""Over several runs."""

MEANS = "judge/metric_comparison.csv"
AGREEMENT = "judge/judge_agreement.csv"

TOTALS = "vps_totals.csv"
"""Of a run on several draws of its suites."""

PUBLISHED = ("table16.csv", "DSM-private", "dsm-private")
"""Table and row of the paper's sum of V over typed games, and the team that plays them here."""

JUDGES = {SCRIPTED_JUDGE: "a scripted judge, no language model"}
"""A reader must not take a script for a model."""

UNITS = {
    "cell": "cells of observer, target and slot over a whole game",
    "round_cell": "the same cells, round by round",
    "movement": "movements of belief toward the truth",
    "game_target": "targets of a game: whose movements are more often right",
}
"""What the judge's statistics run over, in the order of the page."""

Wanted = Callable[[Row], bool]


def found(site: Site, wanted: Wanted = lambda _: True) -> dict[str, Any]:
    """Return what judges said in ranked experiments, in rows that are wanted."""
    sums = [_named(site, row) for row in site.summary.optional(SUMS) if wanted(row)]
    return {
        "sums": [
            {
                "title": who(rows),
                "rows": [r for own in grouped(rows, "experiment").values() for r in _widest(own)],
            }
            for rows in grouped(sums, "judge").values()
        ],
        "means": [each for run in site.ranked for each in _means(run, wanted)],
        "agreement": [each for run in site.ranked for each in _agreement(run, wanted)],
    }


def _widest(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows over all settings, or else those of each."""
    return [row for row in rows if row["setting"] == ALL_SETTINGS] or rows


def of_models(site: Site) -> dict[str, Any]:
    """Return what models said as judges about teams of models, as the paper's Tables 16 and 17.

    A scripted judge, or one of scripted speakers, is a test of the plumbing: its numbers are not
    set beside the paper's.
    """

    def is_of_models(row: Row) -> bool:
        kind = site.kind_by_team.get(row["team"], "").split(",")[0]
        return row["judge"] not in JUDGES and kind == KIND_WORDS["model"]

    return found(site, is_of_models)


def who(rows: Iterable[Row]) -> str:
    """Return who judged."""
    judges = dict.fromkeys(row["judge"] for row in rows)
    return ", ".join(JUDGES.get(judge, judge) for judge in judges)


def _named(site: Site, row: Row) -> Row:
    """Return a row of sums with the games it is of, in words."""
    titles = {each.name: each.title for each in site.ranked}
    names = " and ".join(titles.get(name, name) for name in row["experiment"].split(" and "))
    is_one = row["experiment"] in titles
    setting = "all settings" if row["setting"] == ALL_SETTINGS else row["setting"]
    return {**row, "games_of": f"{names}: {setting}" if is_one else f"{names}, together"}


def _means(experiment: Experiment, wanted: Wanted) -> Iterator[dict[str, Any]]:
    rows = [row for row in experiment.tables.optional(MEANS) if wanted(row)]
    if rows:
        title = f"{experiment.title}, judged by {who(rows)}"
        yield {"title": title, "confidence": experiment.confidence, "rows": _widest(rows)}


def _agreement(experiment: Experiment, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Yield the statistics of judge and reflections by setting, with those of teams.

    Of several things that they run over it is the first.
    """
    rows = [row for row in experiment.tables.optional(AGREEMENT) if wanted(row)]
    for setting, every in grouped(_widest(rows), "setting").items():
        shown = "all settings" if setting == ALL_SETTINGS else setting
        by_unit = grouped(every, "unit")
        unit = next(unit for unit in UNITS if unit in by_unit)
        own = by_unit[unit]
        yield {
            "title": f"{experiment.title}, {shown}, judged by {who(own)}; {UNITS[unit]}",
            "teams": list(grouped(own, "team")),
            "statistics": {
                name.replace("_", " "): {row["team"]: row for row in rows_of}
                for name, rows_of in grouped(own, "statistic").items()
            },
        }


def drawn(site: Site) -> dict[str, Any]:
    """Return the sum of V over typed games for each draw of the suites, and the paper's."""
    table, dataset, team = PUBLISHED
    rows = [
        {**row, "of": " and ".join(row["settings"])}
        for each in site.on("reproduction")
        for row in each.tables.optional(TOTALS, team=team)
    ]
    theirs = site.published.optional(table, source="paper", dataset=dataset)
    return {"rows": rows, "published": theirs[0]["primary_vps"] if theirs else None}


def files(site: Site) -> list[str]:
    """Return the tables that are shown, below the site's folder of tables."""
    names = [
        f"{each.name}/{name}"
        for each in site.ranked
        for name in (MEANS, AGREEMENT)
        if each.tables.has(name)
    ]
    totals = [
        f"{each.name}/{TOTALS}" for each in site.on("reproduction") if each.tables.has(TOTALS)
    ]
    sums = [SUMS] if site.summary.has(SUMS) and names else []
    return [*sums, *names, *totals]
