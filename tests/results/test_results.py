"""Results as frames: types by declaration, words beside the numbers, mistakes in one line."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

from calbench.analysis.tables import TABLES
from calbench.errors import CalbenchError, ConfigError, FileError
from calbench.facts.columns import Column
from calbench.metrics.measure import METRICS_VERSION
from calbench.release.manifest import read_manifest
from calbench.runs.results import Results, read_results, read_run
from tests.cli.runs import REPO, rows

DTYPES = {
    "text": "str",
    "list": "str",
    "integer": "Int64",
    "number": "float64",
    "truth": "boolean",
}
"""What pandas calls each kind of column."""


def types(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(dtype) for name, dtype in frame.dtypes.items()}


def declared(columns: tuple[Column, ...]) -> dict[str, str]:
    return {
        column.name: "str" if column.digits is None else DTYPES[column.kind] for column in columns
    }


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """The run, free to be broken."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def message(found: pytest.ExceptionInfo[CalbenchError]) -> str:
    """Return what was said, which is one line."""
    said = str(found.value)
    assert said.isprintable()
    return said


def test_every_table_of_a_run_has_the_types_of_its_columns(finished: Path) -> None:
    run = read_run(finished)
    there = {name for name in TABLES if (finished / "tables" / name).is_file()}
    assert {name.rpartition(".")[0] for name in there} == set(run.tables)
    for name in there:
        assert types(run.table(name.rpartition(".")[0])) == declared(TABLES[name].columns), name


def test_cells_are_those_of_the_file(finished: Path) -> None:
    found = read_run(finished).table("leaderboard")
    shown = rows(finished / "tables" / "leaderboard.csv")
    assert found["team"].tolist() == [row["team"] for row in shown]
    assert found["games"].tolist() == [3, 3, 3, 3]
    for name in ("coordination", "excess_cost", "messages", "excess_vps_high"):
        for value, row in zip(found[name], shown, strict=True):
            assert pd.isna(value) if row[name] == "" else value == float(row[name])


def test_absent_whole_numbers_and_truths_are_na(finished: Path) -> None:
    run = read_run(finished)
    reach = run.table("optimum_unreachable")
    kept = reach["event_index"].isna()
    assert 0 < kept.sum() < len(reach)
    assert reach["event_index"][kept].tolist() == [pd.NA] * int(kept.sum())
    assert all(isinstance(value, int) for value in reach["event_index"][~kept].tolist())
    assert run.games()["is_excluded"].tolist() == [False] * 12
    counts = rows(finished / "tables" / "standings.csv")
    assert [pd.NA if row["games"] == "" else int(row["games"]) for row in counts] == run.table(
        "standings"
    )["games"].tolist()


def test_attrs_say_what_each_column_is(finished: Path) -> None:
    attrs = read_run(finished).table("leaderboard").attrs
    assert attrs["about"] == "Every measure of every team in every setting, with its interval."
    assert attrs["key"] == ["setting", "team"]
    names = [column.name for column in TABLES["leaderboard.csv"].columns]
    for part in ("unit", "meaning", "denominator", "origin"):
        assert list(attrs[part]) == names
    assert attrs["unit"]["excess_cost"] == "accounting cost"
    assert attrs["meaning"]["excess_cost_low"] == "lower end of the interval over scenarios"
    assert attrs["denominator"]["messages"] == "agent-games with S > 0"
    assert attrs["origin"]["fairness"] == "R, C"


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("leaderbord", "; did you mean leaderboard"),
        ("privacy/message", "; did you mean privacy/messages "),
        ("\x1b", ""),
        ("", ""),
    ],
)
def test_unknown_table_names_the_nearest_and_where_all_names_are(
    finished: Path, name: str, near: str
) -> None:
    run = read_run(finished)
    with pytest.raises(ConfigError, match=r"^there is no table ") as found:
        run.table(name)
    said = message(found)
    assert near in said
    assert said.endswith(f" (the names of all {len(run.tables)} are in its attribute tables)")
    assert ("did you mean" in said) == bool(near)


def test_folder_without_anything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="holds neither tables nor games; name the folder of a run"):
        read_run(tmp_path)
    with pytest.raises(FileError, match="there is no such folder; name the folder of a run"):
        read_run(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="there is no such folder"):
        read_run(tmp_path / "file")


