"""A page of the site, and what is on it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from calbench.report.experiment import Setting
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
        content_of_setting: likewise, for a page that every setting has.
        contents: makes a page for each of several names, with ``{name}`` in path and title.
        template: below the sources' ``docs``, if not at ``path``.
        answers: the question that it answers, for links from other pages.
        needs: numbers of others without which no site has the page.
    """

    path: str
    title: str
    section: str
    group: str = ""
    content: Callable[[Site], Content | None] = nothing
    content_of_setting: Callable[[Site, Setting], Content] | None = None
    contents: Callable[[Site], Iterable[tuple[str, Content]]] | None = None
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

    def called(self, name: str) -> "Page":
        """Return the page of one name, which is safe in a path."""
        return replace(self, path=self.path.format(name=name), title=self.title.format(name=name))

    def named(self, setting: Setting) -> "Page":
        """Return the page of one setting."""
        title = self.title.format(title=setting.title)
        return replace(self, path=self.path.format(slug=setting.slug), title=title)
