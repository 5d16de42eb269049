"""A run that plays, followed on the page of ``calbench view``."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from calbench.runs.status import STATUS
from tests.browser.tabs import Tab
from tests.cli.runs import environment
from tests.effort import GUARD_S

pytestmark = pytest.mark.slow

GAMES = 6
DELAY_MS = 500


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something outside of the browser."""
    end = time.monotonic() + GUARD_S
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Start a Python process, which does not outlive the test."""
    command = (sys.executable, "-m", *words)
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_page_follows_a_run_without_being_loaded_again(browser: Browser, tmp_path: Path) -> None:
    run = tmp_path / "my-run"
    recording = ("tests.cli.recording", str(run), str(tmp_path / "requests"), str(DELAY_MS))
    with started(*recording) as playing:
        until((run / STATUS).is_file)
        os.kill(playing.pid, signal.SIGSTOP)  # a view may take longer to begin than the run to end
        os.utime(run / STATUS, (time.time() + GUARD_S,) * 2)
        with started("calbench", "view", str(run)) as view:
            assert view.stdout is not None
            address = view.stdout.readline().split()[0]
            os.kill(playing.pid, signal.SIGCONT)
            assert address.endswith("/live/")
            tab = Tab(browser, address.removesuffix("live/"))
            page, rows = tab.visit("live/"), tab.page.locator("#games tr")
            page.evaluate("window.isSame = true")
            expect(page.locator("h1")).to_have_text("my-run")
            expect(page.locator("#state")).to_have_text("It plays")
            expect(page.locator("#status")).to_contain_text(f"of {GAMES}")
            expect(rows.first).to_contain_text("whole")
            expect(rows).to_have_count(GAMES)
            expect(page.locator("#state")).to_have_text("It has ended")
            expect(page.locator("#pages")).to_contain_text(f"every step of {GAMES} games")
            assert page.evaluate("window.isSame")
            page.locator("#pages a").click()
            expect(page.locator("article h1")).to_be_visible()
            assert tab.complaints == []
            tab.close()
            view.send_signal(signal.SIGINT)
            assert view.wait(GUARD_S) == 0
        assert playing.wait(GUARD_S) == 0
