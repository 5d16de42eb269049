"""What the search finds reads as sentences: no cells of tables, no code, no lists of files."""

import json
import re

import pytest

from calbench.report.hooks import on_page_content
from tests.report.sample_site import SampleSite

MOST_DIGITS = 0.25
"""Of an entry's characters; a sentence with a few numbers in it has less."""


def test_elements_without_prose_are_marked() -> None:
    row = " · ".join(f'<a href="{name}.csv">{name}</a>' for name in "abcd")

    assert on_page_content("<p>a</p><table><tr></table><pre class=x>b</pre>") == (
        '<p>a</p><table data-search-exclude="1"><tr></table>'
        '<pre data-search-exclude="1" class=x>b</pre>'
    )
    assert on_page_content(f"<p>{row}</p><p>{row[:20]}</p><prefix>") == (
        f'<p data-search-exclude="1">{row}</p><p>{row[:20]}</p><prefix>'
    )


@pytest.mark.heavy
def test_no_result_is_mostly_digits(sample_site: SampleSite) -> None:
    index = json.loads((sample_site.built / "search" / "search_index.json").read_text())
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
