"""A run that is killed in the middle: what was said so far is seen in the browser, and goes on."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from calbench.cli.main import answer
from calbench.report.games.picture import words
from calbench.runs.fragments import STORE, Fragments, read_fragments
from calbench.runs.play import execute
from calbench.traces.events import DmSent
from tests.board.killed import killed
from tests.browser.tabs import ARGUMENTS, CHROMIUM, TIMEOUT_MS, Tab, more
from tests.cli.recording import noting, recording
from tests.cli.runs import REPO, calbench, files

pytestmark = pytest.mark.heavy

Capture = pytest.CaptureFixture[str]

GAMES = ("suite.num_scenarios=2", "suite.num_candidates=2", "games_at_once=1")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that was killed in its first game."""
    return killed(tmp_path_factory.mktemp("first") / "run", 30, *GAMES)


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that was killed in its second game."""
    folder = tmp_path_factory.mktemp("second")
    execute(recording(str(folder / "whole"), *GAMES), noting(str(folder / "requests"), 0))
    needed = len((folder / "requests").read_text().split())
    return killed(folder / "run", needed - 20, *GAMES)


@pytest.fixture(scope="module")
def browser(first: Path, second: Path) -> Iterator[Browser]:
    """Open Chromium after the runs: games need an event loop too."""
    assert first.is_dir()
    assert second.is_dir()
    if CHROMIUM is None:
        pytest.skip("no Chromium found: neither chromium nor google-chrome")
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


def look(
    browser: Browser, site: Path, so_far: Fragments, count: int, *, is_stepped: bool = False
) -> None:
    """See the unfinished game in the finder, then what was said in it."""
    (game,) = so_far.games
    tab = Tab(browser, f"{site.as_uri()}/")
    page = tab.visit("traces.html")
    expect(page.locator("tr[data-game]")).to_have_count(count, timeout=TIMEOUT_MS)
    page.get_by_text("More filters").click()
    page.select_option("#cb-outcome", "unfinished")
    expect(page.locator(".cb-count")).to_have_text("1 game")
    row = page.locator("tr[data-game]")
    expect(row).to_contain_text("unfinished, not scored")
    row.get_by_role("link").click()
    expect(page.get_by_role("note")).to_contain_text("⚠ Unfinished")
    said = [words(event.content) for event in game.trace.events if isinstance(event, DmSent)]
    assert said
    if is_stepped:
        step_to_the_end(page, len(game.trace.events))
    page.keyboard.press("End")
    more(page)
    page.select_option("#cb-scope", "game")
    for text in said:
        expect(page.locator("#cb-traces").get_by_text(text, exact=True).first).to_be_attached()
    assert tab.complaints == []
    tab.close()


def step_to_the_end(page: Page, events: int) -> None:
    for _ in range(events):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#cb-traces")).to_have_attribute("data-event", str(events - 1))


def built(path: Path, *arguments: str) -> None:
    """Build the pages of a run in a process, as a user does."""
    ended = calbench("view", str(path), "serve=false", "jobs=1", *arguments)
    assert ended.status == 0, ended.err
    assert "1 half-played games are in the trace browser, and in no table" in ended.err


def test_run_without_a_trace_is_seen(first: Path, browser: Browser) -> None:
    assert not (first / "traces").exists()
    so_far = read_in_a_process(first)

    for _ in range(2):  # its own pages do not change what it holds
        built(first)

    look(browser, first / "site", so_far, 1, is_stepped=True)
    ended = calbench("verify", str(first))
    hint = "calbench verify --partial shows what was said so far"
    assert (ended.status, ended.err) == (
        2,
        f"error: {first}: holds no trace (*.json, *.jsonl.zst); {hint}\n",
    )


def test_store_alone_is_seen(second: Path, tmp_path: Path, browser: Browser) -> None:
    alone = tmp_path / "alone.sqlite"
    shutil.copy(second / STORE, alone)
    for log in second.glob(f"{STORE}-*"):
        shutil.copy(log, tmp_path / log.name.replace(STORE, alone.name))

    built(alone, f"out={tmp_path / 'site'}")

    look(browser, tmp_path / "site", read_in_a_process(second), 1)


def test_played_and_half_played_games_are_seen_together_and_the_run_goes_on(
    second: Path, browser: Browser
) -> None:
    so_far = read_in_a_process(second)
    built(second)

    look(browser, second / "site", so_far, 2)
    (table,) = (second / "site" / "tables").glob("*/games.csv")
    assert len(table.read_text().splitlines()) == 2
    goes_on(second)


def read_in_a_process(run: Path) -> Fragments:
    """Read what is half-played; not in this thread, where the browser has an event loop."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as executor:
        return executor.submit(read_fragments, run).result()


def goes_on(run: Path) -> None:
    """Play the run to its end: the traces are those of the run that nobody killed."""
    notes = run.with_name("more-requests")
    command = [sys.executable, "-m", "tests.cli.recording", str(run), str(notes), "0", *GAMES]
    subprocess.run(command, cwd=REPO, check=True, stderr=subprocess.DEVNULL)
    assert files(run / "traces") == files(run.with_name("whole") / "traces")
    ended = calbench("verify", "--partial", str(run))
    assert (ended.status, ended.out) == (0, "0 half-played games, 0 replies; all hold\n")


def test_pages_of_a_store_need_a_place(second: Path, capsys: Capture) -> None:
    store = second / STORE
    assert answer(["view", str(store), "serve=false"]) == 2
    assert capsys.readouterr().err == (
        f"error: {store}: is no whole run, so say where its pages go with out=DIR\n"
    )
