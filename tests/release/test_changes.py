"""The list of changed numbers, on tables written by hand and on published ones."""

import lzma
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calbench.errors import ConfigError
from calbench.release.changes import COLUMNS, Numbers, changes, numbers
from calbench.release.manifest import MANIFEST
from calbench.release.overview import by_column, headline, markdown
from calbench.release.writer import CHANGES, README, write_release
from stages import changes as stage
from tests.cli.runs import REPO

BOARD = "uniform/leaderboard.csv"
PLAYERS = "uniform/players.csv"


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
    assert headline(*(numbers(tmp_path / side) for side in ("old", "new"))).empty


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


def test_columns_are_counted_over_experiments_with_the_greatest_change(tmp_path: Path) -> None:
    head = "setting team messages\n"
    old = {BOARD: head + "u a 1.0\nu b 2.0", "varied/leaderboard.csv": head + "v a 5.0\nv b -"}
    new = {BOARD: head + "u a 1.5\nu b 2.0", "varied/leaderboard.csv": head + "v a 4.0\nv b x"}
    found = changes(folder(tmp_path / "old", old), folder(tmp_path / "new", new))

    (row,) = by_column(found).to_dict("records")

    assert row == {
        "table": "leaderboard.csv", "what": "cell", "column": "messages", "experiments": 2,
        "count": 3, "old": "5.0", "new": "4.0", "where": "varied/leaderboard.csv setting=v team=a",
    }  # fmt: skip
    assert by_column(found.iloc[:0]).empty


def test_headline_numbers_have_both_intervals(tmp_path: Path) -> None:
    head = "setting player kind teams messages messages_low messages_high"
    old = folder(tmp_path / "old", {PLAYERS: f"{head}\nu a p a 1.0 1.0 1.0\nu b p b 2.0 1.0 3.0"})
    new = folder(
        tmp_path / "new",
        {PLAYERS: f"{head} messages_interval\nu a p a 1.0 - - exact\nu b p b 2.0 1.0 3.0 t"},
    )

    (row,) = headline(old, new).to_dict("records")

    assert row["row"] == "setting=u player=a kind=p teams=a"
    assert [row[name] for name in ("old", "old_low", "old_high")] == ["1.0", "1.0", "1.0"]
    assert [row[name] for name in ("new", "new_low", "new_high")] == ["1.0", "-", "-"]


def test_range_of_ranks_is_one_change(tmp_path: Path) -> None:
    head = "experiment setting channel team fairness_rank_low fairness_rank_high"
    old = folder(tmp_path / "old", {"summary/leaderboard.csv": f"{head}\nu u dm a 1 3"})
    new = folder(tmp_path / "new", {"summary/leaderboard.csv": f"{head}\nu u dm a 1 2"})

    (row,) = headline(old, new).to_dict("records")

    assert (row["column"], row["old"], row["new"]) == ("fairness_rank", "", "")
    assert (row["old_low"], row["old_high"], row["new_low"], row["new_high"]) == tuple("1312")


def test_summary_names_every_table_and_tells_values_from_intervals(tmp_path: Path) -> None:
    old = {BOARD: "setting team a b b_low gone\nu x 1 2 1 0", "uniform/old.csv": "a\n1"}
    new = {BOARD: "setting team a b b_low fresh\nu x 3 2 0 0", "uniform/fresh.csv": "a\n1"}
    found = changes(folder(tmp_path / "old", old), folder(tmp_path / "new", new))

    text = markdown(by_column(found), "Now against before")

    assert text.startswith("Now against before: 2 cells changed")
    assert "| `leaderboard.csv` | 1 | 2 | `a`; only the interval of `b` |" in text
    assert "Table new: `fresh.csv`." in text
    assert "Column gone: `leaderboard.csv` `gone`." in text


def test_stage_writes_the_same_bytes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data" / "published").mkdir(parents=True)
    folder(tmp_path / "before", {BOARD: "setting team messages\nu a 1.0\nu b 2.0"})
    folder(tmp_path / "data" / "tables", {BOARD: "setting team messages\nu a 1.5\nu b 2.0"})

    stage.main(["before"])
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    stage.main(["before"])

    assert {path: path.read_bytes() for path in kept} == kept
    (packed,) = tmp_path.glob("data/release/changes/*.csv.xz")
    rows = pd.read_csv(BytesIO(lzma.decompress(packed.read_bytes())))
    assert tuple(rows.columns) == COLUMNS
    assert rows["new"].tolist() == [1.5]


@pytest.mark.parametrize("arguments", [["no-such-revision"], ["before", "now"]])
def test_mistake_is_one_line(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    with pytest.raises(ConfigError) as caught:
        stage.main(arguments)

    assert "\n" not in str(caught.value)


@pytest.mark.heavy
@pytest.mark.skipif(not (REPO / ".git").exists(), reason="no history of git")
def test_release_of_a_revision_is_read_from_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPO)

    with stage._folder("HEAD") as found:
        old = numbers(found)

        assert old.manifest is not None
        assert (found / MANIFEST).is_file()
        assert old.read(BOARD).startswith(b"setting,team,")


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
