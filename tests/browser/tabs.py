"""Pages of the built site as a reader sees them, in a tab that notes what must never happen."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

TIMEOUT_MS = 120_000
"""After which something hangs, on a busy machine too [C]."""

TRAP = """Object.defineProperty(window, "hacked", {
    get() { return this.gotcha; },
    set(value) { this.gotcha = value; console.error("a text ran: " + value); },
});"""
"""Every attack in the samples sets ``window.hacked`` if it runs."""

FORGET = """try {
    Object.keys(localStorage).filter(key => key.endsWith(".__palette"))
        .forEach(key => localStorage.removeItem(key));
} catch (error) { /* a page without storage */ }"""
"""The theme keeps the palette of the first visit; every visit is a first one here."""

DESKTOP = (1280, 900)
PHONE = (390, 844)
"""Widths and heights in CSS pixels [C]."""

Palette = Literal["light", "dark"]
PALETTES: tuple[Palette, ...] = ("light", "dark")

Visit = Callable[[str], Page]
"""Opens a page of the site by its address within the site."""


class Tab:
    """A page that notes whatever a reader should never see.

    Attributes:
        base: address of the site, with a slash at its end.
        complaints: errors and warnings, dialogs, failed requests and requests that leave the
            site, in the order in which they came.
    """

    def __init__(self, browser: Browser, base: str) -> None:
        context = browser.new_context()
        context.set_default_timeout(TIMEOUT_MS)
        context.add_init_script(TRAP + FORGET)
        self.page = page = context.new_page()
        self.complaints: list[str] = []
        self.base = base
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on("popup", lambda popup: self.complaints.append(f"popup: {popup.url}"))
        page.on("request", self._on_request)
        page.on("requestfailed", lambda failed: self.complaints.append(f"failed: {failed.url}"))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"console: {message.text}")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:", "blob:")):
            self.complaints.append(f"request to {request.url}")

    def visit(self, address: str) -> Page:
        """Open a page of the site anew, also where only the fragment differs."""
        self.page.goto("about:blank")
        self.page.goto(self.base + address)
        return self.page

    def resize(self, size: tuple[int, int]) -> None:
        """Make the tab as wide and high as a kind of screen."""
        self.page.set_viewport_size({"width": size[0], "height": size[1]})

    def paint(self, palette: Palette) -> None:
        """Make pages that are opened from now on light or dark, as a reader's system does."""
        self.page.emulate_media(color_scheme=palette)

    def close(self) -> None:
        self.page.context.close()


def pages_of(folder: Path) -> list[str]:
    """Return the addresses of all pages of a built site, in alphabetical order."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


def until(page: Page, script: str, arg: Any = None) -> Any:
    """Wait until a function is true in a page, and return its value.

    Playwright's own waiting evaluates texts in the page, which its policy forbids.
    """
    end = time.monotonic() + TIMEOUT_MS / 1000
    while not (value := page.evaluate(script, arg)):
        assert time.monotonic() < end, script
        page.wait_for_timeout(50)
    return value


def settled(page: Page) -> Page:
    """Wait until an opened page has drawn what is on screen, and the game its address names."""
    until(
        page,
        """() => !Array.from(document.querySelectorAll("[data-figure]:not([data-drawn])"))
                .some(plot => {
                    const box = plot.getBoundingClientRect();
                    return box.height > 0 && box.bottom > 0 && box.top < innerHeight;
                })
            && (!location.hash || !document.querySelector("#cb-traces:not([data-game])"))""",
    )
    return page


def opened(page: Page, game: str, event: int) -> None:
    """Wait until the trace browser shows an event of a game."""
    expect(page.locator("#cb-traces")).to_have_attribute("data-game", game)
    expect(page.locator("#cb-traces")).to_have_attribute("data-event", str(event))


def more(page: Page) -> None:
    """Open the menu of the trace browser that folds what is needed seldom."""
    button = page.get_by_role("button", name="More", exact=True)
    if button.get_attribute("aria-expanded") == "false":
        button.click()
    expect(page.locator("#cb-more")).to_be_visible()


def calendars(page: Page) -> list[str]:
    """Return the texts of all slots that the trace browser shows."""
    cells: list[str] = page.locator(".cb-grid tbody td:not(.cb-sum)").evaluate_all(
        "cells => cells.map(cell => cell.textContent)"
    )
    return cells
