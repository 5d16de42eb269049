"""Payloads in every text that a stranger's run brings to pages: they show as text, and do nothing.

The pages are those of ``calbench view`` for a run whose every text and setting is an attack.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from calbench.runs.board import write_board
from calbench.traces.storage import read_trace
from tests.browser.tabs import ARGUMENTS, CHROMIUM, DESKTOP, Tab, opened, pages_of, settled
from tests.campaigns.payloads import ELEMENT, name_of, payload
from tests.conftest import Figures
from tests.effort import attacks
from tests.factories import as_written
from tests.report.hostile import FIELDS, spoil
from tests.report.language_samples import make_cohort

pytestmark = pytest.mark.slow

STEP = 5 if attacks(40) <= 40 else 1
"""Of so many events one is opened, beside the first ones of each type."""

HIDDEN = frozenset({"reply_keys"})
"""Fields that no page needs to show."""

FOUND = """names => {
    document.querySelectorAll("details").forEach(each => { each.open = true; });
    const text = document.body.textContent;
    return names.filter(name => text.includes(name));
}"""

MADE = f"""() => [...document.querySelectorAll(
    "{ELEMENT}, iframe[srcdoc], object, embed, base, math, marquee, xmp, video, audio,"
    + "form[action*=host],"
    + "[onerror], [onload], [onfocus], [ontoggle], [onmouseover], [onclick], [onanimationstart],"
    + "a[href^='javascript' i], a[href^='data:' i], [src*='host.invalid'], [href*='host.invalid']"
)].map(node => node.outerHTML.slice(0, 200))"""
"""Returns elements that only a payload makes."""


@dataclass(frozen=True)
class Board:
    """The pages of a stranger's run.

    Attributes:
        folder: of the pages.
        moments: some events of each of its games.
        planted: names of the payloads in fields that pages show.
    """

    folder: Path
    moments: dict[str, list[int]]
    planted: frozenset[str]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Board:
    root = tmp_path_factory.mktemp("payloads")
    texts = [payload(number) for number in range(attacks(40))]
    games = make_cohort(root / "run").traces / "my-model"
    moments, planted = {}, set()
    for path in sorted(games.glob("*.json")):
        spoil(path, texts, frozenset())
        _spoil_settings(path, texts)
        scenario = path.stem
        moments[scenario] = _moments(path)
        planted |= _planted(path)
        texts = [*texts[len(texts) // 3 :], *texts[: len(texts) // 3]]
    write_board([root / "run"], root / "site", has_published=False)
    (games,) = (root / "site" / "pagedata" / "games").iterdir()
    moments = {f"{games.name}/my-model/{name}": each for name, each in moments.items()}
    return Board(root / "site", moments, frozenset(planted))


def _spoil_settings(path: Path, texts: list[str]) -> None:
    """Put payloads into what a trace says of its players and of its scenario, where any text fits.

    The settings are the same in each game: others would be another player.
    """
    trace = json.loads(path.read_text())
    for seat in trace["config"]["team"]["seats"]:
        seat["settings"] = {**dict.fromkeys(sorted(texts), sorted(texts)), "model": min(texts)}
    params = {**trace["scenario"]["params"], **dict.fromkeys(texts, texts)}
    trace["scenario"]["params"] = dict(sorted(params.items()))
    path.write_bytes(as_written(trace))
    read_trace(path)


def _planted(path: Path) -> set[str]:
    """Return the names of the payloads in the fields of a trace that pages show.

    Pages show messages as they were sent, not the actions by which a turn asks for that.
    """
    events = json.loads(path.read_text())["events"]
    unseen = {*HIDDEN, "actions"}
    shown = [{name: held for name, held in each.items() if name not in unseen} for each in events]
    return set(re.findall(r"payload\d+x", json.dumps(shown)))


def _moments(path: Path) -> list[int]:
    events = read_trace(path).events
    first = {
        index
        for kind in {event.type for event in events}
        for index in [at for at, event in enumerate(events) if event.type == kind][:3]
    }
    return sorted(first | set(range(0, len(events), STEP)))


@pytest.fixture
def tab(board: Board) -> Iterator[Tab]:
    if CHROMIUM is None:
        pytest.skip("no Chromium found: neither chromium nor google-chrome")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = Tab(browser, f"{board.folder.as_uri()}/")
        tab.resize(DESKTOP)
        yield tab
        tab.close()
        browser.close()


def _in_viewer(tab: Tab, board: Board, sought: list[str]) -> Counter[str]:
    """Step through the games; return how many events showed each name."""
    shown: Counter[str] = Counter()
    for game, moments in board.moments.items():
        page = tab.visit(f"traces.html#{game}/0")
        opened(page, game, 0)
        for event in moments:
            page.get_by_role("slider", name="Event").fill(str(event))
            opened(page, game, event)
            shown.update(page.evaluate(FOUND, sought))
        assert page.evaluate(MADE) == [], game
    return shown


def _search(page: Page, word: str) -> None:
    query = page.locator("[data-md-component=search-query]")
    query.click()
    query.fill(word)
    page.locator(".md-search-result__meta").wait_for()


def test_payloads_show_as_text_and_do_nothing(board: Board, tab: Tab, figures: Figures) -> None:
    count = attacks(40)
    names = [name_of(number) for number in range(count)]
    by_field = {f"{field} {name}": field for field in FIELDS for name in names}

    shown = _in_viewer(tab, board, [*names, *by_field])
    on_pages: set[str] = set()
    for address in pages_of(board.folder):
        page = settled(tab.visit(address))
        on_pages.update(page.evaluate(FOUND, names))
        assert page.evaluate(MADE) == [], address
    for word in ("payload", "script", "onerror", "hacked"):
        _search(page, word)
        assert page.evaluate(MADE) == [], word

    assert tab.complaints == []
    assert [name for name in names if name in board.planted and not shown[name]] == []
    assert len(board.planted) >= min(count, 100)
    assert FIELDS - {by_field[each] for each in shown if each in by_field} <= HIDDEN
    figures(
        "page payloads",
        Counter("shown as text, also on pages" if name in on_pages else "shown as text"
                for name in names if shown[name]),
    )  # fmt: skip
