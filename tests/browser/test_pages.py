"""Every page of the built site as a reader meets it, and the figures on it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.tabs import DESKTOP, PHONE, Tab, Visit, pages_of, settled

GLOBALS = "Object.keys(window).filter(name => /^cal/i.test(name))"

PRESSED = """Array.from(document.querySelectorAll(".cb-numbers tbody tr > :first-child"))
    .filter(cell => cell.clientWidth > 0 && cell.clientWidth < 60)
    .map(cell => cell.textContent)"""
"""Names of rows that a wide table leaves hardly more room than for single letters."""


WIDE = """Array.from(document.querySelectorAll(".cb-scroll, .md-typeset__scrollwrap"))
    .filter(place => place.clientWidth && place.scrollWidth > place.clientWidth + 1)
    .map(place => place.textContent.trim())
    .filter(text => !text.includes("hostile"))
    .map(text => text.slice(0, 80))"""
"""Tables that are cut off until a reader scrolls them sideways; hostile names may be that long."""


OF_EACH_KIND = (
    *("index.html", "leaderboard.html", "players.html", "players/imap.html", "traces.html"),
    *("results/uniform.html", "results/talk.html", "results/plane.html", "results/audits.html"),
    *("data.html", "data/results.html", "method.html"),
)
"""A page of each kind, by the template that makes it."""

every = pytest.mark.parametrize(
    "is_every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["each kind", "every page"]
)


def names_of(folder: Path, *, is_every: bool) -> list[str]:
    """Return the pages to look at: one of each kind, or slowly all of them."""
    names = pages_of(folder)
    return [name for name in names if is_every or name in OF_EACH_KIND]


def test_a_page_of_each_kind_is_there(folder: Path) -> None:
    assert set(names_of(folder, is_every=False)) == set(OF_EACH_KIND)
    assert len(pages_of(folder)) > 20


@every
def test_tables_fit_a_desktop(file_tab: Tab, folder: Path, *, is_every: bool) -> None:
    file_tab.resize(DESKTOP)
    names = names_of(folder, is_every=is_every)

    wide = {name: settled(file_tab.visit(name)).evaluate(WIDE) for name in names}

    assert {name: found for name, found in wide.items() if found} == {}


@every
def test_pages_open_in_silence_and_fit_a_phone(tab: Tab, folder: Path, *, is_every: bool) -> None:
    wrong = []
    tab.resize(PHONE)
    for name in names_of(folder, is_every=is_every):
        tab.complaints.clear()
        page = settled(tab.visit(name))

        if page.evaluate("document.documentElement.scrollWidth") > PHONE[0]:
            wrong.append((name, "is wider than a phone"))
        wrong += [(name, f"{text} is pressed") for text in page.evaluate(PRESSED)]
        if page.locator("h1").count() != 1:
            wrong.append((name, "has not one heading"))
        if page.evaluate(GLOBALS) != ["calbench"]:
            wrong.append((name, "has other globals"))
        wrong += [(name, complaint) for complaint in tab.complaints]

    assert wrong == []


@pytest.mark.parametrize("pair", [("words", "audits"), ("cost", "regret")])
def test_figures_and_tables_of_one_thing_lead_to_each_other(
    folder: Path, pair: tuple[str, str]
) -> None:
    for here, there in (pair, pair[::-1]):
        text = (folder / "results" / f"{here}.html").read_text()
        article = text.split("<article", 1)[1].split("</article>", 1)[0]
        assert re.search(rf'href="(?:\.\./results/)?{there}\.html["#]', article), (
            f"{here} does not name {there}"
        )


@pytest.mark.parametrize(
    "address", ["nowhere.html", "results/nowhere.html?x#y", "players/nobody.html"]
)
def test_missing_page_leads_home(served_tab: Tab, address: str) -> None:
    page = served_tab.visit(address)

    expect(page.locator("h1")).to_contain_text("There is no such page")
    expect(page.locator(".md-header")).to_have_css("position", "sticky")  # it found its styles
    page.locator(".md-content a", has_text="home page").click()
    expect(page).to_have_url(re.compile(r"[0-9]/index\.html$"))
    expect(page.locator("h1")).to_contain_text("private calendars")


@pytest.mark.parametrize("where", ["file_tab", pytest.param("served_tab", marks=pytest.mark.heavy)])
def test_search_finds_a_word_and_opens_its_page(request: pytest.FixtureRequest, where: str) -> None:
    tab: Tab = request.getfixturevalue(where)
    tab.complaints.clear()
    tab.resize(DESKTOP)
    page = tab.visit("index.html")

    page.locator("[data-md-component=search-query]").click()
    page.locator("[data-md-component=search-query]").press_sequentially("degenerate")
    page.locator(".md-search-result__item a[href*='method.html#']").first.click()

    expect(page).to_have_url(re.compile(r"method\.html.*#"))
    expect(page.locator("article")).to_contain_text(re.compile("degenerate", re.IGNORECASE))
    assert tab.complaints == []


@pytest.mark.parametrize("question", ["how private is imap", "How private is IMAP?"])
def test_search_answers_how_private_a_team_is(file_tab: Tab, question: str) -> None:
    page = file_tab.visit("index.html")

    page.locator("[data-md-component=search-query]").click()
    page.locator("[data-md-component=search-query]").press_sequentially(question)

    first = page.locator(".md-search-result__item").first
    expect(first.locator("a").first).to_have_attribute("href", re.compile(r"players/imap\.html"))
    expect(first).not_to_contain_text("Missing")


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
