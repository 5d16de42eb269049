"""What is in the folder of a site's sources."""

import csv
import re
from pathlib import Path
from typing import Any

import yaml

from calbench.report.tables import Tables, read_table
from tests.report.unpacking import file_value


def navigation(source: Path) -> list[dict[str, str]]:
    """Return the pages below Results in their order, without their groups."""
    config = yaml.safe_load((source / "mkdocs.yml").read_text())
    entries = next(e["Results"] for e in config["nav"] if "Results" in e)
    found: list[dict[str, str]] = []
    for entry in entries:
        ((_, value),) = entry.items()
        found += value if isinstance(value, list) else [entry]
    return found


def figure(docs: Path, name: str) -> Any:
    """Return what a figure draws."""
    return file_value(docs / "pagedata" / "figures" / f"{name}.js")


def cells(folder: Path) -> set[str]:
    """Return every cell of the tables below a folder."""
    return {
        cell
        for path in folder.rglob("*.csv")
        for row in csv.reader(path.read_text().splitlines())
        for cell in row
    }


def stated(page: str) -> list[tuple[str, str]]:
    """Return the numbers that a page states: cells of tables, word for word, and what it shows."""
    return re.findall(r'<data value="([^"]*)">([^<]*)</data>', page)


def values_of(page: str) -> list[str]:
    """Return the cells of tables that a page states."""
    return [value for value, _ in stated(page)]


def text_rows(tables: Tables, name: str, **where: str) -> list[dict[str, str]]:
    """Return the rows of a table with its cells as they are written."""
    rows = read_table(tables.folder / name)
    return [row for row in rows if all(row[key] == cell for key, cell in where.items())]
