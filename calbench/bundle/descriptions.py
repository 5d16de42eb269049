"""What is read about a bundle: cards by people, and four formats by machines.

Both are templates, filled in with what was computed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from calbench.analysis.measures import HEADLINE, MEASURES
from calbench.analysis.versions import versions
from calbench.bundle.files import Entry
from calbench.bundle.tables import FOLDER, Written
from calbench.documents import read_yaml
from calbench.domain.canary import CANARY, KEY
from calbench.facts.columns import Kind

About = Mapping[str, Any]
"""What cards and descriptions say alike: ``templates/about.yaml``, with version and date."""

TEMPLATES = Path(__file__).parent / "templates"

CARDS = ("README.md", "DATASHEET.md", "EVALUATION.md")

SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
"""Bounds of rows and what cards of data sets call those below; more are ``1M<n<10M``."""


TYPES: Mapping[Kind, str] = {
    "text": "sc:Text",
    "list": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "truth": "sc:Boolean",
}
"""Of fields of Croissant by kind of column."""

MEDIA = {
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".json": "application/json",
    ".lock": "text/plain",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".zst": "application/zstd",
}
"""Media types by suffix; others are plain text."""


def read_about(citation: Path) -> dict[str, Any]:
    """Return what cards and descriptions say alike.

    Args:
        citation: ``CITATION.cff``, which has the version, its date and the paper.

    Raises:
        ConfigError: it is no such document.
    """
    cited = read_yaml(citation)
    paper = cited["preferred-citation"]
    names = " and ".join(
        f"{each['family-names']}, {each['given-names']}" for each in paper["authors"]
    )
    return {
        **read_yaml(TEMPLATES / "about.yaml"),
        "version": str(cited["version"]),
        "date": str(cited["date-released"]),
        "paper_title": paper["title"],
        "citation": f"@misc{{zou2026calbench, title = {{{paper['title']}}}, author = {{{names}}}, "
        f"year = {{{paper['year']}}}, url = {{{paper['url']}}}}}",
    }


def write_cards(
    about: Mapping[str, Any],
    tables: Sequence[Written],
    parts: Mapping[str, str],
    sizes: Mapping[str, tuple[int, int]],
    out: Path,
) -> None:
    """Write the cards of a bundle whose tables are there.

    Args:
        about: what :func:`read_about` returned.
        tables: of the bundle.
        parts: what is in each of its folders.
        sizes: files and bytes of each.
        out: its folder.
    """
    experiments = pd.read_parquet(out / FOLDER / "experiments.parquet").to_dict("records")
    rows = sum(each.rows for each in tables)
    given = {
        "about": about,
        "canary": CANARY,
        "versions": versions(),
        "tables": tables,
        "rows": rows,
        "size_category": next((name for most, name in SIZES if rows < most), "1M<n<10M"),
        "experiments": experiments,
        "scenarios": sum(each["scenarios"] for each in experiments),
        "games": sum(each["games"] for each in experiments),
        "parts": parts,
        "sizes": sizes,
        "readers": read_yaml(TEMPLATES / "readers.yaml"),
        "measures": _measures(),
        "board": _board(out / FOLDER),
    }
    for name in CARDS:
        (out / name).write_text(_rendered(name, given), encoding="utf-8", newline="\n")


def _rendered(name: str, given: Mapping[str, Any]) -> str:
    pages = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Markdown and YAML of our own words and numbers
    )
    return pages.get_template(f"{name}.jinja").render(given)


def _measures() -> list[dict[str, str]]:
    """Return the headline measures as cells of a table."""
    return [
        {
            "name": each.name,
            "meaning": each.definition.replace("|", "\\|"),
            "unit": each.unit,
            "denominator": each.denominator,
        }
        for each in MEASURES
        if each.name in HEADLINE
    ]


def _board(tables: Path) -> list[dict[str, Any]]:
    """Return the teams of ranked experiments with their headline measures."""
    experiments = pd.read_parquet(tables / "experiments.parquet")
    ranked = set(experiments.loc[experiments["is_ranked"], "experiment"])
    names = [each["name"] for each in _measures()]
    return [
        {
            "place": ", ".join(dict.fromkeys((row["experiment"], row["setting"]))),
            "team": row["team"],
            "games": row["games"],
            "cells": [_cell(row, name) for name in names],
        }
        for row in pd.read_parquet(tables / "leaderboard.parquet").to_dict("records")
        if row["experiment"] in ranked
    ]


def _cell(row: Mapping[Any, Any], name: str) -> str:
    value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
    if pd.isna(value):
        return ""
    return (
        f"{value:.2f}" if pd.isna(low) or pd.isna(high) else f"{value:.2f} [{low:.2f}, {high:.2f}]"
    )


def _said(about: About) -> dict[str, dict[str, Any]]:
    """Return what descriptions say but of files and columns, by the name of the format."""
    formats = sorted(set(MEDIA.values()))
    given = {"about": about, "canary": CANARY, "key": KEY, "formats": formats}
    found: dict[str, dict[str, Any]] = yaml.safe_load(_rendered("descriptions.yaml", given))
    return found


def descriptions(about: About, tables: Sequence[Written]) -> dict[str, dict[str, Any]]:
    """Describe a bundle for Croissant, a file and a record set for each table, DataCite, CodeMeta.

    Returns:
        The descriptions by the names of their files.
    """
    said = _said(about)
    return {
        "croissant.json": {
            "@context": json.loads((TEMPLATES / "croissant.json").read_bytes()),
            **said["croissant"],
            "distribution": [_file_object(each) for each in tables],
            "recordSet": [_record_set(each) for each in tables],
        },
        "datacite.json": said["datacite"],
        "codemeta.json": said["codemeta"],
    }


def _file_object(each: Written) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": each.parquet.path,
        "name": each.parquet.path,
        "contentUrl": each.parquet.path,
        "contentSize": f"{each.parquet.bytes} B",
        "encodingFormat": "application/x-parquet",  # as readers of Croissant know it
        "sha256": each.parquet.sha256,
    }


def _record_set(each: Written) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{each.name}/{column.name}",
            "name": column.name,
            "description": column.meaning + (f"; unit: {column.unit}" if column.unit else ""),
            "dataType": TYPES[column.kind] if column.digits is not None else "sc:Text",
            "source": {
                "fileObject": {"@id": each.parquet.path},
                "extract": {"column": column.name},
            },
        }
        for column in each.table.columns
    ]
    key = [{"@id": f"{each.name}/{name}"} for name in each.table.key]
    return {
        "@type": "cr:RecordSet",
        "@id": each.name,
        "name": each.name,
        "description": each.table.about,
        **({"key": key} if key else {}),
        "field": fields,
    }


def crate(about: About, files: Iterable[Entry], folders: Mapping[str, str]) -> dict[str, Any]:
    """Describe every file for RO-Crate; those of the site as one folder.

    Args:
        about: the bundle.
        files: which, with their checksums.
        folders: what is in each folder at the top.
    """
    said = _said(about)["crate"]
    found = [each for each in files if each.part != "site"]
    paths = {name: [each.path for each in found if each.part == name] for name in folders}
    top = [each.path for each in found if each.part not in folders]
    return {
        "@context": said["context"],
        "@graph": [
            said["first"],
            {**said["root"], **_parts([*(f"{name}/" for name in folders), *top])},
            *(
                {"@id": f"{name}/", "@type": "Dataset", "name": name, "description": what}
                | _parts(paths[name])
                for name, what in folders.items()
            ),
            *map(_file, found),
            *said["last"],
        ],
    }


def _parts(paths: Iterable[str]) -> dict[str, Any]:
    return {"hasPart": [{"@id": path} for path in paths]}


def _file(each: Entry) -> dict[str, Any]:
    return {
        "@id": each.path,
        "@type": "File",
        "name": each.path,
        "contentSize": str(each.bytes),
        "encodingFormat": MEDIA.get(Path(each.path).suffix, "text/plain"),
        "sha256": each.sha256,
    }
