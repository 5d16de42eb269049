"""The card that other sites show beside a link to this one: its name, its question and the plane.

No library that the site needs can draw text into pixels, so ``make card`` draws the picture once,
and a small file beside it has the digest of the numbers that are in it. The published site refers
to the picture only while its tables say the same.
"""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from calbench.errors import FileError
from calbench.files import read_bytes
from calbench.report.columns import COST, VPS
from calbench.report.home.plane import Panel, first_rows, panels
from calbench.report.site import Site
from calbench.report.templating import environment

CARD = "card.png"
"""Below the site's ``assets``."""

DIGEST = "card.json"
"""Beside it."""

WIDTH, HEIGHT = 1200, 630
"""In pixels, as other sites expect it [R]."""

QUESTION = (
    "Can agents with private",
    "calendars agree on",
    "meetings without giving",
    "their calendars away,",
    "and what does it cost?",
)
"""In lines of the picture."""

KEPT = [
    *("team", "kind", "setting", "channel", "vps_kind", "scenarios"),
    *(f"{measure}{end}" for measure in (COST, VPS) for end in ("", "_low", "_high")),
]
"""Columns of which the picture shows something."""


def card_fits(site: Site) -> bool:
    """Return whether there is a card, and its numbers are those of a site."""
    path = site.sources / "assets" / DIGEST
    return path.is_file() and _noted(path) == digest(site) != ""


def digest(site: Site) -> str:
    """Return the digest of the numbers that a card of a site would show; empty without any."""
    cells = [[row[name] for name in KEPT] for row in first_rows(site)]
    if not cells:
        return ""
    return sha256(json.dumps(cells).encode()).hexdigest()


def card(site: Site) -> str:
    """Return the card as SVG.

    Raises:
        FileError: there is nothing to draw.
    """
    panel = _panel(site)
    if panel is None:
        raise FileError(f"{site.summary.folder}: has no team to draw")
    template = environment(site.sources / "docs").get_template("card.jinja")
    values = {"panel": panel, "lines": QUESTION, "width": WIDTH, "height": HEIGHT}
    return template.render({"root": "", **values})


def note(site: Site) -> str:
    """Return the content of the file beside the card."""
    return json.dumps({"sha256": digest(site)}, indent=2) + "\n"


def _panel(site: Site) -> Panel | None:
    """Return the first panel as the card has it: without what is only on the page."""
    found = next((panel for panel in panels(site) if not panel.is_published), None)
    if found is None:
        return None
    marks = [replace(mark, is_on_front=False) for mark in found.drawing.marks]
    return replace(found, drawing=replace(found.drawing, marks=marks, front=()))


def _noted(path: Path) -> str:
    try:
        return str(json.loads(read_bytes(path))["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: is not what `make card` writes") from error
