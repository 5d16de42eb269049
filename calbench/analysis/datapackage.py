"""Description of a folder of tables as a Frictionless Data Package.

``datapackage.json`` is in the same folder: type, unit, meaning and origin of every column, the key
of every table, and the settings that made them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from calbench.analysis.registry import Declared, Settings
from calbench.errors import FileError
from calbench.facts.columns import Column, Kind
from calbench.files import read_bytes, unique_keys, write_atomically
from calbench.metrics.measure import METRICS_VERSION, MeasureSpec
from calbench.stats.spec import AnalysisSpec

NAME = "datapackage.json"

TYPES: Mapping[Kind, str] = {
    "text": "string",
    "list": "string",
    "integer": "integer",
    "number": "number",
    "truth": "boolean",
}
"""Of columns by kind."""

MISSING: Mapping[str, list[str]] = {"csv": [""], "parquet": ["", "nan", "None"]}
"""How an absent cell is written, by format. Parquet has none, but programs that read it through
pandas call an absent whole number or truth so [C]."""

PARENTS = ("experiments.csv", "games.csv", "privacy/game_summary.csv")
"""Tables with a row for each experiment or game, to which rows of others belong by their keys."""


def write_datapackage(tables: Iterable[Declared], folder: Path, settings: Settings) -> None:
    """Describe the tables of a folder.

    Raises:
        OutputError: the folder cannot be written.
    """
    listed = list(tables)
    package = {
        "name": "calbench-tables",
        "licenses": [{"name": "CC-BY-4.0"}],
        "calbench": {
            "metrics_version": METRICS_VERSION,
            "measure": settings.measure.model_dump(mode="json"),
            "analysis": settings.analysis.model_dump(mode="json"),
        },
        "resources": [resource(each, listed) for each in listed],
    }
    data = orjson.dumps(package, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(folder / NAME, data, is_synced=False)


def read_settings(folder: Path) -> Settings:
    """Return the settings that made the tables of a folder, without prices.

    Without a description, those of published tables.

    Raises:
        FileError: the description cannot be read, or has no such settings.
    """
    path = folder / NAME
    if not path.is_file():
        return Settings()
    try:
        found = json.loads(read_bytes(path), object_pairs_hook=unique_keys)["calbench"]
        return Settings(
            MeasureSpec.model_validate_json(orjson.dumps(found["measure"])),
            AnalysisSpec.model_validate_json(orjson.dumps(found["analysis"])),
        )
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        raise FileError(f"{path}: does not say which settings made the tables") from error


def name_of(path: str) -> str:
    """Return what a table is called where names have no folders, by its path."""
    return path.partition(".")[0].replace("/", "-")


def resource(table: Declared, beside: Iterable[Declared] = ()) -> dict[str, Any]:
    """Return a table as a resource.

    Args:
        table: which.
        beside: the tables of its package.
    """
    suffix = table.path.rpartition(".")[2]
    schema = {
        "fields": [field(column) for column in table.columns],
        "primaryKey": list(table.key),
        "foreignKeys": [
            {"fields": key, "reference": {"resource": name, "fields": key}}
            for name, key in _parents(table, beside)
        ],
        "missingValues": MISSING[suffix],
    }
    return {
        "name": name_of(table.path),
        "path": table.path,
        "description": table.about,
        "format": suffix,
        "schema": {name: said for name, said in schema.items() if said},
    }


def _parents(table: Declared, beside: Iterable[Declared]) -> Iterator[tuple[str, list[str]]]:
    """Yield the tables to whose rows its own belong, and the columns that say to which."""
    names, known = {column.name for column in table.columns}, set(map(name_of, PARENTS))
    for each in beside:
        is_other = (name := name_of(each.path)) in known - {name_of(table.path)}
        if is_other and names.issuperset(each.key):
            yield name, list(each.key)


def field(column: Column) -> dict[str, str]:
    """Return a column as a field, without empty properties."""
    about = {
        "name": column.name,
        "type": TYPES[column.kind],
        "description": column.meaning,
        "unit": column.unit,
        "denominator": column.denominator,
        "origin": column.origin,
    }
    return {name: value for name, value in about.items() if value}
