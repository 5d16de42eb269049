"""The download of a game, the very trace, which ``calbench verify`` accepts; the pages on data."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from calbench.cli.verify import verify_all as verify
from tests.browser.tabs import DESKTOP, PHONE, Tab, Visit, more, opened
from tests.browser.test_accessibility import faults
from tests.browser.test_pages import PRESSED, WIDE

pytestmark = pytest.mark.heavy

GAMES = ("varied/imap/varied-001", "language/oversharer/varied-000")
"""Of a protocol, and of speakers."""

SAVE = """([experiment, team, scenario]) => new Promise((saved, failed) =>
    calbench.games.load(experiment, team, scenario,
        game => { calbench.games.save(game); saved(""); }, (key, why) => saved(why || key)))"""


def saved(page: Page, name: str, folder: Path) -> Path:
    """Download a game as the viewer does; return its file."""
    with page.expect_download() as waiting:
        assert page.evaluate(SAVE, name.split("/")) == ""
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


@pytest.mark.parametrize("name", GAMES)
def test_downloaded_trace_is_verified(
    visit: Visit, traces: dict[str, Path], tmp_path: Path, name: str
) -> None:
    experiment, _, game = name.partition("/")

    path = saved(visit("traces.html"), name, tmp_path)

    assert path.name == game.replace("/", "-") + ".json"
    assert path.read_bytes() == (traces[experiment] / f"{game}.json").read_bytes()
    assert verify([path]) == 0


def test_a_changed_byte_is_refused(
    visit: Visit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(visit("traces.html"), GAMES[0], tmp_path)
    text = path.read_text()
    at = text.rindex('"realised_cost":') + len('"realised_cost":')
    path.write_text(text[:at] + ("1" if text[at] != "1" else "2") + text[at + 1 :])

    assert verify([path]) != 0
    assert "imap-varied-001.json" in capsys.readouterr().err


def test_button_of_the_viewer_hands_out_the_trace(visit: Visit, traces: dict[str, Path]) -> None:
    page = visit(f"traces.html#{GAMES[0]}/3")
    opened(page, GAMES[0], 3)

    with page.expect_download() as waiting:
        more(page)
        page.get_by_role("button", name="Download the trace").click()

    assert waiting.value.suggested_filename == "imap-varied-001.json"
    original = traces["varied"] / "imap" / "varied-001.json"
    assert Path(waiting.value.path()).read_bytes() == original.read_bytes()
    expect(page.locator("#cb-traces")).to_contain_text("calbench verify imap-varied-001.json")


def test_what_cannot_be_unpacked_is_said_and_not_shown(visit: Visit) -> None:
    page = visit("traces.html")
    page.evaluate(
        """calbench.data("games/a/b", [
            ["c", "bm8gdHJhY2U="], ["d", "<script>window.hacked = 1</script>"]])"""
    )

    for team in ("c", "d"):
        assert page.evaluate(SAVE, ["a", team, "b"]) == "The game could not be unpacked."
    assert page.evaluate(SAVE, ["a", "e", "b"]) == "games/a/e/b"
    page.evaluate("delete window.DecompressionStream")
    assert "newer" in page.evaluate(SAVE, ["a", "c", "b"])
    page.evaluate("location.hash = '#a/c/b'")
    expect(page.get_by_role("alert")).to_contain_text("a newer one can")


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
