"""The theme's search, which needs a worker: a page opened as a file gets a stand-in."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.tabs import DESKTOP, Tab


@pytest.mark.heavy
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
