"""Times and sizes of this package, as somebody measured them once (timings.csv)."""

from collections.abc import Callable, Mapping
from pathlib import Path

from calbench.report import numbers
from calbench.report.escape import html_text
from calbench.report.results import Row, read_table

NAME = "timings.csv"

CAPTIONS: Mapping[str, str] = {
    "reproduce": "Times and sizes on two shared cores",
    "calls": "Many games with a model at once; replies take 200 ms",
    "site": "This site and its making",
}
"""Groups of rows, and the caption of their table."""

SOURCE = (
    f'<p>Measured by hand (<a href="tables/published/{NAME}">{NAME}</a>): '
    "your machine will differ.</p>"
)


def parts(published: Path) -> dict[str, Callable[[], str]]:
    """Return what stands for the markers ``timings-GROUP``; nothing where there is no table."""
    path = published / NAME
    rows = read_table(path) if path.is_file() else []
    return {f"timings-{group}": _part(rows, group) for group in CAPTIONS}


def _part(rows: list[Row], group: str) -> Callable[[], str]:
    return lambda: _table([row for row in rows if row["group"] == group], CAPTIONS[group])


def _table(rows: list[Row], caption: str) -> str:
    if not rows:
        return ""
    found = numbers.table(
        caption,
        [
            numbers.word_header("What"),
            numbers.word_header("Condition"),
            *map(numbers.plain_header, ("Measured", "to")),
            numbers.word_header("Unit"),
            numbers.word_header("How"),
        ],
        [
            [
                f'<th scope="row">{html_text(row["what"])}</th>',
                numbers.word_cell(row["condition"]),
                numbers.number_cell(row["low"]),
                numbers.number_cell(row["high"]) if row["high"] else "<td></td>",
                numbers.word_cell(row["unit"]),
                numbers.word_cell(row["how"]),
            ]
            for row in rows
        ],
    )
    return f"{found}\n\n{SOURCE}"
