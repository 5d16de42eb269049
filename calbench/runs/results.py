"""Results as frames: tables and games of a run, or the published ones."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from calbench.errors import ConfigError, FileError, meant
from calbench.files import printable, shorten, user_path
from calbench.traces.catalog import TRACES_FOLDER, Catalog, trace_paths
from calbench.tree import DATA, IS_INSTALLED

if TYPE_CHECKING:
    import pandas as pd

    from calbench.analysis.registry import Declared
    from calbench.facts.columns import Column

TABLES_FOLDER, SUMMARY_FOLDER = "tables", "summary"
"""Folders of the tables of a run, and of those over several experiments."""

DESCRIBED = ("unit", "meaning", "denominator", "origin")
"""What the ``attrs`` of a frame say of every column."""


@dataclass(frozen=True)
class Results:
    """Tables and games as pandas frames [C]; ``attrs`` of each say the unit of every column.

    Those of a sweep have the rows of all its jobs: their first columns are ``job`` and the keys
    that distinguish the jobs.

    >>> isinstance(results, Results)
    True
    >>> results.to_frame()[["team", "scenarios", "excess_cost"]]
       team  scenarios  excess_cost
    0  imap          1          0.4

    Attributes:
        readers: function that reads each table, by name.
        traces: folders of the games, which may be missing.
        jobs: of a sweep, the results of each job, by the name of its folder.
    """

    readers: Mapping[str, "Callable[[], pd.DataFrame]"]
    traces: Sequence[Path]
    jobs: Mapping[str, "Results"] = field(default_factory=dict)

    def __repr__(self) -> str:
        of = f" of {len(self.jobs)} jobs" if self.jobs else ""
        names = ", ".join([*self.tables[:8], *["..."] * (len(self.tables) > 8)])
        return f"Results({len(self.tables)} tables{of}{names and ': '}{shorten(names, 300)})"

    def _repr_html_(self) -> str:
        """Return every table's name with what it holds, a line each."""
        from calbench.analysis.tables import TABLES

        about = {_name(each.path): each.about for each in TABLES.values()}
        lines = [
            f"<li><code>{escape(name)}</code> {escape(about.get(name, ''))}</li>"
            for name in self.tables
        ]
        return f"<ul>{''.join(lines)}</ul>"

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self.readers)

    @property
    def swept(self) -> tuple[str, ...]:
        """The keys whose values distinguish the jobs of a sweep."""
        return tuple(swept_keys(self.jobs))

    def to_frame(self) -> "pd.DataFrame":
        """Return the table ``leaderboard``: a row for each setting and team, with intervals."""
        return self.table("leaderboard")

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table with the declared types of its columns.

        ``attrs`` of the frame have its contents (``about``), its key columns (``key``), and by
        column ``unit``, ``meaning``, ``denominator`` and ``origin``.

        Args:
            name: such as ``leaderboard`` or ``privacy/messages``.

        Raises:
            ConfigError: there is no such table; names the nearest.
            FileError: it cannot be read, or is not such a table.
        """
        if not isinstance(name, str) or name not in self.readers:
            lacking = [job for job, each in self.jobs.items() if name not in each.tables]
            if len(lacking) < len(self.jobs):
                raise ConfigError(
                    f"{printable(lacking[0])}: this job has no table {printable(name)} yet; finish "
                    "the sweep by its command, or read one of the others in jobs"
                )
            asked = meant(str(name), [*self.readers])
            hint = f"; {asked}" if asked else ""
            count = len(self.readers)
            names = f"the names of all {count} are in its attribute tables"
            raise ConfigError(
                f"there is no table {printable(repr(name))}{hint} "
                f"({names if count else 'there are none'})"
            )
        return self.readers[name]()

    def games(self) -> "pd.DataFrame":
        """Return every game recorded, one row each: the table ``games``."""
        return self.table("games")

    def messages(self) -> "pd.DataFrame":
        """Return every message of every game, with its text, read from the traces.

        Raises:
            FileError: there are no traces, or one does not fit.
        """
        from calbench.runs.events import SAID

        return _recorded(self, SAID, "Every message, with its text.")

    def events(self) -> "pd.DataFrame":
        """Return every event of every game as JSON, read from the traces.

        Raises:
            FileError: there are no traces, or one does not fit.
        """
        from calbench.runs.events import EVENTS

        return _recorded(self, EVENTS, "Every event, as JSON.")


def _recorded(results: Results, columns: "tuple[Column, ...]", about: str) -> "pd.DataFrame":
    """Return what the traces of results hold, with the columns of events or messages."""
    from calbench.runs.events import frame_of

    if results.jobs:
        return of_jobs({job: _recorded(each, columns, about) for job, each in results.jobs.items()})
    for folder in results.traces:
        if not folder.exists():
            raise FileError(
                f"{folder}: there are no games; play them (`dvc repro`), or name a whole run"
            )
    paths = (path for folder in results.traces for path in trace_paths(folder))
    return _described(frame_of(paths, columns), columns, about)


def swept_keys(jobs: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the values of what distinguishes jobs, by key and job."""
    found: dict[str, dict[str, str]] = {}
    for job in jobs:
        for part in job.split(","):
            key, sign, value = part.partition("=")
            if sign:
                found.setdefault(key, {})[job] = value
    return found


