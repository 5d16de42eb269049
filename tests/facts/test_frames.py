"""Frames as files: what a cell looks like follows from its column, never from its neighbours."""

import csv
import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.registry import write_frames
from calbench.errors import FileError, OutputError
from calbench.facts.columns import Column, count, fine, listed, number, text, truth
from calbench.facts.frames import (
    as_shown,
    cast,
    csv_text,
    empty,
    read_csv,
    read_parquet,
    read_text,
    rounded,
    trimmed,
)

COLUMNS = (
    text("name", "n"),
    listed("parts", "p"),
    count("n", "", "n"),
    number("mean", "", "m"),
    fine("share", "", "s"),
    truth("is_it", "i"),
)
ROWS: list[tuple[object, ...]] = [
    ('a "b", c', "1 2", 3, 0, 0.5, True),
    ("é\n雪", None, None, None, None, None),
    ("NA", "x", -7, -0.00001, 1.23456789, False),
]
SHOWN = (
    "name,parts,n,mean,share,is_it\n"
    '"a ""b"", c",1 2,3,0.0000,0.5,true\n'
    '"é\n雪",,,,,\n'
    "NA,x,-7,0.0000,1.234568,false\n"
)


def frame(rows: Sequence[Sequence[object]], columns: Sequence[Column] = COLUMNS) -> pd.DataFrame:
    names = [column.name for column in columns]
    return pd.DataFrame(rows, columns=names, dtype=object)


def shown(*frames: pd.DataFrame, columns: Sequence[Column] = COLUMNS) -> str:
    return "".join(csv_text(frames, columns))


def test_cells_by_declaration_and_parts_under_one_header() -> None:
    whole = cast(frame(ROWS), COLUMNS)
    assert shown(whole) == shown(whole.iloc[:1], empty(COLUMNS), whole.iloc[1:]) == SHOWN
    assert shown() == shown(empty(COLUMNS)) == "name,parts,n,mean,share,is_it\n"
    _, *rows = csv.reader(io.StringIO(SHOWN, newline=""))
    assert [row[0] for row in rows] == ['a "b", c', "é\n雪", "NA"], "as Python reads them"


