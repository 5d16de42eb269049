"""Traces from one form to the other: files into shards and back, to the byte."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import count
from pathlib import Path

import zstandard

from calbench.console import progress
from calbench.errors import FileError, OutputError
from calbench.files import printable, written_atomically
from calbench.folders import replaced
from calbench.scenarios.bounds import MOST_TRACE_BYTES
from calbench.traces.catalog import Catalog, trace_paths, traces_folder
from calbench.traces.outlines import outline
from calbench.traces.shards import Game, described, file_name_pattern, packed_frames, shards_of
from calbench.traces.store import Batch, ShardStore


def pack(source: Path, out: Path) -> int:
    """Write the traces of a folder, or of a run, as shards into a new folder.

    The bytes depend on the games alone: they are in the order of their scenarios, because games on
    one scenario have much in common, and are read together.

    Returns:
        How many games there are.

    Raises:
        FileError: a trace does not fit.
        OutputError: the new folder is not new, or cannot be written.
    """
    paths = _paths(source)
    with _new_folder(source, out) as folder:
        _write_shards(paths, folder)
    return len(paths)


def _write_shards(paths: Sequence[Path], folder: Path) -> None:
    """Write traces as shards, in the order of their scenarios."""
    ordered = sorted(paths, key=lambda path: (path.name, path.parent.name))
    catalog = Catalog()
    with progress("packed", len(paths)) as tick:

        def games() -> Iterator[tuple[Game, bytes]]:
            for path in ordered:
                yield _checked(path, catalog)
                tick()

        store = ShardStore(folder, is_synced=False)
        for frame in packed_frames(games()):
            store.commit(Batch((frame,)))


def unpack(source: Path, out: Path) -> int:
    """Write the traces of a folder, of a run or of a shard as files into a new folder.

    Returns:
        How many games there are.

    Raises:
        FileError: a trace does not fit.
        OutputError: the new folder is not new, or cannot be written.
    """
    paths, catalog = _paths(source), Catalog()
    with _new_folder(source, out) as folder, progress("unpacked", len(paths)) as tick:
        for path in paths:
            data = catalog.read(path)
            with written_atomically(
                folder / path.parent.name / path.name, is_synced=False
            ) as beside:
                beside.write_bytes(data)
            tick()
    return len(paths)


def convert(source: Path, out: Path) -> int:
    """Write the games of shards as shards into a new folder, whatever is between their frames.

    This reads shards of earlier versions, which had no heads, and those with damaged heads.

    Returns:
        How many games there are.

    Raises:
        FileError: a frame is damaged, or a line is no trace; or there is no shard.
        OutputError: the new folder is not new, or cannot be written.
    """
    folder, games = traces_folder(source), 0
    shards = shards_of(folder)
    if not shards:
        raise FileError(f"{source}: holds no shard (*.jsonl.zst)")
    with _new_folder(source, out) as beside:
        store = ShardStore(beside, is_synced=False)
        for frame in packed_frames(game for shard in shards for game in _lines(shard)):
            store.commit(Batch((frame,)))
            games += frame.num_games
    return games


def _lines(shard: Path) -> Iterator[tuple[Game, bytes]]:
    """Yield the games of a shard as any program reads it that knows Zstandard."""
    try:
        with shard.open("rb") as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            lines = BufferedReader(reader)
            for number in count(1):
                if not (line := lines.readline(MOST_TRACE_BYTES + 1)):
                    return
                yield _described(shard.with_name(f"{shard.name}, line {number}"), line), line
    except (OSError, zstandard.ZstdError) as error:
        raise FileError(f"{printable(str(shard))}: cannot be read to its end ({error})") from error


def _paths(source: Path) -> Sequence[Path]:
    """Return the traces of one folder.

    Raises:
        FileError: it has none, or they are in several folders.
    """
    paths = list(trace_paths(source))
    folder = paths[0].parent.parent
    for path in paths:
        if path.parent.parent != folder:
            raise FileError(
                f"{printable(str(path))}: is not in {folder}, as other traces are; name one folder "
                "of traces, as <folder>/<team>/<scenario>.json"
            )
    return paths


def _checked(path: Path, catalog: Catalog) -> tuple[Game, bytes]:
    """Return a trace with what a head says of it."""
    data = catalog.read(path)
    game = _described(path, data)
    if game.name != f"{path.parent.name}/{path.name}":
        raise FileError(
            f"{printable(str(path))}: is {game.name} by its contents; name it so, in a folder of "
            "its own"
        )
    return game, data


def _described(path: Path, line: bytes) -> Game:
    """Return what a head says of a game, from its bytes alone.

    Raises:
        FileError: it is not one line, or not a trace, or its names are none of a file.
    """
    place = printable(str(path))
    if not line.endswith(b"\n") or line.count(b"\n") != 1:
        raise FileError(f"{place}: is not one line, as calbench writes traces; keep it as a file")
    found = outline(path, line)
    if not file_name_pattern.fullmatch(found.name):
        raise FileError(f"{place}: {printable(found.name)[:99]!r} is no name of a trace")
    return described(*found, line)


@contextmanager
def _new_folder(source: Path, out: Path) -> Iterator[Path]:
    """Provide a folder that replaces nothing, and is there when it is whole."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{out}: is there already; name a new folder with out=")
    if out.resolve().is_relative_to(traces_folder(source).resolve()):
        raise OutputError(f"{out}: is inside of {traces_folder(source)}; name another with out=")
    with replaced(out, is_marked=False) as beside:
        yield beside
