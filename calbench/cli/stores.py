"""``calbench traces`` and ``calbench replies``: what runs keep, from one form to another."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import zstandard

from calbench.cli.words import Status, Words
from calbench.console import progress, tell, verdict
from calbench.errors import ConfigError, FileError, OutputError
from calbench.files import opened, printable, write_atomically
from calbench.folders import check_new, replaced
from calbench.llm.replies.shards import merge_into, open_replies
from calbench.scenarios.bounds import MOST_TRACE_BYTES
from calbench.traces.catalog import Catalog, trace_paths, traces_folder
from calbench.traces.outlines import outline
from calbench.traces.shards import Game, shards_of
from calbench.traces.store import described_line, write_packed_games, write_shards


def pack(source: Path, out: Path) -> int:
    """Write the traces of a folder, or of a run, as shards into a new folder; return their number.

    Raises:
        FileError: a trace does not fit.
        OutputError: the new folder is not new, or cannot be written.
    """
    paths = _paths(source)
    with _new_folder(source, out) as folder, progress("packed", len(paths)) as tick:
        return write_packed_games(paths, folder, tick)


def unpack(source: Path, out: Path) -> int:
    """Write the traces of a folder, of a run or of a shard as files; return their number.

    Raises:
        FileError: a trace does not fit.
        OutputError: the new folder is not new, or cannot be written.
    """
    paths, catalog = _paths(source), Catalog()
    with _new_folder(source, out) as folder, progress("unpacked", len(paths)) as tick:
        for path in paths:
            data = catalog.read(path)
            outline(path, data)  # refuses what is no trace, before anything of it is written
            write_atomically(folder / path.parent.name / path.name, data, is_synced=False)
            tick()
    return len(paths)


def convert(source: Path, out: Path) -> int:
    """Write the games of shards as shards, whatever is between their frames; return their number.

    This reads shards of earlier versions, which had no heads, and those with damaged heads.

    Raises:
        FileError: a frame is damaged, or a line is no trace; or there is no shard.
        OutputError: the new folder is not new, or cannot be written.
    """
    shards = shards_of(traces_folder(source))
    if not shards:
        raise FileError(f"{source}: holds no shard (*.jsonl.zst)")
    with _new_folder(source, out) as folder:
        return write_shards((game for shard in shards for game in _lines(shard)), folder)


def _lines(shard: Path) -> Iterator[tuple[Game, bytes]]:
    """Yield the games of a shard as any program reads it that knows Zstandard."""
    try:
        with opened(shard, is_found=True) as file:
            reader = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
            lines = BufferedReader(reader)
            for number in count(1):
                if not (line := lines.readline(MOST_TRACE_BYTES + 1)):
                    return
                yield described_line(shard.with_name(f"{shard.name}, line {number}"), line), line
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


@contextmanager
def _new_folder(source: Path, out: Path) -> Iterator[Path]:
    """Provide a folder that replaces nothing, and is there when it is whole."""
    check_new(out)
    if out.resolve().is_relative_to(traces_folder(source).resolve()):
        raise OutputError(f"{out}: is inside of {traces_folder(source)}; name another with out=")
    with replaced(out, is_marked=False, check=partial(check_new, out)) as beside:
        yield beside


def _copied(copy: Callable[[Path, Path], int], said: str, words: Words) -> int:
    """Copy games into another form, and say how many there are and where."""
    (source,), out = words.paths, Path(words.options["out"])
    verdict(f"{copy(source, out)} games {said.format(out=out)}", is_good=True)
    return Status.DONE


write_packed = partial(_copied, pack, "packed: {out}")
write_unpacked = partial(_copied, unpack, "unpacked: {out}/<team>/<scenario>.json")
write_converted = partial(_copied, convert, "converted: {out}")


# e.g. whole "s01.json", "s01.r2.json"; not "s01.jsonl"
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


# --- recorded replies


def export_replies(words: Words) -> int:
    """Write a store into a folder of JSON Lines."""
    store, folder = words.paths
    return _add(folder, [store])


def merge_replies(words: Words) -> int:
    """Add the replies of some stores to another, whose replies are never replaced."""
    into, *sources = words.paths
    return _add(into, sources)


def _add(into: Path, sources: Sequence[Path]) -> int:
    added = 0
    for source in sources:
        with open_replies(source, must_be_whole=False) as store:
            merged = merge_into(into, store)
        conflicts = f", {merged.conflicting} other than those there: left out"
        tell(
            f"{into}: {merged.added} replies added from {source}, {merged.known} known"
            f"{conflicts if merged.conflicting else ''}"
        )
        added += merged.added
    verdict(f"{added} replies added: {into}", is_good=True)
    return Status.DONE


def print_replies(words: Words) -> int:
    """Count the replies of some stores, by model, and what they cost."""
    replies, cost_usd = 0, 0.0
    for path in words.paths:
        with open_replies(path, must_be_whole=False) as store:
            stats = store.stats()
        tell(
            f"{path}: {stats.replies} replies, {stats.messages} messages, {stats.cost_usd:.4f} USD"
        )
        for model, number in stats.replies_by_model.items():
            answered = stats.answered_by.get(model, Counter())
            others = ", ".join(f"{name} {times}" for name, times in sorted(answered.items()))
            tell(f"  {model}: {number}{f', answered by {others}' if others else ''}")
        replies, cost_usd = replies + stats.replies, cost_usd + stats.cost_usd
    verdict(f"{replies} replies, {cost_usd:.4f} USD")
    return Status.DONE
