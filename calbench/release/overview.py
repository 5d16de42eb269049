"""What changed between two releases, for readers: by column, and the headline numbers in full."""

from collections.abc import Iterator
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from calbench.release.changes import VERSION, Numbers, common_key
from calbench.release.differences import parsed

BY_COLUMN = ("table", "what", "column", "experiments", "count", "old", "new", "where")
"""Columns of :func:`by_column`."""

HEADLINE = ("table", "row", "column", "old", "old_low", "old_high", "new", "new_low", "new_high")
"""Columns of :func:`headline`."""

ENDS = ("_low", "_high")
"""What the columns of an interval's ends add to the name of its estimate."""

SHOWN = frozenset({"leaderboard.csv", "players.csv", "ratings.csv"})
"""Tables of headline numbers [C]: of `leaderboard.csv` the one over all experiments, which has the
rows of the others."""


def experiment_of(path: str) -> tuple[str, str]:
    """Return the experiment of a table, or ``summary``, and its name there; both may be empty."""
    first, *others = PurePosixPath(path).parts
    return (first, PurePosixPath(*others).as_posix()) if others else ("", first)


def by_column(changes: pd.DataFrame) -> pd.DataFrame:
    """Count changes by table, whatever its experiment, and column.

    Args:
        changes: as :func:`calbench.release.changes.changes` returns them.

    Returns:
        :data:`BY_COLUMN`, sorted. ``count`` is the number of changes of this kind, ``experiments``
        of those with one. ``old`` and ``new`` are the cell that changed most, in ``where``: the
        first of several, and the first cell where none is a number.
    """
    if changes.empty:
        return pd.DataFrame(columns=pd.Index(BY_COLUMN))
    places = changes["table"].map(experiment_of)
    found = changes.assign(
        experiment=places.str[0], name=places.str[1], size=_size(changes["old"], changes["new"])
    )
    found["path"], found["table"] = found["table"], found["name"]
    grouped = found.groupby(["table", "what", "column"], sort=True)
    most = found.loc[grouped["size"].idxmax()]
    counted = grouped.agg(experiments=("experiment", "nunique"), count=("size", "size"))
    where = (most["path"] + " " + most["key"]).str.strip()
    shown = counted.reset_index().assign(
        **{name: most[name].to_numpy() for name in ("old", "new")}, where=where.to_numpy()
    )
    is_cell = shown["what"].isin(["cell", "not compared"])
    shown.loc[~is_cell, ["old", "new", "where"]] = ""
    return shown[list(BY_COLUMN)]


def _size(old: pd.Series, new: pd.Series) -> pd.Series:
    """Return how far each number moved, -1 where either side is none."""
    before, after = (pd.to_numeric(cells, errors="coerce") for cells in (old, new))
    return (after - before).abs().replace(np.inf, np.nan).fillna(-1.0)


def headline(old: Numbers, new: Numbers) -> pd.DataFrame:
    """Return every number of the headline tables that changed, old and new with their intervals.

    Returns:
        :data:`HEADLINE`, in the order of tables, rows and columns of ``new``; an interval that an
        estimate has on one side alone is empty on the other, and a range of ranks has ends alone.
        Tables whose rows have no key in common are left out;
        :func:`calbench.release.changes.changes` names them.

    Raises:
        FileError: a table cannot be read.
    """
    rows: list[dict[str, str]] = []
    for name in sorted(old.digests.keys() & new.digests.keys()):
        if is_headline(name) and old.digests[name] != new.digests[name]:
            rows += _of_table(name, parsed(old.read(name)), parsed(new.read(name)))
    return pd.DataFrame(rows, columns=pd.Index(HEADLINE), dtype=object)


def is_headline(path: str) -> bool:
    """Whether a table has headline numbers."""
    experiment, name = experiment_of(path)
    return name in SHOWN and (experiment == "summary" or name != "leaderboard.csv")


def _of_table(name: str, old: pd.DataFrame, new: pd.DataFrame) -> Iterator[dict[str, str]]:
    key, is_known = common_key(name, old, new)
    if not (key and is_known):
        return
    both = new.merge(old, "inner", list(key), suffixes=("", "\0old"), sort=False)
    for values in both.to_dict("records"):
        row = " ".join(f"{column}={values[column]}" for column in key)
        for column in _estimates(old, new, key):
            parts = [column, *(column + end for end in ENDS)]
            before = [str(values.get(f"{part}\0old", "")) for part in parts]
            after = [str(values.get(part, "")) if part in new.columns else "" for part in parts]
            if before != after:
                cells = (name, row, column, *before, *after)
                yield dict(zip(HEADLINE, cells, strict=True))


def _estimates(old: pd.DataFrame, new: pd.DataFrame, key: tuple[str, ...]) -> list[str]:
    """Return what both sides have beside keys and the version: a name for both ends of a range."""
    shared = [name for name in new.columns if name in old.columns and name not in (*key, VERSION)]
    return list(dict.fromkeys(map(_without_end, shared)))


def markdown(found: pd.DataFrame, title: str) -> str:
    """Return a summary for the changelog: a line for each table, none for its columns.

    Args:
        found: what :func:`by_column` returns.
        title: which releases were compared.
    """
    cells = found[found["what"] == "cell"]
    tables = cells["table"].nunique()
    lines = [f"{title}: {cells['count'].sum():,} cells changed in tables of {tables} names."]
    if not cells.empty:
        lines += ["", "| table | experiments | cells | columns that changed |", "|---|---|---|---|"]
        lines += [_line(table, rows) for table, rows in cells.groupby("table", sort=True)]
    for what in ("table new", "table gone", "column new", "column gone", "not compared"):
        if names := list(_named(found[found["what"] == what])):
            lines += ["", f"{what.capitalize()}: {'; '.join(names)}."]
    for what in ("row new", "row gone"):
        counts = found[found["what"] == what]
        if not counts.empty:
            rows = ", ".join(
                f"`{table}` {count:,}"
                for table, count in zip(counts["table"], counts["count"], strict=True)
            )
            lines += ["", f"{what.capitalize()}, number: {rows}."]
    return "\n".join(lines) + "\n"


def _line(table: object, rows: pd.DataFrame) -> str:
    """Return the line of a table; an estimate of which only the interval changed is told apart."""
    names = dict.fromkeys(_without_end(column) for column in rows["column"])
    own = set(rows["column"])
    values = [f"`{name}`" for name in names if name in own]
    ends = [f"`{name}`" for name in names if name not in own]
    shown = ", ".join(values) + ("; " if values and ends else "")
    shown += f"only the interval of {', '.join(ends)}" if ends else ""
    return f"| `{table}` | {rows['experiments'].max()} | {rows['count'].sum():,} | {shown} |"


def _without_end(column: str) -> str:
    for end in ENDS:
        column = column.removesuffix(end)
    return column


def _named(rows: pd.DataFrame) -> Iterator[str]:
    """Yield tables, each with the columns of its rows if they have any."""
    for table, found in rows.groupby("table", sort=True):
        columns = ", ".join(f"`{name}`" for name in dict.fromkeys(found["column"]) if name)
        yield f"`{table}` {columns}".strip()
