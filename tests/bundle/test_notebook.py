"""The notebook of a bundle runs in its folder."""

import json
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytestmark = pytest.mark.heavy

MOST_SECONDS = 60


def test_every_cell_runs_in_the_folder_in_under_a_minute(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bundle)
    cells = json.loads(Path("bundle.ipynb").read_text())["cells"]
    space: dict[str, Any] = {}
    start = time.perf_counter()
    for cell in cells:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"]).replace("traces/smollm2", "traces/uniform")
            exec(source, space)  # noqa: S102 - our own notebook
    assert time.perf_counter() - start < MOST_SECONDS
    assert {"uniform", "varied"} == set(space["board"]["experiment"])
    assert space["about"]["path"].startswith("tables/leaderboard.csv")
    assert list(space["plane"].data[0]["text"]) == ["imap", "silent"]
    assert space["game"].config.team.team_id == space["first"]["team"] == "imap"
    (own,) = space["mine"].to_dict("records")
    assert (own["team"], own["scenarios"]) == ("Mine", 3)
    assert pd.notna(own["excess_vps"])
