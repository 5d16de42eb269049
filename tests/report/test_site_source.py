"""The folder of pages: the same every time, and with no number but those of the tables."""

import hashlib
import itertools
import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from calbench.errors import CalbenchError, FileError, OutputError
from calbench.metrics.speech.patterns import PATTERNS
from calbench.pool import Pool
from calbench.report.experiment import Experiment
from calbench.report.games.files import write_games
from calbench.report.games.index import NUMBERS
from calbench.report.pages import pages_of
from calbench.report.panels import CARD
from calbench.report.role import Role
from calbench.report.site import Site
from calbench.report.tables import Tables, read_table
from calbench.report.writing import write_site
from tests.report.samples import NOTHING, SOURCES, make_results, site_of, write_pages
from tests.report.unpacking import file_value, unpacked
from tests.report.written import text_rows

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> list[Experiment]:
    folder = tmp_path_factory.mktemp("runs")
    return [
        make_results(folder / "uniform", "uniform", ["imap", "silent"]),
        make_results(folder / "varied", "varied", ["imap", "first-free"]),
    ]


@pytest.fixture(scope="module")
def source(experiments: list[Experiment], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "src"
    write_pages(experiments, out)
    return out


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_same_results_give_the_same_bytes(
    source: Path, experiments: list[Experiment], tmp_path: Path
) -> None:
    again = [Experiment(e.name, e.suite, e.folder, e.traces, e.role) for e in experiments]

    write_pages(again, tmp_path / "src")

    assert digests(tmp_path / "src") == digests(source)


def test_card_of_other_numbers_is_left_out(source: Path) -> None:
    assert (SOURCES / "assets" / CARD).is_file()
    assert not (source / "docs" / "assets" / CARD).exists()


def test_counts_of_agent_games_match_the_estimates_denominators(
    source: Path, experiments: list[Experiment]
) -> None:
    text = (source / "docs" / "results" / "uniform.md").read_text()
    rows = read_table(experiments[0].folder / "agent_games.csv")
    silent = [row for row in rows if row["team"] == "silent"]

    assert {row["scheduled"] for row in silent} == {"0"}
    assert f"n = {len(silent)}<" in text
    assert '<span title="no agent-game counts">\N{EN DASH}</span>' in text


def test_index_lists_every_game_once_with_the_numbers_of_its_table(
    source: Path, experiments: list[Experiment]
) -> None:
    pagedata = source / "docs" / "pagedata"
    index = file_value(pagedata / "index.js")

    assert [entry["name"] for entry in index["experiments"]] == ["uniform", "varied"]
    assert index["buckets"] == []
    for results, entry in zip(experiments, index["experiments"], strict=True):
        teams = [team for team, _ in entry["teams"]]
        assert teams == list(results.teams)
        assert entry["missing"] == []
        ids = entry["scenarios"]["id"]
        games = {
            name: unpacked(values, len(ids) * len(teams)) for name, values in entry["games"].items()
        }
        rows = {
            (row["scenario_id"], row["team"]): row for row in text_rows(results.tables, "games.csv")
        }
        for number, place in enumerate(itertools.product(ids, teams)):
            row = rows.pop(place)
            assert (pagedata / "games" / entry["name"] / f"{place[0]}.js").is_file()
            for name, of_table in NUMBERS.items():
                assert games[name][number] == float(row[of_table])
        assert rows == {}


def test_missing_games_are_left_out_of_the_index(
    experiments: list[Experiment], tmp_path: Path
) -> None:
    traces = tmp_path / "traces"
    shutil.copytree(experiments[0].traces, traces)
    (traces / "imap" / "uniform-001.json").unlink()
    given = experiments[0]
    partial = Experiment(given.name, given.suite, given.folder, traces)

    write_pages([partial], tmp_path / "src")

    (entry,) = file_value(tmp_path / "src" / "docs" / "pagedata" / "index.js")["experiments"]
    assert entry["missing"] == [2]  # scenario by scenario, team by team
    assert len(unpacked(entry["games"]["cost"], 5)) == 5


def test_worker_processes_write_the_same_games(
    experiments: list[Experiment], tmp_path: Path
) -> None:
    write_games(experiments, tmp_path / "one")
    with ThreadPoolExecutor(2) as executor:
        write_games(experiments, tmp_path / "two", Pool(executor, 2))

    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_tables_and_schemas_are_published_as_they_are(
    source: Path, experiments: list[Experiment]
) -> None:
    docs = source / "docs"
    for experiment in experiments:
        for path in experiment.folder.glob("*.csv"):
            copy = docs / "tables" / experiment.name / path.name
            assert copy.read_bytes() == path.read_bytes()
    for name in ("scenario", "trace"):
        assert json.loads((docs / "schemas" / f"{name}.schema.json").read_text())["properties"]


def edited(given: Experiment, tables: Path, name: str, edit: Callable[[str], str]) -> Experiment:
    """Return an experiment with another text of one table."""
    shutil.copytree(given.folder, tables)
    (tables / name).write_text(edit((tables / name).read_text()))
    return Experiment(given.name, given.suite, tables, given.traces)


def in_tags(text: str) -> str:
    return re.sub(r",(\d[\d.]*),", r",<b>\1</b>,", text, count=3)


@pytest.mark.parametrize(
    ("table", "edit", "match"),
    [
        ("outcomes.csv", in_tags, "is not the integer it should be"),
        ("leaderboard.csv", in_tags, "does not read as the table it should be"),
        ("leaderboard.csv", lambda text: text.replace(",silent,", ",../silent,"), "team"),
        (
            "games.csv",
            lambda text: text[: text.rindex("\n", 0, -1) + 1],
            "has no game of silent on uniform-002; analyze again",
        ),
    ],
)
def test_tables_with_hostile_or_missing_cells_are_refused(
    experiments: list[Experiment],
    tmp_path: Path,
    table: str,
    edit: Callable[[str], str],
    match: str,
) -> None:
    changed = edited(experiments[0], tmp_path / "tables", table, edit)

    with pytest.raises(CalbenchError, match=match):
        write_pages([changed], tmp_path / "src")


@pytest.mark.parametrize("name", ["../up", "a/b", "", "a b", "<b>", "uniform\n"])
def test_experiment_names_that_are_no_file_names_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(CalbenchError, match="experiment"):
        Experiment(name, tmp_path, tmp_path, tmp_path)


def test_trace_of_another_scenario_is_refused(
    experiments: list[Experiment], tmp_path: Path
) -> None:
    given = experiments[0]
    traces = tmp_path / "traces"
    shutil.copytree(given.traces, traces)
    shutil.copyfile(traces / "imap" / "uniform-000.json", traces / "imap" / "uniform-001.json")
    changed = Experiment(given.name, given.suite, given.folder, traces)

    with pytest.raises(FileError, match=r"uniform-001\.json: its scenario is not the one"):
        write_pages([changed], tmp_path / "src")


def test_foreign_folder_is_never_replaced(experiments: list[Experiment], tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")

    with pytest.raises(OutputError, match="holds other files"):
        write_pages(experiments, tmp_path)

    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_file_where_the_folder_should_be_is_one_clear_line(
    experiments: list[Experiment], tmp_path: Path
) -> None:
    (tmp_path / "src").write_text("a file")

    with pytest.raises(OutputError, match="src"):
        write_pages(experiments, tmp_path / "src")


def test_tables_over_several_runs_are_asked_for(
    experiments: list[Experiment], tmp_path: Path
) -> None:
    with pytest.raises(FileError, match=r"nowhere: there is no such folder; write the tables"):
        write_site(
            Site(SOURCES, tuple(experiments), Tables(tmp_path / "nowhere"), Tables(NOTHING)),
            tmp_path / "src",
        )

    assert not (tmp_path / "src").exists()


def test_page_that_asks_for_an_unknown_value_is_refused(
    experiments: list[Experiment], tmp_path: Path
) -> None:
    sources = tmp_path / "sources"
    shutil.copytree(SOURCES, sources)
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(SOURCES.parent / name, tmp_path)
    (sources / "docs" / "index.md").write_text("# Home\n{{ nonsense }}")

    with pytest.raises(FileError, match=r"index\.md: 'nonsense' is undefined"):
        write_pages(experiments, tmp_path / "src", sources=sources)


def test_experiment_for_an_unknown_page_is_refused(
    experiments: list[Experiment], tmp_path: Path
) -> None:
    lost = replace(experiments[0], role=Role(page="regret-explained"))

    with pytest.raises(CalbenchError, match=r"experiment uniform: site\.page: there is no page 'r"):
        pages_of(site_of([lost], tmp_path / "src"))


def test_two_experiments_never_share_a_page(tmp_path: Path) -> None:
    clash = make_results(tmp_path / "plane", "plane", ["imap"], num_scenarios=1)

    with pytest.raises(CalbenchError, match=r"two results would share the page results/plane\.md"):
        pages_of(site_of([clash], tmp_path / "src"))


def test_method_page_says_what_each_pattern_is_found_by(source: Path) -> None:
    text = (source / "docs" / "method.md").read_text()
    section = text.split("{#patterns}", 1)[1].split("\n## ", 1)[0]
    for pattern in PATTERNS:
        row = section.split(f">{pattern.name.replace('_', ' ')}</th>", 1)[1].split("</tr>", 1)[0]
        assert f'<td class="cb-word">{pattern.unit}</td>' in row
        assert f"[{pattern.origin}]" in row
