"""Traces from one form to the other: files into shards and back, to the byte."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from calbench.console import progress
from calbench.errors import FileError, OutputError
from calbench.files import printable, written_atomically
from calbench.folders import replaced, scratch_folder
from calbench.traces.catalog import kept_game, raw_trace
from calbench.traces.frames import described_line, packed_frames
from calbench.traces.index import Game
from calbench.traces.paths import holds_traces, trace_paths, traces_folder
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
    with progress("packed", len(paths)) as tick:

        def games() -> Iterator[tuple[Game, bytes]]:
            for path in ordered:
                yield _checked(path)
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
    paths = _paths(source)
    with _new_folder(source, out) as folder, progress("unpacked", len(paths)) as tick:
        for path in paths:
            data = raw_trace(path)
            with written_atomically(
                folder / path.parent.name / path.name, is_synced=False
            ) as beside:
                beside.write_bytes(data)
            tick()
    return len(paths)


@contextmanager
def packed_at(folder: Path) -> Iterator[Path]:
    """Provide a place for the traces of games; at the end they are shards of a folder.

    The folder is replaced whole, and its bytes depend on the games alone: not on the order in which
    they were finished, nor on who played them. Nothing is left there that was not played.
    """
    with scratch_folder("games") as scratch:
        place = scratch / "traces"
        place.mkdir()
        yield place
        with replaced(folder, is_marked=False) as beside:
            if holds_traces(place):
                _write_shards(_paths(place), beside)


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


def _checked(path: Path) -> tuple[Game, bytes]:
    """Return a trace with what an index says of it."""
    data = raw_trace(path)
    kept = kept_game(path)
    # A halted game may have been resumed into a file, even one of the same length.
    if kept is not None and kept.game.sha256 == hashlib.sha256(data).hexdigest():
        return kept.game, data
    game = described_line(printable(str(path)), data)
    if game.name != f"{path.parent.name}/{path.name}":
        raise FileError(
            f"{printable(str(path))}: is {game.name} by its contents; name it so, in a folder of "
            "its own"
        )
    return game, data


@contextmanager
def _new_folder(source: Path, out: Path) -> Iterator[Path]:
    """Provide a folder that replaces nothing, and is there when it is whole."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{out}: is there already; name a new folder with out=")
    if out.resolve().is_relative_to(traces_folder(source).resolve()):
        raise OutputError(f"{out}: is inside of {traces_folder(source)}; name another with out=")
    with replaced(out, is_marked=False) as beside:
        yield beside
