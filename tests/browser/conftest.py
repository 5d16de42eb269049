"""One built site and one headless Chromium for the tests of this folder.

The browser is closed before a test of another folder begins: while Playwright's synchronous
driver is open, nothing else in the process can run an event loop.
"""

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.tabs import ARGUMENTS, CHROMIUM, DESKTOP, TIMEOUT_MS, Tab, Visit
from tests.report.sample_site import SampleSite


@pytest.fixture(scope="session")
def folder(sample_site: SampleSite) -> Path:
    """Return the folder of the built site."""
    return sample_site.built


@pytest.fixture(scope="session")
def traces(sample_site: SampleSite) -> dict[str, Path]:
    """Return where the traces of each experiment stand."""
    shown = [*sample_site.ordinary, sample_site.language, sample_site.cohort]
    return {results.name: results.traces for results in shown}


@pytest.fixture(scope="package")
def server(folder: Path) -> Iterator[str]:
    """Serve the site as a static host does; yields its address, which ends with a slash."""

    not_found = (folder / "404.html").read_text()

    class Host(http.server.SimpleHTTPRequestHandler):
        error_message_format = not_found.replace("%", "%%")
        error_content_type = "text/html"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    handler = functools.partial(Host, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/"
        httpd.shutdown()
        thread.join()


@pytest.fixture(scope="package")
def browser(folder: Path) -> Iterator[Browser]:
    """Open the system's Chromium, after the site is built: games need an event loop too."""
    assert folder.is_dir()
    if CHROMIUM is None and os.environ.get("CALBENCH_REQUIRE_BROWSER") != "1":
        pytest.skip("no Chromium found: neither chromium nor google-chrome")
    assert CHROMIUM is not None, "CALBENCH_REQUIRE_BROWSER=1, but there is no Chromium"
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def file_tab(browser: Browser, folder: Path) -> Iterator[Tab]:
    """Open a tab on the site as a folder."""
    tab = Tab(browser, f"{folder.as_uri()}/")
    yield tab
    tab.close()


@pytest.fixture(scope="package")
def served_tab(browser: Browser, server: str) -> Iterator[Tab]:
    """Open a tab on the site over http."""
    tab = Tab(browser, server)
    yield tab
    tab.close()


@pytest.fixture(params=["file", pytest.param("http", marks=pytest.mark.slow)])
def tab(request: pytest.FixtureRequest) -> Tab:
    """Return a tab on the site as a folder, where browsers allow least; slowly also on http."""
    name = "file_tab" if request.param == "file" else "served_tab"
    chosen: Tab = request.getfixturevalue(name)
    return chosen


@pytest.fixture
def visit(tab: Tab) -> Iterator[Visit]:
    """Open pages in a tab as wide as a desktop; fail on whatever a tab notes."""
    yield from _watched(tab)


@pytest.fixture
def served(served_tab: Tab) -> Iterator[Visit]:
    """Like ``visit``, but only and always over http."""
    yield from _watched(served_tab)


def _watched(tab: Tab) -> Iterator[Visit]:
    tab.complaints.clear()
    tab.resize(DESKTOP)
    tab.paint("light")
    yield tab.visit
    assert tab.complaints == []
