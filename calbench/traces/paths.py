"""Where traces are: the files below a folder, and the games in its shards."""

from collections.abc import Iterator
from pathlib import Path

from calbench.errors import FileError
from calbench.traces.catalog import catalog, has_trace, shards_of
from calbench.traces.index import INDEX_GLOB, SHARD_GLOB

PAGES = "site/.calbench-site"
"""Marks the pages of a run in its folder; they have JSON files, too."""

TRACES_FOLDER = "traces"
"""Folder of the traces in that of a run."""

CODE_NOTE = "code.json"
"""Note of the code of a run's seats, in its folder."""


def trace_paths(path: Path) -> Iterator[Path]:
    """Yield a trace, or the sorted ones below a folder, of a run, of a team or in a shard.

    A game in a shard has the path that its file would have.

    Raises:
        FileError: the folder holds none, or its shards do not fit.
    """
    if path.match(SHARD_GLOB) and path.is_file():
        kept = catalog(path.parent)
        yield from sorted(path.parent / name for name, each in kept.items() if each.shard == path)
        return
    if not path.is_dir():
        yield from _of_team(path) or [path]
        return
    found = sorted(_found(path))
    if not found:
        is_begun = (path / "replies.sqlite").is_file()
        hint = "; calbench verify --partial shows what was said so far" if is_begun else ""
        raise FileError(f"{path}: holds no trace (*.json, *.jsonl.zst){hint}")
    yield from found


def _of_team(path: Path) -> list[Path]:
    """Return the games that shards hold of a team whose folder has, or would have, this path."""
    names = (Path(name) for name in catalog(path.parent))
    return sorted(path.parent / name for name in names if name.parent.name == path.name)


def holds_traces(path: Path) -> bool:
    """Whether there is a trace at a path, below a folder or in a run.

    Raises:
        FileError: the shards of a folder do not fit.
    """
    if path.is_dir():
        return bool(_found(path))
    return has_trace(path) or bool(_of_team(path))


def traces_folder(path: Path) -> Path:
    """Return the folder of the traces: that of a run, whose tables are JSON too, or the path."""
    inside = path / TRACES_FOLDER
    return inside if inside.is_dir() else path


def _found(path: Path) -> set[Path]:
    folder = traces_folder(path)
    pages = folder / "site" if (folder / PAGES).is_file() else None
    files = {
        file
        for file in folder.rglob("*.json")
        if not file.name.startswith(".")
        and file != folder / CODE_NOTE
        and (pages is None or pages not in file.parents)
    }
    folders = {shard.parent for glob in (SHARD_GLOB, INDEX_GLOB) for shard in folder.rglob(glob)}
    in_shards = {each / name for each in folders if shards_of(each) for name in catalog(each)}
    return files | in_shards
