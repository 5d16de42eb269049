"""Every page of the built site as a reader meets it, and the figures on it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.tabs import DESKTOP, PHONE, Tab, pages_of, settled

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


@pytest.mark.heavy
def test_tables_fit_a_desktop(file_tab: Tab, folder: Path) -> None:
    file_tab.resize(DESKTOP)
    names = pages_of(folder)

    wide = {name: settled(file_tab.visit(name)).evaluate(WIDE) for name in names}

    assert len(names) > 20
    assert {name: found for name, found in wide.items() if found} == {}


@pytest.mark.heavy
def test_every_page_opens_in_silence_and_fits_a_phone(tab: Tab, folder: Path) -> None:
    wrong = []
    tab.resize(PHONE)
    for name in pages_of(folder):
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


@pytest.mark.heavy
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
