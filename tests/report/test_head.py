"""Links to the paper and the code on every page, and what previews and search engines read."""

import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from calbench.errors import CalbenchError
from calbench.report.build import CONFIG, build_site
from calbench.report.hooks import LONGEST, first_sentences
from calbench.report.pages.page import Page
from calbench.report.writing import read_config, site_links, without_widget, write_config
from tests.report.samples import SOURCES

CONFIGURED = """
site_url: https://c.example/s
repo_url: https://b.example/r
extra: {paper: "https://a.example/p"}
"""

HOSTILE = '"><script>alert(1)</script> &amp; one.'

DOCS = {
    "index.md": "# Home\n\nIt is here. More.\n",
    "results/a.md": f"---\ntitle: '{HOSTILE}'\n---\n# A\n\n<div><p>Not this one.</p></div>\n\n"
    "It says <b>it</b> &lt;script&gt;. " + "More. " * 60,
    "glossary.md": "# Words\n",
    "reproduce.md": "# How\n",
    "404.md": "# Gone\n",
}


def built(folder: Path, configured: str, left_out: str = "", *, has_card: bool = True) -> Path:
    """Build a small site with our configuration but for its addresses; return its folder."""
    sources, source = folder / "site", folder / "src"
    shutil.copytree(SOURCES / "overrides", sources / "overrides")
    text = (SOURCES / CONFIG).read_text()
    (sources / CONFIG).write_text(text[: text.index("\nextra:")] + configured)
    (source / "docs" / "assets").mkdir(parents=True)
    if has_card:
        (source / "docs" / "assets" / "card.png").touch()
    pages = [Page(path, path, path) for path in DOCS if path != left_out]
    for page in pages:
        (source / "docs" / page.path).parent.mkdir(exist_ok=True)
        (source / "docs" / page.path).write_text(DOCS[page.path])
    write_config(sources / CONFIG, pages, source / CONFIG)
    build_site(source, folder / "built")
    return folder / "built"


def tags(page: str) -> dict[str, str]:
    """Return what the head of a page tells of it."""
    found = re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"', page)
    return {name: unescape(text) for name, text in found}


@pytest.mark.heavy
def test_configured_site_links_paper_and_code_and_describes_every_page(tmp_path: Path) -> None:
    site = built(tmp_path, CONFIGURED)

    for name, root in (("index.html", ""), ("results/a.html", "../"), ("glossary.html", "")):
        header, _, footer = (site / name).read_text().partition("</header>")
        for part in (header, footer):
            assert part.count('<a href="https://a.example/p">Paper</a>') == 1
            assert part.count('<a href="https://b.example/r">Code</a>') == 1
        assert f'<a href="{root}glossary.html">Glossary</a>' in footer
        assert "licences.html" not in footer
        assert 'data-md-component="source"' not in header
        assert f'<link rel="canonical" href="https://c.example/s/{name}">' in header
    home, page = ((site / name).read_text() for name in ("index.html", "results/a.html"))
    assert tags(home)["og:url"] == "https://c.example/s/index.html"
    assert tags(home)["og:title"] == tags(home)["og:site_name"] == "CalBench"
    assert tags(page)["description"] == tags(page)["og:description"]
    assert tags(page)["og:description"].startswith("It says it <script>. More. More.")
    assert tags(page)["og:title"] == '">alert(1) & one.'
    assert tags(page)["og:image"] == "https://c.example/s/assets/card.png"
    assert tags(page)["twitter:card"] == "summary_large_image"
    assert not [tag for tag in re.findall("<meta .*", page) if "<script" in tag]
    sitemap = (site / "sitemap.xml").read_text()
    assert "<loc>https://c.example/s/index.html</loc>" in sitemap
    assert "404" not in sitemap


@pytest.mark.heavy
def test_how_to_run_it_is_linked_by_its_name_while_nobody_knows_the_repository(
    tmp_path: Path,
) -> None:
    (tmp_path / "with").mkdir()
    page = (built(tmp_path / "with", "\nextra: {}\n") / "results" / "a.html").read_text()

    assert page.count('<a href="../reproduce.html">Reproduce</a>') == 2
    assert ">Code</a>" not in page
    assert ">Paper</a>" not in page
    assert "og:" not in page
    assert not (tmp_path / "with" / "built" / "sitemap.xml").exists()
    (tmp_path / "without").mkdir()
    address = "\nsite_url: https://c.example/s\nextra: {}\n"
    site = built(tmp_path / "without", address, "reproduce.md", has_card=False)
    page = (site / "results" / "a.html").read_text()
    assert "Reproduce" not in page
    assert "og:image" not in page
    assert tags(page)["twitter:card"] == "summary"


def test_a_description_ends_with_a_sentence_or_says_that_it_goes_on() -> None:
    long = "word " * 60 + "end."

    assert first_sentences(["→", " One\n two. " + long]) == "One two."
    assert first_sentences(["What is it? See version 1.2 there."]) == (
        "What is it? See version 1.2 there."
    )
    assert first_sentences([long]).endswith("word …")
    assert len(first_sentences([long])) <= LONGEST + 2
    assert first_sentences([]) == ""


def test_repository_never_reaches_the_theme_which_would_ask_its_host(tmp_path: Path) -> None:
    (tmp_path / CONFIG).write_text(
        "repo_url: https://b.example/r\nextra: {paper: https://a.example}\n"
    )

    config = without_widget(read_config(tmp_path / CONFIG))

    assert "repo_url" not in config
    assert config["extra"] == {"paper": "https://a.example", "repository": "https://b.example/r"}
    assert without_widget({"a": 1}) == {"a": 1}


def test_addresses_of_the_repository_are_read() -> None:
    links = site_links(SOURCES / CONFIG)
    assert links == {"paper": "https://arxiv.org/abs/2605.09823", "repository": ""}


@pytest.mark.parametrize(
    "text", ["repo_url: javascript:alert(1)", "site_url: [1]", "extra: {paper: a b}", "[", "- 1"]
)
def test_what_is_no_address_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(CalbenchError, match=CONFIG):
        site_links(tmp_path / CONFIG)
