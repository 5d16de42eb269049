"""What the search finds reads as sentences: no cells of tables, no code, no lists of files."""

import html
import json
import re
from types import SimpleNamespace
from typing import Any

import pytest

from calbench.report.hooks import on_page_content, on_page_context, on_page_markdown
from tests.report.sample_site import SampleSite

MOST_DIGITS = 0.25
"""Of an entry's characters; a sentence with a few numbers in it has less."""


def test_elements_without_prose_are_marked() -> None:
    row = " · ".join(f'<a href="{name}.csv">{name}</a>' for name in "abcd")

    assert on_page_content("<p>a</p><table><tr></table><pre class=x>b</pre>", page_of("")) == (
        '<p>a</p><table data-search-exclude="1"><tr></table>'
        '<pre data-search-exclude="1" class=x>b</pre>'
    )
    assert on_page_content(f"<p>{row}</p><p>{row[:20]}</p><prefix>", page_of("")) == (
        f'<p data-search-exclude="1">{row}</p><p>{row[:20]}</p><prefix>'
    )


def page_of(text: str, path: str = "a.md") -> Any:
    file = SimpleNamespace(src_uri=path)
    return SimpleNamespace(file=file, content=text, meta={})


@pytest.mark.parametrize(
    ("code", "start"),
    [
        ("calbench verify RUN\n", "calbench"),
        ("from calbench import play\n", '<span class="kn">from'),
        ("my-team:\n  seats: [a]\n", '<span class="nt">my-team'),
        ("[project]\nname = 1\n", '<span class="k">[project]'),
        ("@misc{a,\n  year = {2026}\n}\n", '<span class="nc">@misc'),
    ],
)
def test_code_is_coloured_in_its_language(code: str, start: str) -> None:
    found = on_page_content(f"<pre><code>{html.escape(code)}</code></pre>", page_of(""))

    assert found.startswith(
        f'<div class="highlight"><pre data-search-exclude="1"><span></span><code>{start}'
    )
    assert html.unescape(re.sub("<[^>]*>", "", found)) == code


def test_what_a_program_prints_is_not_code() -> None:
    text = "<pre><code>error: model NAME: no key\n</code></pre>"

    assert on_page_content(text, page_of("")) == text.replace(
        "<pre", '<pre data-search-exclude="1"'
    )


def test_formulas_of_the_method_are_set() -> None:
    text = "<pre><code>[ E + (U / M) · (Cmax + p^L) ] / M, the agent's\n</code></pre>"

    assert on_page_content(text, page_of("", "method.md")) == (
        '<div class="cb-formula" data-search-exclude="1">[ <i>E</i> + (<i>U</i> / <i>M</i>) · '
        "(<i>C</i><sub>max</sub> + <i>p</i><sup><i>L</i></sup>) ] / <i>M</i>, the agent's</div>"
    )


def test_tables_are_taken_out_for_mkdocs_and_put_back() -> None:
    text = '<table class="a">\n<tr></tr></table>\n<table id="b"></table><table><tr id="c"></table>'
    page = page_of(on_page_markdown(text, page_of("")))

    assert page.content == text.replace(
        text.split("\n<table id", maxsplit=1)[0], '<table data-cut="0"></table>'
    )
    on_page_context({}, page)
    assert page.content == text


def test_page_whose_elements_hold_markdown_keeps_its_tables() -> None:
    text = '<div markdown="1"><table><tr></tr></table></div>'
    page = page_of(on_page_markdown(text, page_of("")))

    on_page_context({}, page)
    assert page.content == text


def test_table_in_code_is_refused() -> None:
    page = page_of(html.escape(on_page_markdown("<table></table>", page_of(""))))

    with pytest.raises(ValueError, match="code holds a table"):
        on_page_context({}, page)


@pytest.mark.heavy
def test_no_result_is_mostly_digits(sample_site: SampleSite) -> None:
    index = json.loads(
        (sample_site.built / "search" / "search_index.js").read_text().partition("=")[2]
    )
    texts = {each["location"]: re.sub(r"<[^>]*>|\s", "", each["text"]) for each in index["docs"]}

    shares = {
        place: sum(map(str.isdigit, text)) / len(text) for place, text in texts.items() if text
    }

    assert len(shares) > 100
    assert {place: share for place, share in shares.items() if share > MOST_DIGITS} == {}


@pytest.mark.heavy
def test_marks_of_the_search_do_not_reach_a_page(sample_site: SampleSite) -> None:
    pages = sorted(sample_site.built.rglob("*.html"))
    assert [path.name for path in pages if 'data-search-exclude="1"' in path.read_text()] == []
