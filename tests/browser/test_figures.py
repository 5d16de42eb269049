"""Figures in a browser: drawn when seen, in every palette, and read without them."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.tabs import Visit, pages_of, until

FIGURES = {
    "results/plane.html": 3,
    "results/talk.html": 8,
    "results/cost.html": 5,
    "results/difficulty.html": 2,
    "results/words.html": 1,
    "results/language.html": 2,
}
"""Figures that a reader of each page sees at first; others are tables, being mostly zeros."""

TABLES_BELOW = ("results/plane.html", "results/language.html")
"""Pages that have the numbers of their figures in tables of their own."""

PLAIN = (
    "audits",
    "comparisons",
    "inconsistencies",
    "paper",
    "privacy",
    "ratings",
    "regret",
    "smollm2",
)
"""Result pages without a figure."""


@pytest.mark.heavy
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawn_and_follow_the_palette(visit: Visit, name: str) -> None:
    page = visit(name)
    page.set_viewport_size({"width": 390, "height": 844})

    shown = page.locator(".cb-figure:visible")
    expect(shown).to_have_count(FIGURES[name])
    for number in range(FIGURES[name]):
        shown.nth(number).scroll_into_view_if_needed()
        expect(shown.nth(number)).to_have_attribute("data-drawn", "")
    expect(page.locator(".cb-figure[data-drawn]")).to_have_count(FIGURES[name])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator(".cb-figure svg.main-svg").first).to_be_visible()
    assert page.locator(".cb-figure .point").count() > 0
    assert page.locator("table.cb-numbers").count() > 0
    title = page.locator(".cb-figure .xtitle").first
    before = title.evaluate("node => getComputedStyle(node).fill")
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    until(
        page,
        "before => getComputedStyle(document.querySelector('.cb-figure .xtitle')).fill !== before",
        before,
    )
    if name not in TABLES_BELOW:
        numbers = page.locator("details.cb-data:visible table").first
        expect(numbers).to_be_hidden()
        page.locator("details.cb-data:visible summary").first.click()
        expect(numbers).to_be_visible()


@pytest.mark.heavy
def test_switch_shows_one_view_and_addresses_name_it(visit: Visit) -> None:
    page = visit("results/talk.html")
    views = page.locator(".cb-view:visible")
    expect(views).to_have_count(4)
    first = views.first.get_attribute("data-view")

    page.select_option("#cb-view", "language-varied")
    assert page.evaluate("location.hash") == "#in-language-varied"
    assert {view.get_attribute("data-view") for view in views.all()} == {"language-varied"}
    page = visit("results/talk.html#messages-meeting-language-uniform")
    expect(page.locator("#cb-view")).to_have_value("language-uniform")
    expect(page.locator("#messages-meeting-language-uniform")).to_be_in_viewport()
    page.evaluate("location.hash = '#in-" + str(first) + "'")
    expect(page.locator("#cb-view")).to_have_value(str(first))
    page.evaluate("location.hash = '#in-%3Cscript%3E'")
    expect(page.locator("#cb-view")).to_have_value(str(first))


@pytest.mark.heavy
def test_names_of_teams_and_axes_lie_apart_on_a_phone(visit: Visit) -> None:
    page = visit("results/talk.html#in-uniform")
    page.set_viewport_size({"width": 390, "height": 844})
    plot = page.locator(".cb-figure:visible").first
    expect(plot).to_have_attribute("data-drawn", "")
    boxes = until(
        page,
        # Drawn anew and done: a name that is about to be drawn has no width.
        """plot => {
            const texts = ".annotation-text, .xtitle, .xtick text, .ytick text";
            const boxes = [...plot.querySelectorAll(texts)]
                .map(node => node.getBoundingClientRect());
            return plot.querySelector(".main-svg").getBoundingClientRect().right <= 390
                && boxes.every(box => box.width > 0 && box.right <= 390)
                && boxes.map(box => [box.left, box.top, box.right, box.bottom]);
        }""",
        plot.element_handle(),
    )

    assert len(boxes) > 6
    for number, (left, top, right, bottom) in enumerate(boxes):
        assert 0 <= left < right <= 390
        for other in boxes[:number]:
            is_apart = (
                right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
            )
            assert is_apart, (boxes[number], other)


COVERED = """plot => {
    const bar = plot.querySelector(".modebar").getBoundingClientRect();
    return [...plot.querySelectorAll(".gtitle, .xtitle, .ytitle")].filter(title => {
        const box = title.getBoundingClientRect();
        return box.left < bar.right && bar.left < box.right
            && box.top < bar.bottom && bar.top < box.bottom;
    }).map(title => title.textContent);
}"""
"""Titles of axes under the buttons of a figure."""


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["plane", "talk", "cost"])
def test_buttons_cover_no_title_where_one_touches(browser: Browser, server: str, name: str) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(f"{server}results/{name}.html")
    plots = page.locator(".cb-figure:visible")
    for number in range(plots.count()):
        plot = plots.nth(number)
        plot.scroll_into_view_if_needed()
        expect(plot).to_have_attribute("data-drawn", "")
        expect(plot.locator(".modebar")).to_be_attached()
        assert plot.evaluate(COVERED) == []
        titles = plot.locator(".modebar-btn").evaluate_all("all => all.map(b => b.dataset.title)")
        assert "Zoom" in titles
        assert "Share chart..." not in titles  # would send the figure's data to another host
    assert plots.count() > 2
    context.close()


@pytest.mark.heavy
def test_tables_stand_open_without_scripts_and_in_print(browser: Browser, server: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server}results/cost.html")
    tables = page.locator("details.cb-data table")
    assert tables.count() > 10
    expect(tables.first).to_be_visible()
    expect(tables.last).to_be_visible()
    assert page.locator(".cb-figure:visible").count() == 0
    context.close()

    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server}results/cost.html")
    expect(page.locator(".cb-figure[data-drawn]").first).to_be_visible()
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    tables = page.locator("details.cb-data table")
    expect(tables.first).to_be_visible()
    expect(tables.last).to_be_visible()
    context.close()


def test_plotly_is_loaded_only_where_a_figure_is(folder: Path) -> None:
    with_plotly = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.html")
        if "plotly.min.js" in path.read_text().partition("<main")[2].replace("<code>", "")
        and '<script src="' in path.read_text()
        and re.search(r'<script src="[^"]*plotly\.min\.js"', path.read_text())
    }

    results = {name for name in pages_of(folder) if name.startswith("results/")}
    assert with_plotly == results - {f"results/{name}.html" for name in PLAIN}
