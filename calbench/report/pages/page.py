"""A page of the site, and what is on it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from calbench.report.experiment import checked_id
from calbench.report.figures.figure import Figure
from calbench.report.site import Site


@dataclass(frozen=True)
class Content:
    """What a page shows.

    Attributes:
        values: what its template uses, by name.
        figures: those it places; their data and tables are written.
        data: what its scripts read, by key of page data.
        tables: those that its scripts link; those that its text links need not be named.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    figures: Sequence[Figure] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    tables: Sequence[str] = ()


def nothing(_: Site) -> Content | None:
    """Return the content of a page that is the same on every site."""
    return Content()


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        path: of its file below the site's ``docs``, Markdown.
        title: in the navigation.
        section: of the navigation.
        group: within the section; pages without one come first.
        content: makes what it shows; no content: this site has no such page.
        contents: of a page for each of several names, ``{name}`` in its path: the name, the title,
            and what makes what it shows.
        template: below the sources' ``docs``, if not at ``path``.
        answers: the question that it answers, for links from other pages.
        needs: numbers of others without which no site has the page.
    """

    path: str
    title: str
    section: str
    group: str = ""
    content: Callable[[Site], Content | None] = nothing
    contents: Callable[[Site], Iterable[tuple[str, str, Callable[[], Content]]]] | None = None
    template: str = ""
    answers: str = ""
    needs: Sequence[str] = ()

    @property
    def root(self) -> str:
        """The way from the page to the site's root."""
        return "../" * self.path.count("/")

    @property
    def address(self) -> str:
        """The page's address from the site's root."""
        return self.path.removesuffix(".md") + ".html"

    @property
    def source(self) -> str:
        """Its template below the sources' ``docs``."""
        return self.template or self.path

    def named(self, name: str, title: str) -> "Page":
        """Return the page of one name."""
        checked_id(name, "team")
        return replace(self, path=self.path.format(name=name), title=title)
