"""The pages on data: downloads, the index of tables, and the columns that it leads to."""

import pytest
from playwright.sync_api import expect

from tests.browser.tabs import DESKTOP, PHONE, Tab
from tests.browser.test_accessibility import faults
from tests.browser.test_pages import PRESSED, WIDE

PAGES = ("data.html", "data/results.html#leaderboard", "data/formats.html")

MOST_PIXELS = 12_000
"""Height of a page on a laptop."""


def test_index_leads_to_the_open_columns_of_a_table(file_tab: Tab) -> None:
    page = file_tab.visit("data.html#usage")
    row = page.locator("tr", has=page.locator("th#usage"))
    expect(row).to_be_in_viewport()

    row.get_by_role("link", name="usage.csv", exact=True).click()

    expect(page.locator("#usage")).to_be_in_viewport()
    opened = page.locator("details.cb-columns[open]")
    expect(opened).to_have_count(1)
    expect(opened).to_contain_text("input_tokens")


def test_tables_are_downloaded_when_asked_for_and_not_before(file_tab: Tab) -> None:
    page = file_tab.visit("data.html")
    links = page.locator("a[download]")

    assert links.count() > 50
    read = page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    assert [name for name in read if "/downloads/" in name or "/tables/" in name] == []


@pytest.mark.heavy
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("address", PAGES)
def test_pages_on_data_fit_and_have_no_grave_fault(
    file_tab: Tab, address: str, size: tuple[int, int]
) -> None:
    file_tab.resize(size)
    page = file_tab.visit(address)

    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate(PRESSED) == []
    if size == DESKTOP:
        assert page.evaluate(WIDE) == []
        assert page.evaluate("document.documentElement.scrollHeight") < MOST_PIXELS
