"""Results as frames: tables and games of a run, or the published ones."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from calbench.errors import ConfigError, FileError
from calbench.files import printable
from calbench.traces.catalog import TRACES_FOLDER, Catalog, trace_paths
from calbench.tree import DATA, IS_INSTALLED

if TYPE_CHECKING:
    import pandas as pd

    from calbench.analysis.registry import Declared
    from calbench.facts.columns import Column

TABLES_FOLDER, SUMMARY_FOLDER = "tables", "summary"
"""Folders of the tables of a run, and of those over several experiments."""


@dataclass(frozen=True)
class Results:
    """Tables and games as pandas frames.

    Attributes:
        readers: function that reads each table, by name.
        traces: folders of the games, which may be missing.
    """

    readers: Mapping[str, "Callable[[], pd.DataFrame]"]
    traces: Sequence[Path]

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(self.readers)

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
        if name not in self.readers:
            near = get_close_matches(name, self.readers, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
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
        from calbench.runs.events import SAID, message_frame

        return _described(message_frame(self._paths()), SAID, "Every message, with its text.")

    def events(self) -> "pd.DataFrame":
        """Return every event of every game as JSON, read from the traces.

        Raises:
            FileError: there are no traces, or one does not fit.
        """
        from calbench.runs.events import EVENTS, event_frame

        return _described(event_frame(self._paths()), EVENTS, "Every event, as JSON.")

    def _paths(self) -> Iterator[Path]:
        for folder in self.traces:
            if not folder.exists():
                raise FileError(
                    f"{folder}: there are no games; play them (`dvc repro`), or name a whole run"
                )
            yield from trace_paths(folder)


def read_run(path: str | os.PathLike[str]) -> Results:
    """Read a run: its tables, games, messages and events as pandas frames.

    Args:
        path: the folder of a run, or that of its tables or of its traces alone.

    Raises:
        FileError: there is no such folder, or it has neither tables nor games.
    """
    from calbench.analysis.tables import TABLES

    path = Path(path)
    if not path.is_dir():
        raise FileError(f"{path}: there is no such folder; name the folder of a run")
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
    """Read the published numbers as pandas frames.

    A table of experiments has the rows of all of them, with ``experiment`` as the first column;
    tables over several experiments are called ``summary/...``. Of tables that grow with messages
    only the checksum is published: read them from ``data/tables/<experiment>`` after computing.

    Args:
        data: folder with ``release``, and with ``traces`` after the games are played.

    Raises:
        FileError: the release cannot be read.
    """
    from calbench.release.manifest import read_manifest

    data = Path(data)
    if IS_INSTALLED and data == DATA:
        raise FileError("the published tables are in a checkout: read_results('CHECKOUT/data')")
    manifest = read_manifest(data / "release")
    by_name: dict[str, list[str]] = {}
    for path in manifest.tables:
        experiment, _, inner = path.partition("/")
        name = _name(path if experiment == SUMMARY_FOLDER or not inner else inner)
        by_name.setdefault(name, []).append(path)
    readers = {
        name: partial(_published, data / "release", tuple(paths))
        for name, paths in sorted(by_name.items())
    }
    return Results(readers, [data / TRACES_FOLDER / name for name in manifest.traces])


def _published(release: Path, paths: Sequence[str]) -> "pd.DataFrame":
    """Return a published table, concatenated over experiments."""
    import pandas as pd

    from calbench.analysis.summary import EXPERIMENT
    from calbench.facts.frames import cast
    from calbench.release.copies import declared

    first = paths[0]
    table = declared(first)
    if table is None:
        raise FileError(f"{release}: no table of this version is called {first}")
    if first.startswith(f"{SUMMARY_FOLDER}/") or "/" not in first:
        return _read(_folder(release, first), table)
    frames = [
        _read(_folder(release, path), table).assign(experiment=path.partition("/")[0])
        for path in paths
    ]
    columns = (EXPERIMENT, *table.columns)
    together = cast(pd.concat(frames, ignore_index=True), columns)
    return _described(together, columns, table.about, (EXPERIMENT.name, *table.key))


def _folder(release: Path, path: str) -> Path:
    """Return the folder below which a release has a table as it is declared."""
    return release / TABLES_FOLDER / path.rpartition("/")[0].partition("/")[0]


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
        **{
            part: {column.name: getattr(column, part) for column in columns}
            for part in ("unit", "meaning", "denominator", "origin")
        },
    }
    return frame
