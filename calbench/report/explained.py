"""The pages that show the analysis: the paper's tables, audits of language, regret explained."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from calbench.report import audit_messages, audits, paper, regret, telling
from calbench.report.links import GameLinks, playing
from calbench.report.paper_ours import Ours
from calbench.report.regret_rows import RegretRows
from calbench.report.results import ExperimentResults, Row, read_table
from calbench.report.setting import SettingResults
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
    "regret": "what excess cost is made of, and when the optimum was lost",
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


def _telling(experiments: Sequence[ExperimentResults]) -> Iterator[Row]:
    for results in experiments:
        for setting in results.settings:
            yield from telling.rows(SettingResults(results, setting, {}))


COUNT_COLUMNS = ("experiment", "setting", "team", "measure", "agent_games")
"""Of ``tables/agent_game_counts.csv``: the n beside every estimate."""


def _counts(played: Sequence[ExperimentResults]) -> Iterator[dict[str, str]]:
    for results in played:
        for setting in results.settings:
            counts = SettingResults(results, setting, {}).agent_games
            for (team, measure), count in counts.items():
                place = (results.name, setting, team, measure, str(count))
                yield dict(zip(COUNT_COLUMNS, place, strict=True))


def pages(
    experiments: Sequence[ExperimentResults], special: SpecialResults, tables: Path
) -> Iterator[Page]:
    """Write the tables that the pages work out, and yield those pages that there are.

    Args:
        experiments: browsed whole.
        special: the others, and what others published.
        tables: folder of the site's tables.
    """
    played = playing(experiments, special)
    write_table(tables / "agent_game_counts.csv", _counts(played), COUNT_COLUMNS)
    write_table(tables / "telling_messages.csv", _telling(experiments), telling.COLUMNS)
    links = GameLinks(experiments, special)
    leaking = read_table(tables / audit_messages.NAME)
    heard = audits.Audits.of(played, leaking, links)
    if special.experiments and (special.published / "table1.csv").is_file():
        found = paper.Paper(special, Ours(played), heard)
        found.write(tables)
        yield Page("paper", "The paper's tables", ANSWERS["paper"], paper.parts(found))
    if heard.experiments:
        heard.write(tables)
        yield Page("audits", "Audits of language", ANSWERS["audits"], audits.parts(heard))
    explained = [RegretRows(each) for each in played if each.optional("regret.csv")]
    if explained:
        shown = regret.Regret(explained, links)
        shown.write(tables)
        yield Page("regret", "Regret explained", ANSWERS["regret"], regret.parts(shown))
