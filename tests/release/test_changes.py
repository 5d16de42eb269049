"""The list of changed numbers, on tables written by hand and on published ones."""

import lzma
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.release.__main__ import CHANGES, README, list_changes, write_release
from calbench.release.changes import COLUMNS, Numbers, changes, numbers

BOARD = "uniform/leaderboard.csv"


def folder(place: Path, tables: dict[str, str]) -> Numbers:
    for name, text in tables.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(",".join(line.split()) for line in text.splitlines()) + "\n")
    return numbers(place)


def listed(tmp_path: Path, old: dict[str, str], new: dict[str, str]) -> list[tuple[str, ...]]:
    found = changes(folder(tmp_path / "old", old), folder(tmp_path / "new", new))
    return [tuple(row) for row in found.itertuples(index=False)]


def test_cells_rows_columns_and_tables_are_listed_each_as_what_it_is(tmp_path: Path) -> None:
    old = {
        BOARD: "setting team messages gone metrics_version\nu a 1.0 7 2\nu b 2.0 7 2\nu c 3.0 7 2",
        "uniform/regret.csv": "setting\nu",
    }
    new = {
        BOARD: "setting team messages metrics_version\nu a 1.5 3\nu b 2.0 3\nu d 4.0 3",
        "uniform/sensitivity.csv": "setting\nu",
    }

    assert listed(tmp_path, old, new) == [
        (BOARD, "cell", "messages", "setting=u team=a", "1.0", "1.5"),
        (BOARD, "column gone", "gone", "", "", ""),
        (BOARD, "row gone", "", "setting=u team=c", "", ""),
        (BOARD, "row new", "", "setting=u team=d", "", ""),
        ("uniform/regret.csv", "table gone", "", "", "", ""),
        ("uniform/sensitivity.csv", "table new", "", "", "", ""),
    ]


def test_rows_without_a_common_key_are_said_not_to_be_compared(tmp_path: Path) -> None:
    old = {BOARD: "setting squad messages\nu a 1.0\nu b 2.0"}
    new = {BOARD: "setting team messages\nu a 1.5\nu b 2.0"}

    assert (BOARD, "not compared", "", "", "", "rows have another key") in listed(
        tmp_path, old, new
    )


def test_what_is_left_of_a_key_is_enough_if_it_names_each_row_once(tmp_path: Path) -> None:
    found = listed(
        tmp_path, {BOARD: "team messages\na 1.0"}, {BOARD: "setting team messages\nu a 2.0"}
    )

    assert (BOARD, "cell", "messages", "team=a", "1.0", "2.0") in found


CELLS = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(*[st.sampled_from(["", "0.5", "1.0", "x"])] * 2),
    min_size=1,
)


@given(CELLS, CELLS)
def test_old_cells_with_their_changes_are_the_new_ones(
    tmp_path_factory: pytest.TempPathFactory,
    old: dict[str, tuple[str, str]],
    new: dict[str, tuple[str, str]],
) -> None:
    place = tmp_path_factory.mktemp("law")
    for side, rows in (("old", old), ("new", new)):
        lines = [f"u,{team},{first},{second}" for team, (first, second) in rows.items()]
        path = place / side / BOARD
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(["setting,team,messages,fairness", *lines]) + "\n")

    found = changes(numbers(place / "old"), numbers(place / "new"))

    patched = {
        team: dict(zip(("messages", "fairness"), row, strict=True)) for team, row in old.items()
    }
    for _, what, column, key, before, after in found.to_numpy().tolist():
        team = key.removeprefix("setting=u team=")
        if what == "row gone":
            del patched[team]
        elif what == "row new":
            patched[team] = dict(zip(("messages", "fairness"), new[team], strict=True))
        elif what == "cell":
            assert patched[team][column] == before
            patched[team][column] = after
    assert {team: tuple(row.values()) for team, row in patched.items()} == new


def test_list_is_written_as_the_same_bytes_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder(tmp_path / "before", {BOARD: "setting team messages\nu a 1.0\nu b 2.0"})
    folder(tmp_path / "tables", {BOARD: "setting team messages\nu a 1.5\nu b 2.0"})

    list_changes(tmp_path / "before", tmp_path)
    (packed,) = tmp_path.glob("release/changes/*.csv.xz")
    written = packed.read_bytes()
    list_changes(tmp_path / "before", tmp_path)

    assert packed.read_bytes() == written
    rows = pd.read_csv(BytesIO(lzma.decompress(written)))
    assert tuple(rows.columns) == COLUMNS
    assert rows["new"].tolist() == [1.5]
    assert f"{BOARD}: cell, 1: messages\n" in capsys.readouterr().err


def test_release_keeps_the_changes_of_former_ones(tmp_path: Path) -> None:
    data, release = tmp_path / "data", tmp_path / "data" / "release"
    for name in ("suites/a.jsonl", "traces/a/t/a-000.json", "tables/a/other.txt"):
        path = data / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"{}\n")
    (release / CHANGES).mkdir(parents=True)
    (release / CHANGES / "metrics-3.md").write_text("Kept.\n")
    (release / README).write_text("Words.\n")

    write_release(data, release)

    assert (release / CHANGES / "metrics-3.md").read_text() == "Kept.\n"
    assert sorted(path.name for path in release.iterdir()) == [
        README, CHANGES, "manifest.json", "suites", "traces.json.gz",
    ]  # fmt: skip
