"""``calbench prove``: what differs from the release is named, cell by cell."""

import gzip
import hashlib
import importlib
import json
import re
import shutil
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import compute, parquet

from calbench.analysis.registry import TABLES, Settings, table
from calbench.cli.main import answer
from calbench.cli.prove import SHOWN
from calbench.config.composition import compose
from calbench.errors import ConfigError
from calbench.facts.columns import SCENARIO, SETTING, TEAM, count, fine, listed, number, truth
from calbench.facts.storage import Facts
from calbench.release.__main__ import publish, write_release
from calbench.release.archives import archived
from calbench.release.manifest import read_manifest
from stages import analyze
from stages.compose import PARTS
from stages.paths import read_parts, write_parts
from tests.cli.runs import REPO, SMALL, environment, files, python, without_progress

BOARD = "data/tables/tiny/leaderboard.csv"
GAMES = "data/tables/tiny/of_games.csv"
TALK = "data/tables/tiny/privacy/of_talk.parquet"
SUITE = "data/suites/tiny.jsonl"
TRACE = "data/traces/tiny/imap/tiny-001.json"


@pytest.fixture(scope="module", autouse=True)
def _tables() -> Iterator[None]:
    """Have three tables: one with every kind of column, and one that grows with messages."""
    before = dict(TABLES)
    TABLES.clear()
    TABLES["leaderboard.csv"] = before["leaderboard.csv"]

    @table(
        "of_games.csv",
        (
            SETTING,
            TEAM,
            SCENARIO,
            count("cost", "", ""),
            number("vps", "", ""),
            fine("share", "", ""),
            truth("is_late", ""),
            listed("speakers", ""),
            number("p_value", "", "", digits=6),
        ),
        key="setting team scenario_id",
    )
    def of_games(facts: Facts, _settings: Settings) -> pd.DataFrame:
        places = facts.games["game"].astype(float)
        return facts.games.assign(
            vps=places.where(places > 1) / 7,
            share=places / 8,
            is_late=(places > 5).astype("boolean").where(places != 3),
            speakers="0 2 1",
            p_value=places / 1000,
        )

    @table(
        "privacy/of_talk.parquet",
        (TEAM, SCENARIO, count("cost", "", ""), number("vps", "", ""), truth("is_late", "")),
        key="team scenario_id",
    )
    def of_talk(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
        yield of_games(facts, settings)

    yield
    TABLES.clear()
    TABLES.update(before)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a tiny experiment went through the stages and was released."""
    folder = tmp_path_factory.mktemp("released")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        spec = compose([*SMALL, "name=tiny", "suite.setting=tiny"])
        for stage, part in PARTS.items():
            write_parts(stage, {spec.name: part(spec)})
        for name in ("generate", "play", "calibrate"):
            importlib.import_module(f"stages.{name}").main()
        (each,) = read_parts("analyze", analyze.Estimated).items()
        analyze.write(each)
        write_release(Path("data"), Path("data/release"))
        shutil.move("data/traces/tiny", "shards")
        assert answer(["-q", "traces", "unpack", "shards", "out=data/traces/tiny"]) == 0
    return folder


@pytest.fixture
def here(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of it, in which the commands run."""
    shutil.copytree(released, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


Proven = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def proven(here: Path, capsys: pytest.CaptureFixture[str]) -> Proven:
    """Return what runs the command: its status, and the lines it says, progress apart."""
    assert here.is_dir()

    def run(*arguments: str) -> tuple[int, list[str]]:
        capsys.readouterr()
        status = answer(["prove", *arguments])
        said = capsys.readouterr()
        return status, [*said.out.splitlines(), *without_progress(said.err)]

    return run


def replaced(path: str, old: str, new: str, times: int = 1) -> None:
    text = Path(path).read_text()
    assert text.count(old) >= 1, old
    Path(path).write_text(text.replace(old, new, times))


def rows(path: str, change: Callable[[list[str]], list[str]]) -> None:
    """Change the lines of a CSV file below its header."""
    head, *lines = Path(path).read_text().splitlines(keepends=True)
    Path(path).write_text(head + "".join(change(lines)))


def cells(path: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Change a CSV file, every cell of which is a text."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    change(frame).to_csv(path, index=False, lineterminator="\n")


def stored(change: Callable[[pa.Table], pa.Table] = lambda table: table, **options: Any) -> None:
    """Write the Parquet table again, changed or otherwise."""
    parquet.write_table(change(parquet.read_table(TALK)), TALK, **options)


def column(name: str, change: Callable[[pa.ChunkedArray], Any]) -> Callable[[pa.Table], pa.Table]:
    """Return what changes one of its columns."""

    def changed(table: pa.Table) -> pa.Table:
        return table.set_column(table.column_names.index(name), name, change(table[name]))

    return changed


def values(change: Callable[[list[Any]], list[Any]]) -> Callable[[pa.ChunkedArray], Any]:
    """Return what changes the values of a column, which keeps its type."""
    return lambda column: pa.array(change(column.to_pylist()), column.type, from_pandas=False)


def flip_byte(path: str) -> None:
    data = bytearray(Path(path).read_bytes())
    data[len(data) // 2] ^= 1
    Path(path).write_bytes(data)


def test_what_was_released_is_identical(proven: Proven) -> None:
    status, (first, second) = proven()
    assert status == 0
    assert first == "The site is not built: run `dvc repro`"
    assert second == (
        "Identical with what is published: 3 tables, 12 games, 1 suites and 6 other files"
    )


def test_page_to_open_is_named_once_it_is_built(proven: Proven) -> None:
    Path("build/site").mkdir(parents=True)
    Path("build/site/index.html").touch()
    assert proven()[1][0] == "Open build/site/index.html"


def cell(team: str, scenario_id: str, column: str, published: str, now: str) -> str:
    """Return the line about a cell of the games."""
    row = f"setting=tiny team={team} scenario_id={scenario_id}"
    return f"tiny/of_games.csv: {row}: {column}: published {published}, now {now}"


IMAP_1, OTHER_BYTES = (
    "setting=tiny team=imap scenario_id=tiny-001",
    "suites/tiny.jsonl: other bytes",
)

DIFFERENCES: dict[str, tuple[Callable[[], object], list[str]]] = {
    "number": (
        lambda: cells(BOARD, lambda f: f.assign(games=["3", "3", "2", "3"])),
        ["tiny/leaderboard.csv: setting=tiny team=first-free: games: published 3, now 2"],
    ),
    "decimals of a number": (
        lambda: replaced(GAMES, "0.4286", "0.42860"),
        [cell("tell-all", "tiny-000", "vps", "0.4286", "0.42860")],
    ),
    "row removed": (
        lambda: rows(BOARD, lambda lines: [lines[0], *lines[2:]]),
        ["tiny/leaderboard.csv: row missing: setting=tiny team=tell-all"],
    ),
    "row added": (
        lambda: rows(BOARD, lambda lines: [*lines, lines[0].replace("imap", "map")]),
        ["tiny/leaderboard.csv: row new: setting=tiny team=map"],
    ),
    "row doubled": (
        lambda: rows(GAMES, lambda lines: [*lines, lines[1]]),
        [f"tiny/of_games.csv: row twice: {IMAP_1}"],
    ),
    "rows in another order": (
        lambda: rows(GAMES, lambda lines: [*lines[1:], lines[0]]),
        [f"tiny/of_games.csv: rows in another order: {IMAP_1}: the first that moved up"],
    ),
    "column removed": (
        lambda: cells(GAMES, lambda f: f.drop(columns="vps")),
        ["tiny/of_games.csv: column missing: vps"],
    ),
    "column added": (
        lambda: cells(GAMES, lambda f: f.assign(new="1")),
        ["tiny/of_games.csv: column new: new"],
    ),
    "column of the key renamed": (
        lambda: cells(GAMES, lambda f: f.rename(columns={"team": "player"})),
        [
            "tiny/of_games.csv: column missing: team: it is in the key, so rows were not compared",
            "tiny/of_games.csv: column new: player",
        ],
    ),
    "columns in another order": (
        lambda: cells(GAMES, lambda f: f[[*f.columns[:3], "vps", "cost", *f.columns[5:]]]),
        ["tiny/of_games.csv: columns in another order: cost"],
    ),
    "two columns of one name": (
        lambda: replaced(GAMES, "vps", "cost"),
        ["tiny/of_games.csv: not readable: two columns have one name"],
    ),
    "table removed": (lambda: Path(BOARD).unlink(), ["tiny/leaderboard.csv: missing"]),
    "table added": (
        lambda: Path("data/tables/tiny/extra.csv").write_text("a\n1\n"),
        ["tiny/extra.csv: not published"],
    ),
    "cell emptied": (
        lambda: replaced(GAMES, "0.4286", ""),
        [cell("tell-all", "tiny-000", "vps", "0.4286", "empty")],
    ),
    "cell filled": (
        lambda: replaced(GAMES, ",,0,", ",0.0000,0,"),
        [cell("imap", "tiny-000", "vps", "empty", "0.0000")],
    ),
    "byte of a suite": (
        lambda: replaced(SUITE, '"tiny-001","', '"tiny-001" ,"'),
        [f"{OTHER_BYTES}: scenario_id=tiny-001"],
    ),
    "scenario removed": (
        lambda: Path(SUITE).write_bytes(b"".join(Path(SUITE).read_bytes().splitlines(True)[1:])),
        ["suites/tiny.jsonl: row missing: scenario_id=tiny-000"],
    ),
    "line ends of a suite": (
        lambda: replaced(SUITE, "\n", "\r\n", 3),
        [f"{OTHER_BYTES}: the same scenarios, in another order or with other line ends"],
    ),
    "byte of a trace": (lambda: flip_byte(TRACE), ["traces/tiny/imap/tiny-001.json: other bytes"]),
    "trace removed": (lambda: Path(TRACE).unlink(), ["traces/tiny/imap/tiny-001.json: missing"]),
    "trace added": (
        lambda: shutil.copy(TRACE, "data/traces/tiny/imap/tiny-009.json"),
        ["traces/tiny/imap/tiny-009.json: not published"],
    ),
    "byte of the metrics": (
        lambda: flip_byte("data/tables/tiny/metrics.json"),
        ["tiny/metrics.json: other bytes: only the checksum of this file is published"],
    ),
    "nothing": (
        lambda: Path(BOARD).write_bytes(b""),
        ["tiny/leaderboard.csv: not readable: it has no header"],
    ),
    "not UTF-8": (
        lambda: Path(BOARD).write_bytes(Path(BOARD).read_bytes().replace(b"silent", b"sil\xffnt")),
        ["tiny/leaderboard.csv: not readable: line 5 is not UTF-8"],
    ),
    "cut in a row": (
        lambda: Path(GAMES).write_bytes(Path(GAMES).read_bytes()[:-40]),
        ["tiny/of_games.csv: not readable: line 13 has 3 cells, the header has 10"],
    ),
    "cut in a quotation": (
        lambda: Path(GAMES).write_text(Path(GAMES).read_text() + '"tiny'),
        ["tiny/of_games.csv: not readable: line 14: unexpected end of data"],
    ),
    "other line ends": (
        lambda: replaced(GAMES, "\n", "\r\n", 100),
        ["tiny/of_games.csv: other bytes: the same cells, written otherwise"],
    ),
    "another experiment": (
        lambda: shutil.copytree("data/tables/tiny", "data/tables/mine"),
        ["mine: not published"],
    ),
    "control characters": (
        lambda: replaced(BOARD, "silent", "sil\x1b[31m\u202ent"),
        [
            "tiny/leaderboard.csv: row missing: setting=tiny team=silent",
            "tiny/leaderboard.csv: row new: setting=tiny team=sil\\x1b[31m\\u202ent",
        ],
    ),
}


LARGE: dict[str, tuple[Callable[[pa.Table], pa.Table], list[str]]] = {
    "last bit of a number": (
        column("vps", values(lambda found: [*found[:-1], float(np.nextafter(found[-1], 9))])),
        ["other values: vps"],
    ),
    "sign of zero": (
        column("vps", lambda found: compute.fill_null(found, -0.0)),
        ["other values: vps"],
    ),
    "not a number for absent": (
        column("vps", lambda found: compute.fill_null(found, float("nan"))),
        ["other values: vps"],
    ),
    "absent for an empty text": (
        column("team", values(lambda found: ["", *found[1:]])),
        ["other values: team"],
    ),
    "letter moved to the next row": (
        column("team", values(lambda found: [found[0][:-1], found[0][-1] + found[1], *found[2:]])),
        ["other values: team"],
    ),
    "truth": (column("is_late", compute.invert), ["other values: is_late"]),
    "truth that was absent": (
        column("is_late", lambda found: compute.fill_null(found, fill_value=False)),
        ["other values: is_late"],
    ),
    "smaller numbers": (
        column("vps", lambda found: found.cast(pa.float32())),
        ["other type: vps: published double, now float"],
    ),
    "numbers as text": (
        column("cost", lambda found: found.cast(pa.string())),
        ["other type: cost: published int64, now string"],
    ),
    "row removed": (lambda table: table.slice(1), ["other values: published 12 rows, now 11 rows"]),
    "two rows of a team exchanged": (
        lambda table: table.take([1, 0, *range(2, 12)]),
        ["other values: scenario_id", "other values: cost"],
    ),
    "column removed": (lambda table: table.drop_columns("vps"), ["column missing: vps"]),
    "column added": (lambda table: table.append_column("new", table["vps"]), ["column new: new"]),
    "columns in another order": (
        lambda table: table.select([1, 0, *range(2, table.num_columns)]),
        ["columns in another order: team"],
    ),
}
"""Differences of the table of which only the digests of its columns are published."""


@pytest.mark.parametrize("case", LARGE)
def test_difference_of_a_large_table_is_named_by_column(proven: Proven, case: str) -> None:
    change, lines = LARGE[case]
    stored(change)
    assert proven()[1][:-1] == [f"tiny/privacy/of_talk.parquet: {line}" for line in lines]


def test_parquet_that_is_cut_is_not_readable(proven: Proven) -> None:
    Path(TALK).write_bytes(Path(TALK).read_bytes()[:-1])
    assert proven()[1][0] == "tiny/privacy/of_talk.parquet: not readable: it is not Parquet"


WRITTEN_OTHERWISE: list[dict[str, Any]] = [
    {"compression": "snappy"},
    {"compression": "zstd", "compression_level": 19},
    {"row_group_size": 5},
    {"use_dictionary": False},
    {"version": "1.0"},
    {"data_page_version": "2.0"},
    {"write_statistics": False, "store_schema": False},
    {"change": lambda table: table.replace_schema_metadata({"made by": "another"})},
    {"change": column("team", lambda found: found.cast(pa.large_string()))},
    {"change": column("team", compute.dictionary_encode)},
]


@pytest.mark.parametrize("options", WRITTEN_OTHERWISE, ids=lambda each: "-".join(map(str, each)))
def test_parquet_that_is_written_otherwise_is_identical(
    proven: Proven, options: dict[str, Any]
) -> None:
    before = Path(TALK).read_bytes()
    stored(**options)
    assert Path(TALK).read_bytes() != before
    assert proven()[0] == 0


@pytest.mark.parametrize("case", DIFFERENCES)
def test_difference_is_named(proven: Proven, case: str) -> None:
    change, lines = DIFFERENCES[case]
    change()
    status, said = proven()
    assert status == 1
    assert said[:-1] == lines
    assert said[-1].startswith(f"Not identical: {len(lines)} differences. Identical: ")


def test_rows_are_found_by_their_key_and_not_by_their_place(proven: Proven) -> None:
    rows(GAMES, lambda lines: [*lines[:3], *lines[4:]])
    replaced(GAMES, "0.009000", "0.009001")
    assert proven()[1][:-1] == [
        "tiny/of_games.csv: row missing: setting=tiny team=tell-all scenario_id=tiny-000",
        cell("silent", "tiny-000", "p_value", "0.009000", "0.009001"),
    ]


def test_forged_table_is_found_whatever_dvc_lock_says(proven: Proven) -> None:
    """Its hash in the lock is right: DVC would skip the stage and call everything up to date."""
    cells(BOARD, lambda f: f.assign(excess_cost="0.0000"))
    forged = hashlib.md5(Path(BOARD).read_bytes(), usedforsecurity=False).hexdigest()
    Path("dvc.lock").write_text(f"outs: [{{path: {BOARD}, md5: {forged}}}]\n")
    status, said = proven()
    assert status == 1
    assert all(
        re.search(r": excess_cost: published \d+\.\d{4}, now 0\.0000$", s) for s in said[:-1]
    )
    assert len(said) > 1


def test_many_differences_are_counted_and_the_first_printed(proven: Proven) -> None:
    cells(GAMES, lambda f: f.assign(cost="x", vps="y", p_value="z"))
    status, said = proven()
    assert status == 1
    assert len(said) == SHOWN + 2
    assert said[SHOWN] == f"... and {36 - SHOWN} more; --json has all"
    assert said[-1].startswith("Not identical: 36 differences. ")


# --- what cannot be compared


def test_what_was_not_computed_is_named_and_nothing_is_proven(proven: Proven) -> None:
    shutil.rmtree("data/traces/tiny")
    status, said = proven()
    assert status == 1
    assert said == [
        "traces/tiny: not computed, so not compared",
        "Not identical: 1 not computed. Identical: 3 tables, 0 games, 1 suites and 6 other files",
    ]


def test_before_anything_was_computed_one_line_says_what_to_do(proven: Proven) -> None:
    for folder in ("suites", "traces", "tables"):
        shutil.rmtree(f"data/{folder}")
    assert proven() == (2, ["error: data: nothing was computed yet; run `dvc repro` first"])


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("manifest.json", None, "cannot be read"),
        ("manifest.json", b"{}", "versions: Field required"),
        ("manifest.json", b"\xff", "Invalid JSON"),
        ("traces.json.gz", b"no gzip", "cannot be unpacked"),
        ("traces.json.gz", gzip.compress(b"[]", mtime=0), "Input should be an object"),
    ],
)
def test_broken_release_is_one_line(
    proven: Proven, name: str, data: bytes | None, line: str
) -> None:
    path = Path("data/release", name)
    path.unlink() if data is None else path.write_bytes(data)
    status, (said,) = proven()
    assert status == 2
    assert said.startswith(f"error: data/release/{name}: ")
    assert line in said


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("tables/tiny/leaderboard.csv", "tiny/leaderboard.csv"),
        ("tables/tiny.tar.xz", "tiny/of_games.csv"),
        ("suites/tiny.jsonl.gz", "suites/tiny.jsonl"),
    ],
)
@pytest.mark.parametrize("data", [b"", b"broken", None])
def test_copy_that_is_not_what_the_manifest_says_is_a_difference(
    proven: Proven, name: str, file: str, data: bytes | None
) -> None:
    path = Path("data/release", name)
    path.unlink() if data is None else path.write_bytes(data)
    status, (line, _) = proven()
    assert status == 1
    assert line.startswith(f"{file}: release: ")