@pytest.mark.parametrize("word", [",", '"', '""', "\n", "\r", "\r\n", "a,b", " a ", "-", "'", "#"])
def test_any_text_comes_back(tmp_path: Path, word: str) -> None:
    columns = (text("a", "a"), text("b", "b"))
    path = tmp_path / "t.csv"
    write_frames(path, [frame([(word, "x"), ("y", word)], columns)], columns)
    back = read_csv(path, columns)
    assert list(back["a"]) == [word, "y"]
    assert list(back["b"]) == ["x", word]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_hold_the_declared_types_and_decimals(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "deep" / f"t.{suffix}"
    write_frames(path, [cast(frame(ROWS), COLUMNS)], COLUMNS)
    back = read_csv(path, COLUMNS) if suffix == "csv" else read_parquet(path)
    assert [str(dtype) for dtype in back.dtypes] == [
        "str",
        "str",
        "Int64",
        "float64",
        "float64",
        "boolean",
    ]
    assert list(back["name"]) == ['a "b", c', "é\n雪", "NA"]
    assert back["share"].tolist()[::2] == [0.5, 1.234568]
    assert back["mean"].tolist()[::2] == [0.0, 0.0]
    assert back.isna().to_numpy().tolist() == [
        [False] * 6,
        [False, True, True, True, True, True],
        [False] * 6,
    ]
    assert [path.name for path in path.parent.iterdir()] == [f"t.{suffix}"]


def test_a_column_of_zeros_or_of_nothing_keeps_its_look(tmp_path: Path) -> None:
    columns = (count("n", "", "n"), number("x", "", "x"), truth("b", "b"))
    assert shown(cast(frame([(1, 0, True)], columns), columns), columns=columns) == (
        "n,x,b\n1,0.0000,true\n"
    )
    nothing = cast(frame([(1, None, None)], columns), columns)
    assert shown(nothing, columns=columns) == "n,x,b\n1,,\n"
    path = tmp_path / "t.csv"
    write_frames(path, [nothing], columns)
    assert [str(dtype) for dtype in read_csv(path, columns).dtypes] == [
        "Int64",
        "float64",
        "boolean",
    ]


@pytest.mark.parametrize(
    ("value", "digits", "fixed", "short"),
    [
        (0.1 + 0.2, 4, "0.3000", "0.3"),
        (1 / 3, 6, "0.333333", "0.333333"),
        (-0.25, 4, "-0.2500", "-0.25"),
        (-1e-9, 6, "0.000000", "0"),
        (1e-6, 6, "0.000001", "0.000001"),
        (0.0, 4, "0.0000", "0"),
        (-0.0, 4, "0.0000", "0"),
        (-0.00004, 4, "0.0000", "0"),
        (-0.00006, 4, "-0.0001", "-0.0001"),
        (12.5, 2, "12.50", "12.5"),
        (100.0, 2, "100.00", "100"),
        (100.0, 0, "100", "100"),
        (-1.25, 1, "-1.2", "-1.2"),
        (1e-7, 6, "0.000000", "0"),
        (1e21, 1, "1000000000000000000000.0", "1000000000000000000000"),
    ],
)
def test_decimals(value: float, digits: int, fixed: str, short: str) -> None:
    assert rounded(value, digits) == fixed
    assert trimmed(value, digits) == short


def test_as_shown_rounds_numbers_and_leaves_the_rest() -> None:
    columns = (count("n", "", "n"), number("x", "", "x"), fine("y", "", "y", digits=2))
    rows = cast(frame([(5, 1.23456, 0.005), (6, None, 2.675)], columns), columns)
    found = as_shown(rows, columns)
    assert found["n"].tolist() == [5, 6]
    assert found["x"].tolist()[0] == 1.2346
    assert found["x"].isna().tolist() == [False, True]
    assert found["y"].tolist() == [0.01, 2.67]  # as Python formats them


def test_parquet_has_a_row_group_a_part_and_none_for_an_empty_one(tmp_path: Path) -> None:
    from pyarrow import parquet

    columns = (count("n", "", "n"),)
    parts = [cast(frame([(n,)] * n, columns), columns) for n in (2, 0, 3)]
    write_frames(tmp_path / "t.parquet", parts, columns)
    file = parquet.ParquetFile(tmp_path / "t.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [2, 3]
    assert file.read().column("n").to_pylist() == [2, 2, 3, 3, 3]
    write_frames(tmp_path / "none.parquet", [], columns)
    assert parquet.ParquetFile(tmp_path / "none.parquet").num_row_groups == 0


def test_parquet_says_what_its_columns_mean_and_their_units(tmp_path: Path) -> None:
    from pyarrow import parquet

    columns = (text("name", "who"), number("mean", "slots", "how much of it"))
    write_frames(tmp_path / "t.parquet", [cast(frame([("a", 1.5)], columns), columns)], columns)
    schema = parquet.read_schema(tmp_path / "t.parquet")
    assert schema.field("name").metadata[b"meaning"] == b"who"
    about = schema.field("mean").metadata
    assert (about[b"meaning"], about[b"unit"]) == (b"how much of it", b"slots")


def test_what_is_not_declared_is_refused() -> None:
    with pytest.raises(KeyError):
        cast(pd.DataFrame({"name": ["a"]}), COLUMNS)
    with pytest.raises((TypeError, ValueError)):
        cast(frame([("a", None, 1.5, None, None, None)]), COLUMNS)
    with pytest.raises((TypeError, ValueError)):
        cast(frame([("a", None, 1, "much", None, None)]), COLUMNS)


def test_files_that_are_no_such_table_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for content, problem in (
        ("name,parts\na,b\n", "its columns are not name, parts, n, mean, share, is_it; make"),
        (SHOWN.replace(",3,", ",three,"), "does not read as the table it should be"),
        ('a,b\n"open', "does not read as a table"),
    ):
        path.write_text(content)
        with pytest.raises(FileError, match=problem) as error:
            read_csv(path, COLUMNS)
        assert str(error.value).startswith(str(path))
        assert "\n" not in str(error.value)
    path.write_text("a,b\n1,\nNA,x\n")
    assert read_text(path)["a"].tolist() == ["1", "NA"]
    assert read_text(path)["b"].isna().tolist() == [True, False]
    with pytest.raises(FileError, match="cannot be read as Parquet; make it again"):
        read_parquet(path)


KEPT = """
import sys
from pathlib import Path
from calbench.facts.frames import read_parquet

def resident():
    status = Path("/proc/self/status").read_text()
    return next(1024 * int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)

read_parquet(Path(sys.argv[1]), ["n0"])  # what is imported is there already
before = resident()
frame = read_parquet(Path(sys.argv[1]))
print((resident() - before) / frame.memory_usage().sum())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
def test_what_arrow_freed_while_reading_is_given_back(tmp_path: Path) -> None:
    columns = [count(f"n{place}", "", "n") for place in range(20)]
    rows = pd.DataFrame({column.name: range(300_000) for column in columns})
    write_frames(tmp_path / "t.parquet", [rows], columns)
    command = [sys.executable, "-c", KEPT, str(tmp_path / "t.parquet")]
    times = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert times < 1.5  # of the frame itself; what Arrow keeps is as much again


def test_a_table_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path, columns = tmp_path / "t.csv", (count("n", "", "n"),)
    write_frames(path, [frame([(1,)], columns)], columns)

    def broken() -> pd.DataFrame:
        raise ValueError("no more")

    parts = (frame([(2,)], columns) if place == 0 else broken() for place in range(2))
    with pytest.raises(ValueError, match="no more"):
        write_frames(path, parts, columns)
    assert path.read_text() == "n\n1\n"
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(OutputError, match=r"dir\.csv: cannot be written \(.*\); choose another"):
        write_frames(tmp_path / "dir.csv", [], columns)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"t\.csv: cannot be written"):
        write_frames(tmp_path / "file" / "t.csv", [], columns)


MIXED = (text("name", "of it"), number("value", "", "a count, or a share", digits=None))
"""A column whose decimals differ by row: its cells come as text and stay so."""


def test_a_count_and_a_share_stand_in_one_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["a", "b", "c"], "value": ["1", "1.0000", None]})
    written = "".join(csv_text([cast(frame, MIXED)], MIXED))
    assert written == "name,value\na,1\nb,1.0000\nc,\n"
    path = tmp_path / "table.csv"
    path.write_text(written)
    assert read_csv(path, MIXED)["value"].tolist()[:2] == ["1", "1.0000"]
    assert read_csv(path, MIXED)["value"].isna().tolist() == [False, False, True]
    assert empty(MIXED)["value"].dtype == cast(empty(MIXED), MIXED)["value"].dtype == "str"
