"""Tables as pages read them: typed by declaration, numbers word for word, and each file once."""

import json
import pickle
from collections import Counter
from pathlib import Path

import pytest

from calbench.errors import FileError
from calbench.report.tables import Number, Tables, csv_bytes, foremost, ordered
from tests.cli.runs import REPO, python
from tests.report.sample_site import SampleSite
from tests.report.samples import PUBLISHED

TABLE = "team,setting,games\nimap,uniform,045\nimap,varied,\n\nsilent,uniform,1e3\n"


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    (tmp_path / "a.csv").write_text(TABLE)
    return Tables(tmp_path)


DECLARED = "team,games,coordination,coordination_low,coordination_letters\n"


def test_columns_have_the_types_of_their_declaration(tmp_path: Path) -> None:
    (tmp_path / "leaderboard.csv").write_text(f"{DECLARED}imap,45,100.0000,,a b\nnone,,,,\n")

    first, absent = Tables(tmp_path).rows("leaderboard.csv")

    assert first["games"] == 45
    assert isinstance(first["coordination"], Number)
    assert float(first["coordination"]) == 100
    assert str(first["coordination"]) == "100.0000"
    assert first["coordination_letters"] == ("a", "b")
    assert list(absent.values()) == ["none", None, None, None, ()]


def test_numbers_of_others_are_typed_by_their_own_description() -> None:
    (row, *_) = Tables(PUBLISHED).rows("table2.csv", source="paper")

    assert isinstance(row["coordination"], Number)
    assert row["team"] == str(row["team"])


@pytest.mark.parametrize("name", ["table1.csv", "coverage.csv", "speed.csv"])
def test_a_table_is_written_as_it_was_read(name: str) -> None:
    rows = Tables(PUBLISHED).rows(name)

    assert csv_bytes(list(rows[0]), rows) == (PUBLISHED / name).read_bytes()


def test_a_number_is_the_same_in_another_process() -> None:
    number = pickle.loads(pickle.dumps(Number("0.2630")))  # noqa: S301 - made here

    assert (number, str(number), f"{number}") == (0.263, "0.2630", "0.2630")


@pytest.mark.parametrize("cell", ["much", "inf", "nan"])
def test_a_cell_that_is_no_number_is_named(tmp_path: Path, cell: str) -> None:
    (tmp_path / "leaderboard.csv").write_text(f"{DECLARED}imap,45,{cell},,\n")

    with pytest.raises(FileError, match="not the number it should be"):
        Tables(tmp_path).rows("leaderboard.csv")


def test_rows_are_ordered_within_settings_and_absent_numbers_come_last() -> None:
    numbers = [("u", 3), ("u", None), ("u", 1), ("v", 2), ("v", -1)]
    rows = [{"setting": setting, "x": x} for setting, x in numbers]

    assert [row["x"] for row in ordered(rows, "x")] == [1, 3, None, -1, 2]
    assert [row["x"] for row in ordered(rows, "x", largest=True)] == [3, 1, None, 2, -1]
    assert foremost(rows, "x", largest=True) == [{"setting": "u", "x": 3}]


def test_cells_that_nobody_declares_stay_as_they_are_written(tables: Tables) -> None:
    assert [tuple(row.values()) for row in tables.rows("a.csv")] == [
        ("imap", "uniform", "045"),
        ("imap", "varied", ""),
        ("silent", "uniform", "1e3"),
    ]


def test_rows_are_chosen_by_their_cells(tables: Tables) -> None:
    assert [row["games"] for row in tables.rows("a.csv", team="imap", setting="uniform")] == ["045"]
    assert tables.rows("a.csv", team="nobody") == []
    with pytest.raises(KeyError):
        tables.rows("a.csv", player="imap")


def test_table_is_read_once(tables: Tables) -> None:
    first = tables.rows("a.csv")
    (tables.folder / "a.csv").unlink()

    assert tables.rows("a.csv") is first
    assert tables.has("a.csv")
    assert tables.optional("a.csv", team="silent") == first[2:]


def test_absent_table_is_empty_only_where_it_is_optional(tables: Tables) -> None:
    assert not tables.has("b.csv")
    assert tables.optional("b.csv") == []
    with pytest.raises(FileError, match=r"b\.csv"):
        tables.rows("b.csv")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1\n", "line 2: not as many cells as the header has columns"),
        (b"a,b\n1,2\n1,2,3\n", "line 3: not as many cells"),
        (b"a,b\n\xff,2\n", "byte 5 is not UTF-8"),
    ],
)
def test_broken_table_is_one_clear_line(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.csv").write_bytes(data)

    with pytest.raises(FileError, match=message):
        Tables(tmp_path).rows("a.csv")


SCRIPT = """
import json, sys
from pathlib import Path

opened = []

def note(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".csv") and "r" in (arguments[1] or "r"):
        opened.append(str(arguments[0]))

from calbench.report.writing import write_site
from tests.report.sample_site import SampleSite
from tests.report.samples import PUBLISHED, site_of

site = SampleSite(Path(sys.argv[1]))
made = site_of([*site.ordinary, site.language, site.cohort], Path(sys.argv[2]), PUBLISHED)
sys.addaudithook(note)
write_site(made, Path(sys.argv[2]))
print(json.dumps(opened))
"""


@pytest.mark.heavy
def test_publishing_reads_each_table_once_and_copies_it_once(
    sample_site: SampleSite, tmp_path: Path
) -> None:
    out = tmp_path / "src"

    ended = python("-c", SCRIPT, str(sample_site.root), str(out), cwd=REPO)

    assert ended.status == 0, ended.err
    reads = Counter(json.loads(ended.out.splitlines()[-1]))
    sources = {path: count for path, count in reads.items() if not path.startswith(str(out / ""))}
    assert len(sources) > 100
    boards = {path for path in sources if path.endswith("/leaderboard.csv")}  # hashed, too
    more = {path for path, count in sources.items() if count > 2 + (path in boards)}
    assert more == set()
