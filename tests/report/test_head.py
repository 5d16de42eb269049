"""Links to the paper and the code on every page, and what previews and search engines read."""

import re
from html import unescape
from pathlib import Path

import pytest

from calbench.errors import FileError
from calbench.report.build import CARD, LONGEST, add_links_and_tags, build_site, first_sentences
from calbench.report.links import CONFIG, SiteLinks, read_config, site_links, without_widget
from tests.report.samples import SOURCES

PAGE = """<html><head><title>{title} - Bench</title></head><body><header>
<label class="md-header__button md-icon" for="__search"></label></header>
<article><h1>{title}</h1><div><p>Not this one.</p></div><p>{text}</p></article>
<footer><div class="md-footer-meta"><div class="md-footer-meta__inner"></div></div></footer>"""

EVERYTHING = SiteLinks(
    "Bench", "https://a.example/p", "https://b.example/r", "https://c.example/s/"
)


def page(site: Path, name: str, title: str = "A page", text: str = "It says. More.") -> Path:
    path = site / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PAGE.format(title=title, text=text))
    return path


def test_every_page_links_paper_code_and_glossary_in_header_and_footer(tmp_path: Path) -> None:
    pages = [page(tmp_path, name) for name in ("index.html", "results/a.html", "glossary.html")]

    add_links_and_tags(tmp_path, EVERYTHING)

    for path, root in zip(pages, ("", "../", ""), strict=True):
        header, _, footer = path.read_text().partition("</header>")
        for part in (header, footer):
            assert part.count('<a href="https://a.example/p">Paper</a>') == 1
            assert part.count('<a href="https://b.example/r">Code</a>') == 1
        assert f'<a href="{root}glossary.html">Glossary</a>' in footer


def test_how_to_run_it_is_linked_by_its_name_while_nobody_knows_the_repository(
    tmp_path: Path,
) -> None:
    path = page(tmp_path, "results/a.html")
    add_links_and_tags(tmp_path, SiteLinks())
    assert "Code" not in path.read_text()
    assert "Reproduce" not in path.read_text()

    page(tmp_path, "reproduce.html")
    add_links_and_tags(tmp_path, SiteLinks())
    assert '<a href="../reproduce.html">Reproduce</a>' in path.read_text()
    assert "Code" not in path.read_text()
    assert "og:" not in path.read_text()


def test_previews_name_the_page_its_address_and_the_card(tmp_path: Path) -> None:
    path = page(tmp_path, "results/a.html")
    home = page(tmp_path, "index.html")
    (tmp_path / CARD).parent.mkdir()
    (tmp_path / CARD).touch()

    add_links_and_tags(tmp_path, EVERYTHING)

    text = path.read_text()
    for key, value in {
        "og:title": "A page",
        "og:site_name": "Bench",
        "og:description": "It says. More.",
        "og:url": "https://c.example/s/results/a.html",
        "og:image": "https://c.example/s/assets/card.png",
    }.items():
        assert text.count(f'<meta property="{key}" content="{value}">\n') == 1
    assert '<meta name="twitter:card" content="summary_large_image">' in text
    assert '<meta name="description" content="It says. More.">' in text
    assert '"og:url" content="https://c.example/s/index.html"' in home.read_text()


def test_site_without_a_card_shows_none(tmp_path: Path) -> None:
    path = page(tmp_path, "a.html")
    add_links_and_tags(tmp_path, EVERYTHING)
    assert "og:image" not in path.read_text()
    assert '<meta name="twitter:card" content="summary">' in path.read_text()


def test_titles_and_texts_that_look_like_markup_stay_text(tmp_path: Path) -> None:
    hostile = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp; one."
    path = page(tmp_path, "a.html", hostile, hostile)

    add_links_and_tags(tmp_path, EVERYTHING)

    assert "<script" not in path.read_text()
    plain = unescape(hostile)
    tags = re.findall(r'<meta [^>]*="(og:title|description)" content="([^"]*)">', path.read_text())
    assert {name: unescape(text) for name, text in tags} == {
        "og:title": plain,
        "description": plain,
    }


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
    assert links == SiteLinks("CalBench", paper="https://arxiv.org/abs/2605.09823")


@pytest.mark.parametrize(
    "text", ["repo_url: javascript:alert(1)", "site_url: [1]", "extra: {paper: a b}", "[", "- 1"]
)
def test_what_is_no_address_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(FileError, match=CONFIG):
        site_links(tmp_path / CONFIG)


@pytest.mark.heavy
def test_configured_site_has_canonical_addresses_and_a_sitemap(tmp_path: Path) -> None:
    text = (SOURCES / CONFIG).read_text()
    source = tmp_path / "src"
    (source / "docs" / "assets" / "vendor").mkdir(parents=True)
    (source / "docs" / "index.md").write_text("# Home\n\nIt is here.\n")
    (source / "docs" / "404.md").write_text("---\ntitle: Gone\n---\n# Gone\n")
    extra = "\nsite_url: https://c.example/s\nextra: {repository: https://github.com/a/b}\n"
    text = text[: text.index("\nextra:")] + extra
    (source / CONFIG).write_text(text)

    build_site(source, tmp_path / "built")

    page = (tmp_path / "built" / "index.html").read_text()
    assert '<link rel="canonical" href="https://c.example/s/index.html">' in page
    assert '<meta property="og:title" content="CalBench">' in page
    assert page.count(">Code</a>") == 2
    assert 'data-md-component="source"' not in page
    sitemap = (tmp_path / "built" / "sitemap.xml").read_text()
    assert "<loc>https://c.example/s/index.html</loc>" in sitemap
    assert "404" not in sitemap
