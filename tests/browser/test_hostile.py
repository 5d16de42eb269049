"""A game whose every text is an attack: it shows as text wherever it shows, and runs nothing."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from calbench.traces.storage import read_trace
from tests.browser.tabs import PHONE, Tab, Visit, opened
from tests.report.hostile import ATTACKS, FIELDS
from tests.report.sample_site import SampleSite
from tests.report.samples import STRANGE_TEAMS

pytestmark = pytest.mark.heavy

GAME = "smollm2/my-model/smollm2-001"

HIDDEN = frozenset({"reply_keys"})
"""Fields that no page needs to show."""

READ = """needles => {
    document.querySelectorAll("#cb-traces details").forEach(each => { each.open = true; });
    const text = document.querySelector("#cb-traces").textContent;
    return needles.filter(needle => text.includes(needle));
}"""


def plain(text: str) -> list[str]:
    """Return the parts of a text that every page shows as they are."""
    return [part.strip() for part in re.findall(r"[ -~]+", text)]


def moments(site: SampleSite) -> list[int]:
    """Return some events of the game: the first few of each type, and others between them."""
    events = read_trace(site.cohort.traces / "my-model" / "smollm2-001.json").events
    first = {
        index
        for kind in {event.type for event in events}
        for index in [at for at, event in enumerate(events) if event.type == kind][:3]
    }
    return sorted(first | set(range(0, len(events), 9)))


def step(page: Page, event: int) -> None:
    page.get_by_role("slider", name="Event").fill(str(event))
    opened(page, GAME, event)


def test_every_text_shows_as_text_and_runs_nothing(visit: Visit, sample_site: SampleSite) -> None:
    page = visit(f"traces.html#{GAME}/0")
    opened(page, GAME, 0)
    parts = [max(plain(attack), key=len) for attack in ATTACKS]
    starts = {f"{field} {plain(attack)[0]}": field for field in FIELDS for attack in ATTACKS}
    found = set()
    for event in moments(sample_site):
        step(page, event)
        found |= set(page.evaluate(READ, [*parts, *starts]))

    assert set(parts) <= found
    assert FIELDS - {starts[each] for each in found & set(starts)} <= HIDDEN
    assert page.locator("#cb-traces").locator("script, img, iframe, link, base, meta").count() == 0
    assert page.locator("[onfocus], [onerror], [ontoggle], a[href^='javascript']").count() == 0


def test_halves_of_characters_and_endless_words_do_not_widen_a_phone(
    tab: Tab, sample_site: SampleSite
) -> None:
    tab.complaints.clear()
    tab.resize(PHONE)
    page = tab.visit(f"traces.html#{GAME}/0")
    opened(page, GAME, 0)
    for event in moments(sample_site)[1::5]:
        step(page, event)
        page.evaluate(READ, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]

    assert tab.complaints == []


@pytest.mark.parametrize("team", STRANGE_TEAMS)
def test_team_of_a_strange_name_is_shown_like_any_other(
    visit: Visit, folder: Path, team: str
) -> None:
    assert team in (folder / "results" / "hostile.html").read_text()

    page = visit(f"traces.html#hostile/{team}/hostile-000/0")

    opened(page, f"hostile/{team}/hostile-000", 0)
    expect(page.locator("#cb-traces")).to_contain_text(team)
