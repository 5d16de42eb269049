"""What MkDocs does to each page while it builds the site.

It loads a copy of this file from the folder of the pages; nothing here may import ours.
"""

import re
from typing import Any

from mkdocs.plugins import event_priority

MARK = ' data-search-exclude="1"'

# e.g. '<table class="a">'; not "<summary-of-games>"
NO_PROSE = re.compile(r"<(?:table|pre|figure|svg|select|dialog|template|summary)(?=[\s>])")
"""Beginnings of elements whose text does not read as sentences."""

# e.g. "<p>Text</p>", '<p class="a">'; not "<pre>"
PARAGRAPH = re.compile(r"<p(?=[\s>])(?=((?:(?!</p\s*>).)*))", re.DOTALL)

MOST_FILES = 3
"""Files that a paragraph of prose names; a longer row of them is a list of downloads [C]."""


# e.g. "<table><tr></tr></table>"; not '<table id="costs"></table>'
TABLE = re.compile(
    r"(<(?:table))(?![^>]*\sid=)[\s>](?:(?!\sid=|</?(?:table)).)*(</(?:table)>)", re.DOTALL
)
"""A table without a place that a link may lead to: most of the text of our pages."""

# e.g. '<table data-cut="3"></table>'; not '<table data-cut="3">text</table>'
PLACE = re.compile(r'<(?:table) data-cut="(\d+)"></(?:table)>')
"""What is put in the place of a table: one without anything."""

MIXED = ' markdown="1"'

_tables: dict[str, list[str]] = {}
"""Of each page, until it is whole again."""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Take the tables out of a page: Markdown and the search have no use for them.

    Those in an element that holds Markdown itself stay, and so do all of its page: it writes them
    anew.
    """
    tables = _tables[page.file.src_uri] = []

    def cut(found: re.Match[str]) -> str:
        tables.append(found[0])
        return f'{found[1]} data-cut="{len(tables) - 1}">{found[2]}'

    return markdown if MIXED in markdown else TABLE.sub(cut, markdown)


@event_priority(-100)  # behind the search, which reads the page
def on_page_context(_context: Any, page: Any, **_: Any) -> None:
    """Put the tables back.

    Raises:
        ValueError: one has no place: it is within code, where it is no table.
    """
    tables = _tables.pop(page.file.src_uri)
    if [int(number) for number in PLACE.findall(page.content)] != [*range(len(tables))]:
        raise ValueError(f"{page.file.src_uri}: code holds a table; write its '<' as '&lt;'")
    page.content = PLACE.sub(lambda found: tables[int(found[1])], page.content)


def on_page_content(html: str, **_: Any) -> str:
    """Mark what the search leaves out; the theme's search takes the marks away again."""
    marked = NO_PROSE.sub(lambda found: found[0] + MARK, html)
    return PARAGRAPH.sub(_without_downloads, marked)


def _without_downloads(found: re.Match[str]) -> str:
    return found[0] + MARK * (found[1].count('.csv"') > MOST_FILES)
