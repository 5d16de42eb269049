"""What pages of a built site weigh.

Page data is weighed as it lies in its files. What a page loads is also weighed as static hosts send
it, compressed: most of it is the theme's own style and script, and the index of its search.
"""

import gzip
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from tests.browser.tabs import Tab
from tests.report.unpacking import file_value, longest_trace

PAGE_BYTES = 300_000
"""Most bytes that a page loads without Plotly, as a host sends them [R]."""

RAW_BYTES = {"index.html": 250_000, "leaderboard.html": 300_000}
"""Most bytes that a page loads without Plotly, as they lie in files [R]."""

GAME_BYTES = {"protocol": 25_000, "language": 60_000}
"""Most bytes of one game's page data, with its prompts: on average over an experiment [R], and of
each trace."""


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


@pytest.mark.heavy
@pytest.mark.parametrize("page", RAW_BYTES)
def test_first_pages_are_light_and_load_no_plotly(served_tab: Tab, page: str) -> None:
    sizes = loaded_bytes(served_tab, page)

    assert not [name for name in sizes if "plotly" in name]
    assert sum(sent for _, sent in sizes.values()) < PAGE_BYTES
    assert sum(raw for raw, _ in sizes.values()) < RAW_BYTES[page]


@pytest.mark.parametrize(
    ("experiment", "kind"),
    [("uniform", "protocol"), ("varied", "protocol"), ("language", "language")],
)
def test_page_data_of_a_game_is_small(folder: Path, experiment: str, kind: str) -> None:
    paths = (folder / "pagedata" / "games" / experiment).glob("*.js")
    files = [file_value(path) for path in paths]

    assert len(files) > 2
    assert fmean(len(held["games"]) / len(held["teams"]) for held in files) < GAME_BYTES[kind]
    assert max(map(longest_trace, files)) < GAME_BYTES[kind]
