"""``calbench traces``: games as files or in shards: packed, unpacked, listed and printed."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from calbench.cli.status import Status
from calbench.cli.words import Words
from calbench.console import verdict
from calbench.errors import ConfigError, FileError
from calbench.files import printable
from calbench.traces.catalog import Catalog, trace_paths
from calbench.traces.packing import convert, pack, unpack

NAME = re.compile(r"(?P<scenario>.+?)(\.r(?P<replicate>[1-9][0-9]*))?\.json")
"""File of a game."""


class Listed(NamedTuple):
    """A game as ``ls`` shows it; ``size`` is that of its file, in bytes."""

    team: str
    scenario: str
    replicate: int
    game_id: str
    size: int
    is_halted: bool


def write_packed(words: Words) -> int:
    """Write traces as shards into a new folder."""
    (source,), out = words.paths, Path(words.options["out"])
    verdict(f"{pack(source, out)} games packed: {out}", is_good=True)
    return Status.DONE


def write_unpacked(words: Words) -> int:
    """Write traces as files into a new folder."""
    (source,), out = words.paths, Path(words.options["out"])
    count = unpack(source, out)
    verdict(f"{count} games unpacked: {out}/<team>/<scenario>.json", is_good=True)
    return Status.DONE


def write_converted(words: Words) -> int:
    """Write the games of earlier or damaged shards as shards into a new folder."""
    (source,), out = words.paths, Path(words.options["out"])
    verdict(f"{convert(source, out)} games converted: {out}", is_good=True)
    return Status.DONE


def print_list(words: Words, *, as_json: bool) -> int:
    """List the games of a folder, a line each, and what they take."""
    (path,) = words.paths
    games: list[Listed] = []
    catalog, paths = Catalog(), list(trace_paths(path))
    for each in paths:
        game = _listed(each, catalog)
        games.append(game)
        if not as_json:
            again = f".r{game.replicate}" if game.replicate else ""
            halted = "  halted" if game.is_halted else ""
            print(f"{game.team}  {game.scenario}{again}  {game.game_id}  {game.size}{halted}")
    size, stored = sum(game.size for game in games), _stored(paths, catalog)
    if as_json:
        listed: dict[str, Any] = {
            "games": [game._asdict() for game in games],
            "size": size,
            "stored": stored,
        }
        print(orjson.dumps(listed, option=orjson.OPT_INDENT_2).decode())
    cut_short = sum(game.is_halted for game in games)
    line = f"{path}: {len(games)} games, {cut_short} halted; {size} bytes in {stored}"
    verdict(f"{line}, {size / stored:.1f} to 1", is_beside=as_json)
    return Status.DONE


def _listed(path: Path, catalog: Catalog) -> Listed:
    kept, outline = catalog.find(path), catalog.outline(path)
    size = path.stat().st_size if kept is None or path.is_file() else kept.game.length
    named = NAME.fullmatch(path.name)
    scenario = path.name if named is None else named["scenario"]
    replicate = int(named["replicate"] or 0) if named else 0
    return Listed(path.parent.name, scenario, replicate, outline.game_id, size, outline.is_halted)


def _stored(paths: Iterable[Path], catalog: Catalog) -> int:
    """Return the bytes on disk of some traces."""
    files: set[Path] = set()
    for each in paths:
        kept = catalog.find(each)
        if kept is None or each.is_file():
            files.add(each)
        if kept is not None:
            files.add(kept.shard)
    return sum(file.stat().st_size for file in files)


def print_traces(words: Words, *, is_all: bool) -> int:
    """Print one game, or all of them, to the byte: JSON Lines."""
    path, *names = words.paths
    if is_all == bool(names):
        raise ConfigError("name one game, as <team>/<scenario>, or give --all")
    paths = [_named(path, str(name)) for name in names] or trace_paths(path)
    catalog = Catalog()
    for each in paths:
        sys.stdout.buffer.write(catalog.read(each))
    sys.stdout.buffer.flush()
    return Status.DONE


def _named(path: Path, name: str) -> Path:
    """Return the path of a game by its name, with or without ``.json``.

    Raises:
        FileError: there is none.
    """
    file = f"{name.removesuffix('.json')}.json"
    found = [each for each in trace_paths(path) if each.as_posix().endswith(f"/{file}")]
    if len(found) != 1:
        what = "names several games" if found else "is no game there"
        raise FileError(
            f"{path}: {printable(name)} {what}; `calbench traces ls` lists all by team and scenario"
        )
    return found[0]
