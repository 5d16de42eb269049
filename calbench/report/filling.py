"""Fills the pages of a site: what they show is made once, and each may be written again."""

from collections.abc import Container
from pathlib import Path

from calbench.report.downloads import read_downloads
from calbench.report.escape import write_data
from calbench.report.figures.figure import write_figures
from calbench.report.links import CONFIG, site_links
from calbench.report.pages import pages_of, see_also
from calbench.report.pages.page import Page
from calbench.report.site import Site
from calbench.report.templating import Templates


class Pages:
    """The pages that a site has.

    Args:
        site: what to show.
        docs: the folder that they are written to.

    Raises:
        CalbenchError: two results would share a page.
        FileError: a table does not fit.
    """

    def __init__(self, site: Site, docs: Path) -> None:
        self._site = site
        self._docs = docs
        self._contents = pages_of(site)

    @property
    def listed(self) -> list[Page]:
        """In the order of the navigation."""
        return list(self._contents)

    def write_data(self) -> None:
        """Write what the pages' scripts read."""
        figures = [figure for content in self._contents.values() for figure in content.figures]
        write_figures(figures, self._docs)
        for content in self._contents.values():
            for key, data in content.data.items():
                write_data(self._docs / "pagedata", key, data)

    def write(self, sources: Container[str] | None = None) -> list[str]:
        """Write the pages of some templates, or of all; return those whose text is another.

        Raises:
            FileError: a template is broken.
        """
        templates = Templates(self._site.sources / "docs")
        shared = {
            "site": self._site,
            "explaining": see_also(self._contents),
            "paths": {page.path for page in self._contents},
            "offered": read_downloads(self._docs),
            "site_links": site_links(self._site.sources / CONFIG),
        }
        texts = {
            page.path: templates.filled(
                page.source, page.root, {**shared, "page": page, **content.values}
            )
            for page, content in self._contents.items()
            if sources is None or page.source in sources
        }
        return [path for path, text in texts.items() if _replaced(self._docs / path, text)]


def _replaced(path: Path, text: str) -> bool:
    """Write a file unless it has that text."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True
