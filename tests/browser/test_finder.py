"""The finder of the trace browser: every control, and words that were said."""

import json
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from calbench.report.games.index import words_of
from calbench.report.games.ledger import ledger_data
from calbench.traces.storage import read_trace, trace_bytes
from tests.browser.tabs import Visit, opened
from tests.report.by_event import game_data

pytestmark = pytest.mark.heavy

HOSTILE = "hostile/hostile/hostile-000"


def found(page: Page, count: int, state: str) -> None:
    """Wait until the finder has so many games, and has kept its state."""
    finder = page.locator("[data-found]")
    expect(finder).to_have_attribute("data-state", state)
    expect(finder).to_have_attribute("data-found", str(count))


def more(page: Page) -> None:
    """Open the filters that are folded."""
    page.get_by_text("More filters").click()


def test_finder_opens_with_featured_games_and_one_line_of_search(visit: Visit) -> None:
    page = visit("traces.html")
    found(page, 54, "")
    featured = page.locator("#cb-featured a[href^='traces.html#']")
    assert featured.count() >= 5
    expect(featured.first).to_be_visible()
    expect(page.locator("#cb-words")).to_be_visible()
    expect(page.locator("#cb-experiment")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollHeight") < 2500
    place = (featured.first.get_attribute("href") or "").removeprefix("traces.html#")
    game, _, event = place.rpartition("/")

    featured.first.click()

    opened(page, game, int(event))
    expect(page.locator("#cb-featured")).to_be_hidden()
    expect(page.locator("#cb-intro")).to_be_hidden()
    page.go_back()
    expect(featured.first).to_be_visible()
    expect(page.locator("#cb-intro")).to_be_visible()

    page = visit("traces.html#find?e=language&passed=1")
    expect(page.locator("#cb-featured")).to_be_hidden()
    expect(page.locator("#cb-passed")).to_have_value("1")
    page.get_by_role("button", name="Show all games").click()
    expect(page.locator("#cb-featured a").first).to_be_visible()


def test_games_are_found_by_what_they_are(visit: Visit) -> None:
    page = visit("traces.html")
    found(page, 54, "")
    rows = page.locator("tr[data-game]")
    expect(rows).to_have_count(25)
    page.get_by_role("button", name="Next").click()
    found(page, 54, "page=2")
    page.get_by_role("button", name="Next").click()
    found(page, 54, "page=3")
    expect(rows).to_have_count(4)

    more(page)
    page.select_option("#cb-experiment", "language")
    found(page, 24, "e=language")
    page.select_option("#cb-setting", "varied")
    found(page, 12, "e=language&s=varied")
    page.select_option("#cb-team", "oversharer")
    found(page, 3, "e=language&t=oversharer&s=varied")
    page.select_option("#cb-third", "easy")
    found(page, 1, "e=language&t=oversharer&s=varied&d=easy")
    page.get_by_role("button", name="Show all games").click()
    found(page, 54, "")
    page.select_option("#cb-kind", "language models")
    found(page, 3, "k=language models")
    page.select_option("#cb-outcome", "halted")
    found(page, 1, "k=language models&o=halted")
    expect(rows).to_contain_text("halted, not scored")
    page.get_by_role("button", name="Show all games").click()
    page.select_option("#cb-outcome", "failed")
    page.select_option("#cb-team", "silent")
    found(page, 3, "t=silent&o=failed")


def test_games_are_found_by_what_came_of_them(visit: Visit) -> None:
    page = visit("traces.html#find?e=language&sort=-told")
    rows = page.locator("tr[data-game]")
    expect(rows.first).to_contain_text("oversharer")
    page.locator("#cb-told").fill("1")
    expect(page.locator("[data-found]")).to_have_attribute("data-state", re.compile("told=1"))
    told = int(page.locator("[data-found]").get_attribute("data-found") or 0)
    assert 0 < told < 24
    page.select_option("#cb-tier", "sensitive")
    page.select_option("#cb-pattern", "semantic_label_leakage")
    state = "e=language&told=1&tier=sensitive&p=semantic_label_leakage&sort=-told"
    expect(page.locator("[data-found]")).to_have_attribute("data-state", state)
    assert 0 < int(page.locator("[data-found]").get_attribute("data-found") or 0) <= told
    expect(rows.first).to_contain_text("(sensitive)")

    page = visit("traces.html#find?e=uniform&vmin=50")
    expect(rows.first).to_contain_text("tell-all")
    found(page, 3, "e=uniform&vmin=50")
    page.locator("#cb-vmax").fill("60")
    found(page, 0, "e=uniform&vmin=50&vmax=60")
    expect(page.get_by_role("status")).to_have_text("0 games")
    page.locator("#cb-vmin").fill("")
    page.locator("#cb-vmax").fill("")
    page.locator("#cb-xmin").fill("0")
    page.locator("#cb-xmax").fill("1000")
    found(page, 12, "e=uniform&xmin=0&xmax=1000")
    heading = page.locator("th[aria-sort]")
    for name in ("excess", "cost", "messages", "vps", "told"):
        page.locator(f"[data-sort={name}]").click()
        expect(heading.locator("button")).to_have_attribute("data-sort", name)
        expect(heading).to_have_attribute("aria-sort", "descending")
    page.locator("th[aria-sort] button").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")


def test_state_of_the_finder_is_an_address(visit: Visit) -> None:
    page = visit("traces.html#find?t=silent&o=failed&sort=-excess")
    found(page, 3, "t=silent&o=failed&sort=-excess")
    assert page.locator("#cb-team").input_value() == "silent"
    assert page.locator("#cb-outcome").input_value() == "failed"

    page.locator("tr[data-game] a").first.click()
    expect(page.locator("#cb-traces")).to_have_attribute("data-game", re.compile("/silent/"))
    expect(page.locator("#cb-team")).to_be_hidden()
    page.go_back()
    found(page, 3, "t=silent&o=failed&sort=-excess")
    expect(page.locator("#cb-team")).to_be_visible()
    expect(page.locator("tr[aria-current]")).to_have_count(1)

    page = visit("traces.html#language")
    found(page, 24, "e=language")
    page = visit("traces.html#find?e=%3Cb%3E&t=__proto__&p=constructor&sort=x&page=-1&xmin=1e9")
    found(page, 0, "e=<b>&t=__proto__&p=constructor")


def test_sentence_that_was_found_opens_at_its_message(visit: Visit) -> None:
    page = visit("traces.html")
    page.locator("#cb-words").press_sequentially("would be eas")
    expect(page.locator("[data-found]")).to_have_attribute("data-state", "q=would be eas")
    hit = page.locator(".cb-hits a").first
    expect(hit.locator("mark")).to_have_text(["would", "be", "easy"])
    words = hit.inner_text().strip("… ")
    place = (hit.get_attribute("href") or "").removeprefix("#").rpartition("/")

    hit.click()

    opened(page, place[0], int(place[2]))
    expect(page.locator(".cb-message.cb-now")).to_contain_text(words)
    page = visit("traces.html#find?q=would+be+zzz")
    found(page, 0, "q=would be zzz")
    page = visit("traces.html#find?q=eas+")
    found(page, 0, "q=eas ")  # a space behind it: the whole word
    page = visit("traces.html#find?q=would&e=uniform")
    found(page, 0, "e=uniform&q=would")


def test_hostile_words_are_found_as_text(visit: Visit) -> None:
    for words in ("script window hacked", "__proto__", "constructor", "isolated right", "x" * 50):
        page = visit("traces.html#find?" + urlencode({"q": words}))
        expect(page.locator("[data-found]")).to_have_attribute("data-state", f"q={words}")
        expect(page.locator(".cb-hits mark").first).to_be_visible()
        assert page.evaluate("window.hacked") is None
        assert page.locator("#cb-traces script, #cb-traces img, #cb-traces svg").count() == 0
        if words == "isolated right":
            expect(page.locator(".cb-hits a").first).to_contain_text("\\u2066")


def test_words_are_the_same_in_the_page_and_in_its_index(visit: Visit) -> None:
    texts = [
        "ﬁne Ⅳ２ é e\u0301",
        "__proto__ a_b",
        "ΣΑΣ İx",
        "漢字 हिन्दी",
        "z" * 99,
        "\U0001f4c5 ½ x²",
    ]
    page = visit("traces.html")

    words = page.evaluate("texts => texts.map(text => calbench.finder.wordsOf(text))", texts)

    assert [set(each) for each in words] == [words_of(text) for text in texts]


LOAD = """names => new Promise((found, failed) => calbench.games.load(...names,
    (game, scenario) => found([{...game, file: game.file.size}, scenario]), failed))"""


def test_games_come_out_of_their_files_as_they_went_in(
    visit: Visit, traces: dict[str, Path]
) -> None:
    page = visit("traces.html")
    games = ("varied/imap/varied-001", "uniform/mediator/uniform-002")
    for name in (*games, HOSTILE, "language/oversharer/varied-000", "smollm2/my-model/smollm2-002"):
        experiment, path = name.split("/", 1)
        trace = read_trace(traces[experiment] / f"{path}.json")

        game, scenario = page.evaluate(LOAD, name.split("/"))
        ledger = game.pop("ledger")
        assert game.pop("summary").endswith(".")
        assert game.pop("file") == len(trace_bytes(trace))
        for of_tables in ("unreachable", "bits"):
            ledger.pop(of_tables, None)
        assert game == json.loads(json.dumps(game_data(trace, experiment)))
        assert ledger == json.loads(json.dumps(ledger_data(trace)))
        assert trace.config.team.team_id in scenario.pop("teams")
        assert scenario == trace.scenario.model_dump(mode="json")
