"""What pages weigh. Times are printed by ``python -m tests.browser.budgets``; none is asserted."""

from pathlib import Path
from statistics import fmean

import pytest

from tests.browser.budgets import (
    GAME_BYTES,
    LIGHT_PAGES,
    PAGE_BYTES,
    RAW_BYTES,
    game_bytes,
    loaded_bytes,
)
from tests.browser.tabs import Tab


@pytest.mark.heavy
@pytest.mark.parametrize("page", LIGHT_PAGES)
def test_first_pages_are_light_and_load_no_plotly(served_tab: Tab, folder: Path, page: str) -> None:
    if not (folder / page).is_file():
        pytest.skip(f"the site has no {page}")
    sizes = loaded_bytes(served_tab, page)

    assert not [name for name in sizes if "plotly" in name]
    assert sum(sent for _, sent in sizes.values()) < PAGE_BYTES
    if page in RAW_BYTES:
        assert sum(raw for raw, _ in sizes.values()) < RAW_BYTES[page]


@pytest.mark.parametrize(
    ("experiment", "kind"),
    [("uniform", "protocol"), ("varied", "protocol"), ("language", "language")],
)
def test_page_data_of_a_game_is_small(folder: Path, experiment: str, kind: str) -> None:
    sizes, longest = game_bytes(folder, experiment)

    assert len(sizes) > 2
    assert fmean(sizes) < GAME_BYTES[kind]
    assert longest < GAME_BYTES[kind]
