"""Tables of runs that were written by hand, and tables over them."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from calbench.analysis.registry import write_frames
from calbench.analysis.summary import SUMMARY, Runs, RunTables
from calbench.analysis.tables import TABLES
from calbench.facts.frames import cast, csv_text
from calbench.metrics.measure import METRICS_VERSION

Row = Mapping[str, object]


def run_of(folder: Path, name: str, **rows_by_table: Sequence[Row]) -> RunTables:
    """Write tables of a run; what a row does not say is absent."""
    for table, rows in rows_by_table.items():
        columns = TABLES[f"{table}.csv"].columns
        frame = pd.DataFrame(rows, columns=[c.name for c in columns], dtype=object)
        frame = frame.assign(metrics_version=METRICS_VERSION)
        write_frames(folder / name / f"{table}.csv", [cast(frame, columns)], columns)
    (folder / name).mkdir(exist_ok=True)
    return RunTables(name, folder / name)


def runs_of(
    *compared: RunTables,
    browsed: Sequence[RunTables] = (),
    scaled: Sequence[RunTables] = (),
    drawn: Sequence[RunTables] = (),
    swept: Sequence[RunTables] = (),
    published: Path = Path("nowhere"),
) -> Runs:
    return Runs(compared, browsed, scaled, drawn, swept, published)


def summary_text(path: str, runs: Runs) -> str:
    """Return a table over several runs as its file would hold it."""
    table = SUMMARY[path]
    return "".join(csv_text([cast(table.make(runs), table.columns)], table.columns))


def summary_rows(path: str, runs: Runs) -> list[dict[str, str]]:
    return list(csv.DictReader(summary_text(path, runs).splitlines()))
