"""The pages that show the analysis: the paper's tables, audits of language, regret explained."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from calbench.report import audit_messages, audits, paper, regret
from calbench.report.links import GameLinks, playing
from calbench.report.paper_ours import Ours
from calbench.report.results import ExperimentResults, Summary
from calbench.report.special import SpecialResults, write_table


class Page(NamedTuple):
    """A page of results.

    Attributes:
        name: of its template and file.
        title: in the navigation.
        answers: what a reader finds there, in words.
        parts: what stands for its markers.
    """

    name: str
    title: str
    answers: str
    parts: Mapping[str, Callable[[], str]]


NAMES = frozenset({"paper", "audits", "regret"})
"""The templates of these pages."""

ANSWERS: Mapping[str, str] = {
    "paper": "the paper's tables, and the same measures of our games",
    "audits": "who leaks most at equal cost, in which game and in which sentence",
    "regret": "what excess cost is made of, and when the optimum became unreachable",
}


def see_also(found: Sequence[Page]) -> str:
    """Return links to the pages that there are, for a page that stands beside them."""
    if not found:
        return ""
    links = [
        f'<li><a href="{page.name}.html">{page.title}</a>: {page.answers}</li>' for page in found
    ]
    return f"<ul>{''.join(links)}</ul>"


def drawn_in_words() -> str:
    """Return the link from the audits' tables to the page that draws them."""
    return '<p>The same is drawn under <a href="words.html">Messages in words</a>.</p>'


def pages(
    experiments: Sequence[ExperimentResults],
    special: SpecialResults,
    summary: Summary,
    tables: Path,
) -> Iterator[Page]:
    """Bring the tables that not every site has, and yield those pages that there are.

    Args:
        experiments: browsed whole.
        special: the others, and what others published.
        summary: tables over several runs.
        tables: folder of the site's tables.
    """
    played = playing(experiments, special)
    links = GameLinks(experiments, special)
    leaking = audit_messages.browsable(summary, links)
    write_table(tables / audit_messages.NAME, leaking, audit_messages.COLUMNS)
    heard = audits.Audits.of(played, leaking, links)
    if special.experiments and (special.published / "table1.csv").is_file():
        found = paper.Paper(special, Ours(played, summary), heard)
        found.write(tables)
        yield Page("paper", "The paper's tables", ANSWERS["paper"], paper.parts(found))
    if heard.experiments:
        heard.write(tables)
        yield Page("audits", "Audits of language", ANSWERS["audits"], audits.parts(heard))
    shown = regret.Regret(played, summary, links)
    if shown.experiments:
        yield Page("regret", "Regret explained", ANSWERS["regret"], regret.parts(shown))
