"""The data dictionary covers every file that the pipeline makes or the site offers."""

import csv
import re
from pathlib import Path

import pytest

from calbench.errors import FileError
from calbench.release.manifest import read_manifest
from calbench.report.pages.dictionary import DRAWN, GROUPS
from calbench.report.site import Site
from calbench.report.tables import Tables, published_columns, published_rows
from tests.report.sample_site import SampleSite
from tests.report.samples import PUBLISHED as PRINTED
from tests.report.samples import SOURCES

ROOT = SOURCES.parent
SITE = Site(SOURCES, (), Tables(SOURCES), Tables(PRINTED))
OF_RUNS, OF_SITE, PUBLISHED = (
    {table.name: table.columns for page in pages for table in GROUPS[page](SITE).tables}
    for pages in (("results", "privacy"), ("summary",), ("published",))
)


def header(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return next(csv.reader(file))


def described(name: str) -> set[str]:
    """Return the columns that the dictionary has for a table of the built site."""
    if name.startswith("figures/"):
        everything = [*OF_SITE.values(), *PUBLISHED.values(), *OF_RUNS.values(), DRAWN]
        known = {column.name for columns in everything for column in columns}
        return known | {f"{column}{end}" for column in known for end in ("_low", "_high")}
    own = OF_SITE if "/" not in name else PUBLISHED if name.startswith("published/") else OF_RUNS
    columns = own.get(name if own is not OF_RUNS else name.split("/", 1)[1])
    assert columns is not None, f"{name} is offered, and the data page does not name it"
    return {column.name for column in columns}


def test_every_column_of_every_table_of_the_site_is_described(sample_site: SampleSite) -> None:
    folder = sample_site.source / "docs" / "tables"
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.csv")}

    unknown = {
        name: missing
        for name, path in files.items()
        if (missing := [c for c in header(path) if c not in described(name)])
    }

    assert unknown == {}
    assert {"leaderboard.csv", "agent_game_counts.csv", "language/audit_games.csv"} <= set(files)


def test_every_table_is_described_on_the_page(sample_site: SampleSite) -> None:
    docs = sample_site.source / "docs"
    index = (docs / "data.md").read_text()
    groups = ("results", "privacy", "summary", "published")
    pages = {f"data/{name}.html": (docs / "data" / f"{name}.md").read_text() for name in groups}
    rows = re.findall(r'<th scope="row" id="(.+?)"><a href="(.+?)#(.+?)">(.+?)</a></th>', index)

    for anchor, page, place, name in rows:
        assert anchor == place
        assert f"### {name} {{#{place}}}" in pages[page]
    assert sorted(name for *_, name in rows) == sorted((*OF_RUNS, *OF_SITE, *PUBLISHED))
    assert len({anchor for anchor, *_ in rows}) == len(rows)


def test_index_says_what_the_rows_of_every_table_are(sample_site: SampleSite) -> None:
    index = (sample_site.source / "docs" / "data.md").read_text()
    rows = re.findall(r'<th scope="row" id=.*?</th>\s*<td class="cb-word">(.*?)</td>', index)

    assert len(rows) == len((*OF_RUNS, *OF_SITE, *PUBLISHED))
    assert all(row.endswith(".") for row in rows)


@pytest.mark.parametrize("text", ["table1.csv: [", "[a]", "a", "table1.csv: [a]", "table1.csv: 1"])
def test_broken_sentences_about_others_are_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "tables.yaml").write_text(text)

    with pytest.raises(FileError, match="not say"):
        published_rows(tmp_path)


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
    named = {*OF_RUNS, *OF_SITE}
    assert not [name for name in files if name not in named and f"`{name}`" not in page]
    assert "`datapackage.json`" in page


def test_columns_have_a_meaning_each_and_numbers_an_origin() -> None:
    everything = {**OF_RUNS, **OF_SITE, **PUBLISHED, "figures": DRAWN}
    for columns in everything.values():
        assert len({column.name for column in columns}) == len(columns)
        assert all(column.meaning for column in columns)

    assert not [
        (name, column.name)
        for name, columns in everything.items()
        for column in columns
        if (column.unit or column.kind == "number") and not column.origin
    ]


@pytest.mark.parametrize(
    "text", ["", "table1.csv: [", "[a]", "table1.csv: [{name: team}]", "table1.csv: [{nam: team}]"]
)
def test_broken_description_of_others_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "columns.yaml").write_text(text)

    with pytest.raises(FileError, match="does not describe tables by their columns"):
        published_columns(tmp_path)


def test_numbers_of_others_need_no_description(tmp_path: Path) -> None:
    assert published_columns(tmp_path) == {}
