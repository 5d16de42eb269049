"""The canonical suites of before, by the limits of the paper's text: their published numbers."""

from pathlib import Path

import pytest

from calbench.config.composition import compose
from calbench.facts.frames import read_text
from calbench.runs.play import execute
from stages import paths

pytestmark = [pytest.mark.heavy, pytest.mark.slow]

BOARDS = read_text(paths.DATA / "published" / "boards.csv")
FORMER = BOARDS[BOARDS["version"] == "0.1.0"].drop(columns="version")
"""Of the release that had these suites under the names of the settings."""

TEXT = ("limits=paper", "channels=dm", "facts=scores", "judge=null")


@pytest.mark.parametrize("setting", ["uniform", "varied"])
def test_former_suites_have_the_numbers_that_were_published(setting: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    execute(compose([f"+experiment={setting}", f"suite=former-{setting}", *TEXT, f"out={out}"]))
    ours = read_text(out / "tables" / "leaderboard.csv")
    assert set(ours["setting"]) == {f"former-{setting}"}
    known = FORMER[FORMER["setting"] == setting].drop(columns="setting").reset_index(drop=True)
    assert ours[list(known.columns)].fillna("").equals(known.fillna(""))
    against = read_text(out / "tables" / "silence.csv")
    private = against[against["team"] == "dsm-private"]
    assert list(private["baseline"]) == ["silent", "first-free"]
    assert set(private["verdict"]) == {"no better than silence"}
