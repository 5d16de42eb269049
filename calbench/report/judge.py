"""Our side of Tables 16 and 17: what a judge of the messages found, beside reflections."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.language_tables import vps_words
from calbench.report.results import ExperimentResults, Row
from calbench.report.special import titled

FOLDER = "judge"
"""Below an experiment's tables."""

TOTALS = f"{FOLDER}/metric_comparison.csv"
AGREEMENT = f"{FOLDER}/judge_agreement.csv"
SHOWN = (TOTALS, AGREEMENT)
"""The small tables, which the site offers; the large ones stay with the pipeline."""

SCRIPTED = "scripted"

UNITS = {
    "cell": "cells of observer, target and slot over a whole game",
    "round_cell": "the same cells, round by round",
    "movement": "movements of belief that go toward the truth",
    "game_target": "targets of a game: whose movements are more often right",
}
"""What statistics run over, in the order of the page."""

NONE = "<p>Ours: no judge was asked in this run.</p>"


def write(experiments: Sequence[ExperimentResults], tables: Path) -> None:
    """Bring the small tables to the site."""
    for results in experiments:
        for name in SHOWN:
            if (results.tables / name).is_file():
                target = tables / results.name / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((results.tables / name).read_bytes())


def downloads(experiments: Sequence[ExperimentResults]) -> list[str]:
    """Return the tables that the site has, below its folder of tables."""
    return [
        f"{results.name}/{name}"
        for results in experiments
        for name in SHOWN
        if (results.tables / name).is_file()
    ]


def _who(rows: Sequence[Row]) -> str:
    """Say who judged: a reader must not take a script for a model."""
    judges = dict.fromkeys(row["judge"] for row in rows)
    return ", ".join(
        "a scripted judge, no language model" if judge == SCRIPTED else judge for judge in judges
    )


def totals(experiments: Sequence[ExperimentResults]) -> str:
    """Return the columns of Table 16 for our teams, and means (metric_comparison.csv)."""
    shown = [
        table(results, rows)
        for results in experiments
        if (rows := results.optional(TOTALS))
        for table in (_sums, _means)
    ]
    return "\n\n".join(shown) or NONE


HEADERS = (
    numbers.plain_header("Team"),
    *(numbers.word_header(text) for text in ("Setting", "Primary measure")),
)

MEASURED = ("VPS by the judge", "calibrated", "VPS by the primary measure")


def _heads(row: Row) -> list[str]:
    return [
        f'<th scope="row">{html_text(row["team"])}</th>',
        *(numbers.word_cell(text) for text in (row["setting"], vps_words(row))),
    ]


def _sums(results: ExperimentResults, rows: Sequence[Row]) -> str:
    return numbers.table(
        f"Ours: {titled(results)}, judged by {_who(rows)}; sums over all games",
        [
            *HEADERS,
            *(numbers.plain_header(text) for text in ("Games", "Cases", "Unread", "Beliefs")),
            *(numbers.plain_header(text) for text in MEASURED),
        ],
        [
            [
                *_heads(row),
                *(numbers.number_cell(row[n]) for n in ("games", "cases", "unread", "beliefs")),
                *(
                    numbers.number_cell(row[name], 2)
                    for name in ("judge_vps", "judge_vps_calibrated", "primary_vps")
                ),
            ]
            for row in rows
        ],
    )


def _means(results: ExperimentResults, rows: Sequence[Row]) -> str:
    names = ("mean_judge_vps", "mean_judge_vps_calibrated", "mean_primary_vps", "gap")
    return numbers.table(
        f"Ours: {titled(results)}, judged by {_who(rows)}; means over agent-games, "
        f"{results.confidence} interval",
        [
            *HEADERS,
            *(numbers.plain_header(text) for text in (*MEASURED, "Gap", "p of the gap")),
        ],
        [
            [
                *_heads(row),
                *(numbers.estimate_cell(row, name) for name in names),
                numbers.number_cell(row["gap_p"], 4),
            ]
            for row in rows
        ],
    )


def agreement(experiments: Sequence[ExperimentResults]) -> str:
    """Return the statistics of Table 17 and more, a column a team (judge_agreement.csv)."""
    shown = [
        table
        for results in experiments
        if (rows := results.optional(AGREEMENT))
        for table in _agreement(results, rows)
    ]
    return "\n\n".join(shown) or NONE


def _agreement(results: ExperimentResults, rows: Sequence[Row]) -> Iterator[str]:
    for setting in dict.fromkeys(row["setting"] for row in rows):
        for unit, words in UNITS.items():
            found = [row for row in rows if (row["setting"], row["unit"]) == (setting, unit)]
            if found:
                caption = f"Ours: {titled(results)}, {setting}, judged by {_who(found)}; {words}"
                yield _statistics(found, caption)


def _statistics(rows: Sequence[Row], caption: str) -> str:
    teams = dict.fromkeys(row["team"] for row in rows)
    by_place = {(row["statistic"], row["team"]): row for row in rows}
    return numbers.table(
        caption,
        [numbers.word_header("Statistic"), *(numbers.plain_header(team) for team in teams)],
        [
            [
                f'<th scope="row">{html_text(statistic.replace("_", " "))}</th>',
                *(_value(by_place.get((statistic, team))) for team in teams),
            ]
            for statistic in dict.fromkeys(row["statistic"] for row in rows)
        ],
    )


def _value(row: Row | None) -> str:
    """Return a statistic with its interval and p-value, as far as it has them."""
    if row is None or not row["value"]:
        return numbers.number_cell("")
    digits = 3 if "." in row["value"] else None
    lines = [numbers.shown_number(row["value"], digits)]
    if row["low"] and row["high"]:
        ends = (numbers.shown_number(row[end], digits) for end in ("low", "high"))
        lines.append(f'<span class="cb-range">{" to ".join(ends)}</span>')
    if row["p_value"]:
        p = numbers.shown_number(row["p_value"], 4)
        lines.append(f'<span class="cb-range">p {p}</span>')
    return f"<td>{''.join(lines)}</td>"