def test_listing_of_games_that_is_not_what_the_manifest_says_is_a_difference(
    proven: Proven,
) -> None:
    manifest = Path("data/release/manifest.json")
    data = json.loads(manifest.read_text())
    data["traces"]["tiny"]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(data))
    line = "traces/tiny: release: the list of its games does not agree with manifest.json"
    assert proven()[1][0] == line


def test_other_versions_are_named(proven: Proven) -> None:
    replaced("data/release/manifest.json", '"metrics": ', '"metrics": 9')
    status, (line, _) = proven()
    assert status == 1
    assert re.fullmatch(r"release/manifest.json: metrics: published 9\d+, now \d+", line)


def test_games_in_shards_are_the_same_games(proven: Proven) -> None:
    shutil.rmtree("data/traces/tiny")
    shutil.move("shards", "data/traces/tiny")
    status, said = proven("data/traces")
    assert said[-1].endswith("0 tables, 12 games, 0 suites and 0 other files")
    assert status == 0


# --- parts, programs, processes


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("data/tables/tiny", "3 tables, 0 games, 0 suites and 6 other files"),
        ("./data/tables/tiny/metrics", "0 tables, 0 games, 0 suites and 4 other files"),
        (BOARD, "1 tables, 0 games, 0 suites and 0 other files"),
        ("data/traces/tiny/imap", "0 tables, 3 games, 0 suites and 0 other files"),
        (SUITE, "0 tables, 0 games, 1 suites and 0 other files"),
    ],
)
def test_named_parts_alone_are_compared(proven: Proven, path: str, same: str) -> None:
    flip_byte("data/traces/tiny/silent/tiny-002.json")
    status, said = proven(path)
    assert said[-1] == f"Identical with what is published: {same}"
    assert status == 0


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("data/tables/other", "data/tables/other: nothing of this name was computed or published"),
        ("..", "..: is not below data"),
        ("--quick", "--quick: is not an option; did you mean --quiet?"),
    ],
)
def test_mistake_is_one_line(proven: Proven, argument: str, line: str) -> None:
    assert proven(argument) == (2, [f"error: {line}"])


