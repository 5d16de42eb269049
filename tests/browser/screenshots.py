"""Pictures of every page of a built site, for people to look at.

``python -m tests.browser.screenshots SITE OUT [PAGE…]`` opens each page from its folder, or only
those named (with a fragment, if you like), at desktop and phone width, light and dark.
"""

import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.tabs import ARGUMENTS, CHROMIUM, DESKTOP, PALETTES, PHONE, Tab, pages_of, settled


def take(site: Path, out: Path, addresses: list[str]) -> None:
    """Write one picture of each address, screen and palette into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = Tab(browser, f"{site.resolve().as_uri()}/")
        for palette in PALETTES:
            tab.paint(palette)
            for name, size in (("desktop", DESKTOP), ("phone", PHONE)):
                tab.resize(size)
                for address in addresses:
                    page = settled(tab.visit(address))
                    stem = re.sub(r"[^\w-]+", "-", address)
                    page.screenshot(path=out / f"{stem}-{name}-{palette}.png", full_page=True)
        browser.close()
        for complaint in tab.complaints:
            print(complaint, file=sys.stderr)


def main(arguments: list[str]) -> None:
    """Take the pictures that a command line asks for."""
    if len(arguments) < 2:
        sys.exit((__doc__ or "").strip())
    site, out, *addresses = arguments
    take(Path(site), Path(out), addresses or pages_of(Path(site)))


if __name__ == "__main__":
    main(sys.argv[1:])
