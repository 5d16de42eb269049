"""The download of a game, the very trace, which ``calbench verify`` accepts; the pages on data."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from calbench.cli.verify import verify_all as verify
from tests.browser.tabs import DESKTOP, PHONE, Tab, Visit, more, opened
from tests.browser.test_accessibility import faults
from tests.browser.test_pages import PRESSED, WIDE
from tests.report.sample_site import SampleSite
from tests.report.unpacking import file_value, page_csv

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
        """calbench.data("games/a/b", {teams: ["t"], games: "bm8gdHJhY2U="});
        calbench.data("games/a/c", {teams: ["t"], games: "<script>window.hacked = 1</script>"})"""
    )

    for scenario in ("b", "c"):
        assert page.evaluate(SAVE, ["a", "t", scenario]) == "The game could not be unpacked."
    assert page.evaluate(SAVE, ["a", "e", "b"]) == "games/a/e/b"
    page.evaluate("delete window.DecompressionStream")
    assert "newer" in page.evaluate(SAVE, ["a", "t", "b"])
    page.evaluate("location.hash = '#a/t/b'")
    expect(page.get_by_role("alert")).to_contain_text("a newer one can")


PAGES = ("data.html", "data/results.html#leaderboard", "data/formats.html")

MOST_PIXELS = 14_500
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

    assert page.locator("a[download]").count() > 50
    assert page.locator("a[data-table]").count() > 20
    read = page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    assert [name for name in read if "/downloads/" in name or "tables" in name] == []


def linked_by_scripts(pagedata: Path) -> Iterator[str]:
    """Yield the tables to which links are made of what scripts read."""
    board = file_value(pagedata / "leaderboard.js")
    about = file_value(pagedata / "leaderboard" / "about.js").values()
    of_ranks = ("comparisons.csv", *(column["table"] for column in about))
    for name in {name for view in board["views"] for name in view["experiments"]}:
        yield from (f"{name}/{table}" for table in of_ranks)
    for entry in file_value(pagedata / "index.js")["experiments"]:
        yield f"{entry['name']}/games.csv"
        if entry["games"]["told"] != {"all": None}:
            yield f"{entry['name']}/audit_games.csv"


def test_every_table_that_a_page_links_can_be_had(sample_site: SampleSite) -> None:
    pages = [path.read_text() for path in sample_site.built.rglob("*.html")]
    linked = {name for text in pages for name in re.findall(r'data-table="([^"]*)"', text)}
    made = set(linked_by_scripts(sample_site.built / "pagedata"))
    tables = sample_site.source / "docs" / "tables"

    assert {"varied/comparisons.csv", "uniform/games.csv", "language/audit_games.csv"} <= made
    linked |= made
    assert len(linked) > 200
    assert [name for name in sorted(linked) if not (tables / name).is_file()] == []
    for name in linked:
        assert page_csv(sample_site.built, name) == (tables / name).read_bytes()
    assert not (sample_site.built / "tables").exists()


LINKS = (
    ("results/uniform.html", "figures/plane-uniform.csv"),
    ("results/audits.html", "language/audit_honesty.csv"),
    ("index.html", "published/table1.csv"),
    ("leaderboard.html", "leaderboard.csv"),
    ("traces.html#find?e=language", "language/audit_games.csv"),
)
"""A link of a folded list, of a caption, of a sentence, and one that a script makes."""


@pytest.mark.parametrize(("address", "table"), LINKS)
def test_link_to_a_table_hands_it_out_as_csv(
    visit: Visit, sample_site: SampleSite, address: str, table: str
) -> None:
    page = visit(address)
    link = page.locator(f'a[data-table="{table}"]').first
    expect(link).to_be_attached()

    with page.expect_download() as waiting:
        link.evaluate("link => link.click()")

    assert waiting.value.suggested_filename == table.rpartition("/")[2]
    original = sample_site.source / "docs" / "tables" / table
    assert Path(waiting.value.path()).read_bytes() == original.read_bytes()


@pytest.mark.parametrize(
    "missing", ["delete window.DecompressionStream", "calbench.data('tables', {})"]
)
def test_table_that_cannot_be_handed_out_leads_to_the_archives(visit: Visit, missing: str) -> None:
    page = visit("leaderboard.html")
    page.evaluate(missing)

    page.locator('a[data-table="leaderboard.csv"]').first.evaluate("link => link.click()")

    expect(page).to_have_url(re.compile(r"/data\.html#downloads$"))


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
