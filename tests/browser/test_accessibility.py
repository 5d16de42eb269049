"""Every page of the built site, looked at by axe-core on two screens in two palettes."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.tabs import DESKTOP, PHONE, Palette, Tab, pages_of, settled
from tests.report.sample_site import HALVES

VENDOR = Path(__file__).parent / "vendor"
AXE = VENDOR / "axe-core" / "axe.min.js"

GRAVE = ("serious", "critical")

STATES = (
    "traces.html#varied/imap/varied-000/60",
    "traces.html#language/oversharer/varied-000/14",
    f"traces.html#{HALVES}/99999",
)
"""Addresses at which a page shows more than when it is opened."""

KINDS = (
    "index.html",
    "leaderboard.html",
    "players/imap.html",
    "results/talk.html",
    "results/audits.html",
    STATES[1],
)
"""One address of each kind of page."""

FIND = """async () => {
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return found.violations.map(each => ({
        rule: each.id,
        impact: each.impact,
        at: each.nodes.map(node => node.target.join(" ") + ": " + node.failureSummary),
    }));
}"""


CALM = """async () => {
    for (let calm = 0; calm < 3; calm += 1) {
        await new Promise(resolve => setTimeout(resolve, 100));
        const isFading = animation => animation.playState === "running"
            && isFinite(animation.effect.getComputedTiming().endTime);
        if (document.getAnimations().some(isFading)) { calm = -1; }
    }
}"""
"""Waits until no colour fades: a page that was scrolled shows its title in the header."""


def faults(page: Page) -> list[dict[str, Any]]:
    """Return what axe-core finds grave, with the places, once nothing moves or fades any more."""
    page.evaluate(CALM)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(FIND)
    return [each for each in found if each["impact"] in GRAVE]


SCREENS: tuple[tuple[tuple[int, int], Palette], ...] = (
    (DESKTOP, "light"),
    (PHONE, "dark"),
    (DESKTOP, "dark"),
    (PHONE, "light"),
)


def show(tab: Tab, screen: tuple[tuple[int, int], Palette], address: str) -> Page:
    size, palette = screen
    tab.resize(size)
    tab.paint(palette)
    page = settled(tab.visit(address))
    scheme = page.evaluate("document.body.getAttribute('data-md-color-scheme')")
    assert scheme == {"light": "default", "dark": "slate"}[palette]
    return page


@pytest.mark.heavy
@pytest.mark.parametrize("address", KINDS)
def test_page_of_each_kind_is_silent_and_without_grave_faults(
    served_tab: Tab, address: str
) -> None:
    """On two screens; the slow test shows every page on four."""
    served_tab.complaints.clear()
    wrong = [
        (screen, fault)
        for screen in SCREENS[:2]
        for fault in faults(show(served_tab, screen, address))
    ]

    assert wrong == [], "\n".join(map(str, wrong))
    assert served_tab.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS)
def test_every_page_is_without_grave_faults_on_every_screen(
    served_tab: Tab, folder: Path, screen: tuple[tuple[int, int], Palette]
) -> None:
    wrong = [
        (address, fault)
        for address in (*pages_of(folder), *STATES)
        for fault in faults(show(served_tab, screen, address))
    ]

    assert wrong == [], "\n".join(map(str, wrong))


@pytest.mark.heavy
def test_a_fault_is_found(served_tab: Tab) -> None:
    served_tab.paint("light")
    page = served_tab.visit("licences.html")
    page.evaluate("document.querySelector('h1').style.color = '#eee'")
    page.evaluate("document.querySelector('.md-content').append(document.createElement('select'))")

    assert {fault["rule"] for fault in faults(page)} == {"color-contrast", "select-name"}


def test_vendored_version_is_the_one_named() -> None:
    version = re.match(r"/\*! axe v([0-9.]+)\n", AXE.read_text(encoding="utf-8"))

    assert version is not None
    assert f"| {version[1]} |" in (VENDOR / "README.md").read_text()


LEAST_TEXT = """Math.min(...[...document.querySelectorAll(".cb-environment text")].map(text => {
    const drawing = text.ownerSVGElement;
    const scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
    return parseFloat(getComputedStyle(text).fontSize) * scale;
}))"""
"""Pixels of the smallest text of the drawn environment, as it is shown."""


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_text_of_the_environment_can_be_read_at_any_width(
    file_tab: Tab, size: tuple[int, int]
) -> None:
    file_tab.resize(size)

    assert settled(file_tab.visit("method.html")).evaluate(LEAST_TEXT) >= 12
