"""The trace browser in headless Chromium: every control, and words that attack it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from calbench.traces.events import ChancesStated
from calbench.traces.storage import read_trace
from tests.browser.tabs import Tab, Visit, calendars, more, opened, until
from tests.report.language_samples import HOSTILE_WORDS
from tests.report.sample_site import HALVES, SampleSite
from tests.report.samples import HOSTILE_TEXTS

pytestmark = pytest.mark.heavy

HOSTILE = "hostile/hostile/hostile-000"


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
        page.get_by_role("button", name="Next message").click()
        if page.locator(".cb-batch").count():
            break
    expect(page.locator(".cb-batch.cb-now")).to_contain_text("applied, cost")
    assert page.locator(".cb-grid td.cb-new").count() >= 1
    assert page.locator(".cb-message").count() == 6
    assert page.locator(".cb-vector").count() == 2
    page.get_by_role("button", name="Last event").click()
    last = page.locator("#cb-traces").get_attribute("data-event")
    expect(page.get_by_role("button", name="Next message")).to_be_disabled()
    page.get_by_role("button", name="Previous message").click()
    assert page.locator("#cb-traces").get_attribute("data-event") != last
    page.get_by_role("slider", name="Event").fill("7")
    opened(page, "varied/imap/varied-000", 7)
    more(page)
    page.locator("#cb-best").check()
    assert page.locator(".cb-grid .cb-plan").count() == 15
    expect(page.locator(".cb-outcomes tbody tr")).to_have_count(5)


def test_rejected_batches_and_retries_are_shown(visit: Visit) -> None:
    page = visit("traces.html#varied/silent/varied-000/99999")

    expect(page.locator(".cb-batch").first).to_contain_text("✗ Expected exactly 1 schedule")
    expect(page.locator(".cb-batch").last).to_contain_text("retry 1")
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
    until(page, "location.hash === '#uniform/tell-all/uniform-002/31'")
    shown = page.locator(".cb-event").inner_text(), calendars(page)
    address = page.evaluate("location.hash")

    page = visit("index.html")
    page = visit(f"traces.html{address}")

    opened(page, "uniform/tell-all/uniform-002", 31)
    assert (page.locator(".cb-event").inner_text(), calendars(page)) == shown
    page.evaluate("location.hash = '#varied/imap/varied-002/12'")
    opened(page, "varied/imap/varied-002", 12)


def test_clicks_lead_from_equal_cost_to_the_sentence_that_told(visit: Visit) -> None:
    page = visit("results/plane.html")
    page.locator("article").get_by_role("link", name="What messages reveal").click()
    page.locator("summary", has_text="Speakers, all channels: cost and disclosure").click()
    paid = page.locator("table", has_text="Speakers, all channels: what each team paid")
    expect(paid).to_be_visible()
    rows = {
        row.locator("th").inner_text(): row
        for row in paid.locator("tbody tr", has=page.locator("td", has_text="uniform")).all()
    }
    costs = {team: row.locator("td data").first.inner_text() for team, row in rows.items()}
    assert costs["oversharer"] == costs["candid"]

    told = (
        page.locator("table", has_text="Messages that disclose the most").locator("tbody tr").first
    )
    words = told.locator("td").first.inner_text().split(" / ")
    assert told.locator("th").inner_text() == "oversharer"
    told.get_by_role("link").click()

    shown = page.locator(".cb-event")
    expect(shown).to_contain_text(words[0])
    expect(shown).to_contain_text(" …”")  # longer than a line: what was left out is marked
    assert "#language/oversharer/uniform-" in page.url


def test_clicks_lead_from_regret_to_the_batch_that_made_the_optimum_unreachable(
    visit: Visit,
) -> None:
    page = visit("results/uniform.html")
    page.locator("article").get_by_role("link", name="Where excess cost comes from").click()
    page.locator("summary", has_text="games with the greatest excess").first.click()
    worst = page.locator("table", has_text="greatest excess").first
    link = worst.locator("td:last-child a").first
    number = link.inner_text().rpartition(" ")[2]
    link.click()

    expect(page.locator("#cb-traces")).to_have_attribute("data-event", number)


def test_keys_in_a_field_do_not_step(visit: Visit) -> None:
    page = visit("traces.html#varied/imap/varied-000/5")
    opened(page, "varied/imap/varied-000", 5)
    more(page)

    page.locator("#cb-view").press("Home")
    page.locator("#cb-unit").press("j")
    page.locator("#cb-best").press("k")

    expect(page.locator("#cb-traces")).to_have_attribute("data-event", "5")


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
def test_strange_addresses_are_harmless(tab: Tab, address: str) -> None:
    tab.complaints.clear()

    page = tab.visit(f"traces.html{address}")

    expect(page.locator("#cb-team option").first).to_be_attached()
    page.wait_for_timeout(100)
    assert [each for each in tab.complaints if not each.startswith(("failed", "console"))] == []


def test_address_never_runs_a_script_from_elsewhere(file_tab: Tab, folder: Path) -> None:
    (folder.parent / "elsewhere.js").write_text("window.hacked = 1;\n")
    up = "%2F".join([".."] * 5)

    page = file_tab.visit(f"traces.html#varied/imap/{up}%2Felsewhere/0")

    expect(page.locator("#cb-team option").first).to_be_attached()
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") is None


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
    until(page, "location.hash.startsWith('#hostile/')")


def test_language_game_shows_its_words_thoughts_and_prompts(visit: Visit) -> None:
    page = visit("traces.html#language/oversharer/varied-000/14")
    opened(page, "language/oversharer/varied-000", 14)
    details = page.locator("details")

    expect(page.locator(".cb-message .cb-text").first).to_contain_text("I have")
    expect(page.get_by_text("What it thought")).to_be_visible()
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


def test_stated_chances_are_shown_with_their_reflection(
    visit: Visit, sample_site: SampleSite
) -> None:
    game = "smollm2/my-model/smollm2-000"
    events = read_trace(sample_site.cohort.traces / "my-model" / "smollm2-000.json").events
    number, event_of_it = next(
        (i, event) for i, event in enumerate(events) if isinstance(event, ChancesStated)
    )
    stated, author = event_of_it.occupied_by_target, event_of_it.agent_id
    shown = [str(chance) for listed in stated.values() for chance in listed]
    for event in (number, number + 1):
        page = visit(f"traces.html#{game}/{event}")
        opened(page, game, event)
        rows = page.locator(".cb-beliefs .cb-chances")
        expect(rows).to_have_count(len(stated))
        assert rows.locator("td").all_text_contents() == shown
        expect(page.get_by_text("the chance in percent, as it states it")).to_be_visible()
        own = visit(f"traces.html#{game}/{event};view=agent-{author}")
        expect(own.locator(".cb-chances")).to_have_count(len(stated))
        assert own.locator(".cb-chances td[title]").count() == 0
        other = visit(f"traces.html#{game}/{event};view=agent-{(author + 1) % 5}")
        expect(other.locator(".cb-chances")).to_have_count(0)


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
    assert "its reply is not a JSON object" in text
    assert "its reply was read after removing text (prefixed)" in text
    assert "100 tokens sent (40 of them cached), 7 received." in text
    assert page.evaluate("window.hacked") is None
    assert page.locator("#cb-traces script, #cb-traces img, #cb-traces svg").count() == 0


def test_halted_game_is_marked_as_not_scored(visit: Visit) -> None:
    page = visit("traces.html#smollm2/my-model/smollm2-002/0")
    opened(page, "smollm2/my-model/smollm2-002", 0)

    expect(page.get_by_role("note")).to_contain_text("<script>window.hacked = 1</script>")
    expect(page.get_by_role("note")).to_contain_text("It is not scored.")
    assert page.evaluate("window.hacked") is None
    page.evaluate("location.hash = '#smollm2/my-model/smollm2-000/0'")
    opened(page, "smollm2/my-model/smollm2-000", 0)
    expect(page.get_by_role("note")).to_be_hidden()


def test_half_characters_are_named(visit: Visit) -> None:
    page = visit(f"traces.html#{HALVES}/12")
    opened(page, HALVES, 12)

    expect(page.locator(".cb-message .cb-text").first).to_have_text("\\ud800 alone, \\udc00 alone")