def test_quiet_proof_is_one_line_and_nothing_beside_what_is_for_programs(
    proven: Proven, capsys: pytest.CaptureFixture[str]
) -> None:
    same = "Identical with what is published: 3 tables, 12 games, 1 suites and 6 other files"
    assert proven("-q") == (0, [same])
    assert answer(["-q", "prove", "--json"]) == 0
    said = capsys.readouterr()
    assert (json.loads(said.out)["is_identical"], said.err) == (True, "")


def test_programs_get_every_difference(proven: Proven) -> None:
    status, said = proven("--json")
    assert status == 0
    assert said.pop().startswith("Identical with what is published: ")
    assert json.loads("\n".join(said)) == {
        "is_identical": True,
        "identical": {"tables": 3, "games": 12, "suites": 1, "files": 6},
        "differences": [],
        "unchecked": [],
    }
    cells(GAMES, lambda f: f.assign(cost="x", vps="y", p_value="z"))
    shutil.rmtree("data/suites")
    status, said = proven("--json")
    assert said.pop().startswith("Not identical: ")
    found = json.loads("\n".join(said))
    assert status == 1
    assert found.keys() == {"is_identical", "identical", "differences", "unchecked"}
    assert len({tuple(each) for each in found["differences"]}) == 1
    assert found["is_identical"] is False
    assert found["unchecked"] == ["suites/tiny.jsonl"]
    assert len(found["differences"]) == 36
    assert found["differences"][2] == {
        "file": "tables/tiny/of_games.csv",
        "what": "cell",
        "row": {"setting": "tiny", "team": "imap", "scenario_id": "tiny-000"},
        "column": "p_value",
        "published": "0.000000",
        "now": "z",
        "line": "tiny/of_games.csv: setting=tiny team=imap scenario_id=tiny-000: p_value: "
        "published 0.000000, now z",
    }


