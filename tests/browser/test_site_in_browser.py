"""The built site in headless Chromium, over http and straight from its folder.

One module holds all of it: while Playwright's synchronous driver is open, nothing else in
the process can run an event loop.
"""

import functools
import http.server
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from calbench.report.build import build_site
from calbench.report.escape import data_script
from calbench.report.games import game_data
from calbench.report.pages import write_site
from calbench.report.special import SpecialResults
from tests.report.language_samples import HOSTILE_WORDS, make_cohort, make_language
from tests.report.samples import (
    HALF_CHARACTERS,
    HOSTILE_TEXTS,
    SOURCES,
    make_results,
    play,
    suite_of,
)

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

TIMEOUT_MS = 10_000

if CHROMIUM is None and os.environ.get("CALBENCH_REQUIRE_BROWSER") != "1":
    pytest.skip("no Chromium found: neither chromium nor google-chrome", allow_module_level=True)

HOSTILE = "hostile/hostile/hostile-000"
HALVES = "hostile/hostile/hostile-001"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a small site: two ordinary experiments, a hostile one, and two with language."""
    root = tmp_path_factory.mktemp("site")
    write_site(
        SOURCES,
        [
            make_results(root / "varied", "varied", ["imap", "silent"]),
            make_results(
                root / "uniform", "uniform", ["imap", "tell-all", "mediator", "secure-sum"]
            ),
            make_results(root / "hostile", "hostile", ["hostile"]),
        ],
        root / "src",
        SpecialResults(
            [make_language(root / "language", "language"), make_cohort(root / "smollm2")],
            SOURCES.parent / "data" / "published",
        ),
    )
    # No trace file can hold half a character, but a page must bear one.
    trace = play(suite_of("hostile", 3)[1], "hostile", [HALF_CHARACTERS])
    script = data_script(f"games/{HALVES}", game_data(trace, "hostile"))
    (root / "src" / "docs" / "pagedata" / "games" / f"{HALVES}.js").write_bytes(script)
    build_site(root / "src", root / "built")
    return root / "built"


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/"
        httpd.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Browser]:
    assert folder.is_dir()  # built before: language games need an event loop
    assert CHROMIUM is not None, "CALBENCH_REQUIRE_BROWSER=1, but there is no Chromium"
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=["http", "file"])
def base(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "file":
        return f"{folder.as_uri()}/"
    address: str = request.getfixturevalue("server")
    return address


class Tab:
    """A page that notes whatever a reader should never see."""

    def __init__(self, page: Page, base: str) -> None:
        self.complaints: list[str] = []
        self._page = page
        self._base = base
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on("request", self._on_request)
        page.on("requestfailed", lambda failed: self.complaints.append(f"failed: {failed.url}"))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self._base, "data:", "blob:")):
            self.complaints.append(f"request to {request.url}")

    def visit(self, address: str) -> Page:
        """Open a page of the site anew, also where only the fragment differs."""
        self._page.goto("about:blank")
        self._page.goto(self._base + address)
        return self._page


@pytest.fixture(scope="module")
def tab(browser: Browser, base: str) -> Iterator[Tab]:
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    yield Tab(context.new_page(), base)
    context.close()


Visit = Callable[[str], Page]


@pytest.fixture
def visit(tab: Tab) -> Iterator[Visit]:
    """Open pages of the site; fail on console errors and on any request that leaves it."""
    tab.complaints.clear()
    tab._page.set_viewport_size({"width": 1280, "height": 900})
    yield tab.visit
    assert tab.complaints == []


def opened(page: Page, game: str, event: int) -> None:
    """Wait until the trace browser shows an event of a game."""
    expect(page.locator("#cb-traces")).to_have_attribute("data-game", game)
    expect(page.locator("#cb-traces")).to_have_attribute("data-event", str(event))


def calendars(page: Page) -> list[str]:
    cells: list[str] = page.locator(".cb-grid tbody td:not(.cb-sum)").evaluate_all(
        "cells => cells.map(cell => cell.textContent)"
    )
    return cells


PAGES = (
    "index.html",
    "results/varied.html",
    "results/uniform.html",
    "results/hostile.html",
    "results/plane.html",
    "results/difficulty.html",
    "results/language.html",
    "results/smollm2.html",
    "traces.html",
    "method.html",
    "evaluate.html",
    "reproduce.html",
    "data.html",
    "licences.html",
    "404.html",
)

FIGURES = {"results/plane.html": 3, "results/difficulty.html": 1, "results/language.html": 2}


def test_every_page_opens_in_silence_and_fits_a_phone(visit: Visit, folder: Path) -> None:
    assert sorted(PAGES) == sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*.html"))
    for name in PAGES:
        if name not in {"404.html", "results/varied.html", "results/uniform.html", *FIGURES}:
            page = visit(name)
            page.set_viewport_size({"width": 390, "height": 844})

            assert page.locator("h1").count() == 1
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            assert page.evaluate("Object.keys(window).filter(n => /^cal/.test(n))") == ["calbench"]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_drawn_and_follow_the_palette(visit: Visit, name: str) -> None:
    page = visit(name)
    page.set_viewport_size({"width": 390, "height": 844})

    expect(page.locator(".cb-figure[data-drawn]")).to_have_count(FIGURES[name])
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator(".cb-figure svg.main-svg").first).to_be_visible()
    assert page.locator(".cb-figure .point").count() > 0
    assert page.locator("table.cb-numbers").count() > 0
    title = page.locator(".cb-figure .xtitle").first
    before = title.evaluate("node => getComputedStyle(node).fill")
    page.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    page.wait_for_function(
        "before => getComputedStyle(document.querySelector('.cb-figure .xtitle')).fill !== before",
        arg=before,
    )


def test_plotly_is_loaded_only_where_a_figure_is(folder: Path) -> None:
    with_plotly = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.html")
        if "plotly.min.js" in path.read_text().partition("<main")[2].replace("<code>", "")
        and '<script src="' in path.read_text()
        and re.search(r'<script src="[^"]*plotly\.min\.js"', path.read_text())
    }

    results = {name for name in PAGES if name.startswith("results/")}
    assert with_plotly == results - {"results/smollm2.html"}


def test_trace_is_stepped_by_keyboard(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-001/0")
    opened(page, "varied/imap/varied-001", 0)
    start = calendars(page)
    expect(page.locator(".cb-message")).to_have_count(0)

    page.keyboard.press("ArrowRight")
    opened(page, "varied/imap/varied-001", 1)
    page.keyboard.press("ArrowLeft")
    opened(page, "varied/imap/varied-001", 0)
    for _ in range(8):
        page.keyboard.press("j")
    assert page.locator(".cb-message").count() >= 2
    expect(page.locator(".cb-event")).not_to_be_empty()
    at = page.locator("#cb-traces").get_attribute("data-event")
    page.keyboard.press("k")
    assert page.locator("#cb-traces").get_attribute("data-event") != at
    assert calendars(page) == start

    page.keyboard.press("End")
    expect(page.locator(".cb-event")).to_contain_text("The game ends")
    assert calendars(page) != start
    assert page.locator(".cb-grid td.cb-meeting").count() == 15
    page.keyboard.press("Home")
    opened(page, "varied/imap/varied-001", 0)
    assert calendars(page) == start


def test_trace_is_stepped_by_buttons_and_slider(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-000/25")
    opened(page, "varied/imap/varied-000", 25)

    for _ in range(60):
        page.get_by_role("button", name="Next event").click()
        if page.locator(".cb-batch").count():
            break
    expect(page.locator(".cb-batch.cb-now")).to_contain_text("applied, cost")
    assert page.locator(".cb-grid td.cb-new").count() >= 1
    assert page.locator(".cb-message").count() == 6
    assert page.locator(".cb-vector").count() == 2
    page.get_by_role("button", name="Last event").click()
    last = page.locator("#cb-traces").get_attribute("data-event")
    expect(page.get_by_role("button", name="Next event")).to_be_disabled()
    page.get_by_role("button", name="Previous turn").click()
    assert page.locator("#cb-traces").get_attribute("data-event") != last
    page.get_by_role("slider", name="Event").fill("7")
    opened(page, "varied/imap/varied-000", 7)
    page.locator("#cb-best").check()
    assert page.locator(".cb-grid .cb-plan").count() == 15
    expect(page.locator(".cb-outcomes tbody tr")).to_have_count(5)


def test_rejected_batches_and_retries_are_shown(visit: Visit) -> None:
    page = visit("traces.html#varied/silent/varied-000/99999")

    expect(page.locator(".cb-batch").first).to_contain_text("✗ Expected exactly 1 schedule")
    expect(page.locator(".cb-batch").last).to_contain_text("retry 3")
    expect(page.locator(".cb-outcomes")).to_contain_text("no batch")


def test_sealed_and_shared_vectors_are_shown_as_tables(visit: Visit) -> None:
    page = visit("traces.html#uniform/mediator/uniform-000/99999")

    messages = page.locator(".cb-message")
    expect(messages).to_have_count(4)
    expect(messages.first).to_contain_text("→ the mediator sealed, sweep 1")
    expect(messages.first.locator("td")).to_have_count(16)
    expect(messages.last).to_contain_text("The mediator → agent")
    expect(messages.last).to_contain_text("We meet in slot")
    page = visit("traces.html#uniform/secure-sum/uniform-000/99999")
    expect(messages).to_have_count(10)
    expect(messages.first.locator("th").nth(17)).to_have_text("share")
    expect(page.locator(".cb-message", has_text="sum").first.locator("td")).to_have_count(16)


def test_permalink_reopens_the_same_event(visit: Visit) -> None:
    page = visit("traces.html#uniform/tell-all/uniform-002/30")
    opened(page, "uniform/tell-all/uniform-002", 30)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash === '#uniform/tell-all/uniform-002/31'")
    shown = page.locator(".cb-event").inner_text(), calendars(page)
    address = page.evaluate("location.hash")

    page = visit("index.html")
    page = visit(f"traces.html{address}")

    opened(page, "uniform/tell-all/uniform-002", 31)
    assert (page.locator(".cb-event").inner_text(), calendars(page)) == shown
    page.evaluate("location.hash = '#varied/imap/varied-002/12'")
    opened(page, "varied/imap/varied-002", 12)


def test_games_are_chosen_and_found(visit: Visit) -> None:
    page = visit("traces.html")
    opened(page, "varied/imap/varied-000", 0)

    page.select_option("#cb-team", "silent")
    opened(page, "varied/silent/varied-000", 0)
    page.select_option("#cb-scenario", "varied-002")
    opened(page, "varied/silent/varied-002", 0)
    page.fill("#cb-filter", "easy failed")
    expect(page.locator("#cb-scenario option")).to_have_count(2)  # the open one stays
    page.fill("#cb-filter", "")
    expect(page.locator("#cb-scenario option")).to_have_count(3)
    page.select_option("#cb-experiment", "uniform")
    opened(page, "uniform/imap/uniform-000", 0)


def test_keys_in_a_field_do_not_step(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-000/5")
    opened(page, "varied/imap/varied-000", 5)

    page.locator("#cb-filter").press_sequentially("jk")
    page.locator("#cb-filter").press("Home")

    opened(page, "varied/imap/varied-000", 5)


@pytest.mark.parametrize(
    "address",
    [
        "#%3Cscript%3E/x/y/1",
        "#varied/imap/nowhere/1",
        "#varied/imap/..%2F..%2Findex/1",
        "#%ff%/%/%/-1",
        "#varied/imap/varied-000/-5",
    ],
)
def test_strange_addresses_are_harmless(browser: Browser, server: str, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    page.goto(f"{server}traces.html{address}")
    expect(page.locator("#cb-team option").first).to_be_attached()
    page.wait_for_timeout(100)

    assert errors == []
    context.close()


def test_hostile_text_shows_as_text_and_runs_nothing(visit: Visit) -> None:
    page = visit(f"traces.html#{HOSTILE}/0")
    opened(page, HOSTILE, 0)
    last = int(page.get_by_role("slider", name="Event").get_attribute("max") or 0)
    shown = set()
    for event in range(0, last + 1, 8):
        page.get_by_role("slider", name="Event").fill(str(event))
        shown |= set(
            page.locator(".cb-text").evaluate_all("nodes => nodes.map(node => node.textContent)")
        )
        if page.locator(".cb-outcomes a").count() >= 1:
            break

    text = "\n".join(shown)
    for each in HOSTILE_TEXTS[:5]:
        assert each in text
    assert "\\u202eright\\u202c" in text
    assert "more characters in the trace file" in text
    assert page.evaluate("window.hacked") is None
    assert page.locator("#cb-traces script, #cb-traces img, #cb-traces svg").count() == 0
    page.wait_for_function("location.hash.startsWith('#hostile/')")


def test_language_game_shows_its_words_thoughts_and_prompts(visit: Visit, folder: Path) -> None:
    page = visit("traces.html#language/oversharer/varied-000/14")
    opened(page, "language/oversharer/varied-000", 14)
    details = page.locator("details")

    expect(page.locator(".cb-message .cb-text").first).to_contain_text("I have")
    expect(page.locator("#cb-team option").first).to_have_text("candid (scripted agents)")
    expect(page.get_by_text("What it thought")).to_be_visible()
    assert page.locator("script[src*='prompts/']").count() == 0
    details.filter(has_text="The exact prompt").locator("summary").click()
    expect(details.filter(has_text="The exact prompt")).to_contain_text("Your calendar:")
    details.filter(has_text="Its system prompt").locator("summary").click()
    expect(details.filter(has_text="Its system prompt")).to_contain_text("## Response Format")
    for _ in range(200):
        if page.locator(".cb-beliefs").count():
            break
        page.keyboard.press("ArrowRight")
    expect(page.locator(".cb-event")).to_contain_text("how its beliefs moved")
    expect(page.locator(".cb-beliefs tbody tr")).to_have_count(4)
    expect(details.filter(has_text="The exact prompt")).to_contain_text("MEASUREMENT")
    expect(page.get_by_text("What it thought")).to_be_hidden()
    assert (folder / "pagedata" / "prompts" / "language").is_dir()


def test_words_of_a_hostile_model_run_nothing(visit: Visit) -> None:
    page = visit("traces.html#smollm2/my-model/smollm2-000/0")
    opened(page, "smollm2/my-model/smollm2-000", 0)
    for name in ("The exact prompt", "Its system prompt"):
        page.locator("details").filter(has_text=name).evaluate("node => { node.open = true; }")
    slider = page.get_by_role("slider", name="Event")
    last = int(slider.get_attribute("max") or 0)
    shown = set()
    for event in range(0, last + 1, 9):
        slider.fill(str(event))
        opened(page, "smollm2/my-model/smollm2-000", event)
        shown.add(page.locator("#cb-traces").inner_text())

    text = "\n".join(shown)
    for words in HOSTILE_WORDS:
        assert words in text
    assert "its reply is no JSON object" in text
    assert "its reply was read after something was cut away (prefixed)" in text
    assert "100 tokens sent (40 of them cached), 7 received." in text
    assert page.evaluate("window.hacked") is None
    assert page.locator("#cb-traces script, #cb-traces img, #cb-traces svg").count() == 0


def test_halted_game_is_marked_as_not_scored(visit: Visit) -> None:
    page = visit("traces.html#smollm2/my-model/smollm2-002/0")
    opened(page, "smollm2/my-model/smollm2-002", 0)

    expect(page.get_by_role("note")).to_contain_text("<script>window.hacked = 1</script>")
    expect(page.get_by_role("note")).to_contain_text("It is not scored.")
    expect(page.locator("#cb-scenario option").last).to_contain_text("halted, not scored")
    assert page.evaluate("window.hacked") is None
    page.select_option("#cb-scenario", "smollm2-000")
    opened(page, "smollm2/my-model/smollm2-000", 0)
    expect(page.get_by_role("note")).to_be_hidden()


def test_half_characters_are_named(visit: Visit) -> None:
    page = visit(f"traces.html#{HALVES}/12")
    opened(page, HALVES, 12)

    expect(page.locator(".cb-message .cb-text").first).to_have_text(
        "\\ud800 alone, \\udc00 alone, \U0001f4c5 whole"
    )


def test_search_finds_a_definition(visit: Visit) -> None:
    page = visit("index.html")
    page.wait_for_load_state("load")

    page.locator("[data-md-component=search-query]").click()
    page.locator("[data-md-component=search-query]").press_sequentially("degenerate")

    expect(page.locator(".md-search-result__item").first).to_be_visible()


class Links(HTMLParser):
    """Collects where a page points, and what can be pointed at in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src", "srcset", "action"} and value:
                self.links.append(value)
            if name == "id" and value:
                self.ids.add(value)


def test_every_link_resolves_within_the_site(folder: Path) -> None:
    parsed = {path: Links(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    wrong = []
    for path, page in parsed.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                wrong.append(f"{path.name}: {link} leaves the site")
                continue
            base = folder if parts.path.startswith("/") else path.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_relative_to(folder) or not target.is_file():
                wrong.append(f"{path.name}: {link} leads nowhere")
            elif (
                target.suffix == ".html"
                and parts.fragment
                and target.name != "traces.html"  # whose fragments name games
                and parts.fragment not in parsed[target].ids
            ):
                wrong.append(f"{path.name}: {link} has no such place")

    assert wrong == []


def test_no_script_of_ours_is_a_module_or_names_another_host(folder: Path) -> None:
    ours = [*(folder / "assets").glob("*.js"), *(folder / "pagedata").rglob("*.js")]
    assert len(ours) > 10
    for path in ours:
        text = path.read_text()
        assert "://" not in text, path
        assert not re.search(r"^\s*(import|export)\b|\bfetch\(|innerHTML", text, re.MULTILINE), path
