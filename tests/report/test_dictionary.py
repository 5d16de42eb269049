"""The data dictionary covers every file that the pipeline makes or the site offers."""

import csv
import re
from pathlib import Path

from calbench.analysis.columns import Column
from calbench.analysis.dictionary import JUDGE_TABLES, SAMPLES, TABLES

from calbench.analysis.measures import MEASURES
from calbench.release.manifest import read_manifest
from calbench.report import (
    audit_messages,
    board,
    difficulty,
    draws,
    explained,
    gameindex,
    paper_ours,
    places,
    regret_rows,
    scale,
    telling,
)
from calbench.report.site_columns import DRAWN, MADE, MEASURE, PUBLISHED
from tests.report.sample_site import PUBLISHED as PRINTED
from tests.report.sample_site import SampleSite
from tests.report.samples import SOURCES

ROOT = SOURCES.parent
OF_RUNS = {**TABLES, **JUDGE_TABLES}

WRITTEN = {
    "leaderboard.csv": board.COLUMNS,
    "agent_game_counts.csv": explained.COUNT_COLUMNS,
    "audit_games.csv": gameindex.AUDIT_COLUMNS,
    "audit_sample.csv": tuple(column.name for column in SAMPLES["audit_sample.csv"]),
    "difficulty.csv": difficulty.COLUMNS,
    "leaking_messages.csv": audit_messages.COLUMNS,
    "telling_messages.csv": telling.COLUMNS,
    "regret_by_game.csv": regret_rows.GAME_COLUMNS,
    "regret_by_team.csv": regret_rows.TEAM_COLUMNS,
    "optimum_lost_by_round.csv": regret_rows.ROUND_COLUMNS,
    "scale_bytes.csv": scale.COLUMNS,
    "scheduled_by_player.csv": paper_ours.SCHEDULED_COLUMNS,
    "table2.csv": draws.COLUMNS,
    "table2_places.csv": places.COLUMNS,
}


def names_of(columns: tuple[Column, ...] | list[Column]) -> set[str]:
    """Return the names of columns; one of every measure stands for as many."""
    return {
        column.name.replace(MEASURE, measure.name) for column in columns for measure in MEASURES
    }


def header(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return next(csv.reader(file))


def described(name: str) -> set[str]:
    """Return the columns that the dictionary has for a table of the built site."""
    if name.startswith("figures/"):
        everything = [*MADE.values(), *PUBLISHED.values(), *OF_RUNS.values(), DRAWN]
        known = {column for columns in everything for column in names_of([*columns])}
        return known | {f"{column}{end}" for column in known for end in ("_low", "_high")}
    own = MADE if "/" not in name else PUBLISHED if name.startswith("published/") else OF_RUNS
    inner = name if own is not OF_RUNS else name.split("/", 1)[1]
    columns = own.get(inner) or MADE.get(inner)
    assert columns is not None, f"{name} is offered, and the data page does not name it"
    return names_of([*columns])


def test_every_column_of_every_table_of_the_site_is_described(sample_site: SampleSite) -> None:
    folder = sample_site.built / "tables"
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.csv")}

    unknown = {
        name: missing
        for name, path in files.items()
        if (missing := [c for c in header(path) if c not in described(name)])
    }

    assert unknown == {}
    assert {"leaderboard.csv", "agent_game_counts.csv", "language/audit_games.csv"} <= set(files)


def test_every_table_that_the_site_makes_is_described_as_it_is_written() -> None:
    assert {name: names_of([*columns]) for name, columns in MADE.items()} == {
        name: set(columns) for name, columns in WRITTEN.items()
    }


def test_numbers_of_others_are_described_column_by_column() -> None:
    found = {f"published/{path.name}": header(path) for path in PRINTED.glob("*.csv")}

    assert {name: [c.name for c in columns] for name, columns in PUBLISHED.items()} == found


def test_every_file_of_the_pipeline_is_named_on_the_data_page() -> None:
    published = read_manifest(ROOT / "data" / "release")
    page = (SOURCES / "docs" / "data.md").read_text()
    files = {
        re.sub(r"^metrics/[^/]+/[^/]+\.json$", "metrics/SETTING/TEAM.json", inner)
        for name in published.tables | published.files
        for inner in [name.partition("/")[2]]
        if inner
    }

    assert files
    assert not [name for name in files if name not in OF_RUNS and f"`{name}`" not in page]


def test_columns_have_a_meaning_each_and_numbers_an_origin() -> None:
    everything = {**OF_RUNS, **MADE, **PUBLISHED, "figures": DRAWN}
    for columns in everything.values():
        assert len({column.name for column in columns}) == len(columns)
        assert all(column.meaning for column in columns)

    assert not [
        (name, column.name)
        for name, columns in everything.items()
        for column in columns
        if (column.unit or column.kind == "number") and not column.origin
    ]
