"""What MkDocs does to each page while it builds the site.

It loads a copy of this file from the folder of the pages; nothing here may import ours.
"""

import re
from typing import Any

MARK = ' data-search-exclude="1"'

NO_PROSE = re.compile(r"<(?:table|pre|figure|svg|select|dialog|template|summary)(?=[\s>])")
"""Beginnings of elements whose text does not read as sentences."""

PARAGRAPH = re.compile(r"<p(?=[\s>])(?=((?:(?!</p\s*>).)*))", re.DOTALL)

MOST_FILES = 3
"""Files that a paragraph of prose names; a longer row of them is a list of downloads [C]."""


def on_page_content(html: str, **_: Any) -> str:
    """Mark what the search leaves out; the theme's search takes the marks away again."""
    marked = NO_PROSE.sub(lambda found: found[0] + MARK, html)
    return PARAGRAPH.sub(_without_downloads, marked)


def _without_downloads(found: re.Match[str]) -> str:
    return found[0] + MARK * (found[1].count('.csv"') > MOST_FILES)
