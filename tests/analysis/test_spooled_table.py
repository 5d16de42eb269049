from pathlib import Path

import pytest
from calbench.analysis.spool import Places, SpooledTable

from calbench.errors import OutputError


def test_rows_leave_in_order_of_their_keys(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "table.csv"
    with SpooledTable(path, ["a", "b"]) as table:
        table.append(("z", 1), "z,1\n")
        table.append(("a", 2), "a,2\na,3\n")
        table.append(("m", 0), "")
        table.write()
        assert path.read_text() == "a,b\na,2\na,3\nz,1\n"
        table.append(("b", 0), "b,4\n")
        table.write()
    assert path.read_text() == "a,b\na,2\na,3\nb,4\nz,1\n"
    assert [file.name for file in path.parent.iterdir()] == ["table.csv"]


def test_nothing_is_left_of_a_table_that_was_not_written(tmp_path: Path) -> None:
    with SpooledTable(tmp_path / "table.csv", ["a"]) as table:
        table.append((1,), "1\n")
    assert list(tmp_path.iterdir()) == []


def test_one_game_has_one_place(tmp_path: Path) -> None:
    with SpooledTable(tmp_path / "table.csv", ["a"]) as table:
        table.append((1,), "1\n")
        with pytest.raises(ValueError, match="two games"):
            table.append((1,), "2\n")


def test_unusable_folder_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"table\.csv: cannot be written"):
        SpooledTable(tmp_path / "file" / "table.csv", ["a"])
    with SpooledTable(tmp_path / "table.csv", ["a"]) as table:
        (tmp_path / "table.csv").mkdir()
        with pytest.raises(OutputError, match=r"table\.csv: cannot be written"):
            table.write()


def test_files_that_share_places_hold_their_own_games(tmp_path: Path) -> None:
    places = Places()
    with (
        SpooledTable(tmp_path / "x.csv", ["a"], places) as x,
        SpooledTable(tmp_path / "y.csv", ["a"], places) as y,
    ):
        x.append(("c",), "c\n")
        y.append(("b",), "b\n")
        x.append(("a",), "")
        y.append(("c",), "y\n")
        with pytest.raises(ValueError, match="two games"):
            x.append(("a",), "again\n")
        x.write()
        y.write()
    assert (tmp_path / "x.csv").read_text() == "a\nc\n"
    assert (tmp_path / "y.csv").read_text() == "a\nb\ny\n"
