"""The page with places of the paper that do not fit each other, and their arithmetic."""

from collections.abc import Iterator, Mapping, Sequence

from calbench.report.columns import decimal
from calbench.report.pages.page import Content
from calbench.report.sentence import Sentence, cell, said
from calbench.report.site import Site
from calbench.report.tables import Row

TABLE_SEATS = "agent-games of Table 1, both settings"
OTHER_SEATS = "agent-games evaluated"
REFLECTED = "mean excess of a target"
LEAST = "least mean of a model in a setting"


def findings(topics: Mapping[str, Sequence[Row]]) -> list[Sentence]:
    """Return places whose numbers do not fit together; none that do.

    Args:
        topics: rows of ``arithmetic.csv`` by topic.
    """
    values = {
        (topic, row["quantity"]): row["value"] for topic, rows in topics.items() for row in rows
    }
    return [*_seats(values), *_reflected(values)]


def _seats(values: Mapping[tuple[str, str], str]) -> Iterator[Sentence]:
    table, other = values.get(("seats", TABLE_SEATS)), values.get(("seats", OTHER_SEATS))
    if table and other and decimal(table) != decimal(other):
        yield said(
            "Table 1 adds up to {table} agent-games, but appendix G.1 says that {other} were "
            "evaluated.",
            table=cell(table),
            other=cell(other),
        )


def _reflected(values: Mapping[tuple[str, str], str]) -> Iterator[Sentence]:
    mean, least = values.get(("judge", REFLECTED)), values.get(("judge", LEAST))
    if mean and least and decimal(mean) < decimal(least):
        yield said(
            "The mean excess VPS of all agents by appendix I.3, {mean}, is below that of every "
            "model in Table 1, of which the least is {least}.",
            mean=cell(mean),
            least=cell(least),
        )


ARITHMETIC = "arithmetic.csv"


def content(site: Site) -> Content | None:
    """Return the numbers of each topic, as printed and as computed from printed ones."""
    if not site.published.has(ARITHMETIC):
        return None
    topics: dict[str, list[Row]] = {}
    for row in site.published.rows(ARITHMETIC):
        topics.setdefault(row["topic"], []).append(row)
    return Content(
        {"found": findings(topics), "topics": topics, "files": [f"published/{ARITHMETIC}"]}
    )
