"""Nothing stale: after any edit the pipeline holds what a fresh one makes (``make edits``)."""

from pathlib import Path

import pytest

from tests.stages.edits import EDITS, kept_rows, prepared, tried


def test_kept_table_has_every_edit_and_no_difference() -> None:
    rows = kept_rows()
    assert list(rows) == [edit.name for edit in EDITS]
    assert {row["differences"] for row in rows.values()} == {"0"}


@pytest.mark.slow
def test_edits_leave_nothing_stale(tmp_path: Path) -> None:
    base = prepared(tmp_path / "base")
    for edit in EDITS:
        assert tried(edit, base)[1] == [], edit.name
