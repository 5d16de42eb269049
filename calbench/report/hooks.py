"""What MkDocs does to each page while it builds the site.

It loads a copy of this file from the folder of the pages; nothing here may import ours.
"""

import re
from html import escape, unescape
from html.parser import HTMLParser
from typing import Any

from mkdocs.plugins import event_priority
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

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

LONGEST = 200
"""Characters of a description; previews cut longer ones [C]."""

FORMULAS = "method.md"

# e.g. "<pre><code>mean of E</code></pre>"; not "<pre><code class='a'>mean</code></pre>"
BLOCK = re.compile(r"<(?:pre)><(?:code)>(.*?)</(?:code)></(?:pre)>", re.DOTALL)
"""What Markdown makes of lines that begin with four blanks."""

# e.g. "mean of E", "\u03bb"; not "the agent's", "of the"
LETTER = re.compile("(?<![\\w&<;'\u2019])([A-Za-z\u0394\u03b1-\u03c9])(?![\\w;>])")
"""A variable, Latin or Greek: the "E" of ``mean of E``, and not the "s" of ``the agent's``."""

LANGUAGES = {
    "bibtex": r"@\w+\{",
    "toml": r"\[[\w.-]+\]\n",
    "yaml": r"[\w-]+:\n",
    "python": r"(?:from|import) \w|\w+ = \w|print\(",
    "bash": r"(?:calbench|dask|eval|export|make|pip|python3?|sha256sum|zstdcat)\b",
}
"""How blocks of code begin by language; what programs print does not: ``error: no key``."""

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


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Describe a page, set formulas, colour code, and mark what the search leaves out.

    The theme's search takes the marks away again. The blocks of the method page are formulas.
    """
    page.meta.setdefault("description", escape(_description(html)))
    block = _formula if page.file.src_uri == FORMULAS else _code
    marked = NO_PROSE.sub(lambda found: found[0] + MARK, BLOCK.sub(block, html))
    return PARAGRAPH.sub(_without_downloads, marked)


class _Prose(HTMLParser):
    """Collects the paragraphs that stand beside the headings of a page, and in nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"p", "div", "figure", "table", "details"}:
            self._open.append(tag)
            if self._open == ["p"]:
                self.paragraphs.append("")

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open == ["p"]:
            self.paragraphs[-1] += data


def _description(html: str) -> str:
    """Return what a preview says of a page: its first sentences; what follows them is not read."""
    prose = _Prose()
    for part in re.split("(?<=/p>)", html):
        prose.feed(part)
        if found := first_sentences(prose.paragraphs[-1:]):
            return found
    return ""


def first_sentences(paragraphs: list[str]) -> str:
    """Return as many first sentences of the first paragraph of prose as a preview shows."""
    for paragraph in paragraphs:
        text = " ".join(paragraph.split())
        if not re.search(r"\w\w.*[.?]", text):
            continue
        ends = [found.start() + 1 for found in re.finditer(r"[.?](?= |$)", text)]
        fitting = [end for end in ends if end <= LONGEST]
        if fitting:
            return text[: fitting[-1]]
        return text[:LONGEST].rpartition(" ")[0] + " …"
    return ""


def _code(found: re.Match[str]) -> str:
    """Return a block with its words in colours; text in no language that we know stays as it is."""
    text = unescape(found[1])
    lexers = [name for name, first in LANGUAGES.items() if re.match(first, text)]
    if not lexers:
        return found[0]
    coloured = highlight(text, get_lexer_by_name(lexers[0]), HtmlFormatter(wrapcode=True))
    return str(coloured).rstrip()


def _formula(found: re.Match[str]) -> str:
    """Return a block with letters in italics, and what stands below and above the line."""
    text = re.sub(
        r"\b([A-Z])(max|min)\b", lambda m: m[1] + _element("sub", m[2]), found[1].rstrip()
    )
    text = re.sub(r"\^(\w)", lambda m: _element("sup", m[1]), text)
    text = LETTER.sub(lambda m: _element("i", m[1]), text)
    return _element("div", text, f' class="cb-formula"{MARK}')


def _element(name: str, content: str, attributes: str = "") -> str:
    return f"<{name}{attributes}>{content}</{name}>"


def _without_downloads(found: re.Match[str]) -> str:
    return found[0] + MARK * (found[1].count('.csv"') > MOST_FILES)
