"""What the pages of a built site weigh, and how soon a reader sees something.

``python -m tests.browser.budgets SITE`` serves a site on this machine and prints a table.
Page data is weighed as it lies in its files. What a page loads is also weighed as static hosts send
it, compressed: most of it is the theme's own style and script, and the index of its search. Times
are medians and belong to this machine.
"""

import functools
import gzip
import http.server
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser.tabs import ARGUMENTS, CHROMIUM, Tab, opened
from tests.report.unpacking import file_value, longest_trace

PAGE_BYTES = 300_000
"""Most bytes that a page loads without Plotly, as a host sends them [R]."""

RAW_BYTES = {"index.html": 250_000, "leaderboard.html": 300_000}
"""Most bytes that a page loads without Plotly, as they lie in files [R]."""

GAME_BYTES = {"protocol": 25_000, "language": 60_000}
"""Most bytes of one game's page data, with its prompts: on average over an experiment [R], and of
each trace."""

LIGHT_PAGES = ("index.html", "leaderboard.html")

REPEATS = 7

PAINT = """() => new Promise(done => new PerformanceObserver(list => list.getEntries()
    .filter(entry => entry.name === "first-contentful-paint")
    .forEach(entry => done(entry.startTime))).observe({type: "paint", buffered: true}))"""

OPEN = """game => new Promise(done => {
    const place = document.querySelector("#cb-traces");
    const began = performance.now();
    new MutationObserver(() => {
        if (place.dataset.game !== game) { return; }
        requestAnimationFrame(() => done(performance.now() - began));
    }).observe(place, {attributes: true});
    location.hash = "#" + game + "/0";
})"""


def loaded_bytes(tab: Tab, address: str) -> dict[str, tuple[int, int]]:
    """Return the size of every file that a page loads until it is idle, as it is and compressed."""
    sizes: dict[str, tuple[int, int]] = {}

    def note(response: Any) -> None:
        body = response.body()
        sizes[response.url] = len(body), len(gzip.compress(body, 6, mtime=0))

    tab.page.on("response", note)
    tab.visit(address).wait_for_load_state("networkidle")
    tab.page.remove_listener("response", note)
    return sizes


def game_bytes(folder: Path, experiment: str) -> tuple[list[float], int]:
    """Return the bytes of a game, its prompts included, for each file; and of the longest trace."""
    paths = sorted((folder / "pagedata" / "games" / experiment).glob("*.js"))
    files = [file_value(path) for path in paths]
    means = [len(held["games"]) / len(held["teams"]) for held in files]
    return means, max(map(longest_trace, files))


def paint_ms(tab: Tab, address: str) -> float:
    """Return the median time to first content of a page."""
    return statistics.median(float(tab.visit(address).evaluate(PAINT)) for _ in range(REPEATS))


def open_ms(tab: Tab, games: list[str]) -> float:
    """Return the median time from an address to the drawn game, in an open trace browser."""
    first, *others = games
    page = tab.visit(f"traces.html#{first}/0")
    opened(page, first, 0)
    return statistics.median(float(page.evaluate(OPEN, game)) for game in others)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder; yields its address."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.func.log_message = lambda *_: None  # type: ignore[attr-defined]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as host:
        thread = threading.Thread(target=host.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{host.server_port}/"
        host.shutdown()
        thread.join()


def report(folder: Path) -> None:
    """Print what pages weigh and how long they take."""
    games = [
        path.relative_to(folder / "pagedata" / "games").with_suffix("").as_posix()
        for path in sorted((folder / "pagedata" / "games").rglob("*.js"))
    ]
    with served(folder) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = Tab(browser, address)
        for page in filter(lambda name: (folder / name).is_file(), LIGHT_PAGES):
            loaded = loaded_bytes(tab, page).values()
            raw, sent = (sum(each) for each in zip(*loaded, strict=True))
            print(
                f"{page:32} {raw:9,d} bytes, {sent:,d} compressed; "
                f"first content after {paint_ms(tab, page):.0f} ms"
            )
        step = max(1, len(games) // (2 * REPEATS))
        print(f"{'opening a game':32} {open_ms(tab, games[::step]):9.0f} ms")
        browser.close()
    for experiment in sorted({game.partition("/")[0] for game in games}):
        sizes, longest = game_bytes(folder, experiment)
        mean = statistics.fmean(sizes)
        print(f"{experiment:32} {longest:9,d} bytes a trace at most, {mean:,.0f} a game on average")
    index = folder / "pagedata" / "index.js"
    print(f"{'index of games':32} {index.stat().st_size:9,d} bytes for {len(games)} games")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit((__doc__ or "").strip())
    report(Path(sys.argv[1]).resolve())
