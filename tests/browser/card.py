"""Draws the social card of the published tables: ``make card``.

Only a browser can draw text here. The picture is kept in git, with the digest of its numbers.
"""

from pathlib import Path

from playwright.sync_api import sync_playwright

from calbench.report.panels import CARD, DIGEST, HEIGHT, WIDTH, card, note
from calbench.report.site import Site
from calbench.report.tables import Tables
from tests.browser.tabs import ARGUMENTS, CHROMIUM

REPO = Path(__file__).resolve().parents[2]
SUMMARY = REPO / "data" / "release" / "tables" / "summary"


def published_site() -> Site:
    """Return the site of the release, as far as the card needs it."""
    return Site(REPO / "site", (), Tables(SUMMARY), Tables(REPO / "data" / "published"))


def main() -> None:
    """Draw the card and write it among the site's assets."""
    site = published_site()
    assets = site.sources / "assets"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(f"<style>body {{ margin: 0; }}</style>{card(site)}")
        page.screenshot(path=assets / CARD)
        browser.close()
    (assets / DIGEST).write_text(note(site), encoding="utf-8")


if __name__ == "__main__":
    main()
