"""Tables of the audits that several pages show, each from the CSV it names."""

from collections.abc import Sequence
from pathlib import Path

from calbench.metrics.speech.own_slot import NAMES as LABELS
from calbench.metrics.speech.patterns import PATTERNS
from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.results import ExperimentResults, Row, read_table


def rate_cell(row: Row | None) -> str:
    """Return a share with its Wilson interval; a dash of nothing."""
    if row is None or not row["rate"]:
        return f'<td><span title="nothing to count">{numbers.DASH}</span></td>'
    return numbers.range_cell(row["rate"], row["rate_low"], row["rate_high"], 3)


def patterns_table(results: ExperimentResults, setting: str, caption: str) -> str:
    """Return the patterns of one setting's teams, a column a team (audit_patterns.csv)."""
    rows = [
        row
        for row in results.table("audit_patterns.csv")
        if row["setting"] == setting and not row["player"]
    ]
    teams = list(dict.fromkeys(row["team"] for row in rows))
    found = {(row["pattern"], row["team"]): row for row in rows}
    return numbers.table(
        caption,
        [
            *(numbers.word_header(text) for text in ("Pattern", "Level", "Counts")),
            *(numbers.plain_header(team) for team in teams),
        ],
        [
            [
                f'<th scope="row">{html_text(pattern.name.replace("_", " "))}</th>',
                *(numbers.word_cell(text) for text in (pattern.level, pattern.unit)),
                *(_count(found.get((pattern.name, team))) for team in teams),
            ]
            for pattern in PATTERNS
        ],
    )


def pattern_definitions() -> str:
    """Return what each pattern is found by, and where that comes from (paper, Table 15)."""
    return numbers.table(
        "The twelve patterns, in the order of the paper's Table 15",
        [
            numbers.word_header(text)
            for text in ("Pattern", "Level", "Counts", "Found by", "Origin")
        ],
        [
            [
                f'<th scope="row">{html_text(pattern.name.replace("_", " "))}</th>',
                *(
                    numbers.word_cell(text)
                    for text in (
                        pattern.level,
                        pattern.unit,
                        pattern.detector,
                        f"[{pattern.origin}]",
                    )
                ),
            ]
            for pattern in PATTERNS
        ],
    )


def _count(row: Row | None) -> str:
    if row is None:
        return numbers.number_cell("")
    rate = f'<span class="cb-range">{numbers.shown_number(row["rate"], 3)}</span>'
    return f"<td>{numbers.shown_number(row['count'], None)}{rate if row['rate'] else ''}</td>"


def own_slot_table(rows: Sequence[Row], caption: str) -> str:
    """Return rates of the own-slot labels, label by label, beside those of all other players."""
    return numbers.table(
        caption,
        [
            numbers.word_header("Label"),
            *(numbers.word_header(text) for text in ("Player", "Team", "Setting")),
            *(numbers.plain_header(text) for text in ("Messages", "with it", "Share")),
            *(numbers.plain_header(text) for text in ("Others' share", "p", "p corrected")),
        ],
        [
            [
                f'<th scope="row">{html_text(label.replace("_", " "))}</th>',
                *(numbers.word_cell(row[name]) for name in ("player", "team", "setting")),
                *(numbers.number_cell(row[name]) for name in ("messages", "count")),
                rate_cell(row),
                numbers.number_cell(row["others_rate"], 3),
                *(numbers.number_cell(row[name], 4) for name in ("p_value", "p_corrected")),
            ]
            for label in LABELS
            for row in rows
            if row["label"] == label
        ],
    )


def sample_table(path: Path) -> str:
    """Return precision and recall on the labelled sample (audit_sample.csv)."""
    if not path.is_file():
        return "<p>The table of the labelled sample has not been made.</p>"
    return numbers.table(
        "Precision and recall on the labelled sample, shares of 1 with Wilson 95% intervals",
        [
            *(numbers.word_header(text) for text in ("Extractor", "Part")),
            *(numbers.plain_header(text) for text in ("Messages", "right", "wrong", "missed")),
            *(numbers.plain_header(text) for text in ("Precision", "Recall")),
        ],
        [
            [
                f'<th scope="row">{html_text(row["label"].replace("_", " "))}</th>',
                numbers.word_cell(row["part"]),
                *(numbers.number_cell(row[name]) for name in COUNTS),
                *(_interval(row, name) for name in ("precision", "recall")),
            ]
            for row in read_table(path)
        ],
    )


COUNTS = ("messages", "true_positives", "false_positives", "false_negatives")


def _interval(row: Row, name: str) -> str:
    if not row[name] or not row[f"{name}_low"] or not row[f"{name}_high"]:
        return numbers.number_cell(row[name], 3)
    return numbers.range_cell(row[name], row[f"{name}_low"], row[f"{name}_high"], 3)
