"""What people read about a bundle: the cards, filled in with what was computed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from calbench.analysis.measures import HEADLINE, MEASURES
from calbench.analysis.versions import versions
from calbench.bundle.tables import FOLDER, Written
from calbench.documents import read_yaml
from calbench.domain.canary import CANARY

TEMPLATES = Path(__file__).parent / "templates"

CARDS = ("README.md", "DATASHEET.md", "EVALUATION.md")

SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
"""Bounds of rows and what cards of data sets call those below; more are ``1M<n<10M``."""


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
    pages = Environment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - Markdown of our own words and numbers
    )
    for name in CARDS:
        text = pages.get_template(f"{name}.jinja").render(given)
        (out / name).write_text(text, encoding="utf-8", newline="\n")


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
