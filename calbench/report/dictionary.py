"""The data dictionary of the site: every column of every table that it offers."""

import re
from collections.abc import Iterator, Mapping, Sequence

from calbench.analysis import audit_sample
from calbench.analysis.tables import TABLES
from calbench.facts.columns import Column
from calbench.report import numbers
from calbench.report.audits import SAMPLE
from calbench.report.escape import html_text
from calbench.report.runs import SUMMARY
from calbench.report.site_columns import DRAWN, PUBLISHED

HEADERS = ("Column", "Kind", "Unit", "Meaning", "Runs over", "Origin")


def of_experiments() -> str:
    """Return the columns of the tables that every run writes."""
    return "\n\n".join(_entries({name: table.columns for name, table in TABLES.items()}))


def of_site() -> str:
    """Return the columns of the tables over several runs, and of the labelled sample's."""
    columns = {name: table.columns for name, table in SUMMARY.items()}
    return "\n\n".join(_entries({**columns, SAMPLE: audit_sample.COLUMNS}, "site-"))


def of_figures() -> str:
    """Return the columns of figures' files that no other table has."""
    return _table("Further columns of tables/figures", DRAWN)


def of_others() -> str:
    """Return the columns of the numbers of others."""
    return "\n\n".join(_entries(PUBLISHED))


def _entries(tables: Mapping[str, Sequence[Column]], prefix: str = "") -> Iterator[str]:
    for name, columns in tables.items():
        anchor = prefix + re.sub("[^a-z0-9]", "-", name.removesuffix(".csv"))
        yield f"### tables/{name} {{#{anchor}}}\n\n{_table(f'Columns of {name}', columns)}"


def _table(caption: str, columns: Sequence[Column]) -> str:
    return numbers.table(
        caption,
        [numbers.word_header(text) for text in HEADERS],
        [[_name(column), *map(numbers.word_cell, _about(column))] for column in columns],
    )


def _name(column: Column) -> str:
    return f'<th scope="row"><code>{html_text(column.name)}</code></th>'


def _about(column: Column) -> tuple[str, ...]:
    origin = f"[{column.origin}]" if column.origin else ""
    return column.kind, column.unit, column.meaning, column.denominator, origin
