"""``make release`` and ``make changes``: what is published of the results, and what that changed.

``python -m calbench.release`` publishes what the pipeline computed; with the folder of another
release or of tables it lists what changed since, which is kept in every release.
"""

import lzma
import shutil
import sys
from pathlib import Path

from calbench.analysis.versions import versions
from calbench.console import say, say_error
from calbench.errors import CalbenchError, ConfigError, OutputError
from calbench.files import write_atomically
from calbench.folders import replaced
from calbench.metrics.measure import METRICS_VERSION
from calbench.release.changes import changes, numbers
from calbench.release.copies import is_copied, write_suite_copy, write_table_copies
from calbench.release.manifest import (
    GAMES,
    MANIFEST,
    SUITES,
    TABLES,
    TRACES,
    Manifest,
    all_games,
    by_experiment,
    digests,
    game_digests,
    games_bytes,
    manifest_bytes,
)
from calbench.release.pack import PACK, write_pack
from calbench.release.values import read_values

DATA = Path("data")
"""Of a checkout, from whose folder this is started."""


README = "README.md"
"""Written by hand, and kept in every release."""

CHANGES = "changes"
"""Folder with the numbers that releases changed, kept in every release."""


def write_release(data: Path, release: Path) -> Manifest:
    """Write a release, whole or not at all.

    Args:
        data: folder of suites, traces and tables.
        release: folder that is replaced, except its README and the lists of changed numbers.

    Raises:
        ConfigError: suites, traces or tables are missing.
        FileError: a suite or a table cannot be read.
        OutputError: the folder cannot be written.
    """
    for name in (SUITES, TRACES, TABLES):
        if not any((data / name).glob("[!.]*")):
            raise ConfigError(f"{data / name}: nothing was computed; run `dvc repro` first")
    try:
        with replaced(release, is_marked=False) as beside:
            manifest = _write(data, beside)
            if (release / README).is_file():
                shutil.copyfile(release / README, beside / README)
            if (release / CHANGES).is_dir():
                shutil.copytree(release / CHANGES, beside / CHANGES)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{release}: cannot be written ({reason})") from error
    return manifest


def _write(data: Path, release: Path) -> Manifest:
    suites, tables = digests(data / SUITES), digests(data / TABLES)
    traces = game_digests(data / TRACES)
    for name in suites:
        write_suite_copy(release, name, data / SUITES / name)
    copied = {name: found for name, found in tables.items() if is_copied(name)}
    write_table_copies(release, copied, data / TABLES)
    write_atomically(release / GAMES, games_bytes(traces))
    manifest = Manifest(
        versions=versions(),
        suites=suites,
        traces={name: all_games(games) for name, games in by_experiment(traces).items()},
        tables=copied,
        files={name: found for name, found in tables.items() if name not in copied},
        contents={
            name: read_values(data / TABLES / name)
            for name in tables
            if Path(name).suffix == ".parquet"
        },
    )
    write_atomically(release / MANIFEST, manifest_bytes(manifest))
    return manifest


def publish(data: Path) -> None:
    """Write the release of what is in a folder, into it."""
    release = data / "release"
    made = write_release(data, release)
    write_pack(data, release / PACK)
    games = sum(each.games for each in made.traces.values())
    say(
        f"{release}: {len(made.tables)} tables, {games} games, {len(made.suites)} suites; "
        f"of {len(made.files)} other files the checksum"
    )


def list_changes(before: Path, data: Path) -> None:
    """Write every number that changed since a release, and say how many in each table.

    Args:
        before: folder of the release, or of tables.
        data: folder of computed tables and of the present release.
    """
    found = changes(numbers(before), numbers(data / TABLES))
    path = data / "release" / CHANGES / f"metrics-{METRICS_VERSION}.csv.xz"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = found.to_csv(index=False, lineterminator="\n")
    write_atomically(path, lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    for (table, what), rows in found.groupby(["table", "what"], sort=True):
        say(f"{table}: {what}, {len(rows)}: {', '.join(sorted(set(rows['column']) - {''}))}")
    say(f"{path}: {len(found)} changes")


if __name__ == "__main__":
    try:
        list_changes(Path(sys.argv[1]), DATA) if sys.argv[1:] else publish(DATA)
    except CalbenchError as error:
        say_error(error)
        sys.exit(2)
