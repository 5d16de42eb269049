"""Long pages of text: sections open by click and by address, and paper shows all of them."""

import pytest
from playwright.sync_api import expect

from tests.browser.tabs import DESKTOP, Tab, settled

pytestmark = pytest.mark.heavy

LONGEST = 12_000
"""Pixels of a page of text when it is opened [C]."""

TEXTS = (
    *("method", "evaluate", "reproduce", "extend", "python", "costs", "limitations", "trust"),
    *("glossary", "changelog", "cite", "licences", "interface"),
)

HIDDEN = """Array.from(document.querySelectorAll("article details > :not(summary)"))
    .filter(part => !part.checkVisibility() || part.getBoundingClientRect().height === 0)
    .filter(part => part.textContent.trim()).map(part => part.textContent.slice(0, 60))"""

CUT = """Array.from(document.querySelectorAll("article table"))
    .filter(table => table.getBoundingClientRect().right > innerWidth + 1)
    .map(table => table.textContent.trim().slice(0, 60))"""


def fold(anchor: str) -> str:
    """Return a selector of the folded part that holds a place."""
    return f"details:has(#{anchor})"


def test_address_of_a_place_opens_the_part_that_holds_it(served_tab: Tab) -> None:
    served_tab.resize(DESKTOP)
    page = served_tab.visit("method.html#verdicts")

    expect(page.locator(fold("verdicts"))).to_have_attribute("open", "")
    expect(page.locator("#verdicts")).to_be_in_viewport()
    expect(page.locator(fold("lemma"))).not_to_have_attribute("open", "")


def test_links_of_other_pages_and_of_the_contents_open_it_too(file_tab: Tab) -> None:
    file_tab.resize(DESKTOP)
    page = file_tab.visit("glossary.html")
    page.locator("a[href='method.html#exact']").click()
    expect(page.locator("#exact")).to_be_in_viewport()

    page.locator(".md-sidebar--secondary a[href='#lemma']").click()
    expect(page.locator(fold("lemma"))).to_have_attribute("open", "")
    expect(page.locator("#lemma")).to_be_in_viewport()


def test_paper_shows_what_is_folded_and_cuts_no_table(file_tab: Tab) -> None:
    file_tab.resize((794, 1123))
    page = file_tab.visit("method.html")
    try:
        assert len(page.evaluate(HIDDEN)) > 100
        page.emulate_media(media="print")
        assert page.evaluate(HIDDEN) == []
        assert page.evaluate(CUT) == []
        expect(page.locator(".md-header")).to_be_hidden()
        expect(page.locator(".md-footer")).to_be_hidden()
        link = page.locator("article a[href*='evaluate.html']").first
        shown = link.evaluate("link => getComputedStyle(link, '::after').content")
        assert "attr" in shown or "evaluate.html" in shown
    finally:
        page.emulate_media(media="screen")


def test_no_page_of_text_is_long_when_it_is_opened(file_tab: Tab) -> None:
    file_tab.resize((1280, 800))
    heights = {
        name: settled(file_tab.visit(f"{name}.html")).evaluate(
            "document.documentElement.scrollHeight"
        )
        for name in TEXTS
    }

    assert {name: height for name, height in heights.items() if height > LONGEST} == {}
