"""What machines read about a bundle, held against the schemas of others and against its files."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from jsonschema import Draft7Validator
from pyarrow import parquet

from calbench.bundle.tables import EXPERIMENTS, LARGE
from calbench.domain.canary import CANARY

pytestmark = pytest.mark.heavy

SCHEMAS = Path(__file__).parent / "schemas"
REPO = Path(__file__).parents[2]


@cache
def described(bundle: Path, name: str) -> Any:
    return json.loads((bundle / name).read_bytes())


def problems(schema: str, value: Any) -> list[str]:
    validator = Draft7Validator(json.loads((SCHEMAS / schema).read_bytes()))
    return [error.message[:200] for error in validator.iter_errors(value)]


def test_the_package_is_one_of_tables(bundle: Path) -> None:
    assert problems("data-package.json", described(bundle, "datapackage.json")) == []


def test_datacite_takes_the_description(bundle: Path) -> None:
    assert problems("datacite-v4.5.json", described(bundle, "datacite.json")) == []


def test_the_citation_is_one() -> None:
    cited = yaml.load((REPO / "CITATION.cff").read_text(), yaml.BaseLoader)  # noqa: S506
    cited["preferred-citation"]["year"] = int(cited["preferred-citation"]["year"])
    assert problems("citation-file-format-1.2.0.json", cited) == []


def test_schemas_notice_what_is_wrong(bundle: Path) -> None:
    package = described(bundle, "datapackage.json")
    assert problems("data-package.json", {**package, "resources": []})
    assert problems("datacite-v4.5.json", {**described(bundle, "datacite.json"), "titles": []})
    assert problems("citation-file-format-1.2.0.json", {"title": "x"})


def resources(bundle: Path) -> dict[str, Any]:
    return {each["name"]: each for each in described(bundle, "datapackage.json")["resources"]}


def frame_of(bundle: Path, resource: Any) -> pd.DataFrame:
    path = bundle / resource["path"]
    if resource["format"] == "parquet":
        return pd.read_parquet(path)
    texts = {f["name"]: "str" for f in resource["schema"]["fields"] if f["type"] == "string"}
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=texts)


def test_every_table_is_twice_the_same(bundle: Path) -> None:
    listed = resources(bundle)
    assert len(listed) > 100
    for name in (name for name in listed if not name.endswith("-parquet")):
        csv, parquet_ = (frame_of(bundle, listed[each]) for each in (name, f"{name}-parquet"))
        assert csv.pop(CANARY).isna().all()
        one, other = (each.astype(object).where(each.notna(), None) for each in (csv, parquet_))
        pd.testing.assert_frame_equal(one, other, check_dtype=False, obj=name)


def test_every_column_is_described_and_has_its_unit(bundle: Path) -> None:
    for resource in resources(bundle).values():
        fields = {field["name"]: field for field in resource["schema"]["fields"]}
        assert list(fields) == list(frame_of(bundle, resource).columns)
        assert all(field["description"] for field in fields.values())
        if resource["format"] == "parquet":
            schema = parquet.read_schema(bundle / resource["path"])
            units = {each.name: each.metadata.get(b"unit", b"").decode() for each in schema}
            assert {name: each.get("unit", "") for name, each in fields.items()} == units


def test_checksums_of_the_package_are_those_of_the_files(bundle: Path) -> None:
    for resource in resources(bundle).values():
        data = (bundle / resource["path"]).read_bytes()
        assert resource["bytes"] == len(data)
        assert resource["hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert resource["path"].endswith(".gz") == ("compression" in resource)


def test_rows_are_named_by_their_keys_and_belong_to_rows_of_others(bundle: Path) -> None:
    listed = resources(bundle)
    referring = 0
    for resource in listed.values():
        frame, schema = frame_of(bundle, resource), resource["schema"]
        if key := schema.get("primaryKey"):
            assert not frame.duplicated(key).any(), resource["name"]
        for link in schema.get("foreignKeys", ()):
            parent = frame_of(bundle, listed[link["reference"]["resource"]])
            own, theirs = frame[link["fields"]], parent[link["reference"]["fields"]]
            named = own.dropna().astype(str)
            known = set(theirs.astype(str).itertuples(index=False, name=None))
            assert set(named.itertuples(index=False, name=None)) <= known, resource["name"]
            referring += len(named)
            is_over_several = resource["name"].startswith("summary-")
            assert not (is_over_several and link["reference"]["resource"] == "experiments")
    assert referring > 1000


def test_experiments_hold_what_is_there(bundle: Path) -> None:
    found = pd.read_parquet(bundle / "tables" / "experiments.parquet").set_index("experiment")
    assert list(found.index) == ["uniform", "varied"]
    assert found[["teams", "scenarios", "games"]].to_numpy().tolist() == [[2, 3, 6]] * 2
    assert len(found.columns) + 1 == len(EXPERIMENTS.columns)


def test_croissant_has_a_file_and_fields_for_each_table(bundle: Path) -> None:
    found = described(bundle, "croissant.json")
    files = {each["@id"]: each for each in found["distribution"]}
    sets = {each["@id"]: each for each in found["recordSet"]}
    tables = {path.stem: path for path in (bundle / "tables").glob("*.parquet")}
    assert set(sets) == set(tables)
    ids = [field["@id"] for each in sets.values() for field in each["field"]]
    assert len(set(ids)) == len(ids)
    for name, path in tables.items():
        own = files[f"tables/{path.name}"]
        assert own["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        fields = sets[name]["field"]
        columns = [field["source"]["extract"]["column"] for field in fields]
        assert columns == parquet.read_schema(path).names
        assert {field["source"]["fileObject"]["@id"] for field in fields} == {own["@id"]}
        assert {key["@id"] for key in sets[name].get("key", ())} <= set(ids)
    said = {name for name in found if name.startswith("rai:")}
    assert {"rai:dataLimitations", "rai:dataBiases", "rai:personalSensitiveInformation"} <= said
    assert all(found[name] for name in said)


def test_the_crate_has_every_file_once(bundle: Path) -> None:
    graph = described(bundle, "ro-crate-metadata.json")["@graph"]
    entities = {each["@id"]: each for each in graph}
    assert len(entities) == len(graph)
    root = entities["./"]
    assert entities["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    parts = [part["@id"] for each in graph for part in each.get("hasPart", ())]
    assert len(set(parts)) == len(parts)
    assert set(parts) <= set(entities)
    assert all(reference["@id"] in entities for reference in (root["author"], root["license"]))
    files = {name: each for name, each in entities.items() if each["@type"] == "File"}
    own = {"ro-crate-metadata.json", "MANIFEST.json", "SHA256SUMS"}
    there = (p.relative_to(bundle) for p in bundle.rglob("*") if p.is_file() and p.name[0] != ".")
    assert set(files) == {p.as_posix() for p in there if p.parts[0] != "site"} - own
    for name, each in files.items():
        assert each["sha256"] == hashlib.sha256((bundle / name).read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["datapackage", "croissant", "datacite", "codemeta"])
def test_versions_and_dates_are_those_of_the_citation(bundle: Path, name: str) -> None:
    cited = yaml.safe_load((bundle / "CITATION.cff").read_text())
    found = described(bundle, f"{name}.json")
    assert found["version"] == cited["version"]
    dates = re.findall(r"\b20\d\d-\d\d-\d\d\b", (bundle / f"{name}.json").read_text())
    assert set(dates) <= {str(cited["date-released"])}


def test_the_card_has_a_configuration_for_each_table(bundle: Path) -> None:
    text = (bundle / "README.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    named = {each["config_name"]: each["data_files"] for each in front["configs"]}
    tables = {path.stem: path for path in (bundle / "tables").glob("*.parquet")}
    assert named == {name: f"tables/{path.name}" for name, path in tables.items()}
    assert [each["config_name"] for each in front["configs"] if each.get("default")] == [
        "leaderboard"
    ]
    assert all(re.search(rf"^\| `{name}` \| [\d,]+ \| .", text, re.MULTILINE) for name in tables)


def test_cards_have_the_numbers_that_were_computed(bundle: Path) -> None:
    card, datasheet, evaluation = (
        (bundle / name).read_text() for name in ("README.md", "DATASHEET.md", "EVALUATION.md")
    )
    rows = sum(parquet.read_metadata(p).num_rows for p in (bundle / "tables").glob("*.parquet"))
    assert f"{rows:,} rows" in card
    assert f"{rows:,} rows" in datasheet
    assert "6 scenarios, 12 games" in datasheet
    board = pd.read_parquet(bundle / "tables" / "leaderboard.parquet")
    for row in board.itertuples():
        line = next(
            each
            for each in evaluation.splitlines()
            if each.startswith(f"| {row.experiment} | `{row.team}` |")
        )
        assert f"{row.excess_cost:.2f}" in line
    for text in (card, datasheet, evaluation):
        assert CANARY in text
        assert "nan" not in re.findall(r"\w+", text)
        assert "{{" not in text.replace("{{CalBench}", "")


def test_small_csv_files_are_plain(bundle: Path) -> None:
    for path in (bundle / "tables").glob("*.csv"):
        assert path.stat().st_size < LARGE
