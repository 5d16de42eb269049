"""The folder of a run: locked by one process, and never overwritten.

That of a sweep has such a folder for each job, and one table over all of them.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path, PurePosixPath
from types import MappingProxyType

import pandas as pd
from filelock import FileLock, Timeout

from calbench.analysis.output import CASE_FILE, FACTS_FOLDER
from calbench.analysis.registry import write_frames
from calbench.analysis.tables import TABLES
from calbench.endings import pruned, undone
from calbench.errors import OutputError
from calbench.facts.columns import text
from calbench.facts.frames import read_csv
from calbench.facts.storage import SPOOL
from calbench.files import check_no_link_out, printable, write_atomically
from calbench.runs.results import TABLES_FOLDER, of_jobs, rows_of, swept_keys
from calbench.traces.catalog import CODE_NOTE, LOCK, TRACES_FOLDER
from calbench.traces.shards import EARLIER_GLOB, SHARD_GLOB

JOB = text("job", "folder of the run: the settings that distinguish it from the others")

SWEEP_COLUMNS = (JOB, *TABLES["leaderboard.csv"].columns)

SWEEP_KEY = (JOB.name, *TABLES["leaderboard.csv"].key)
"""Columns by which a table over all jobs is known."""

SWEEP_TABLE = "leaderboard.csv"
"""Table over all jobs, in the folder of the sweep."""

SWEEP_FIGURES = "leaderboard.html"
"""Its measures over what was swept, as a page that needs no other file."""


def job_folders(folder: Path, holding: str = TRACES_FOLDER) -> list[Path]:
    """Return the runs in the folder of a sweep, numbers in their names by size.

    A folder that holds a run itself is none of a sweep.
    """
    if (folder / TRACES_FOLDER).is_dir() or not folder.is_dir():
        return []
    inside = (path for path in folder.glob(f"*/{holding}") if path.is_dir())
    found = [path.parent for path in inside if not path.parent.is_symlink()]
    return sorted(found, key=lambda path: _natural(path.name))


def _natural(name: str) -> list[tuple[float, str]]:
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [(float(part), "") if place % 2 else (0.0, part) for place, part in enumerate(parts)]


def write_sweep(folder: Path, measures: Sequence[str]) -> Path:
    """Write the leaderboards of all jobs in the folder of a sweep as one table, and its figures.

    Args:
        folder: of the sweep.
        measures: that are drawn.

    Returns:
        The path of the table.

    Raises:
        FileError: a job's leaderboard cannot be read.
        OutputError: the folder cannot be written.
    """
    columns = TABLES["leaderboard.csv"].columns
    frames = {
        job.name: read_csv(job / TABLES_FOLDER / "leaderboard.csv", columns)
        for job in job_folders(folder, TABLES_FOLDER)
    }
    filled = {job: frame for job, frame in frames.items() if len(frame)} or frames
    together = of_jobs(filled)
    path = folder / SWEEP_TABLE
    write_frames(path, [together], SWEEP_COLUMNS)
    page = _figures(together, swept_keys(filled), measures)
    write_atomically(folder / SWEEP_FIGURES, page.encode())
    return path


def _figures(together: pd.DataFrame, keys: Collection[str], measures: Sequence[str]) -> str:
    """Return a page with a figure for each setting and measure, and with what draws them."""
    from plotly.offline import get_plotlyjs  # only a sweep waits for it

    from calbench.report.figures.swept import swept

    parts = [
        "<!doctype html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        "<title>Sweep</title>",
    ]
    for setting in together["setting"].unique():
        rows = rows_of(together[together["setting"] == setting])
        parts.append(f"<h1>{escape(setting)}</h1>")
        parts += [
            swept(rows, measure, [*keys]).to_html(
                full_html=False, include_plotlyjs=False, div_id=f"{setting}-{measure}"
            )
            for measure in measures
            if any(row[measure] is not None for row in rows)
        ]
    parts.insert(4, f"<script>{get_plotlyjs()}</script>")
    return "\n".join(parts)


KEPT = frozenset(
    {
        *TABLES,
        *("datapackage.json", "metrics.json", "metrics/*/*.json", f"judge/{CASE_FILE}"),
        *(f"{FACTS_FOLDER}/*", f"{FACTS_FOLDER}/{SPOOL}/*"),
    }
)
"""Files that may be in a folder of tables already, as patterns: they are replaced."""

KEYS = {name: table.key for name, table in TABLES.items()}
"""Columns that every version of a table has, by its name."""

MOST_HEAD = 100_000
"""Bytes that are read of a table's first line [C]."""


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Lock a run's folder against other runs.

    The operating system releases the lock when the process ends, in any way. A run that fails
    before it has written anything leaves neither a folder nor a lock behind.
    """
    check_no_link_out(out / LOCK)
    is_new = not (out / LOCK).exists()
    before = _names(out)
    with pruned(out):
        try:
            out.mkdir(parents=True, exist_ok=True)
            lock = FileLock(out / LOCK)
            lock.acquire(timeout=0)
        except Timeout as error:
            raise OutputError(
                f"{out}: another run is writing there; wait for it, or choose another folder, "
                f"e.g. out={out}-2"
            ) from error
        except OSError as error:
            raise OutputError(
                f"{out}: cannot be written ({error.strerror or error}); choose another folder "
                "with out="
            ) from error

        def leave() -> None:
            if is_new and _names(out) - {LOCK} == before:
                (out / LOCK).unlink(missing_ok=True)

        with undone(leave):
            try:
                yield
            except BaseException:
                leave()
                raise
            finally:
                lock.release()


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def check_run(out: Path) -> None:
    """Refuse the folder of a run if it has tables or games that no run wrote, or is among some.

    Raises:
        OutputError: naming the first such file, a link, a sweep, or the run whose files these are.
    """
    for above in (out.resolve(), *out.resolve().parents):
        if above.name in {TRACES_FOLDER, TABLES_FOLDER} and (above.parent / CODE_NOTE).is_file():
            raise OutputError(
                f"{out}: is among the {above.name} of the run {above.parent}; choose another folder"
            )
    table = out / SWEEP_TABLE
    if table.exists() and not (out / TRACES_FOLDER).exists() and has_columns(table, SWEEP_KEY):
        raise OutputError(f"{out}: holds a sweep, which -m resumes; choose another folder, out=DIR")
    for path in sorted(out.iterdir()):
        check_no_link_out(path)
    instead = f"{out}-2"
    kept = ["*/*.json", SHARD_GLOB, EARLIER_GLOB]
    check_folder(out / TRACES_FOLDER, kept, what="trace", instead=instead)
    tables = out / TABLES_FOLDER
    check_folder(tables, KEPT, KEYS, instead=instead)
    if (tables / "metrics.json").exists() and not (tables / "leaderboard.csv").exists():
        raise _foreign(tables, "metrics.json", "table", instead)


def check_folder(
    out: Path,
    kept: Collection[str],
    keys: Mapping[str, Sequence[str]] = MappingProxyType({}),
    *,
    what: str = "table",
    instead: str = "",
) -> None:
    """Refuse a folder that holds other files than those that will be replaced.

    What a killed process left half-written does not count, nor do files that a system hides.

    Args:
        out: the folder.
        kept: patterns of the files that may be there.
        keys: columns by which tables among them are known as ours, by name.
        what: what these files are.
        instead: another folder, as a proposal.

    Raises:
        OutputError: naming it.
    """
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is not a folder; choose another one with out=")
    instead = instead or f"{out}-rescored"
    folders = {str(parent) for name in kept for parent in PurePosixPath(name).parents}
    for path in sorted(out.rglob("*")):
        check_no_link_out(path)
        name = path.relative_to(out).as_posix()
        if path.is_file() and path.name.startswith("."):
            continue
        if not any(fnmatchcase(name, each) for each in (folders if path.is_dir() else kept)):
            raise _foreign(out, name, what, instead)
        if name in keys and not has_columns(path, keys[name]):
            raise _foreign(out, name, f"{what} of ours", instead)


def has_columns(path: Path, names: Sequence[str]) -> bool:
    """Whether a file is a table with some columns, among others; an empty one is."""
    if not path.is_file() or path.suffix != ".csv":
        return path.is_file()
    with path.open("rb") as file:
        head = file.readline(MOST_HEAD).decode(errors="replace").strip()
    return not head or set(names) <= set(head.split(","))


def _foreign(out: Path, name: str, what: str, instead: str) -> OutputError:
    return OutputError(
        f"{out}: holds {printable(name)}, which is not a {what}; nothing was written: choose "
        f"another folder, e.g. out={instead}"
    )
