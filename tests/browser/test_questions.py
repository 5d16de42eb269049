"""Three questions of a newcomer, each answered from the home page by at most three clicks."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.tabs import PHONE, Tab, Visit

pytestmark = pytest.mark.heavy

LAPTOP = (1280, 800)

MOST_CLICKS = 3
"""From home to an answer [R]."""


class Reader:
    """A newcomer on the home page, whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0

    def click(self, link: Locator) -> None:
        """Follow what is on the screen."""
        expect(link).to_be_in_viewport()
        link.click()
        self.clicks += 1
        assert self.clicks <= MOST_CLICKS

    def sees(self, answer: Locator) -> None:
        """Find an answer on the screen, without scrolling."""
        expect(answer).to_be_in_viewport()


@pytest.fixture(params=[LAPTOP, PHONE], ids=["laptop", "phone"])
def reader(request: pytest.FixtureRequest, visit: Visit, tab: Tab) -> Reader:
    tab.resize(request.param)
    return Reader(visit("index.html"))


def test_what_does_it_measure(reader: Reader) -> None:
    page = reader.page

    reader.sees(page.get_by_role("heading", level=1))
    expect(page.get_by_role("heading", level=1)).to_contain_text("private calendars")
    reader.sees(page.locator(".cb-findings > li").first)
    about = page.get_by_role("group", name="About this site")
    glossary = about.get_by_role("link", name="Glossary")
    glossary.scroll_into_view_if_needed()
    reader.click(glossary)

    expect(page.locator("h1")).to_have_text(re.compile("Glossary"))
    reader.sees(page.get_by_role("heading", name="Coordination", exact=False).first)


def test_who_is_best_at_what_price_of_privacy(reader: Reader) -> None:
    page = reader.page
    first = page.locator(".cb-findings > li").first

    reader.sees(first)
    expect(first).to_contain_text("VPS")
    best = first.locator("b").first.inner_text()
    leaderboard = page.locator(".cb-buttons").get_by_role("link", name="Leaderboard")
    leaderboard.scroll_into_view_if_needed()
    reader.click(leaderboard)

    row = page.locator("#lb-board tbody tr").first
    reader.sees(row)
    expect(row.locator("th")).to_contain_text(best)
    reader.click(row.locator("th a").first)

    expect(page.locator("h1")).to_have_text(re.compile(f"^{re.escape(best)}\\b"))
    row = page.locator("#numbers ~ * tr, section tr").filter(has_text="Adjusted excess cost").first
    reader.sees(row)


def test_show_me_a_leak(reader: Reader) -> None:
    page = reader.page
    leak = page.get_by_role("link", name=re.compile("^Show me a leak"))
    leak.scroll_into_view_if_needed()
    reader.click(leak)

    expect(page.locator("#cb-traces")).to_have_attribute("data-game", re.compile("/"))
    reader.sees(page.locator(".cb-now mark.cb-leak").first)
