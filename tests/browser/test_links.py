"""Where pages, styles and scripts of the built site point: into the site, or to a named reference.

``mkdocs build --strict`` looks at links in Markdown; these tests look at what was built.
"""

import json
import re
from collections.abc import Iterator
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

REFERENCES = (
    "https://arxiv.org/abs/",
    "https://creativecommons.org/licenses/",
    "https://distributed.dask.org",
    "https://doi.org/",
    "https://github.com/",
    "https://jobqueue.dask.org",
    "https://www.mozilla.org/en-US/MPL/",
)
"""What a reader may follow out of the site; a page itself loads nothing from there."""

STATES = frozenset({"comparisons.html", "leaderboard.html", "traces.html"})
"""Pages whose fragments name what they show, rather than a place in them."""

VENDOR = ("vendor/", "javascripts/", "stylesheets/")
"""Parts by others, below ``assets``."""


class Links(HTMLParser):
    """Collects where a page points, and what can be pointed at in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.ids: set[str] = set()
        self.handlers: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src", "srcset", "action", "data", "poster"} and value:
                self.links.append((tag, value))
            elif name == "id" and value:
                self.ids.add(value)
            elif name.startswith("on"):
                self.handlers.append(f"{tag} {name}={value}")
            elif name == "style" and value:
                self.links += [("style", url) for url in urls_of(value)]


def urls_of(style: str) -> list[str]:
    """Return where a style sheet points."""
    found = re.findall(r"url\(\s*([^)]*?)\s*\)|@import\s+([\"'][^\"']*[\"'])", style)
    return [(url or imported).strip("\"'") for url, imported in found]


class Site:
    """The files of a built site, and what is wrong with a link in one of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def pages(self) -> dict[Path, Links]:
        return {path: Links(path.read_text()) for path in sorted(self.folder.rglob("*.html"))}

    def fault(self, link: str, base: Path, tag: str = "a") -> str | None:
        """Return what is wrong with a link in a file; a base is that file."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            named = tag == "a" and link.startswith(REFERENCES)
            inline = tag == "style" and parts.scheme == "data"
            return None if named or inline else "leaves the site"
        root = self.folder if parts.path.startswith("/") else base.parent
        target = (root / unquote(parts.path).lstrip("/")).resolve() if parts.path else base
        if target.is_dir():
            target /= "index.html"
        if not target.is_relative_to(self.folder) or not target.is_file():
            return "leads nowhere"
        if target.suffix != ".html" or not parts.fragment or target.name in STATES:
            return None
        return None if unquote(parts.fragment) in self.pages[target].ids else "has no such place"


@pytest.fixture(scope="module")
def site(folder: Path) -> Site:
    return Site(folder.resolve())


def test_every_link_of_a_page_resolves(site: Site) -> None:
    wrong = [
        (path.name, link, fault)
        for path, page in site.pages.items()
        for tag, link in page.links
        if (fault := site.fault(link, path, tag))
    ]

    assert wrong == []
    assert sum(len(page.links) for page in site.pages.values()) > 500


def test_no_page_carries_a_handler_in_its_markup(site: Site) -> None:
    assert {path.name: page.handlers for path, page in site.pages.items() if page.handlers} == {}


def test_every_file_that_a_style_sheet_names_is_there(site: Site) -> None:
    sheets = sorted(site.folder.rglob("*.css"))
    wrong = [
        (path.name, url, fault)
        for path in sheets
        for url in urls_of(path.read_text())
        if (fault := site.fault(url, path, "style"))
    ]

    assert wrong == []
    assert len(sheets) >= 3


def ours(folder: Path) -> Iterator[Path]:
    """Yield the scripts that are neither the theme's nor by others."""
    yield from sorted((folder / "assets").glob("*.js"))
    yield from sorted((folder / "pagedata").rglob("*.js"))


NAMED = re.compile(r'"((?:\.\./)*(?:[\w.-]+/)*[\w.-]+\.(?:html|json|css|txt)(?:#[\w-]*)?)"')
"""A string of a script that can only be the address of a file."""


def test_every_file_that_a_script_names_is_there(site: Site) -> None:
    """A script's addresses begin at the page that loads it."""
    pages = ("index.html", "results/plane.html")
    starts = [site.folder / page for page in pages]
    wrong = [
        (path.name, link)
        for path in ours(site.folder)
        for link in NAMED.findall(re.sub(r"\bdownload: \"[^\"]*\"", "", path.read_text()))
        if all(site.fault(link, start) for start in starts)
    ]

    assert wrong == []


def test_no_script_of_ours_is_a_module_or_names_another_host(site: Site) -> None:
    scripts = list(ours(site.folder))
    forbidden = re.compile(
        r"^\s*(import|export)\b|\bfetch\(|XMLHttpRequest|innerHTML|outerHTML|insertAdjacentHTML"
        r"|document\.write|\beval\(|new Function",
        re.MULTILINE,
    )

    assert len(scripts) > 10
    for path in scripts:
        text = path.read_text()
        assert "://" not in text, path
        assert path.parent.name != "assets" or not forbidden.search(text), path


def test_every_place_that_search_knows_is_there(site: Site) -> None:
    text = (site.folder / "search" / "search_index.js").read_text()
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    places = [each["location"] for each in index["docs"]]

    wrong = [place for place in places if site.fault(place, site.folder / "index.html")]

    assert wrong == []
    assert len(places) > 50


def test_a_wrong_link_is_found(tmp_path: Path) -> None:
    page = """<a href="gone.html">1</a> <a href="#gone">2</a> <a href="#here" id="here">3</a>
        <a href="https://arxiv.org/abs/1">4</a> <img src="https://arxiv.org/abs/1">
        <a href="javascript:run()">5</a> <p style="background: url('gone.png')" onclick="run()">
        <a href="../up.html">6</a> <a href="//elsewhere/x">7</a>"""
    (tmp_path / "site").mkdir()
    (tmp_path / "up.html").touch()
    path = tmp_path / "site" / "index.html"
    path.write_text(page)
    site = Site(tmp_path / "site")
    links = site.pages[path].links

    assert [(link, fault) for tag, link in links if (fault := site.fault(link, path, tag))] == [
        ("gone.html", "leads nowhere"),
        ("#gone", "has no such place"),
        ("https://arxiv.org/abs/1", "leaves the site"),
        ("javascript:run()", "leaves the site"),
        ("gone.png", "leads nowhere"),
        ("../up.html", "leads nowhere"),
        ("//elsewhere/x", "leaves the site"),
    ]
    assert site.pages[path].handlers == ["p onclick=run()"]