def of_jobs(frames: "Mapping[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return the frames of jobs as one, with what distinguishes the jobs."""
    import pandas as pd

    from calbench.runs.folder import JOB

    first = next(iter(frames.values()))
    found = {key: each for key, each in swept_keys(frames).items() if key not in first.columns}
    for job, frame in frames.items():
        told = {JOB.name: job, **{key: each.get(job) for key, each in found.items()}}
        for place, (key, value) in enumerate(told.items()):
            frame.insert(place, key, value)
    together = pd.concat(frames.values(), ignore_index=True)
    for key in found:
        numbers = pd.to_numeric(together[key], errors="coerce")
        together[key] = numbers if numbers.notna().all() else together[key]
    if first.attrs:
        together.attrs = {
            **first.attrs,
            "key": [JOB.name, *first.attrs["key"]],
            **{part: {JOB.name: getattr(JOB, part), **first.attrs[part]} for part in DESCRIBED},
        }
    return together


def rows_of(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table, absent cells as ``None``."""
    held = frame.astype(object)
    found = held.where(held.notna(), None).to_dict("records")
    return [{str(key): value for key, value in row.items()} for row in found]


def read_run(path: str | os.PathLike[str]) -> Results:
    """Read a run or a sweep: its tables, games, messages and events as pandas frames [C].

    Args:
        path: the folder of a run, or that of its tables or of its traces alone; or that of a
            sweep.

    Raises:
        FileError: there is no such folder, or it has neither tables nor games.

    >>> run = calbench.read_run(results.traces[0].parent)
    >>> run.table("leaderboard").attrs["unit"]["excess_cost"]
    'accounting cost'
    """
    from calbench.analysis.tables import TABLES
    from calbench.runs.folder import job_folders

    path = user_path(path)
    if not path.is_dir():
        raise FileError(f"{path}: there is no such folder; name the folder of a run")
    if jobs := {job.name: read_run(job) for job in job_folders(path)}:
        names = next(iter(jobs.values())).tables
        common = [name for name in names if all(name in each.tables for each in jobs.values())]

        def of_all(name: str) -> "pd.DataFrame":
            return of_jobs({job: each.table(name) for job, each in jobs.items()})

        readers = {name: partial(of_all, name) for name in common}
        folders = [folder for each in jobs.values() for folder in each.traces]
        return Results(readers, folders, jobs)
    tables = path / TABLES_FOLDER if (path / TABLES_FOLDER).is_dir() else path
    found = {
        _name(each.path): partial(_read, tables, each)
        for each in TABLES.values()
        if each.file(tables) is not None
    }
    # A folder of tables has JSON files too, which are not games.
    traces = path / TRACES_FOLDER
    if not found and not traces.is_dir():
        traces = path
    if not found and not Catalog().holds_traces(traces):
        raise FileError(f"{path}: holds neither tables nor games; name the folder of a run")
    return Results(found, [traces])


def read_results(data: str | os.PathLike[str] = DATA) -> Results:
    """Read the published numbers as pandas frames [C].

    A table of experiments has the rows of all of them, with ``experiment`` as the first column;
    tables over several experiments are called ``summary/...``. Of tables that grow with messages
    only the checksum is published: read them from ``data/tables/<experiment>`` after computing.

    Args:
        data: folder with ``release``, and with ``traces`` after the games are played. An
            installed package has most tables of the release, and makes them from facts when they
            are asked for.

    Raises:
        FileError: the release cannot be read.

    >>> "varied" in set(calbench.read_results().to_frame()["experiment"])
    True
    """
    from calbench.release.manifest import read_manifest

    data = user_path(data)
    if IS_INSTALLED and data == DATA:
        return _packed()
    manifest = read_manifest(data / "release")
    by_name: dict[str, list[str]] = {}
    for path in manifest.tables:
        experiment, _, inner = path.partition("/")
        name = _name(path if experiment == SUMMARY_FOLDER or not inner else inner)
        by_name.setdefault(name, []).append(path)
    folder = Path(mkdtemp(prefix="calbench-published-"))
    readers = {
        name: partial(_published, data / "release", folder, tuple(paths))
        for name, paths in sorted(by_name.items())
    }
    traces = [data / TRACES_FOLDER / name for name in manifest.traces]
    return temporary(Results(readers, traces), folder)


def _packed() -> Results:
    """Return the published tables that come with an installed package."""
    from calbench.analysis.tables import TABLES
    from calbench.runs.published import made_tables, unpacked_tables

    folder = Path(mkdtemp(prefix="calbench-published-"))
    by_experiment = unpacked_tables(folder)

    def read(path: str) -> "pd.DataFrame":
        names = [name for name, paths in by_experiment.items() if path in paths]
        return _concatenated(
            {name: made_tables(folder, name, path) for name in names}, TABLES[path]
        )

    every = {path for paths in by_experiment.values() for path in paths}
    readers = {_name(path): partial(read, path) for path in sorted(every)}
    return temporary(Results(readers, []), folder)


def temporary(results: Results, folder: Path) -> Results:
    """Return results whose folder is removed when nobody has them any more."""
    finalize(results, rmtree, folder, ignore_errors=True)
    return results


def _concatenated(folders: Mapping[str, Path], table: "Declared") -> "pd.DataFrame":
    """Return a table of several experiments, by the folders of their tables."""
    import pandas as pd

    from calbench.analysis.summary import EXPERIMENT
    from calbench.facts.frames import cast

    frames = [_read(folder, table).assign(experiment=name) for name, folder in folders.items()]
    columns = (EXPERIMENT, *table.columns)
    together = cast(pd.concat(frames, ignore_index=True), columns)
    return _described(together, columns, table.about, (EXPERIMENT.name, *table.key))


def _published(release: Path, folder: Path, paths: Sequence[str]) -> "pd.DataFrame":
    """Return a published table, concatenated over experiments; it is unpacked into a folder."""
    from calbench.release.copies import Copies, declared
    from calbench.release.manifest import experiment_of

    first = paths[0]
    table = declared(first)
    if table is None:
        raise FileError(f"{release}: no table of this version is called {first}")
    copies = Copies(release)
    for path in paths:
        copies.unpack(path, folder)
    if "/" not in first:
        return _read(folder, table)
    if first.startswith(f"{SUMMARY_FOLDER}/"):
        return _read(folder / SUMMARY_FOLDER, table)
    return _concatenated({name: folder / name for name in map(experiment_of, paths)}, table)


def _name(path: str) -> str:
    return path.rpartition(".")[0]


def _read(folder: Path, table: "Declared") -> "pd.DataFrame":
    frame = table.read(folder)
    written = table.as_written(frame.columns)
    return _described(frame, written.columns, written.about, written.key)


def _described(
    frame: "pd.DataFrame", columns: "Sequence[Column]", about: str, key: Sequence[str] = ()
) -> "pd.DataFrame":
    """Return a frame with a description in its ``attrs``."""
    frame.attrs = {
        "about": about,
        "key": list(key),
        **{part: {column.name: getattr(column, part) for column in columns} for part in DESCRIBED},
    }
    return frame