@pytest.mark.heavy
def test_command_is_dispatched(here: Path) -> None:
    env = environment(PYTHONPATH=str(REPO))
    ended = python("-m", "calbench", "prove", "data/traces", cwd=here, env=env)
    assert (ended.status, ended.error_lines) == (0, [])
    flip_byte(TRACE)
    ended = python("-m", "calbench", "prove", "data/traces", cwd=here, env=env)
    assert ended.status == 1
    assert ended.out.splitlines()[0] == "traces/tiny/imap/tiny-001.json: other bytes"
    assert ended.error_lines == []


# --- making a release


def test_release_is_made_again_to_the_byte_and_keeps_its_readme(here: Path) -> None:
    first = files(here / "data/release")
    (here / "data/release/README.md").write_text("hand-made")
    (here / "data/release/tables/old.tar.xz").write_text("stale")
    write_release(here / "data", here / "data/release")
    assert files(here / "data/release") == {**first, "README.md": b"hand-made"}
    assert {path.name for path in (here / "data").iterdir()} == {
        *("facts", "release", "suites", "tables", "traces")
    }


def test_release_holds_small_tables_whole_and_checksums_of_the_rest(here: Path) -> None:
    held = files(here / "data/release")
    assert set(held) == {
        "manifest.json",
        "traces.json.gz",
        "suites/tiny.jsonl.gz",
        "tables/tiny/leaderboard.csv",
        "tables/tiny.tar.xz",
    }
    assert held["tables/tiny/leaderboard.csv"] == Path(BOARD).read_bytes()
    assert gzip.decompress(held["suites/tiny.jsonl.gz"]) == Path(SUITE).read_bytes()
    manifest = read_manifest(here / "data/release")
    assert set(manifest.tables) == {"tiny/leaderboard.csv", "tiny/of_games.csv"}
    assert manifest.contents.keys() == {"tiny/privacy/of_talk.parquet"} <= manifest.files.keys()
    assert manifest.traces["tiny"].games == 12
    with tarfile.open(here / "data/release/tables/tiny.tar.xz") as archive:
        (member,) = archive
        file = archive.extractfile(member)
        assert file is not None
        assert (member.name, file.read()) == ("tiny/of_games.csv", Path(GAMES).read_bytes())


