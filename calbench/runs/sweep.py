"""The folder of a sweep: a folder of a run for each job, and one table over all of them."""

import re
from pathlib import Path

import pandas as pd

from calbench.analysis.tables import TABLES
from calbench.analysis.tables.registry import write_frames
from calbench.facts.columns import text
from calbench.facts.frames import read_csv
from calbench.runs.results import TABLES_FOLDER
from calbench.traces.catalog import TRACES_FOLDER

JOB = text("job", "folder of the run: the settings that distinguish it from the others")

SWEEP_COLUMNS = (JOB, *TABLES["leaderboard.csv"].columns)

SWEEP_KEY = (JOB.name, *TABLES["leaderboard.csv"].key)
"""Columns by which a table over all jobs is known."""

SWEEP_TABLE = "leaderboard.csv"
"""Table over all jobs, in the folder of the sweep."""


def job_folders(folder: Path, holding: str = TRACES_FOLDER) -> list[Path]:
    """Return the runs in the folder of a sweep, numbers in their names by size.

    A folder that holds a run itself is none of a sweep.
    """
    if (folder / TRACES_FOLDER).is_dir() or not folder.is_dir():
        return []
    found = [path.parent for path in folder.glob(f"*/{holding}") if path.is_dir()]
    return sorted(found, key=lambda path: _natural(path.name))


def _natural(name: str) -> list[tuple[float, str]]:
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [(float(part), "") if place % 2 else (0.0, part) for place, part in enumerate(parts)]


def write_sweep_table(folder: Path) -> Path:
    """Write the leaderboards of all jobs in the folder of a sweep as one table.

    Raises:
        FileError: a job's leaderboard cannot be read.
        OutputError: the folder cannot be written.
    """
    columns = TABLES["leaderboard.csv"].columns
    frames = [
        read_csv(job / TABLES_FOLDER / "leaderboard.csv", columns).assign(job=job.name)
        for job in job_folders(folder, TABLES_FOLDER)
    ]
    filled = [frame for frame in frames if len(frame)] or frames[:1]
    path = folder / SWEEP_TABLE
    write_frames(path, [pd.concat(filled, ignore_index=True)], SWEEP_COLUMNS)
    return path
