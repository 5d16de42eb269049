"""The screen of an open game: two panes, one row of controls, and where a reader arrives."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.tabs import PHONE, Visit, more, opened, until
from tests.report.unpacking import page_data

pytestmark = pytest.mark.heavy

LAPTOP = (1280, 800)
GAMES = ("language/candid/uniform-000", "varied/imap/varied-001", "uniform/mediator/uniform-000")
ROW_PX = 60
"""Most height of one row of controls [C]."""


def resize(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})


def box(place: Locator) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of an element on the screen."""
    found = place.bounding_box()
    assert found is not None
    left, top = found["x"], found["y"]
    return left, top, left + found["width"], top + found["height"]


def is_in_view(page: Page, selector: str) -> bool:
    """Return whether an element is seen whole in the lane of messages and on the screen."""
    seen: bool = page.evaluate(
        """selector => {
            const lane = document.querySelector(".cb-lane").getBoundingClientRect();
            const found = document.querySelector(selector).getBoundingClientRect();
            return found.top >= lane.top - 1 && found.bottom <= lane.bottom + 1
                && found.top >= 0 && found.bottom <= innerHeight;
        }""",
        selector,
    )
    return seen


@pytest.mark.parametrize("game", GAMES)
def test_calendars_and_conversation_share_a_laptop_screen(visit: Visit, game: str) -> None:
    page = visit("index.html")
    resize(page, LAPTOP)
    page = visit(f"traces.html#{game}")
    expect(page.locator("#cb-traces")).to_have_attribute("data-game", game)

    calendars = box(page.locator(".cb-pane--calendars"))
    talk = box(page.locator(".cb-pane--talk"))
    controls = box(page.locator(".cb-controls"))

    assert calendars[2] <= talk[0]
    for left, top, right, bottom in (calendars, talk, controls):
        assert left >= 0
        assert top >= 0
        assert right <= LAPTOP[0]
        assert bottom <= LAPTOP[1]
    assert controls[3] - controls[1] <= ROW_PX
    assert controls[3] <= min(calendars[1], talk[1])
    assert talk[3] - talk[1] > LAPTOP[1] / 2
    grid = box(page.locator(".cb-grid"))
    assert grid[3] <= calendars[3]
    assert is_in_view(page, ".cb-message.cb-now")
    assert page.locator(".cb-controls > button").count() == 5
    assert page.locator(".cb-viewer select:visible").count() == 0
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator(".cb-finder")).to_be_hidden()


@pytest.mark.parametrize("game", GAMES)
def test_address_without_an_event_opens_at_the_first_message(
    visit: Visit, folder: Path, game: str
) -> None:
    events = page_data(folder / "pagedata", f"games/{game}")["events"]
    first = next(index for index, event in enumerate(events) if event["type"].endswith("_sent"))

    opened(visit(f"traces.html#{game}"), game, first)

    page = visit(f"traces.html#{game}/0")
    opened(page, game, 0)
    expect(page.locator(".cb-place")).to_contain_text("Before the first of")
    page.get_by_role("button", name="Next message").click()
    opened(page, game, first)
    expect(page.locator(".cb-place")).to_have_text(
        re.compile(r"^Message 1 of \d+ · round 1, M1 · cheap talk$")
    )


def test_agents_own_view_opens_at_its_first_message_and_counts_none_it_does_not_see(
    visit: Visit,
) -> None:
    page = visit("traces.html#language/candid/uniform-000;view=agent-0")

    expect(page.locator(".cb-message")).not_to_have_count(0)
    expect(page.locator(".cb-place")).to_have_text(re.compile("^Event "))
    expect(page.locator(".cb-later")).to_have_count(0)
    expect(page.locator(".cb-sight")).to_contain_text("Point of view: agent 0")
    page.get_by_role("button", name="Show everything").click()
    expect(page.locator(".cb-sight")).to_be_hidden()
    expect(page.locator(".cb-place")).to_have_text(re.compile("^Message "))


def test_conversation_follows_and_shows_what_is_to_come(visit: Visit) -> None:
    page = visit("index.html")
    resize(page, (1280, 640))
    page = visit("traces.html#language/oversharer/varied-000;talk=game")
    expect(page.locator(".cb-message.cb-now")).to_have_count(1)
    for _ in range(24):
        page.get_by_role("button", name="Next message").click()
        expect(page.locator(".cb-lane .cb-now")).to_have_attribute("aria-current", "true")
        assert page.evaluate(
            """() => {
                const lane = document.querySelector(".cb-lane").getBoundingClientRect();
                const now = document.querySelector(".cb-lane .cb-now").getBoundingClientRect();
                return now.top < lane.bottom && now.bottom > lane.top
                    && (now.height > lane.height - 16 || now.bottom <= lane.bottom);
            }"""
        )
    assert page.evaluate("scrollY") == 0
    page.evaluate("location.hash = '#language/oversharer/varied-000'")
    later = page.locator(".cb-later a")
    expect(later.last).to_contain_text("is resolved")
    event = (later.nth(1).get_attribute("href") or "").partition(";")[0].rpartition("/")[2]
    words = later.nth(1).inner_text()
    later.nth(1).click()
    opened(page, "language/oversharer/varied-000", int(event))
    expect(page.locator(".cb-event")).to_have_text(words)


@pytest.mark.parametrize("size", [LAPTOP, PHONE])
def test_leak_is_marked_in_view_with_a_note(
    visit: Visit, folder: Path, size: tuple[int, int]
) -> None:
    name = "language/oversharer/varied-000"
    ledger = page_data(folder / "pagedata", f"games/{name}")["ledger"]
    events = [
        int(event)
        for event, spans in ledger["words"].items()
        if isinstance(spans, list) and any(isinstance(span[2], int) for span in spans)
    ]
    page = visit("index.html")
    resize(page, size)
    for event in events[-2:]:
        page = visit(f"traces.html#{name}/{event}")
        opened(page, name, event)

        assert is_in_view(page, ".cb-now mark.cb-leak")
        expect(page.locator(".cb-now .cb-tag--leak").first).to_have_text(
            re.compile(
                r"^tells agents? [\d, and]+ the private label “.+” \((public|neutral|sensitive)\)$"
            )
        )


