"""Builds the site's folder with MkDocs, without a network and the same way every time.

Every page then gets what the theme leaves out: links, and tags for previews.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from calbench.endings import undone
from calbench.errors import CalbenchError
from calbench.folders import replaced
from calbench.report.links import CONFIG, SiteLinks, site_links
from calbench.report.templating import environment
from calbench.report.trimming import trim

SOURCE_DATE_EPOCH = "1767225600"
"""The date that MkDocs writes into pages and archives [C]: a build must not depend on today."""


def build_site(source: Path, out: Path) -> None:
    """Run ``mkdocs build --strict`` on a folder that :func:`write_site` made.

    A process of its own, since plugins keep state in the process they run in. Not ``--quiet``,
    which would silence the warnings that ``--strict`` counts.

    Args:
        source: folder with ``mkdocs.yml`` and ``docs``.
        out: folder of the built site; what is there is replaced once the new one is whole.

    Raises:
        FileError: the configuration names something that is no address.
        CalbenchError: a page or a link does not fit; says what MkDocs said.
    """
    settings = {
        "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH,
        "NO_MKDOCS_2_WARNING": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    links = site_links(source / CONFIG)
    with replaced(out, is_marked=False) as beside:
        command = [
            # -P: nothing is imported from the current folder, which may be that of anybody's run.
            sys.executable, "-P", "-m", "mkdocs", "build", "--strict", "--clean",
            "--config-file", str(source / CONFIG), "--site-dir", str(beside),
        ]  # fmt: skip
        status, said = _run(command, {**os.environ, **settings})
        if status != 0:
            raise CalbenchError("the site cannot be built:\n" + "\n".join(said[-20:]))
        add_links_and_tags(beside, links)
        trim(beside)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, list[str]]:
    """Run a command; return its status and what it said. It does not outlive this process."""
    with subprocess.Popen(  # noqa: S603 - our own interpreter on our own folder
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:

        def end() -> None:
            process.kill()
            os.waitpid(process.pid, 0)  # `process.wait` may hold a lock where it was interrupted

        with undone(end):
            said, errors = process.communicate()
    return process.returncode, [line for line in (errors + said).splitlines() if line.strip()]


CARD = "assets/card.png"
"""The picture that a preview of a page shows, if the site has it."""

RUN = "reproduce.html"
"""What the header links in place of the code while nobody has said where that is."""

LONGEST = 200
"""Characters of a description; previews cut longer ones [C]."""

FOOTER = (
    ("Glossary", "glossary.html"),
    ("How to cite", "cite.html"),
    ("Licences", "licences.html"),
)
"""Pages that every footer links to, if the site has them."""

SEARCH = re.compile(r'<label class="md-header__button md-icon" for="__search">')
FOOT = re.compile(r"(?:</(?:div)>\s*){2}</footer>")
HEAD = re.compile(r"</head>")
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')
"""Where the theme's pages have what something is put before, or in place of."""

TABLE = re.compile(r"<(?:table)[\s>].*?</(?:table)>", re.DOTALL)
"""Most of a page, and nothing that describes it."""

MADE = environment(Path()).get_template("head.jinja").make_module()
"""The macros that make links and tags; they escape what they are given."""


class _Article(HTMLParser):
    """Collects a page's title and the paragraphs of its article that stand beside its headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title = ""
        self.paragraphs: list[str] = []
        self._open: list[str] = []
        self.feed(TABLE.sub("", text))

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
        pages = [links.address + name for name in sorted(there) if name != "404.html"]
        (site / "sitemap.xml").write_text(_made("sitemap", pages), encoding="utf-8")


def _linked(page: str, name: str, there: set[str], links: SiteLinks) -> str:
    """Link the paper and the code in the header, and a few pages more in the footer."""
    root = "../" * name.count("/")
    run = ("Reproduce", root + RUN if RUN in there else "")
    outward = [("Paper", links.paper), ("Code", links.repository) if links.repository else run]
    inward = [(text, root + target) for text, target in FOOTER if target in there]
    known = [(text, address) for text, address in outward if address]
    page = _before(page, SEARCH, _made("links", "cb-header-links", "Paper and code", known))
    footer = _made("links", "cb-footer-links", "About this site", [*inward, *known])
    return _before(page, FOOT, footer, is_flush=True)


def _described(page: str, name: str, links: SiteLinks, card: str) -> str:
    """Describe a page by the first sentences of its text, or else by the site's."""
    article = _Article(page)
    description = first_sentences(article.paragraphs)
    found = DESCRIPTION.search(page)
    if description:
        page = DESCRIPTION.sub("", page, count=1)
        page = _before(page, HEAD, _made("description", description))
    elif found:
        description = unescape(found[1])
    title = article.title.strip().removesuffix(f" - {links.name}")
    if not links.address:
        return page
    properties = {
        "og:type": "website",
        "og:site_name": links.name,
        "og:title": title,
        "og:description": description,
        "og:url": links.address + name,
        "og:image": card and links.address + card,
    }
    return _before(page, HEAD, _made("tags", properties, card))


def _made(macro: str, *values: Any) -> str:
    return str(getattr(MADE, macro)(*values))


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


def _before(page: str, mark: re.Pattern[str], text: str, *, is_flush: bool = False) -> str:
    """Insert a text where the last of the marks begins, or the blanks before it."""
    found = list(mark.finditer(page))
    if not found:
        return page
    start = found[-1].start()
    if is_flush:
        start = len(page[:start].rstrip())
    return page[:start] + text + page[start:]
