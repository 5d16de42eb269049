"""Descriptions of tables, in the terms of a Frictionless Data Package."""

import json
from pathlib import Path

import pytest

from calbench.analysis.datapackage import field, read_settings, resource, write_datapackage
from calbench.analysis.registry import Settings
from calbench.analysis.tables import TABLES
from calbench.errors import FileError
from calbench.facts.columns import count, fine, listed, number, text, truth
from calbench.metrics.measure import DEFAULT_MEASURE, MeasureSpec
from calbench.stats.spec import AnalysisSpec, RatingSpec
from tests.llm.asking import price

SETTINGS = Settings(
    MeasureSpec(vps_floor=2.5),
    AnalysisSpec(confidence=0.9, ratings=RatingSpec(orders=7)),
    {"gpt": price(1.0, 1.0, 1.0)},
)


PAIR = ("leaderboard.csv", "privacy/calls.parquet")


def test_a_column_is_a_field_without_what_it_does_not_have() -> None:
    mean = number("x", "slots", "how much", "agent-games", "P")
    assert field(mean) == {
        "name": "x",
        "type": "number",
        "description": "how much",
        "unit": "slots",
        "denominator": "agent-games",
        "origin": "P",
    }
    assert field(text("a", "b")) == {"name": "a", "type": "string", "description": "b"}
    kinds = [listed("a", "a"), truth("a", "a"), count("a", "", "a"), fine("a", "", "a")]
    assert [field(each)["type"] for each in kinds] == ["string", "boolean", "integer", "number"]


def test_a_table_is_a_resource() -> None:
    found = resource(TABLES["privacy/game_target_summary.csv"])
    assert found["name"] == "privacy-game_target_summary"
    assert (found["path"], found["format"]) == ("privacy/game_target_summary.csv", "csv")
    assert found["schema"]["primaryKey"] == list(TABLES["privacy/game_target_summary.csv"].key)
    assert resource(TABLES["privacy/calls.parquet"])["format"] == "parquet"
    assert resource(TABLES["leaderboard.csv"])["description"] == (
        "Every measure of every team in every setting, with its interval."
    )


def test_absent_numbers_of_parquet_are_none_to_programs_that_read_it_through_pandas() -> None:
    missing = [resource(TABLES[path])["schema"]["missingValues"] for path in PAIR]
    assert missing == [[""], ["", "nan", "None"]]


def test_rows_belong_to_games_by_their_key_or_by_the_trace() -> None:
    games, by_trace = TABLES["games.csv"], TABLES["privacy/game_summary.csv"]
    found = [
        resource(TABLES[path], [games, by_trace])["schema"].get("foreignKeys", [])
        for path in ("regret.csv", "privacy/pair_bits.parquet", "leaderboard.csv", games.path)
    ]
    own = [key_of("games", games.key), key_of("privacy-game_summary", ("trace_path",))]
    assert found == [[own[0]], [own[1]], [], []]


def key_of(table: str, key: tuple[str, ...]) -> dict[str, object]:
    return {"fields": [*key], "reference": {"resource": table, "fields": [*key]}}


def test_settings_are_read_back_without_prices(tmp_path: Path) -> None:
    write_datapackage([TABLES["games.csv"]], tmp_path, SETTINGS)
    text_ = (tmp_path / "datapackage.json").read_text()
    assert text_.endswith("}\n")
    found = json.loads(text_)
    assert found["name"] == "calbench-tables"
    assert [each["path"] for each in found["resources"]] == ["games.csv"]
    back = read_settings(tmp_path)
    assert (back.measure, back.analysis) == (SETTINGS.measure, SETTINGS.analysis)
    assert not back.prices


def test_a_folder_without_description_has_the_published_settings(tmp_path: Path) -> None:
    assert read_settings(tmp_path).measure == DEFAULT_MEASURE
    assert read_settings(tmp_path).analysis == AnalysisSpec()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"calbench": {"measure": {}}}',
        '{"calbench": {"measure": {"vps_floor": -1}, "analysis": {}}}',
        '{"calbench": {"measure": {}, "analysis": {"seed": 1}}}',
    ],
)
def test_what_describes_nothing_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "datapackage.json").write_text(text)
    with pytest.raises(FileError, match=r"datapackage\.json: does not say which settings"):
        read_settings(tmp_path)