def test_phone_shows_the_conversation_first_and_keeps_the_controls(visit: Visit) -> None:
    page = visit("index.html")
    resize(page, PHONE)
    for game in GAMES:
        page = visit(f"traces.html#{game}")
        expect(page.locator("#cb-traces")).to_have_attribute("data-game", game)
        talk = box(page.locator(".cb-pane--talk"))
        controls = box(page.locator(".cb-controls"))

        assert talk[1] < PHONE[1] / 4
        assert talk[3] <= box(page.locator(".cb-grid"))[1]
        assert talk[3] <= controls[1]
        assert controls[3] <= PHONE[1] + 1
        assert controls[3] - controls[1] <= ROW_PX + 12
        assert is_in_view(page, ".cb-message.cb-now")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        buttons = page.locator(".cb-controls > button:visible, .cb-menu-button").all()
        assert len(buttons) == 4
        for button in buttons:
            left, top, right, bottom = box(button)
            assert min(right - left, bottom - top) >= 40
        page.locator(".cb-costs").scroll_into_view_if_needed()
        assert box(page.locator(".cb-controls"))[3] <= PHONE[1] + 1
        more(page)
        panel = box(page.locator("#cb-more"))
        assert panel[0] >= 0
        assert panel[1] >= 0
        assert panel[2] <= PHONE[0]
        assert panel[3] <= PHONE[1]


def test_menu_is_used_by_keyboard(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-001")
    button = page.get_by_role("button", name="More", exact=True)
    panel = page.locator("#cb-more")
    expect(panel).to_be_hidden()

    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Point of view")).to_be_focused()
    assert page.locator("#cb-view option").all_inner_texts() == [
        "everything", *(f"agent {agent}" for agent in range(5)), "an outsider",
    ]  # fmt: skip
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(button).to_be_focused()
    page.keyboard.press("Space")
    expect(panel).to_be_visible()
    page.keyboard.press("Shift+Tab")
    expect(panel).to_be_hidden()
    more(page)
    page.locator("#cb-title").click()
    expect(panel).to_be_hidden()


def test_all_games_leads_back_to_the_search(visit: Visit) -> None:
    page = visit("traces.html#find?t=silent&o=failed&sort=-excess")
    own = page.title()
    page.locator("tr[data-game] a").first.click()
    expect(page.locator("#cb-title")).to_have_text(re.compile("^silent on "))
    assert page.title().startswith("silent on ")
    assert page.evaluate("scrollY") == 0

    page.get_by_role("link", name="All games").click()

    expect(page.locator(".cb-viewer")).to_be_hidden()
    expect(page.locator("#cb-team")).to_have_value("silent")
    expect(page.locator("#cb-traces")).not_to_have_attribute("data-game", re.compile(""))
    assert page.url.endswith("#find?t=silent&o=failed&sort=-excess")
    assert page.title() == own
    page.go_back()
    expect(page.locator("#cb-title")).to_have_text(re.compile("^silent on "))
    page.evaluate("location.hash = document.querySelector('h1').id")  # as "skip to content" does
    until(page, "location.hash.includes('/silent/')")
    expect(page.locator(".cb-viewer")).to_be_visible()


def test_what_happened_is_said_under_the_title_but_to_no_agent(visit: Visit) -> None:
    name = "varied/imap/varied-001"
    page = visit("traces.html")
    page.evaluate(
        """names => new Promise(done => calbench.games.load(...names, game => {
            game.summary = "<b onclick=x>Five</b> meetings.";
            done();
        }))""",
        name.split("/"),
    )
    page.evaluate(f"location.hash = '#{name}/3'")
    opened(page, name, 3)

    expect(page.locator(".cb-summary")).to_have_text("<b onclick=x>Five</b> meetings.")
    more(page)
    page.select_option("#cb-view", "agent-1")
    expect(page.locator(".cb-summary")).to_be_hidden()
    expect(page.locator(".cb-summary")).to_have_text("")
    page = visit(f"traces.html#{name}/3")
    opened(page, name, 3)
    expect(page.locator("#cb-title")).to_be_visible()


def test_two_games_share_a_laptop_screen(visit: Visit) -> None:
    page = visit("index.html")
    resize(page, LAPTOP)
    page = visit("traces.html#varied/imap/varied-001/30;beside=silent")
    expect(page.locator(".cb-second .cb-grid")).to_be_visible()

    panes = [box(pane) for pane in page.locator(".cb-pane").all()]

    assert len(panes) == 4
    for left, top, right, bottom in panes:
        assert 0 <= left < right <= LAPTOP[0]
        assert 0 <= top < bottom <= LAPTOP[1]
    tops = [box(grid)[1] for grid in page.locator(".cb-grid").all()]
    assert tops[0] == pytest.approx(tops[1], abs=2)


def test_paper_shows_the_whole_conversation(visit: Visit) -> None:
    page = visit("traces.html#language/oversharer/varied-000/99999;talk=game")
    expect(page.locator(".cb-event")).to_contain_text("The game ends")
    page.emulate_media(media="print")
    try:
        lane = page.locator(".cb-lane").first
        assert lane.evaluate("lane => lane.scrollHeight <= lane.clientHeight + 1")
        expect(page.locator(".cb-controls")).to_be_hidden()
    finally:
        page.emulate_media(media="screen")