@pytest.mark.parametrize("folder", ["suites", "traces", "tables"])
def test_nothing_is_released_before_all_of_it_is_computed(here: Path, folder: str) -> None:
    before = files(here / "data/release")
    shutil.rmtree(here / "data" / folder)
    with pytest.raises(ConfigError, match=rf"data/{folder}: nothing was computed; run `dvc repro`"):
        write_release(Path("data"), Path("data/release"))
    assert files(here / "data/release") == before


@pytest.mark.parametrize("name", ["../games.csv", "/games.csv", "tiny\\games.csv", "c:games.csv"])
def test_archive_that_leads_elsewhere_is_not_read(proven: Proven, name: str) -> None:
    Path("data/release/tables/tiny.tar.xz").write_bytes(archived([(name, b"")]))
    line = "data/release/tables/tiny.tar.xz: cannot be unpacked; get it again"
    status, said = proven()
    assert (status, said[0]) == (1, f"tiny/of_games.csv: release: {line}")


def test_broken_archive_is_said_once_beside_tables_that_differ(
    proven: Proven, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, tables = here / "data/release/tables/tiny.tar.xz", here / "data/tables/tiny"
    (tables / "copied.csv").write_bytes((tables / "of_games.csv").read_bytes())
    copied = replace(TABLES["of_games.csv"], path="copied.csv")
    monkeypatch.setitem(TABLES, copied.path, copied)
    write_release(Path("data"), Path("data/release"))
    archive.write_bytes(archive.read_bytes()[:-40])
    line = "data/release/tables/tiny.tar.xz: cannot be unpacked; get it again"
    status, said = proven()
    assert (status, said[0]) == (1, f"tiny/copied.csv: release: {line}")
    assert "1 differences" in said[-1]
    replaced(GAMES, "imap", "imap2")
    said = proven()[1]
    assert [each for each in said if line in each] == [f"tiny/copied.csv: release: {line}"]
    assert "tiny/of_games.csv: other bytes" in said


def test_release_is_made_of_what_was_computed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(here / "data/release")
    shutil.rmtree(here / "data/release")
    (here / "data/tables/summary").mkdir()
    (here / "data/tables/summary/leaderboard.csv").write_text("experiment\n")
    publish(here / "data")
    made = files(here / "data/release")
    assert made.pop("board.tar.xz")
    assert made.pop("tables/summary/leaderboard.csv")
    assert made.keys() == before.keys()
    said = f"{here}/data/release: 3 tables, 12 games, 1 suites; of 7 other files the checksum"
    assert without_progress(capsys.readouterr().err) == [said]
