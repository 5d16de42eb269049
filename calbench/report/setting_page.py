"""The page of one setting of an experiment: every measure, and the games that none counts."""

from collections.abc import Callable, Mapping, Sequence

from calbench.report import explained, numbers, sections, telling
from calbench.report.escape import html_text, markdown_text
from calbench.report.figures import Figure
from calbench.report.links import GameLinks
from calbench.report.results import ExperimentResults, Row
from calbench.report.setting import SettingResults
from calbench.report.special import NONE_SPECIAL

NAMED = 20
"""Excluded games of a team that the page names [C]."""

WARNING = "⚠ many games excluded"


def settings(
    experiments: Sequence[ExperimentResults], kind_by_team: Mapping[str, str]
) -> list[SettingResults]:
    """Return every setting of the experiments that are browsed whole, in the order of pages."""
    return [
        SettingResults(results, setting, kind_by_team)
        for results in experiments
        for setting in results.settings
    ]


def parts(
    each: SettingResults,
    plane: Figure,
    explaining: Sequence[explained.Page],
    told: Sequence[Row],
) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers of the page.

    Args:
        each: the setting.
        plane: its cost against privacy.
        explaining: pages that stand beside it.
        told: rows of ``revealing_messages.csv``, of any setting.
    """
    return {
        "title": lambda: markdown_text(each.title),
        "counts": lambda: sections.counts(each),
        "measures": lambda: sections.measures(each, "../method.html"),
        "definitions": lambda: sections.definitions("../method.html"),
        "outcomes": lambda: sections.outcomes(each),
        "lost-games": lambda: excluded_games(each),
        "explained": lambda: explained.see_also(explaining),
        "sensitivity": lambda: sections.sensitivity(each),
        "leaks": lambda: sections.leaks(each),
        "telling": lambda: telling.table(told, each, GameLinks([each.results], NONE_SPECIAL)),
        "figure": lambda: sections.figure(plane, "../"),
        "downloads": lambda: sections.downloads(each),
        "traces": lambda: f"../traces.html#{each.results.name}",
    }


def excluded_games(each: SettingResults) -> str:
    """Return which games no number counts, by team, with links (outcomes.csv, games.csv)."""
    rows = [row for row in each.rows("outcomes.csv") if row["games_excluded"] != "0"]
    if not rows:
        return "<p>No game was excluded: every number counts all of them.</p>"
    links = GameLinks([each.results], NONE_SPECIAL)
    names: dict[str, list[str]] = {}
    for row in each.rows("games.csv"):
        if row["is_excluded"] == "true":
            names.setdefault(row["team"], []).append(row["scenario_id"])
    return numbers.table(
        "Games that a fault or a budget excluded; no other number counts them",
        [
            numbers.plain_header("Team"),
            *(numbers.plain_header(text) for text in ("Excluded", "percent")),
            *(numbers.word_header(text) for text in ("Mark", "Which")),
        ],
        [
            [
                each.team_header(row),
                numbers.number_cell(row["games_excluded"]),
                numbers.number_cell(row["excluded_percent"], 1),
                numbers.word_cell(WARNING if row["is_flagged"] == "true" else ""),
                _which(each, row, names.get(row["team"], []), links),
            ]
            for row in rows
        ],
    )


def _which(each: SettingResults, row: Row, lost: list[str], links: GameLinks) -> str:
    named = [links.game(each.results.name, row["team"], name) for name in lost[:NAMED]]
    rest = " and more, in games.csv" if len(lost) > NAMED else ""
    return f'<td class="cb-word">{", ".join(named)}{html_text(rest)}</td>'
