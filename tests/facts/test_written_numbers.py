"""Numbers whose decimals differ by row come as text and stay so."""

from pathlib import Path

import pandas as pd

from calbench.facts.columns import number, text
from calbench.facts.frames import cast, csv_text, empty, read_csv

COLUMNS = (text("name", "of it"), number("value", "", "a count, or a share", digits=None))


def test_a_count_and_a_share_stand_in_one_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["a", "b", "c"], "value": ["1", "1.0000", None]})
    written = "".join(csv_text([cast(frame, COLUMNS)], COLUMNS))
    assert written == "name,value\na,1\nb,1.0000\nc,\n"
    path = tmp_path / "table.csv"
    path.write_text(written)
    assert read_csv(path, COLUMNS)["value"].tolist()[:2] == ["1", "1.0000"]
    assert read_csv(path, COLUMNS)["value"].isna().tolist() == [False, False, True]


def test_no_rows_have_the_same_types() -> None:
    assert empty(COLUMNS)["value"].dtype == cast(empty(COLUMNS), COLUMNS)["value"].dtype == "str"
