"""How tables are declared: each once, described column by column, with what names a row."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from calbench.analysis.registry import (
    TABLES,
    Declared,
    Settings,
    Table,
    table,
    table_bytes,
    tables_of,
)
from calbench.analysis.summary import SUMMARY
from calbench.facts.columns import ROW_VERSION, count, number, text
from calbench.facts.storage import Facts
from calbench.metrics.measure import METRICS_VERSION
from tests.facts.measured import text_of
from tests.facts.scored import facts_of_scores, score

COLUMNS = (text("name", "who"), count("n", "games", "how many"), number("x", "", "how much"))


@pytest.fixture
def registered() -> Iterator[dict[str, Table]]:
    """Forget the tables that a test registers."""
    before = dict(TABLES)
    yield TABLES
    TABLES.clear()
    TABLES.update(before)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return facts_of_scores(tmp_path_factory.mktemp("facts"), [score()])


def numbers(facts: Facts, settings: Settings) -> pd.DataFrame:
    """Numbers of
    some names.

    Nobody needs them.
    """
    del facts, settings
    return pd.DataFrame(
        {"x": [1, None], "extra": [5, 6], "n": [2.0, 3.0], "name": ["a", "b"]}, index=[7, 7]
    )


def parts(facts: Facts, settings: Settings) -> Iterator[pd.DataFrame]:
    """Numbers in parts."""
    rows = numbers(facts, settings)
    yield rows.iloc[:1]
    yield rows.iloc[:0]
    yield rows.iloc[1:]


def test_a_table_is_its_declared_columns_and_no_others(
    registered: dict[str, Table], facts: Facts
) -> None:
    assert table("numbers.csv", COLUMNS, key="name n")(numbers) is numbers
    found = registered["numbers.csv"]
    version = METRICS_VERSION
    assert text_of(facts, "numbers.csv") == (
        f"name,n,x,metrics_version\na,2,1.0000,{version}\nb,3,,{version}\n"
    )
    assert found.key == ("name", "n")
    assert found.about == "Numbers of some names."
    assert (found.needs, found.is_large) == ((), False)


def test_a_table_may_come_in_parts_and_without_a_version(
    registered: dict[str, Table], facts: Facts, tmp_path: Path
) -> None:
    table("deep/p.parquet", COLUMNS, key="name", needs="x y", is_versioned=False)(parts)
    found = registered["deep/p.parquet"]
    assert (found.needs, found.is_large) == (("x", "y"), True)
    assert [len(part) for part in found.frames(facts, Settings())] == [1, 1]
    table("whole.parquet", COLUMNS, key="name")(lambda *_: pd.concat([*parts(*_)] * 3))
    whole = registered["whole.parquet"]
    assert [len(part) for part in whole.frames(facts, Settings(), at_once=4)] == [4, 2]
    found.write(facts, Settings(), tmp_path)
    assert table_bytes(tmp_path, "deep/p.parquet") == b"name,n,x\na,2,1.0000\nb,3,\n"


def test_tables_of_single_games_are_parquet_in_a_run_of_many(facts: Facts, tmp_path: Path) -> None:
    few, many = ({each.path for each in tables_of(facts, most)} for most in (1, 0))
    assert {"games.csv", "agent_games.csv", "regret.csv", "leaderboard.csv"} <= few
    assert many - few == {
        f"{TABLES[path].path.removesuffix('.csv')}.parquet" for path in few - many
    }
    assert few - many == {path for path in few if TABLES[path].grows}
    assert {"games.csv", "meetings.csv"} <= few - many
    assert "leaderboard.csv" in many
    games = TABLES["games.csv"]
    games.write(facts, Settings(), tmp_path)
    text, frame = table_bytes(tmp_path, "games.csv"), games.read(tmp_path)
    games.as_parquet().write(facts, Settings(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["games.parquet"]
    assert table_bytes(tmp_path, "games.csv") == text
    assert_frame_equal(games.read(tmp_path), frame)
    games.write(facts, Settings(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["games.csv"]


def test_a_table_needs_its_facts(registered: dict[str, Table], facts: Facts) -> None:
    table("with.csv", COLUMNS, key="name", needs="games agents")(numbers)
    table("without.csv", COLUMNS, key="name", needs="games gossip")(numbers)
    paths = [each.path for each in tables_of(facts)]
    assert paths[-1] == "with.csv"
    assert "without.csv" not in paths
    assert "leaderboard.csv" in paths
    assert set(paths) < set(registered)


def test_two_tables_of_one_path_are_refused(registered: dict[str, Table]) -> None:
    first = registered["leaderboard.csv"]
    with pytest.raises(ValueError, match=r"two tables are called leaderboard\.csv"):
        table("leaderboard.csv", COLUMNS, key="name")(numbers)
    assert registered["leaderboard.csv"] is first


def test_an_unknown_key_is_refused(registered: dict[str, Table]) -> None:
    with pytest.raises(ValueError, match="no column is called team"):
        table("numbers.csv", COLUMNS, key="name team")(numbers)
    assert "numbers.csv" not in registered


@pytest.mark.usefixtures("registered")
def test_a_missing_column_is_no_table(facts: Facts) -> None:
    table("numbers.csv", (*COLUMNS, text("gone", "g")), key="name")(numbers)
    with pytest.raises(KeyError, match="gone"):
        text_of(facts, "numbers.csv")


@pytest.mark.usefixtures("registered")
def test_a_fraction_is_no_whole_number(facts: Facts) -> None:
    table("numbers.csv", COLUMNS, key="name")(lambda *_: numbers(*_).assign(n=[2.0, 2.5]))
    with pytest.raises(ValueError, match=r"2\.5 is no whole number"):
        text_of(facts, "numbers.csv")


DECLARED: list[Declared] = [*TABLES.values(), *SUMMARY.values()]


@pytest.mark.parametrize("each", DECLARED, ids=lambda each: each.path)
def test_every_column_of_every_table_means_something(each: Declared) -> None:
    names = [column.name for column in each.columns]
    assert len(set(names)) == len(names)
    assert set(each.key) < set(names)
    assert each.about.endswith(".")
    assert each.path.endswith((".csv", ".parquet"))
    for column in each.columns:
        assert column.meaning
        assert column.unit or column.kind != "integer" or not column.denominator
        assert column.digits is None or column.digits > 0
        assert column.is_key == (column.name in each.key)


def test_tables_of_runs_end_with_the_version_of_the_metrics() -> None:
    """All but those whose columns are the paper's."""
    unversioned = [path for path, each in TABLES.items() if each.columns[-1] != ROW_VERSION]
    assert unversioned == [
        "privacy/belief_evidence.parquet",
        "privacy/pair_round_vps.parquet",
        "privacy/game_summary.csv",
        "privacy/game_target_summary.csv",
    ]