def is_same(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    return one.equals(other) and one.attrs == other.attrs


def test_tables_alone_have_no_games_to_read(copy: Path, finished: Path) -> None:
    whole = read_run(finished)
    shutil.rmtree(copy / "traces")
    for folder in (copy, copy / "tables"):
        run = read_run(folder)
        assert run.tables == whole.tables
        assert is_same(run.games(), whole.games())
        for read in (run.messages, run.events):
            with pytest.raises(FileError, match="there are no games; play them") as found:
                read()
            message(found)


def test_traces_alone_have_no_tables(copy: Path, finished: Path) -> None:
    whole = read_run(finished)
    shutil.rmtree(copy / "tables")
    for folder in (copy, copy / "traces"):
        run = read_run(folder)
        assert run.tables == ()
        assert is_same(run.messages(), whole.messages())
        assert is_same(run.events(), whole.events())
        with pytest.raises(ConfigError, match=r"there is no table 'games' \(there are none\)"):
            run.games()


def rewritten(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("setting,team,", "setting,crew,", "its columns are not setting, team, games, "),
        (
            "taste-varied,imap,3,",
            "taste-varied,imap,3.5,",
            "does not read as the table it should be: ",
        ),
        (
            "taste-varied,imap,3,",
            "taste-varied,imap,3,much,",
            "line 2 has 78 cells, the header has 77",
        ),
        ("taste-varied,imap,3,", "taste-varied,3,", "line 2 has 76 cells, the header has 77"),
        ("taste-varied,imap,3,", 'taste-varied,"imap,3,', "does not read as a table: "),
    ],
)
def test_broken_table_is_told_in_one_line(copy: Path, old: str, new: str, said: str) -> None:
    path = copy / "tables" / "leaderboard.csv"
    rewritten(path, old, new)
    run = read_run(copy)
    with pytest.raises(FileError) as found:
        run.table("leaderboard")
    told = message(found)
    assert told.startswith(f"{path}: ")
    assert said in told
    assert len(run.table("players")) == 4


def test_truth_that_is_none_and_bytes_that_are_no_text_are_told(copy: Path) -> None:
    rewritten(copy / "tables" / "games.csv", ",false,", ",no,")
    with pytest.raises(FileError, match="neither true nor false: 'no'"):
        read_run(copy).games()
    (copy / "tables" / "games.csv").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="does not read as a table") as found:
        read_run(copy).games()
    message(found)
    (copy / "tables" / "privacy" / "messages.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match="cannot be read as Parquet") as found:
        read_run(copy).table("privacy/messages")
    message(found)


@pytest.mark.heavy
def test_published_table_has_the_rows_of_all_experiments(data: Path, finished: Path) -> None:
    published = read_results(data)
    own = read_run(finished)
    for name in ("leaderboard", "players", "comparisons", "privacy/game_summary"):
        found, one = published.table(name), own.table(name)
        assert found["experiment"].tolist() == ["first"] * len(one) + ["second"] * len(one)
        for place in (0, len(one)):
            part = found.iloc[place : place + len(one)].drop(columns="experiment")
            pd.testing.assert_frame_equal(part.reset_index(drop=True), one, check_flags=False)
        assert found.attrs["key"] == ["experiment", *one.attrs["key"]]
        assert found.attrs["about"] == one.attrs["about"]
        assert found.attrs["unit"] == {"experiment": "", **one.attrs["unit"]}


@pytest.mark.heavy
def test_published_tables_are_those_whose_every_cell_is(data: Path) -> None:
    published = read_results(data)
    assert {"leaderboard", "games", "summary/leaderboard"} <= set(published.tables)
    assert "privacy/reflections" not in published.tables
    assert list(published.tables) == sorted(published.tables)
    for name in published.tables:
        frame = published.table(name)
        assert list(frame.attrs["meaning"]) == list(frame.columns), name
        assert set(frame.attrs["key"]) <= set(frame.columns), name


def test_table_over_experiments_is_as_it_was_written(data: Path) -> None:
    found = read_results(data).table("summary/leaderboard")
    shown = rows(data / "tables" / "summary" / "leaderboard.csv")
    assert found["experiment"].fillna("").tolist() == [row["experiment"] for row in shown]
    assert found.attrs["key"] == ["experiment", "setting", "channel", "team"]


def test_published_games_are_read_from_their_traces(data: Path, finished: Path) -> None:
    messages, one = read_results(data).messages(), read_run(finished).messages()
    assert len(messages) == 2 * len(one) > 0
    pd.testing.assert_frame_equal(messages.iloc[: len(one)], one, check_flags=False)


def test_release_without_games_or_broken_says_what_to_do(data: Path, tmp_path: Path) -> None:
    shutil.copytree(data / "release", tmp_path / "release")
    with pytest.raises(FileError, match=r"there are no games; play them \(`dvc repro`\)"):
        read_results(tmp_path).messages()
    (tmp_path / "release" / "tables" / "first.tar.xz").unlink()
    with pytest.raises(FileError, match=r"first\.tar\.xz") as found:
        read_results(tmp_path).table("players")
    message(found)
    (tmp_path / "release" / "manifest.json").write_text("{}")
    with pytest.raises(FileError, match=r"manifest\.json: .*get it again with git"):
        read_results(tmp_path)
    with pytest.raises(FileError, match=r"manifest\.json"):
        read_results(tmp_path / "nowhere")


@pytest.mark.heavy
def test_release_of_this_checkout_reads_whole() -> None:
    manifest = read_manifest(REPO / "data" / "release")
    if "summary/leaderboard.csv" not in manifest.tables:
        pytest.skip("data/release is of an earlier version: `make release` publishes anew")
    published: Results = read_results()
    for name in published.tables:
        assert len(published.table(name).columns) > 1
    board = published.table("leaderboard")
    assert set(board["experiment"]) == set(manifest.traces)
    assert set(board["metrics_version"]) == {METRICS_VERSION}
