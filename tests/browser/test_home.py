"""The home page as a reader first sees it: what is there before anybody scrolls."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.tabs import DESKTOP, PALETTES, PHONE, Tab, Visit
from tests.browser.test_accessibility import faults

pytestmark = pytest.mark.heavy

LAPTOP = (1280, 800)

SMALLEST = """() => Math.min(...Array.from(document.querySelectorAll(".cb-panel text"), text =>
    parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().d))"""

WIDTHS = "() => [document.documentElement.scrollWidth, innerWidth]"


def bottom(element: Locator) -> float:
    """Return where an element ends, below the top of the page."""
    box = element.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def opened(tab: Tab, size: tuple[int, int]) -> Page:
    tab.resize(size)
    return tab.visit("index.html")


def test_findings_plane_and_buttons_are_seen_without_scrolling(visit: Visit, tab: Tab) -> None:
    tab.resize(LAPTOP)
    page = visit("index.html")

    expect(page.locator(".cb-findings > li")).to_have_count(3)
    assert page.locator(".cb-panel svg").count() >= 3
    for part in ("h1#calbench", ".cb-findings", ".cb-plane", ".cb-buttons"):
        assert bottom(page.locator(part)) <= LAPTOP[1], part
    named = page.locator(".cb-buttons a").all_text_contents()
    assert {"Leaderboard", "Reproduce", "Evaluate your model"} <= set(named)


def test_question_and_first_finding_are_seen_on_a_phone(visit: Visit, tab: Tab) -> None:
    tab.resize(PHONE)
    page = visit("index.html")

    assert bottom(page.locator("h1#calbench")) <= PHONE[1]
    assert bottom(page.locator(".cb-findings > li").first) <= PHONE[1]


@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_nothing_sticks_out_and_no_text_of_the_plane_is_small(
    visit: Visit, tab: Tab, size: tuple[int, int]
) -> None:
    tab.resize(size)
    page = visit("index.html")

    wide, screen = page.evaluate(WIDTHS)
    assert wide <= screen
    assert page.evaluate(SMALLEST) >= 11.99


@pytest.mark.parametrize("palette", PALETTES)
@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_home_is_without_grave_faults(served_tab: Tab, size: tuple[int, int], palette: str) -> None:
    served_tab.paint("dark" if palette == "dark" else "light")
    page = opened(served_tab, size)
    page.locator(".cb-drawn > summary").click()

    assert faults(page) == []


def test_leak_is_one_click_away(visit: Visit) -> None:
    page = visit("index.html")
    link = page.get_by_role("link", name=re.compile("^Show me a leak"))
    label = (link.text_content() or "").partition("“")[2].rstrip("”… ")

    link.click()

    expect(page.locator("#cb-traces")).to_have_attribute("data-game", re.compile("^language/"))
    expect(page.locator("#cb-traces")).to_contain_text(label)


def test_numbers_of_the_plane_unfold_and_the_interactive_one_opens(visit: Visit, tab: Tab) -> None:
    tab.resize(DESKTOP)
    page = visit("index.html")

    expect(page.locator(".cb-drawn table").first).to_be_hidden()
    page.locator(".cb-drawn > summary").click()
    expect(page.locator(".cb-drawn table").first).to_be_visible()
    page.get_by_role("link", name="Draw the protocols interactively").click()
    expect(page).to_have_url(re.compile(r"results/plane\.html$"))
