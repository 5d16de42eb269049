"""Laws of all tables together, on a small run with something in nearly every one."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calbench.analysis.measures import BEYOND
from calbench.analysis.output import (
    CASE_FILE,
    FACTS_FOLDER,
    FOLDER,
    WHOLE,
    write_all_tables,
    write_metrics,
    write_tables,
)
from calbench.analysis.registry import Settings
from calbench.analysis.scoring import FACT_BY_NAME, measure_games
from calbench.analysis.tables import TABLES, tables_of
from calbench.errors import OutputError
from calbench.facts.frames import read_csv, read_parquet
from calbench.facts.games import SCORES
from calbench.facts.storage import Facts
from calbench.metrics.measure import METRICS_VERSION
from calbench.pool import Pool
from tests.analysis.small_run import FACTS, SETTINGS, TEAMS, Elsewhere, Game, play_small_run
from tests.analysis.tables.sample import VALUE_BY_MEASURE
from tests.facts.measured import facts_of
from tests.facts.scored import agent, facts_of_scores, score

FOUND_BY_NO_PLAYER = {
    "difficulty_predictors.csv",
    "focal_effects.csv",
    "focal_games.csv",
    "further_slices.csv",
    "judge/judge_more_precise_than_reflection.csv",
    "probe_effects.csv",
    "probe_labels.csv",
    "second_hand_leaks.csv",
}
"""Tables without a row in the small run: what they list did not happen in it, or takes more."""

COUNTS_EXCLUDED_GAMES = {
    "games.csv",
    "meetings.csv",
    "outcomes.csv",
    "players.csv",
    "standings.csv",
}


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> tuple[Game, ...]:
    return play_small_run(tmp_path_factory.mktemp("traces"))


class Watched(Facts):
    """Facts that remember which of them were held whole."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.whole: set[str] = set()

    def frame(self, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        if columns is None:
            self.whole.add(name)
        return super().frame(name, columns)


@pytest.fixture(scope="module")
def watched(games: Sequence[Game], tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("facts")
    measure_games(games, folder, SETTINGS.measure, lambda: None, facts=FACTS)
    return Watched(folder)


@pytest.fixture(scope="module")
def written(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    write_tables(watched, folder, SETTINGS)
    return folder


def write(folder: Path, games: Sequence[Game], pool: Pool | None = None) -> Path:
    write_all_tables(games, folder, SETTINGS, lambda: None, pool, FACTS)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix(): (folder / path).read_bytes() for path in files}


def package(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "datapackage.json").read_text())
    return found


def cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table."""
    if path.suffix == ".parquet":
        frame = read_parquet(path)
        return list(frame.columns), frame.astype("str").to_numpy().tolist()
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def test_there_is_every_table_and_nothing_else(written: Path) -> None:
    assert set(contents(written)) == {
        *TABLES,
        f"judge/{CASE_FILE}",
        WHOLE,
        "datapackage.json",
        *(f"{FOLDER}/uniform-seed{draw}/{team}.json" for draw in (1, 2) for team in TEAMS),
    }


@pytest.mark.parametrize("path", TABLES)
def test_rows_are_named_by_their_keys(written: Path, path: str) -> None:
    table, (header, rows) = TABLES[path], cells(written / path)
    assert header == [column.name for column in table.columns]
    assert bool(rows) != (path in FOUND_BY_NO_PLAYER)
    places = [header.index(name) for name in table.key]
    keys = [tuple(row[place] for place in places) for row in rows]
    assert path == "privacy/belief_evidence.parquet" or places
    assert not places or len(set(keys)) == len(keys)


@pytest.mark.parametrize("path", [path for path in TABLES if path.endswith(".csv")])
def test_tables_read_as_they_are_declared(written: Path, path: str) -> None:
    table = TABLES[path]
    frame = read_csv(written / path, table.columns)
    if table.columns[-1].name == "metrics_version":
        assert set(frame["metrics_version"]) <= {METRICS_VERSION}


def test_what_has_more_rows_than_agents_is_never_held_whole(
    watched: Watched, written: Path
) -> None:
    assert written.is_dir()
    assert {"games", "agents"} <= watched.whole
    large = {fact.name for fact in FACT_BY_NAME.values() if fact.is_large}
    assert {"rounds", "regret", "meetings", "beliefs"} <= large
    assert not watched.whole & large


@pytest.mark.heavy
def test_tables_do_not_depend_on_the_order_of_games_or_on_processes(
    games: Sequence[Game], written: Path, tmp_path: Path
) -> None:
    backwards = sorted(games, key=lambda game: game.scenario_id, reverse=True)
    found, expected = contents(write(tmp_path, backwards, Pool(Elsewhere(), 2))), contents(written)
    assert [path for path in expected if found.get(path) != expected[path]] == []
    assert len(found) == len(expected)


@pytest.mark.heavy
def test_excluded_games_are_counted_and_otherwise_add_nothing(
    games: Sequence[Game], written: Path, tmp_path: Path
) -> None:
    found = contents(write(tmp_path, games[:-1]))
    expected = contents(written)
    assert found.keys() == expected.keys()
    assert {path for path in expected if found[path] != expected[path]} == COUNTS_EXCLUDED_GAMES


def test_no_games_give_headers_alone(tmp_path: Path) -> None:
    write(tmp_path, [])
    always = {
        path: table
        for path, table in TABLES.items()
        if not any(FACT_BY_NAME[fact].beside for fact in table.needs)
    }
    assert TABLES.keys() - always.keys() == {
        "privacy/bits_reliability.csv",
        "privacy/stated_chances.csv",
    }
    for path, table in always.items():
        header, rows = cells(tmp_path / path)
        assert (header, rows) == ([column.name for column in table.columns], []), path
    assert not (tmp_path / FACTS_FOLDER).exists()
    assert json.loads((tmp_path / WHOLE).read_text()) == {}
    assert [each["path"] for each in package(tmp_path)["resources"]] == list(always)


@pytest.mark.heavy
def test_facts_allow_the_tables_that_need_no_others(games: Sequence[Game], tmp_path: Path) -> None:
    facts = measure_games(
        games[:1], tmp_path / "facts", SETTINGS.measure, lambda: None, None, SCORES
    )
    names = {fact.name for fact in SCORES}
    expected = [path for path, table in TABLES.items() if set(table.needs) <= names]
    assert [table.path for table in tables_of(facts)] == expected
    assert "leaderboard.csv" in expected
    assert "revealing_messages.csv" not in expected
    write_tables(facts, tmp_path / "tables", SETTINGS)
    listed = [each["path"] for each in package(tmp_path / "tables")["resources"]]
    assert listed == expected
    assert not (tmp_path / "tables" / "judge").exists()


def test_a_failed_run_leaves_no_facts_behind(games: Sequence[Game], tmp_path: Path) -> None:
    def tick() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_all_tables(games, tmp_path, SETTINGS, tick, None, FACTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.heavy
def test_tables_of_a_run_that_grew_are_those_of_all_its_games(
    games: Sequence[Game], written: Path, tmp_path: Path
) -> None:
    write(tmp_path, games[::2])
    assert contents(write(tmp_path, games)) == contents(written)


def fits(cell: str, kind: str) -> bool:
    """Whether a cell of a CSV file is of a type of the Frictionless Table Schema."""
    patterns = {
        "string": r"(?s).*",
        "integer": r"-?[0-9]+",
        "number": r"-?[0-9]+(\.[0-9]+)?",
        "boolean": r"true|false",
    }
    return cell == "" or re.fullmatch(patterns[kind], cell) is not None


def fields(resource: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in resource["schema"]["fields"]:
        yield field["name"], field["type"]


def keys_in(path: Path, names: list[str]) -> set[tuple[str, ...]]:
    header, rows = cells(path)
    return {tuple(row[header.index(name)] for name in names) for row in rows}


def test_the_description_is_true_of_every_table(written: Path) -> None:
    found = package(written)
    resources = found["resources"]
    assert [each["path"] for each in resources] == list(TABLES)
    names = [each["name"] for each in resources]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_-]+", name) for name in names)
    for resource in resources:
        path = written / resource["path"]
        header, rows = cells(path)
        assert [name for name, _ in fields(resource)] == header
        assert resource["format"] == path.suffix[1:]
        assert set(resource["schema"].get("primaryKey", ())) <= set(header)
        assert resource["schema"]["missingValues"][0] == ""
        for key in resource["schema"].get("foreignKeys", ()):
            names = key["fields"]
            places = [header.index(name) for name in names]
            parent = key["reference"]["resource"].replace("-", "/")
            assert {tuple(row[place] for place in places) for row in rows} <= keys_in(
                written / f"{parent}.csv", names
            )
        assert resource["description"]
        assert all(field["description"] for field in resource["schema"]["fields"])
        if path.suffix == ".csv":
            kinds = [kind for _, kind in fields(resource)]
            assert all(
                fits(cell, kind) for row in rows for cell, kind in zip(row, kinds, strict=True)
            )


def test_facts_of_a_run_without_the_judge_have_no_table_of_the_judge(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, [])
    assert not any(table.path.startswith("judge/") for table in tables_of(facts))


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    third = [agent(excess_cost=1, messages_sent=4), agent(), agent()]
    silent = agent(scheduled=0, excess_vps=None, excess_vps_participants=None)
    games = [
        score(*third, team="z"),
        score(silent, team="a"),
        score(team="a", setting="another"),
        score(team="gone", setting="another", is_excluded=True),
    ]
    return facts_of_scores(tmp_path_factory.mktemp("facts"), games, ["z", "a"])


def read(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_text())
    return found


def test_the_tree_has_settings_teams_and_measures_that_count(facts: Facts, tmp_path: Path) -> None:
    write_metrics(facts, tmp_path, Settings())
    text = (tmp_path / "metrics.json").read_text()
    assert text.endswith("}\n")
    tree = json.loads(text)
    assert list(tree) == ["another", "uniform"]
    assert list(tree["uniform"]) == ["z", "a"]
    expected = {
        "coordination": 100.0,
        "excess_cost": 0.3333,
        "excess_cost_per_meeting": 0.1667,
        "adjusted_excess_cost": 0.0,
        "messages": 0.6667,
        "fairness": 0.0,
        "excess_vps": 0.0,
        "excess_vps_participants": 0.0,
    }
    assert {name: tree["uniform"]["z"][name] for name in expected} == expected
    assert [*tree["uniform"]["z"]] == [each for each in VALUE_BY_MEASURE if each != BEYOND]
    assert list(tree["uniform"]["a"]) == [
        *("coordination", "excess_cost", "adjusted_excess_cost", "fairness", "bits")
    ]
    assert tree["another"]["gone"] == {}


def test_each_team_has_a_flat_file_and_others_go(facts: Facts, tmp_path: Path) -> None:
    stale = tmp_path / "metrics" / "gone" / "imap.json"
    beside = tmp_path / "metrics" / "uniform" / "imap.json"
    for path in (stale, beside):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    write_metrics(facts, tmp_path, Settings())
    tree = read(tmp_path / "metrics.json")
    found = {path.relative_to(tmp_path): read(path) for path in tmp_path.glob("metrics/*/*")}
    assert found == {
        Path("metrics", setting, f"{team}.json"): values
        for setting, teams in tree.items()
        for team, values in teams.items()  # type: ignore[attr-defined]
    }
    assert not stale.parent.exists()
    assert len(found) == 4


def test_a_folder_that_cannot_be_written_is_named(facts: Facts, tmp_path: Path) -> None:
    (tmp_path / "metrics").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        write_metrics(facts, tmp_path, Settings())


def test_means_over_the_games_of_a_pair_have_no_replicate() -> None:
    names = {path for path, each in TABLES.items() if "base" in each.key}
    assert "focal_games.csv" in names
    for path, each in TABLES.items():
        columns = [column.name for column in each.with_replicates().columns]
        is_by_game = {"team", "scenario_id"} <= {*each.key} and path not in names
        assert ("replicate" in columns) == is_by_game
