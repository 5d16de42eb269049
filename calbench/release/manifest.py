"""Contents of a release: a checksum for every file that the pipeline computes.

``manifest.json`` has full SHA-256 digests of suites, tables and all other files in the folder of
tables, those of Parquet files over their values, and one for the games of each experiment.
``traces.json.gz`` has the first digits of the digest of every game, so a difference names the game.
No clock, host, path or user is included.
"""

import gzip
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from calbench.console import progress
from calbench.errors import FileError
from calbench.files import check_keys, first_problem, read_bytes, unpacked_pieces
from calbench.release.values import Values, read_values
from calbench.traces.catalog import Catalog
from calbench.traces.shards import SHARD_GLOB

MANIFEST = "manifest.json"
GAMES = "traces.json.gz"

SHORT = 16
"""Hexadecimal digits of the digest of each game [C]."""

SUITES, TRACES, TABLES = "suites", "traces", "tables"
"""Folders of computed files, below ``data``."""

THREADS = 4
"""Files read at the same time [C]; hashing releases the interpreter lock."""

T = TypeVar("T")
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Digests = dict[str, str]
"""SHA-256 by file, in hexadecimal digits; files as paths below a folder, with ``/``."""


class Games(BaseModel):
    """The games of an experiment.

    Attributes:
        games: their number.
        sha256: of a line for each, ``<digest>  <file>``, by file, as ``sha256sum`` prints.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    games: int
    sha256: Digest


class Manifest(BaseModel):
    """Contents of a release.

    Attributes:
        versions: of package, metrics, rules and file formats.
        suites: digests by file name.
        traces: games by experiment.
        tables: digests of tables that the release has copies of, by path below the folder of
            tables.
        files: digests of all other files there, of which there are no copies.
        contents: values of those that are Parquet; their digests are of these.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    versions: dict[str, str | int]
    suites: dict[str, Digest]
    traces: dict[str, Games]
    tables: dict[str, Digest]
    files: dict[str, Digest]
    contents: dict[str, Values] = {}


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def digests(folder: Path, is_wanted: Callable[[str], bool] = lambda _: True) -> Digests:
    """Return the digest of every file below a folder, except hidden ones.

    That of a Parquet file is of its values.

    Args:
        folder: may be missing.
        is_wanted: whether a path is included.

    Raises:
        FileError: naming the file that cannot be read.
    """
    names = sorted(filter(is_wanted, _files(folder)))
    with ThreadPoolExecutor(THREADS) as threads:
        found = threads.map(_file_digest, [folder / name for name in names])
        with progress(f"read {folder.name}", len(names)) as tick:
            digests_by_name: Digests = {}
            for name, each in zip(names, found, strict=True):
                digests_by_name[name] = each
                tick()
        return digests_by_name


def game_digests(folder: Path, is_wanted: Callable[[str], bool] = lambda _: True) -> Digests:
    """Return the digest of every file below a folder, and in place of shards those of their games.

    Args:
        folder: of several folders of traces; may be missing.
        is_wanted: whether a path is included, that of a game in a shard as if it were a file.

    Raises:
        FileError: naming the file that cannot be read.
    """
    shards = set(map(str, folder.rglob(SHARD_GLOB)))
    found = digests(folder, lambda name: is_wanted(name) and str(folder / name) not in shards)
    catalog = Catalog()
    for place in sorted({Path(name).parent for name in shards}):
        below = place.relative_to(folder)
        games = catalog.games(place)
        # By frame, so that each is unpacked once.
        kept = sorted(games.values(), key=lambda each: (each.shard, each.frame.start, each.start))
        with progress(f"read {below}", len(kept)) as tick:
            for each in kept:
                if is_wanted(name := (below / each.game.name).as_posix()):
                    found[name] = digest(catalog.read(place / each.game.name))
                tick()
    return found


def _files(folder: Path) -> Iterable[str]:
    for place, folders, files in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(place).relative_to(folder)
        yield from ((below / name).as_posix() for name in files if not name.startswith("."))


def _file_digest(path: Path) -> str:
    if path.suffix == ".parquet":
        with suppress(FileError):  # one that is none has the digest of its bytes
            return read_values(path).digest
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error


def experiment_of(name: str) -> str:
    """Return the first folder of a path: its experiment, or of tables the summary."""
    return name.partition("/")[0]


def by_experiment(files: Mapping[str, str]) -> dict[str, Digests]:
    """Group files by the first folder of their path."""
    grouped: dict[str, Digests] = {}
    for name, found in files.items():
        grouped.setdefault(experiment_of(name), {})[name] = found
    return grouped


def all_games(files: Digests) -> Games:
    """Return one digest for the games of an experiment."""
    listing = "".join(f"{files[name]}  {name}\n" for name in sorted(files))
    return Games(games=len(files), sha256=digest(listing.encode()))


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the exact bytes of ``manifest.json``."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(manifest.model_dump(), option=options)


def games_bytes(traces: Digests) -> bytes:
    """Return the exact bytes of ``traces.json.gz``."""
    short = {name: found[:SHORT] for name, found in traces.items()}
    return packed(orjson.dumps(short, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE))


def packed(data: bytes) -> bytes:
    """Compress; the bytes depend only on the data and zlib."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def unpacked(path: Path) -> bytes:
    """Read a compressed file.

    Raises:
        FileError: it cannot be read.
    """
    return b"".join(unpacked_pieces(path))


def read_manifest(release: Path) -> Manifest:
    """Read the manifest of a release.

    Raises:
        FileError: it is missing or invalid.
    """
    path = release / MANIFEST
    return _checked(path, read_bytes(path), Manifest)


def read_games(release: Path) -> Digests:
    """Return the first digits of every published game's digest, by file.

    Raises:
        FileError: they are missing or broken.
    """
    path = release / GAMES
    return _checked(path, unpacked(path), dict[str, str])


def _checked(path: Path, data: bytes, kind: type[T]) -> T:
    """Return what a file holds, which must be of a type and name nothing twice."""
    try:
        found = TypeAdapter(kind).validate_json(data)
    except ValidationError as error:
        raise FileError(f"{path}: {first_problem(error)}; get it again with git") from error
    check_keys(str(path), data)
    return found
