"""Nothing stale: after any edit the pipeline holds what a fresh one makes (``make edits``)."""

import csv
from pathlib import Path

import pytest

from tests.stages.edits import EDITS, TABLE, prepared, tried


def test_kept_table_has_known_edits_and_no_difference() -> None:
    with TABLE.open(newline="") as file:
        rows = list(csv.DictReader(file))
    tried_once = [row["edit"] for row in rows]
    assert tried_once == [edit.name for edit in EDITS if edit.name in tried_once]
    assert tried_once
    assert {row["differences"] for row in rows} == {"0"}


@pytest.mark.slow
def test_edits_leave_nothing_stale(tmp_path: Path) -> None:
    base = prepared(tmp_path / "base")
    for edit in EDITS:
        assert tried(edit, base)[1] == [], edit.name
