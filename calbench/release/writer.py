"""Writes ``data/release`` from what the pipeline computed."""

import shutil
from pathlib import Path

from calbench.errors import ConfigError, OutputError
from calbench.files import write_atomically
from calbench.folders import replaced
from calbench.release.copies import is_copied, write_suite_copy, write_table_copy
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
    versions,
)
from calbench.release.values import read_values

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
        FileError: a table is not as declared.
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
    for name in copied:
        write_table_copy(release, name, data / TABLES / name)
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
