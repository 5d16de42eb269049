"""The download of a game: the very trace, which ``calbench verify`` accepts."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from calbench.cli.verify import main as verify
from tests.browser.tabs import Visit, more, opened

pytestmark = pytest.mark.heavy

GAMES = ("varied/imap/varied-001", "language/oversharer/varied-000")
"""Of a protocol, and of speakers."""

SAVE = """([experiment, team, scenario_id]) => new Promise(done =>
    calbench.download.trace({experiment, team, scenario_id}, null, null, done))"""


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


def test_what_cannot_be_unpacked_is_said_and_not_saved(visit: Visit) -> None:
    page = visit("traces.html")
    page.evaluate("calbench.data('traces/a/b/c', 'bm8gdHJhY2U=')")
    page.evaluate("calbench.data('traces/a/b/d', '<script>window.hacked = 1</script>')")

    for scenario in ("c", "d"):
        said = page.evaluate(SAVE, ["a", "b", scenario])
        assert said == "The trace could not be unpacked."
    page.evaluate("delete window.DecompressionStream")
    assert "newer" in page.evaluate(SAVE, ["a", "b", "c"])
