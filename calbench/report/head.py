"""Puts into every page of a built site what the theme leaves out: links, and tags for previews."""

import re
from collections.abc import Iterable, Iterator
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path

from calbench.report.links import SiteLinks

CARD = "assets/card.png"
"""The picture that a preview of a page shows, if the site has it."""

CODE = "reproduce.html"
"""Where "Code" leads while nobody has said where the repository is."""

LONGEST = 200
"""Characters of a description; previews cut longer ones [C]."""

FOOTER = (
    ("Glossary", "glossary.html"),
    ("How to cite", "cite.html"),
    ("Licences", "licences.html"),
)
"""Pages that every footer links to, if the site has them."""

SEARCH = re.compile(r'<label class="md-header__button md-icon" for="__search">')
FOOT = re.compile(r"\s*</div>\s*</div>\s*</footer>")
HEAD = re.compile(r"</head>")
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')


class _Article(HTMLParser):
    """Collects a page's title and the paragraphs of its article that stand beside its headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title = ""
        self.paragraphs: list[str] = []
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"title", "article", "p", "div", "figure", "table", "details"}:
            self._open.append(tag)
            if tag == "p" and self._open[-2:] == ["article", "p"]:
                self.paragraphs.append("")

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["title"]:
            self.title += data
        elif self._open[-2:] == ["article", "p"]:
            self.paragraphs[-1] += data


def add_links_and_tags(site: Path, links: SiteLinks) -> None:
    """Change every page of a built site, in place; a site without an address has no sitemap."""
    there = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    card = CARD if (site / CARD).is_file() else ""
    for name in sorted(there):
        path = site / name
        page = _linked(path.read_text(encoding="utf-8"), name, there, links)
        path.write_text(_described(page, name, links, card), encoding="utf-8")
    for old in ("sitemap.xml", "sitemap.xml.gz"):
        (site / old).unlink(missing_ok=True)
    if links.address:
        (site / "sitemap.xml").write_text(_sitemap(there, links.address), encoding="utf-8")


def _sitemap(names: Iterable[str], address: str) -> str:
    """List the pages; MkDocs' own list has the page of errors, too, and dates."""
    rows = (
        f"<url><loc>{escape(address + name)}</loc></url>\n"
        for name in sorted(names)
        if name != "404.html"
    )
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    return f'{head}\n<urlset xmlns="{space}">\n{"".join(rows)}</urlset>\n'


def _linked(page: str, name: str, there: set[str], links: SiteLinks) -> str:
    """Link the paper and the code in the header, and a few pages more in the footer."""
    root = "../" * name.count("/")
    code = links.repository or (root + CODE if CODE in there else "")
    outward = [("Paper", links.paper), ("Code", code)]
    inward = [(text, root + target) for text, target in FOOTER if target in there]
    page = _before(page, SEARCH, _list("cb-header-links", "Paper and code", outward))
    return _before(page, FOOT, _list("cb-footer-links", "About this site", [*inward, *outward]))


def _list(css: str, label: str, links: list[tuple[str, str]]) -> str:
    items = "".join(f'<a href="{escape(to)}">{escape(text)}</a>\n' for text, to in links if to)
    return (
        f'<div class="{css}" role="group" aria-label="{label}">\n{items}</div>\n' if items else ""
    )


def _described(page: str, name: str, links: SiteLinks, card: str) -> str:
    """Describe a page by the first sentences of its text, or else by the site's."""
    article = _Article(page)
    description = first_sentences(article.paragraphs)
    found = DESCRIPTION.search(page)
    if description:
        page = DESCRIPTION.sub("", page, count=1)
        page = _before(page, HEAD, f'<meta name="description" content="{escape(description)}">\n')
    elif found:
        description = unescape(found[1])
    title = article.title.strip().removesuffix(f" - {links.name}")
    tags = _tags(name, title, description, links, card) if links.address else ()
    return _before(page, HEAD, "".join(f"{tag}\n" for tag in tags))


def _tags(name: str, title: str, description: str, links: SiteLinks, card: str) -> Iterator[str]:
    """Yield what previews of a page read; they need its whole address."""
    properties = {
        "og:type": "website",
        "og:site_name": links.name,
        "og:title": title,
        "og:description": description,
        "og:url": links.address + name,
        "og:image": card and links.address + card,
    }
    for key, value in properties.items():
        if value:
            yield f'<meta property="{key}" content="{escape(value)}">'
    yield f'<meta name="twitter:card" content="{"summary_large_image" if card else "summary"}">'


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


def _before(page: str, mark: re.Pattern[str], text: str) -> str:
    """Insert a text where the last of the marks begins."""
    found = list(mark.finditer(page))
    return page[: found[-1].start()] + text + page[found[-1].start() :] if found else page
